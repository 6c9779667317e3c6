package sim

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Latencies are the times that the peer and the batch system of a live site need for their work. The
// zero value needs none.
type Latencies struct {
	Commit protocol.Duration `toml:"commit"` // until the records of a step are durable; messages and calls of this and later steps wait
	Call   protocol.Duration `toml:"call"`   // of a call of the peer, other than a submission
	Submit protocol.Duration `toml:"submit"` // these are of each job that has none of its own, see [JobLatencies]
	Start  protocol.Duration `toml:"start"`
	End    protocol.Duration `toml:"end"`
}

// job are the latencies of jobs that have none of their own.
func (l Latencies) job() JobLatencies {
	return JobLatencies{Submit: l.Submit, Start: l.Start, End: l.End}
}

// JobLatencies are the times that a batch system needs for a job.
type JobLatencies struct {
	Submit protocol.Duration // from the call until the job is in the queue
	Start  protocol.Duration // from the batch system's decision to start the job to its start
	End    protocol.Duration // from the job's end until its CPUs are free and the peer can see it
}

func (l Latencies) validate() error {
	if min(l.Commit, l.Call) < 0 {
		return fmt.Errorf("latencies %+v: none may be negative", l)
	}
	return l.job().validate()
}

func (l JobLatencies) validate() error {
	if min(l.Submit, l.Start, l.End) < 0 {
		return fmt.Errorf("latencies %+v of a job: none may be negative", l)
	}
	return nil
}

// checkJobTables says what is wrong with the latencies and first checks, and with the lengths of what single jobs have.
func (c Config) checkJobTables(jobs int) (problems []error) {
	for i := range c.Sites {
		if err := c.Sites[i].Latencies.validate(); err != nil {
			problems = append(problems, fmt.Errorf("site %s: %w", c.Sites[i].Name, err))
		}
		if c.Sites[i].FirstCheck < 0 {
			problems = append(problems, fmt.Errorf("site %s: its first check is at %v, before the beginning", c.Sites[i].Name, c.Sites[i].FirstCheck))
		}
	}
	if n := len(c.JobLatencies); n != 0 && n != jobs {
		return append(problems, fmt.Errorf("latencies of %d jobs for a workload of %d", n, jobs))
	}
	if n := len(c.Requests); n != 0 && n != jobs {
		return append(problems, fmt.Errorf("requests of %d jobs for a workload of %d", n, jobs))
	}
	for i, one := range c.JobLatencies {
		if one == nil {
			continue
		}
		if err := one.validate(); err != nil {
			problems = append(problems, fmt.Errorf("job with index %d: %w", i, err))
		}
	}
	return problems
}

// latenciesOf are those of a job of the workload at a site.
func (s *site) latenciesOf(index int32) JobLatencies {
	if int(index) < len(s.grid.cfg.JobLatencies) {
		if own := s.grid.cfg.JobLatencies[index]; own != nil {
			return *own
		}
	}
	return s.latencies.job()
}

// untilDurable is how long the messages and calls of the present step wait for its records and for
// those of earlier steps. Effects keep the order of their steps.
func (s *site) untilDurable(writes bool) protocol.Duration {
	if writes && s.latencies.Commit > 0 {
		s.durable = max(s.durable, s.grid.now.Add(s.latencies.Commit))
	}
	return max(0, s.durable.Sub(s.grid.now))
}

// callLatency is the time from a call to its answer.
func (s *site) callLatency(op event.Op) protocol.Duration {
	if _, waits := op.(event.WatchOp); waits { // for something to happen
		return 0
	}
	submit, ok := op.(event.SubmitOp)
	if !ok {
		return s.latencies.Call
	}
	if index, err := s.grid.indexOf(submit.Job.Tag.Job); err == nil {
		return s.latenciesOf(index).Submit
	}
	return s.latencies.Submit
}

// call has a call answered at once, or when its time has come.
func (g *grid) call(p pending, after protocol.Duration) {
	if after == 0 {
		g.calls.push(p)
		return
	}
	g.heap.push(g.now.Add(after), answers, p.site.index, g.underWay.put(p))
}

// answer carries out a call whose time has come.
func (g *grid) answer(ctx context.Context, which int32) {
	g.calls.push(g.underWay.take(which))
	g.answerCalls(ctx)
}

// slots keep what moments of the heap are about, each by its number until it is taken.
type slots[T any] struct {
	items []T
	free  []int32
}

func (s *slots[T]) put(item T) int {
	if n := len(s.free); n > 0 {
		at := s.free[n-1]
		s.free = s.free[:n-1]
		s.items[at] = item
		return int(at)
	}
	s.items = append(s.items, item)
	return len(s.items) - 1
}

func (s *slots[T]) take(at int32) T {
	item := s.items[at]
	s.items[at] = *new(T)
	s.free = append(s.free, at)
	return item
}
