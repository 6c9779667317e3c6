package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Request is how many tasks a step shall have, and on what. A zero is what the call of srun leaves open.
type Request struct {
	Tasks        int
	Nodes        int // at least
	MaxNodes     int
	CPUsPerTask  int
	TasksPerNode int
	Overcommit   bool // more tasks than CPUs
	Exact        bool // take only the CPUs that the tasks need, not all of their nodes
	Overlap      bool // take none from other steps
}

// Place is where the tasks of a step are. Its slices are of the job's nodes, in their order.
type Place struct {
	Tasks []int
	CPUs  []int // taken from other steps

	Notices []string // what of the request does not hold
}

// MaxTasks is how many tasks a step may have.
const MaxTasks = 1 << 16

// Count is how many tasks there are.
func (p Place) Count() int { return sum(p.Tasks) }

// What a request is refused for, in Slurm's words.
var (
	errProcessors = errors.New("More processors requested than permitted") //nolint:staticcheck // Slurm's words
	errBusy       = errors.New("Requested nodes are busy")                 //nolint:staticcheck // Slurm's words
)

// stepError says of what job no step can be made, and why.
func (a Allocation) stepError(why error) error {
	return fmt.Errorf("Unable to create step for job %s: %w", a.Job, why) //nolint:staticcheck // Slurm's words
}

// Place places the tasks of a step on the job's nodes: one on each, then node by node as many as have CPUs, then,
// overcommitted, one on each in turn. The errors are in Slurm's words. The notices of the result count with an error, too.
func (a Allocation) Place(r Request) (place Place, err error) {
	least, nodes := cmp.Or(r.Nodes, len(a.CPUs)), cmp.Or(r.MaxNodes, r.Nodes, len(a.CPUs))
	if r.Tasks > 0 && r.Tasks < nodes {
		if r.Tasks < least {
			place.Notices = append(place.Notices, fmt.Sprintf("Warning: can't run %d processes on %d nodes, setting nnodes to %d", r.Tasks, nodes, r.Tasks))
		}
		least, nodes = min(least, r.Tasks), r.Tasks
	}
	used, room := a.room(min(nodes, len(a.CPUs)), max(1, r.CPUsPerTask), r.Overcommit)
	tasks := r.tasks(min(nodes, len(a.CPUs)), room)
	if r.TasksPerNode > 0 && tasks > nodes && tasks != nodes*r.TasksPerNode {
		place.Notices = append(place.Notices, fmt.Sprintf("Warning: can't honor --ntasks-per-node set to %d which doesn't match the requested tasks %d with the number of requested nodes %d. Ignoring --ntasks-per-node.",
			r.TasksPerNode, tasks, nodes))
	}
	if least > len(a.CPUs) {
		return place, fmt.Errorf("Only allocated %d nodes asked for %d", len(a.CPUs), least) //nolint:staticcheck // Slurm's words
	}
	if sum(room) < tasks && !r.Overcommit {
		return place, a.stepError(errProcessors)
	}
	place.Tasks = spread(tasks, used, room)
	place.CPUs = a.taken(r, place.Tasks)
	return place, nil
}

// tasks is how many there shall be, on a number of nodes, by the room of each.
func (r Request) tasks(nodes int, room []int) int {
	switch {
	case r.Tasks > 0:
		return r.Tasks
	case r.TasksPerNode > 0:
		return nodes * r.TasksPerNode
	case r.CPUsPerTask > 0:
		return max(1, sum(room))
	}
	return nodes
}

// taken is how many CPUs of each node the tasks on it take from other steps.
func (a Allocation) taken(r Request, tasks []int) []int {
	taken := make([]int, len(a.CPUs))
	for i, n := range tasks {
		switch {
		case n == 0 || r.Overlap:
		case r.Exact || r.CPUsPerTask > 0:
			taken[i] = min(n*max(1, r.CPUsPerTask), a.CPUs[i])
		default:
			taken[i] = a.CPUs[i]
		}
	}
	return taken
}

// room chooses as many nodes as may be used, of those with the most room the first, and says for how many tasks the CPUs of
// each suffice. One with none is used only if overcommitted.
func (a Allocation) room(nodes, perTask int, overcommit bool) (used []bool, room []int) {
	room, used = make([]int, len(a.CPUs)), make([]bool, len(a.CPUs))
	order := make([]int, len(a.CPUs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a.CPUs[y]/perTask, a.CPUs[x]/perTask) })
	for _, i := range order[:nodes] {
		room[i] = a.CPUs[i] / perTask
		used[i] = overcommit || room[i] > 0
	}
	return used, room
}

func spread(tasks int, used []bool, room []int) []int {
	placed := make([]int, len(room))
	place := func(i, n int) {
		n = min(tasks, n)
		placed[i] += n
		tasks -= n
	}
	for i := range room {
		if used[i] {
			place(i, 1)
		}
	}
	for i, n := range room {
		place(i, max(0, n-placed[i]))
	}
	for i := 0; tasks > 0; i = (i + 1) % len(room) {
		if used[i] {
			place(i, 1)
		}
	}
	return placed
}

func sum(numbers []int) (all int) {
	for _, n := range numbers {
		all += n
	}
	return all
}
