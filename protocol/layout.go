package protocol

import (
	"fmt"
	"math"
)

// Layout is how a job divides its CPUs into tasks and spreads these over nodes, as its
// submitter asked for it with the options of sbatch(1). What is 0 was not asked for. The
// zero Layout is that of a job of CPUs alone.
type Layout struct {
	Tasks        int `json:"tasks,omitempty"`          // in all
	TasksPerNode int `json:"tasks_per_node,omitempty"` // on each node; beside Tasks at most
	CPUsPerTask  int `json:"cpus_per_task,omitempty"`
	MaxNodes     int `json:"max_nodes,omitempty"` // the job may have

	MemoryPerCPU int64 `json:"memory_per_cpu_mb,omitempty"` // by which it asks for MemoryMB, which is that of all its CPUs on as few nodes as it may have
	MemoryPerGPU int64 `json:"memory_per_gpu_mb,omitempty"` // by which it asks for MemoryMB; beside MemoryPerCPU never
	CPUsPerGPU   int   `json:"cpus_per_gpu,omitempty"`      // by which it asks for CPUsPerTask
	GPUsPerNode  bool  `json:"gpus_per_node,omitempty"`     // it asks for the GPUs of its nodes as such, and not as for other resources
}

// Divided says whether the layout says anything of tasks.
func (l Layout) Divided() bool { return l.Tasks != 0 || l.TasksPerNode != 0 || l.CPUsPerTask != 0 }

// Tasks is how many tasks the job has: what it asks for, or one for each of its nodes, or of
// a job of CPUs alone one for each CPU.
func (r *Request) Tasks() int {
	switch l := r.Layout; {
	case l.Tasks > 0:
		return l.Tasks
	case l.Divided():
		return max(1, r.Nodes) * max(1, l.TasksPerNode)
	}
	return r.CPUs
}

// StatesTasks says whether the job asks for a number of tasks. One that does not, not even by
// its CPUs, has one for each node without having asked for it.
func (r *Request) StatesTasks() bool {
	l := r.Layout
	return l.Tasks > 0 || l.TasksPerNode > 0 || !l.Divided() && r.CPUs != max(1, r.Nodes)
}

// CPUsPerTask is how many CPUs each task has, at least 1. They are on one node.
func (r *Request) CPUsPerTask() int { return max(1, r.Layout.CPUsPerTask) }

// LeastNodes is how many nodes the job has at least, however large they are; 0: it does not
// matter to the job.
func (r *Request) LeastNodes() int {
	if l := r.Layout; l.Tasks > 0 && l.TasksPerNode > 0 {
		return max(r.Nodes, ceil(l.Tasks, l.TasksPerNode))
	}
	return r.Nodes
}

// NodeCPUs is how many CPUs one of the job's nodes must have at least.
func (r *Request) NodeCPUs() int {
	l, tasks := r.Layout, 1
	if l.Tasks == 0 {
		tasks = max(tasks, l.TasksPerNode)
	}
	if l.MaxNodes > 0 {
		tasks = max(tasks, ceil(r.Tasks(), l.MaxNodes))
	}
	return tasks * r.CPUsPerTask()
}

// NodeMemoryMB is how much memory one of the job's nodes must have at least.
func (r *Request) NodeMemoryMB() int64 {
	if each := r.Layout.MemoryPerCPU; each > 0 {
		return min(r.MemoryMB, each*int64(r.NodeCPUs()))
	}
	return r.MemoryMB
}

// NodesOf is how many nodes of cpus CPUs each the job needs, at least 1, if one of them is
// large enough; see [Request.NodeCPUs].
func (r *Request) NodesOf(cpus int) int {
	each := max(1, cpus/r.CPUsPerTask())
	if most := r.Layout.TasksPerNode; most > 0 {
		each = min(each, most)
	}
	return max(1, r.Nodes, ceil(r.Tasks(), each))
}

// Spread is how many tasks run on each of the job's nodes, where these are not chosen by what
// is free: evenly, the first nodes having one more.
func (r *Request) Spread() []int {
	nodes := make([]int, max(1, r.LeastNodes()))
	tasks := r.Tasks()
	for i := range nodes {
		nodes[i] = ceil(tasks, len(nodes)-i)
		tasks -= nodes[i]
	}
	return nodes
}

// CheckLayout says what is wrong with the layout, if anything.
func (r *Request) CheckLayout() error {
	l := r.Layout
	for _, count := range []struct {
		of string
		n  int
	}{
		{"tasks", l.Tasks}, {"tasks a node", l.TasksPerNode}, {"CPUs a task", l.CPUsPerTask}, {"nodes at most", l.MaxNodes}, {"CPUs a GPU", l.CPUsPerGPU},
	} {
		if count.n < 0 || count.n > math.MaxInt32 {
			return fmt.Errorf("asks for %d %s; ask for 1 to %d, or leave it out", count.n, count.of, math.MaxInt32)
		}
	}
	if least, most := min(l.MemoryPerCPU, l.MemoryPerGPU), max(l.MemoryPerCPU, l.MemoryPerGPU); least != 0 || most > maxMemoryMB {
		return fmt.Errorf("asks for %d MB a CPU and %d MB a GPU; ask for one of them, at most %d", l.MemoryPerCPU, l.MemoryPerGPU, int64(maxMemoryMB))
	}
	switch tasks := r.Tasks(); {
	case l.MaxNodes > 0 && l.MaxNodes < r.Nodes:
		return fmt.Errorf("asks for %d nodes at least and %d at most", r.Nodes, l.MaxNodes)
	case !l.Divided():
		return nil
	case tasks > r.CPUs/r.CPUsPerTask() || tasks*r.CPUsPerTask() != r.CPUs:
		return fmt.Errorf("asks for %d CPUs, but its %d tasks of %d CPUs make another number", r.CPUs, tasks, r.CPUsPerTask())
	case tasks < r.Nodes:
		return fmt.Errorf("asks for %d tasks on %d nodes, of which each has one at least", tasks, r.Nodes)
	case l.MaxNodes > 0 && l.TasksPerNode > 0 && tasks > l.MaxNodes*l.TasksPerNode:
		return fmt.Errorf("asks for %d tasks, but %d on each of %d nodes are fewer", tasks, l.TasksPerNode, l.MaxNodes)
	}
	return nil
}

// maxMemoryMB is more than any node has, and far from overflow with any number of CPUs.
const maxMemoryMB = 1 << 31

// ceil is a/b rounded up, of positive numbers.
func ceil(a, b int) int { return (a-1)/b + 1 }
