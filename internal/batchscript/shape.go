package batchscript

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// shape draws the conclusions about a job's size and time, in each shape that it may run
// in. The first one, with the fewest CPUs, is the job's own.
func (w *jobOptions) shape(job *Job, script Script, r *report) {
	w.choose(script, r)
	counts, size := w.size(script, r)
	nodes := size.Nodes
	job.Spec.CPUs, job.Spec.Layout = counts[0], size.Layout
	job.Spec.Resources = w.resources(script, r)
	if w.wrong("cpus") {
		return // how many times there must be is not known
	}
	if most := counts[len(counts)-1]; most > math.MaxInt32 {
		r.wrong(script.place(), "the job asks for %d CPUs in all, more than any site can have", most)
	}
	if len(w.cpus) > 0 && nodes > counts[0] {
		w.fault(r, script, "nodes", "asks for %d nodes, but a job of %d CPUs has CPUs on %[2]d at most", nodes, counts[0])
	}
	limits := w.oneForEach(counts, w.limits, DefaultWallTime, "time", script, r)
	estimates := w.oneForEach(counts, w.estimates, 0, "estimate", script, r)
	job.Spec.Nodes, job.Spec.WallTime, job.Component.Estimate = nodes, limits[0], estimates[0]
	job.Spec.MemoryMB = w.memoryByGPU(&size, script, r)
	l := &job.Spec.Layout
	l.MemoryPerCPU, l.MemoryPerGPU, l.CPUsPerGPU = w.cpuMemoryMB, w.gpuMemoryMB, w.cpusPerGPU
	_, per := w.gpuCount()
	l.GPUsPerNode = per == protocol.PerNode && len(w.gpus) > 0
	for i, cpus := range counts {
		if least := job.Spec.MinTime; least > limits[i] && !w.wrong("time") && !w.wrong("time-min") {
			w.fault(r, script, "time-min", "the least time limit of %s is above the time limit of %s", least.Text(), limits[i].Text())
		}
		job.Spec.MemoryMB = max(job.Spec.MemoryMB, w.memory(cpus, size.LeastNodes())) // a shape has none of its own
		if estimates[i] > limits[i] && !w.wrong("time") && !w.wrong("estimate") {
			w.fault(r, script, "estimate", "the run time of %s is above the time limit of %s, at which it would be ended",
				estimates[i].Text(), limits[i].Text())
		}
		if i > 0 {
			job.Component.Shapes = append(job.Component.Shapes,
				protocol.Shape{CPUs: cpus, Nodes: nodes, WallTime: limits[i], Estimate: estimates[i]})
		}
	}
}

// oneForEach gives each count of CPUs its time, of one for all or one for each.
func (w *jobOptions) oneForEach(
	counts []int, times []protocol.Duration, otherwise protocol.Duration, long string, script Script, r *report,
) []protocol.Duration {
	if len(times) > 1 && len(times) != len(counts) {
		w.fault(r, script, long, "names %d times, but the job has %d counts of CPUs; name one, or one for each count of --cpus",
			len(times), len(counts))
		at := w.spots[long]
		at.wrong = true
		w.spots[long], times = at, times[:1]
	}
	out := make([]protocol.Duration, len(counts))
	for i := range out {
		switch {
		case len(times) == 0:
			out[i] = otherwise
		case len(times) == 1:
			out[i] = times[0]
		default:
			out[i] = times[i]
		}
	}
	return out
}

// fault notes a problem with an option, where it was said last.
func (w *jobOptions) fault(r *report, script Script, long, format string, args ...any) {
	r.wrongAt(w.spotOf(long, script), long, format, args...)
}

// spotOf is where an option was given; the script, if it was not.
func (w *jobOptions) spotOf(long string, script Script) spot {
	if at, said := w.spots[long]; said {
		return at
	}
	return spot{place: script.place()}
}

// wrong reports whether the value of an option was given and is invalid, so that nothing follows
// from it.
func (w *jobOptions) wrong(long string) bool { return w.spots[long].wrong }

// behaves is what the job does, for the Γ model.
func (w *jobOptions) behaves(cpus int, script Script, r *report) protocol.Behavior {
	b := w.behavior
	if b == (protocol.Behavior{}) || w.wrong("operations") {
		return b
	}
	for _, long := range []string{"memory-accesses", "words-sent", "messages-sent", "scaling"} {
		if _, said := w.spots[long]; said && !b.Stated() {
			w.fault(r, script, long, "means nothing without the number of operations; name --operations, too")
		}
	}
	if b.Scaling != protocol.Constant && b.CPUs == 0 {
		b.CPUs = cpus
	}
	if b.Scaling == protocol.Multicast && b.CPUs < 2 {
		w.fault(r, script, "scaling", "one CPU sends nothing; say for how many CPUs the words and messages are stated, as all-to-all@8")
	}
	return b
}

// size is the counts of CPUs that the job may have, rising, and its nodes and how the CPUs
// are divided, as sbatch counts them.
func (w *jobOptions) size(script Script, r *report) (cpus []int, size protocol.Request) {
	size.Nodes, size.Layout.MaxNodes = w.nodes, w.maxNodes
	if len(w.cpus) > 0 {
		return w.cpus, size
	}
	l := &size.Layout
	l.Tasks, l.TasksPerNode, l.CPUsPerTask = w.tasks, w.tasksPerNode, w.cpusPerTask
	switch {
	case l.Tasks == 0: // there are as many as the nodes make
		l.MaxNodes = size.Nodes
	case size.Nodes > l.Tasks:
		r.notice(w.spots["nodes"].place, "--nodes: each node has a task at least, so the job gets %d instead of %d", l.Tasks, size.Nodes)
		size.Nodes = l.Tasks
	}
	if l.Tasks > 0 {
		l.MaxNodes = min(l.MaxNodes, l.Tasks)
	}
	w.divideByGPU(&size, script, r)
	if room := l.MaxNodes * l.TasksPerNode; room > 0 && l.Tasks > room {
		w.fault(r, script, "ntasks-per-node", "allows %d tasks on %d nodes; the job has %d", room, l.MaxNodes, l.Tasks)
	}
	return []int{tasksOf(size) * size.CPUsPerTask()}, size
}

// tasksOf is how many tasks a job has by its nodes and layout, of which one may be empty.
func tasksOf(size protocol.Request) int {
	if !size.Layout.Divided() {
		return max(1, size.Nodes)
	}
	return size.Tasks()
}

// memory is what a node must have: for all CPUs of the job when it may run on
// one node.
func (w *jobOptions) memory(cpus, nodes int) int64 {
	if w.cpuMemoryMB == 0 {
		return w.memoryMB
	}
	perNode := (cpus + max(1, nodes) - 1) / max(1, nodes)
	if w.cpuMemoryMB > maxMemoryMB/int64(perNode) {
		return maxMemoryMB
	}
	return w.cpuMemoryMB * int64(perNode)
}

// maxMemoryMB is more than any node has, and far from overflow.
const maxMemoryMB = 1 << 50
