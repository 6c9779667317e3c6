package localschedv1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeRequests converts the shapes of jobs.
func EncodeRequests(jobs []protocol.Request) *Requests {
	m := newRequests(len(jobs))
	for i := range jobs {
		m.set(i, &jobs[i])
	}
	return m.sparse()
}

// DecodeRequests checks and converts the shapes of jobs; an absent message holds
// none. The error names the column and the entry.
func DecodeRequests(m *Requests) ([]protocol.Request, error) {
	n := len(m.GetJob())
	if err := wire.First(
		wire.AtMost("job", n, MaxJobs),
		wire.Length("cpus", len(m.GetCpus()), n),
		wire.Length("nodes", len(m.GetNodes()), n),
		wire.Length("memory_mb", len(m.GetMemoryMb()), n),
		wire.Length("wall_time", len(m.GetWallTime()), n),
		wire.SparseLength("power", len(m.GetPower()), n),
		wire.SparseLength("like", len(m.GetLike()), n),
		wire.SparseLength("layout", len(m.GetLayout()), n),
	); err != nil || n == 0 {
		return nil, err
	}
	jobs := make([]protocol.Request, n)
	powers, likes, layouts := wire.Dense(m.GetPower(), n), wire.Dense(m.GetLike(), n), wire.Dense(m.GetLayout(), n)
	for i := range jobs {
		var err error
		jobs[i], err = readRequest(shape{
			m.GetJob()[i], m.GetCpus()[i], m.GetNodes()[i], m.GetMemoryMb()[i], m.GetWallTime()[i], powers[i], likes[i],
			layouts[i],
		})
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return jobs, nil
}

// EncodeQuery converts a query. The job of a promise is that of its tag.
func EncodeQuery(q localsched.Query) *QuoteRequest {
	ahead, epochs := newRequests(len(q.Ahead)), make([]uint32, len(q.Ahead))
	for i := range q.Ahead {
		one := &q.Ahead[i]
		ahead.set(i, &one.Request)
		ahead.Job[i], epochs[i] = uint64(one.Tag.Job), uint32(one.Tag.Epoch)
	}
	return &QuoteRequest{Jobs: EncodeRequests(q.Jobs), Ahead: ahead.sparse(), AheadEpoch: epochs, Guard: uint32(q.Guard)}
}

// DecodeQuery checks and converts a query. The error names the column and the
// entry.
func DecodeQuery(m *QuoteRequest) (localsched.Query, error) {
	jobs, err := DecodeRequests(m.GetJobs())
	if err != nil {
		return localsched.Query{}, fmt.Errorf("query: jobs: %w", err)
	}
	ahead, err := DecodeRequests(m.GetAhead())
	if err = wire.First(wire.In("ahead", err), wire.Length("ahead_epoch", len(m.GetAheadEpoch()), len(ahead)), checkGuard(m.GetGuard())); err != nil {
		return localsched.Query{}, fmt.Errorf("query: %w", err)
	}
	query := localsched.Query{Jobs: jobs, Guard: protocol.SiteNumber(m.GetGuard())} //nolint:gosec // checked
	if len(ahead) > 0 {
		query.Ahead = make([]localsched.Promise, len(ahead))
	}
	for i, request := range ahead {
		tag, err := DecodeTag(&commonv1.Tag{Job: uint64(request.Job), Epoch: m.GetAheadEpoch()[i]})
		if err != nil {
			return localsched.Query{}, fmt.Errorf("query: ahead[%d]: %w", i, err)
		}
		query.Ahead[i] = localsched.Promise{Tag: tag, Request: request}
	}
	return query, nil
}

func checkGuard(number uint32) error {
	if number > uint32(protocol.MaxSiteNumber) {
		return fmt.Errorf("guard: %d is above %d", number, protocol.MaxSiteNumber)
	}
	return nil
}

func newRequests(n int) *Requests {
	return &Requests{
		Job: make([]uint64, n), Cpus: make([]int64, n), Nodes: make([]int64, n),
		MemoryMb: make([]int64, n), WallTime: make([]int64, n), Power: make([]int64, n), Like: make([]uint64, n),
		Layout: make([]*commonv1.Layout, n),
	}
}

func (x *Requests) set(i int, r *protocol.Request) {
	s := shapeOf(r)
	x.Job[i], x.Cpus[i], x.Nodes[i], x.MemoryMb[i], x.WallTime[i] = s.job, s.cpus, s.nodes, s.memoryMB, s.wallTime
	x.Power[i], x.Like[i], x.Layout[i] = s.power, s.like, s.layout
}

// sparse leaves out the columns that say nothing.
func (x *Requests) sparse() *Requests {
	x.Power, x.Like, x.Layout = wire.Sparse(x.GetPower()), wire.Sparse(x.GetLike()), wire.Sparse(x.GetLayout())
	for i, layout := range x.GetLayout() {
		if layout == nil {
			x.Layout[i] = &commonv1.Layout{} // a list has no place for nothing
		}
	}
	return x
}

// shape is a request as it travels, in whichever message.
type shape struct {
	job                                    uint64
	cpus, nodes, memoryMB, wallTime, power int64
	like                                   uint64
	layout                                 *commonv1.Layout // nil: it says nothing
}

func shapeOf(r *protocol.Request) shape {
	return shape{
		uint64(r.Job), int64(r.CPUs), int64(r.Nodes), r.MemoryMB, wire.EncodeSpan(r.WallTime), int64(r.Power), r.Like,
		wireLayout(r.Layout),
	}
}

// wireLayout leaves out what says nothing.
func wireLayout(l protocol.Layout) *commonv1.Layout {
	if l == (protocol.Layout{}) {
		return nil
	}
	return &commonv1.Layout{
		Tasks: int64(l.Tasks), TasksPerNode: int64(l.TasksPerNode), CpusPerTask: int64(l.CPUsPerTask), MaxNodes: int64(l.MaxNodes),
	}
}

// readRequest leaves it to the scheduler to refuse what is merely too little.
func readRequest(s shape) (protocol.Request, error) {
	if err := wire.First(
		wire.Count("cpus", s.cpus),
		wire.Count("nodes", s.nodes),
		wire.Amount("memory_mb", s.memoryMB),
		span("wall_time", s.wallTime),
		wire.Power("power", s.power),
		wire.Count("layout.tasks", s.layout.GetTasks()),
		wire.Count("layout.tasks_per_node", s.layout.GetTasksPerNode()),
		wire.Count("layout.cpus_per_task", s.layout.GetCpusPerTask()),
		wire.Count("layout.max_nodes", s.layout.GetMaxNodes()),
	); err != nil {
		return protocol.Request{}, err
	}
	r := protocol.Request{
		Job: protocol.JobID(s.job), CPUs: int(s.cpus), Nodes: int(s.nodes),
		MemoryMB: s.memoryMB, WallTime: wire.DecodeSpan(s.wallTime), Power: int(s.power), Like: s.like,
		Layout: protocol.Layout{
			Tasks: int(s.layout.GetTasks()), TasksPerNode: int(s.layout.GetTasksPerNode()),
			CPUsPerTask: int(s.layout.GetCpusPerTask()), MaxNodes: int(s.layout.GetMaxNodes()),
		},
	}
	return r, wire.In("layout", r.CheckLayout())
}
