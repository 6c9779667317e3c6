package slurm

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// cluster is all that holds or may take nodes: what one look at Slurm has seen.
type cluster struct {
	at           protocol.Instant
	nodes        []node
	partitions   []*partition // all of them
	reservations []reservation
	queue        []entry // of all partitions, without jobs that have ended
	memory       memory
	linear       bool // jobs have whole nodes only
}

// memory is how Slurm shares the memory of nodes out.
type memory struct {
	counts              bool  // jobs that need more than is free wait
	defCPUMB, defNodeMB int64 // what jobs get that do not ask; 0: all of the node's
}

// queuePlan plans the queue of one look ahead, once, for all quotes.
type queuePlan struct {
	cluster   *cluster
	predicted bool // with the times that jobs are likely to run, not with their limits

	mu    sync.Mutex
	sets  map[setOf]*nodeSet
	kinds []protocol.Resource // of resources that the plan counts, without counts
	plan  *plan               // nil: there is none yet

	pending map[uint32]protocol.Instant // starts of the jobs that wait, by their numbers in Slurm
}

// setOf names the nodes of a partition that meet a constraint; an empty one all meet.
type setOf struct{ partition, features string }

// placement is where and when a job would start.
type placement struct {
	partition *partition
	start     protocol.Instant // endOfTime: not in sight
	declined  string           // why it never would; empty: it would
}

// starts says when each job would start, and in which of the partitions that admit it, if it
// came after the ahead ones.
func (o *queuePlan) starts(now protocol.Instant, ahead, jobs []admittedJob) []placement {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model()
	then := o.plan
	if len(ahead) > 0 {
		then = o.plan.clone()
		for _, w := range ahead {
			then.add(o.demands(w), now)
		}
	}
	found := make([]placement, len(jobs))
	for i, w := range jobs {
		found[i] = o.earliest(then, w, now)
	}
	return found
}

// admittedJob is a job that has come or may come, with the partitions that admit it, in order of
// preference.
type admittedJob struct {
	protocol.Request

	partitions []*partition
	nodes      int // that it asks for; 0: it does not say
}

// earliest is the partition in which a job would start first.
func (o *queuePlan) earliest(p *plan, w admittedJob, now protocol.Instant) placement {
	best := placement{start: endOfTime}
	var holds bool
	for i, d := range o.demands(w) {
		if at := p.starts(&d, now); best.partition == nil || at < best.start {
			best.partition, best.start = w.partitions[i], at
		}
		holds = holds || best.start < endOfTime || p.canRun(&d)
	}
	if !holds {
		best.declined = o.declineReason(w)
	}
	return best
}

// declineReason is why no nodes that take jobs are enough for a job.
func (o *queuePlan) declineReason(w admittedJob) string {
	empty := newPlan(o.cluster.at, o.stepsOf(func(*node) bool { return true }))
	for _, d := range o.demands(w) {
		if empty.canRun(&d) {
			return "ReqNodeNotAvail: nodes that it needs are down or drained"
		}
	}
	return "PartitionConfig: the nodes of " + strings.Join(namesOf(w.partitions), ", ") + " together do not have what it needs"
}

// startOf is when a job that waits would start; false: it is not planned, or no start is in sight.
func (o *queuePlan) startOf(e *entry) (protocol.Instant, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model()
	start, planned := o.pending[e.ID]
	return start, planned && start < endOfTime
}

// model plans what runs and what waits, unless that is done. The lock is held.
func (o *queuePlan) model() {
	if o.plan != nil {
		return
	}
	c := o.cluster
	o.kinds = c.kinds()
	o.plan = newPlan(c.at, o.stepsOf((*node).takesJobs))
	o.sets = map[setOf]*nodeSet{}
	index := map[string]int{}
	for i, n := range c.nodes {
		index[n.name] = i
		for _, name := range n.partitions {
			all := setOf{partition: name}
			if o.sets[all] == nil {
				o.sets[all] = &nodeSet{}
			}
			o.sets[all].nodes = append(o.sets[all].nodes, i)
		}
	}
	for i := range c.reservations {
		o.reserve(&c.reservations[i], index)
	}
	free := make([]int, len(c.nodes)) // busy CPUs of each node that are not assigned to a job yet
	for i, n := range c.nodes {
		free[i] = n.busy
	}
	o.pending = map[uint32]protocol.Instant{}
	arrays := map[string][]protocol.Instant{} // when their tasks end
	for _, e := range c.running() {
		o.run(e, index, free)
		arrays[e.array] = append(arrays[e.array], o.ends(e))
	}
	for _, e := range c.waiting() {
		from, ends := c.at, arrays[e.array]
		if e.throttled() {
			if len(ends) == 0 {
				continue // it cannot be predicted: no task of the array runs
			}
			slices.Sort(ends)
			from, ends = ends[0], ends[1:]
		}
		start := o.plan.add(o.demandsOf(e), from)
		o.pending[e.ID] = start
		arrays[e.array] = append(ends, start.Add(o.lasts(e)))
	}
}

// stepsOf is what the nodes have, those that count.
func (o *queuePlan) stepsOf(counts func(*node) bool) []step {
	steps := make([]step, len(o.cluster.nodes))
	for i := range steps {
		if n := &o.cluster.nodes[i]; counts(n) {
			steps[i] = step{cpus: n.cpus, memoryMB: n.memoryMB, resources: o.amountsOf(n)}
		}
	}
	return steps
}

// maxRepeats bounds how often a reservation is planned that comes again and again.
const maxRepeats = 24

// reserve takes what a reservation has, each time that it comes.
func (o *queuePlan) reserve(r *reservation, index map[string]int) {
	cores := 0
	for _, name := range r.nodes {
		if i, ok := index[name]; ok {
			cores += o.cluster.nodes[i].cpus / o.cluster.nodes[i].threads
		}
	}
	repeats := 1
	if r.again > 0 {
		repeats = maxRepeats
	}
	for _, name := range r.nodes {
		i, ok := index[name]
		if !ok {
			continue
		}
		n := &o.cluster.nodes[i]
		use := step{cpus: n.cpus, resources: o.amountsOf(n)}
		if own, stated := r.cores[name]; stated {
			use = step{cpus: own * n.threads}
		} else if r.coreCount > 0 && r.coreCount < cores {
			use = step{cpus: ceil(r.coreCount, len(r.nodes)) * n.threads}
		}
		for k := range repeats {
			later := protocol.Duration(k) * r.again
			o.plan.nodes[i].take(r.start.Add(later), r.end.Add(later), use)
		}
	}
}

// run takes what a job has of its nodes: of several as much of each as is left of what Slurm
// says they have given to jobs.
func (o *queuePlan) run(e *entry, index map[string]int, busy []int) {
	names, err := expandHosts(e.nodes)
	if err != nil || o.cluster.reserved(e, names) {
		return
	}
	end := o.ends(e)
	left := e.cpus
	for k, name := range names {
		i, ok := index[name]
		if !ok {
			continue
		}
		nodes := len(names) - k
		use := step{cpus: min(max(1, busy[i]), ceil(left, nodes)), memoryMB: e.memoryMB / int64(len(names))}
		if nodes == 1 {
			use.cpus = left
		}
		use.resources = o.taken(e, len(names), o.plan.nodes[i].steps[0].resources)
		if e.whole || o.cluster.linear {
			use.cpus, use.resources = o.cluster.nodes[i].cpus, o.plan.nodes[i].resources
		}
		if !o.cluster.memory.counts {
			use.memoryMB = 0
		}
		left, busy[i] = max(0, left-use.cpus), max(0, busy[i]-use.cpus)
		o.plan.nodes[i].take(o.cluster.at, end, use)
	}
}

// reserved reports whether a job runs in a reservation, which has its nodes anyway.
func (c *cluster) reserved(e *entry, names []string) bool {
	return e.inside != "" && slices.ContainsFunc(c.reservations, func(r reservation) bool {
		return r.name == e.inside && !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(r.nodes, name) })
	})
}

// ran is how long a job has run.
func (c *cluster) ran(e *entry) protocol.Duration {
	if !e.runs() || e.start == 0 {
		return 0
	}
	return max(0, c.at.Sub(e.start))
}

// ends is when a job that runs ends: at the latest, or as is likely. One over its limit is
// about to.
func (o *queuePlan) ends(e *entry) protocol.Instant {
	end := e.end
	if o.predicted && e.start > 0 && e.predicted != protocol.Never {
		end = e.start.Add(e.predicted)
	}
	if end == 0 {
		return endOfTime
	}
	return max(end, o.cluster.at.Add(protocol.Second))
}

// lasts is how long a job runs that waits.
func (o *queuePlan) lasts(e *entry) protocol.Duration {
	if o.predicted {
		return e.predicted
	}
	return e.limit
}

// running are the jobs that have nodes, those on one node first.
func (c *cluster) running() (jobs []*entry) {
	for i := range c.queue {
		if e := &c.queue[i]; e.runs() && e.placed {
			jobs = append(jobs, e)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *entry) int { return cmp.Compare(a.nodeCount, b.nodeCount) })
	return jobs
}

// waiting are the jobs that Slurm would start if there were nodes, in the order in which it
// considers them, and tasks of arrays that wait for others of theirs to end.
func (c *cluster) waiting() (jobs []*entry) {
	tiers := map[string]int{}
	for _, p := range c.partitions {
		tiers[p.name] = p.tier
	}
	tier := func(e *entry) (highest int) {
		for name := range strings.SplitSeq(e.partition, ",") {
			highest = max(highest, tiers[name])
		}
		return highest
	}
	for i := range c.queue {
		if e := &c.queue[i]; e.inside == "" && (e.ready() || e.throttled()) {
			jobs = append(jobs, e)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(tier(b), tier(a)), cmp.Compare(b.priority, a.priority), cmp.Compare(a.ID, b.ID))
	})
	return jobs
}

// demandsOf is what a job of the queue needs in each of its partitions.
func (o *queuePlan) demandsOf(e *entry) (demands []demand) {
	for name := range strings.SplitSeq(e.partition, ",") {
		i := slices.IndexFunc(o.cluster.partitions, func(p *partition) bool { return p.name == name })
		if set := o.sets[setOf{partition: name}]; i >= 0 && set != nil {
			p := o.cluster.partitions[i]
			d := demand{
				among: set, cpus: max(1, e.cpus), limit: o.lasts(e), nodeCPUs: p.cpusPerNode,
				whole: e.whole || p.wholeNode || o.cluster.linear,
			}
			if e.nodeCount > 1 {
				d.nodes = e.nodeCount
			}
			if o.cluster.memory.counts {
				d.cpuMB = e.memoryMB / int64(d.cpus)
			}
			o.need(&d, e.resources)
			demands = append(demands, d)
		}
	}
	return demands
}

// demands is what a job of ours needs in each partition that admits it.
func (o *queuePlan) demands(w admittedJob) []demand {
	demands := make([]demand, len(w.partitions))
	for i, p := range w.partitions {
		d := demand{
			among: o.set(setOf{p.name, w.Features}), cpus: max(1, w.CPUs, w.nodes), nodes: w.nodes, nodeCPUs: p.cpusPerNode, taskCPUs: w.CPUsPerTask(),
			whole: w.Exclusive || p.wholeNode || o.cluster.linear, limit: protocol.Duration(minutes(w.WallTime)) * protocol.Minute,
		}
		switch l := w.Layout; { // as for sbatch
		case l.MaxNodes > max(1, w.Nodes):
			d.maxNodes = l.MaxNodes
		case w.Nodes > 0:
			d.maxNodes = w.nodes
		}
		if tasks := w.Layout.TasksPerNode * w.CPUsPerTask(); tasks > 0 && (d.nodeCPUs == 0 || tasks < d.nodeCPUs) {
			d.nodeCPUs = tasks
		}
		if o.cluster.memory.counts {
			if d.cpuMB = w.Layout.MemoryPerCPU; d.cpuMB == 0 {
				d.nodeMB, d.cpuMB = o.cluster.memory.of(w.MemoryMB, p)
			}
		}
		o.need(&d, w.Resources)
		demands[i] = d
	}
	return demands
}

// of is how much memory a job gets on each node and for each CPU.
func (m *memory) of(asked int64, p *partition) (nodeMB, cpuMB int64) {
	switch {
	case asked > 0:
		return asked, 0
	case p.defCPUMB > 0:
		return 0, p.defCPUMB
	case p.defNodeMB > 0:
		return p.defNodeMB, 0
	case m.defCPUMB > 0 || m.defNodeMB > 0:
		return m.defNodeMB, m.defCPUMB
	}
	return allMemory, 0
}

// memoryOf reads how memory is shared out from what scontrol show config says.
func memoryOf(config map[string]string) (m memory) {
	m.counts = strings.Contains(strings.ToUpper(config["SelectTypeParameters"]), "MEMORY")
	for key, to := range map[string]*int64{"DefMemPerCPU": &m.defCPUMB, "DefMemPerNode": &m.defNodeMB} {
		if n, err := parseCount(config[key], math.MaxInt32); err == nil { // else UNLIMITED
			*to = int64(n)
		}
	}
	return m
}
