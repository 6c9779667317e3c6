package powergate_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fake is a batch system whose jobs start and end when the test says so. It keeps its jobs
// while gates come and go.
type fake struct {
	// probe hears of each call before it has taken effect, and after.
	probe func(call string, tag protocol.Tag)
	// trouble is the error of a call, by its name; late troubles come when the call has
	// taken effect.
	trouble, late map[string]error
	cpus          int

	mu       sync.Mutex
	jobs     map[protocol.Tag]fakeJob
	calls    map[string]int
	changes  *changefeed.Feed
	reported map[protocol.Tag]*changefeed.Job
}

type fakeJob struct {
	state protocol.State
	cpus  int
	runs  int // how often it was started
	gone  bool
}

// withdrawnState is that of a job that never starts.
const withdrawnState protocol.State = 0

var errTrouble = errors.New("the batch system has trouble")

func newFake(cpus int) *fake {
	return &fake{
		cpus: cpus, jobs: map[protocol.Tag]fakeJob{}, calls: map[string]int{}, changes: changefeed.New(rand.Uint64()),
		trouble: map[string]error{}, late: map[string]error{}, reported: map[protocol.Tag]*changefeed.Job{},
	}
}

// clone is a batch system with the same jobs that has told nothing yet.
func (f *fake) clone() *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := newFake(f.cpus)
	c.jobs = maps.Clone(f.jobs)
	c.retell()
	return c
}

// retell tells the state of each job from the beginning, as batch systems do when they are
// opened.
func (f *fake) retell() {
	f.changes = changefeed.New(rand.Uint64())
	clear(f.reported)
	for tag, j := range f.jobs {
		if j.state != withdrawnState && !j.gone {
			f.tell(tag, j.state)
		}
	}
}

func (f *fake) tell(tag protocol.Tag, state protocol.State) {
	c := localsched.Change{Tag: tag, State: state}
	if state != protocol.Pending {
		c.Started = 1
	}
	if state.Terminal() {
		c.Outcome = protocol.Outcome{State: state}
	}
	if f.reported[tag] == nil {
		f.reported[tag] = &changefeed.Job{}
	}
	f.changes.Report(f.reported[tag], c)
}

func (f *fake) forget(tag protocol.Tag) {
	if j := f.reported[tag]; j != nil {
		f.changes.Forget(j)
	}
}

// do brackets a call.
func (f *fake) do(call string, tag protocol.Tag, effect func() error) error {
	if f.probe != nil {
		f.probe("before "+call, tag)
	}
	f.mu.Lock()
	f.calls[call]++
	err := f.trouble[call]
	if err == nil {
		err = effect()
	}
	if err == nil {
		err = f.late[call]
	}
	f.mu.Unlock()
	if f.probe != nil {
		f.probe("after "+call, tag)
	}
	return err
}

func (f *fake) called(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

func (f *fake) set(call string, early, late error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble[call], f.late[call] = early, late
}

func (f *fake) get(tag protocol.Tag) (fakeJob, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, ok := f.jobs[tag]
	return j, ok
}

// start starts a job that waits, and end ends one that runs; others are left alone.
func (f *fake) start(tag protocol.Tag) { f.move(tag, protocol.Pending, protocol.Running) }
func (f *fake) end(tag protocol.Tag)   { f.move(tag, protocol.Running, protocol.Completed) }

// endSome ends the job of those that run whose turn it is.
func (f *fake) endSome(turn int) {
	f.mu.Lock()
	var running []protocol.Tag
	for tag, j := range f.jobs {
		if j.state == protocol.Running {
			running = append(running, tag)
		}
	}
	f.mu.Unlock()
	slices.SortFunc(running, func(a, b protocol.Tag) int { return cmp.Compare(a.Job, b.Job) })
	if len(running) > 0 {
		f.end(running[turn%len(running)])
	}
}

func (f *fake) move(tag protocol.Tag, from, to protocol.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, ok := f.jobs[tag]
	if !ok || j.state != from || j.gone {
		return
	}
	if to == protocol.Running {
		j.runs++
	}
	j.state = to
	f.jobs[tag] = j
	f.tell(tag, to)
}

func (f *fake) Describe(context.Context) (localsched.Description, error) {
	return localsched.Description{Name: "fake", Capacity: protocol.Capacity{CPUs: f.cpus, Nodes: 1}}, nil
}

func (f *fake) Load(context.Context) (load protocol.Load, err error) {
	return load, f.do("load", protocol.Tag{}, func() error {
		load = f.load()
		return nil
	})
}

func (f *fake) load() protocol.Load {
	load := protocol.Load{CPUs: f.cpus}
	for _, j := range f.jobs {
		if j.state == protocol.Pending {
			load.QueuedJobs++
			load.QueuedWork += int64(j.cpus)
		}
		if j.state == protocol.Running {
			load.Busy += j.cpus
		}
	}
	return load
}

// Quote says that each job waits a minute, and half an hour for each that is ahead; in the partition "slow" an hour more.
func (f *fake) Quote(_ context.Context, query localsched.Query) (quotes []protocol.Quote, err error) {
	return quotes, f.do("quote", protocol.Tag{}, func() error {
		for i, r := range query.Jobs {
			wait := protocol.Duration(1+30*len(query.Ahead)) * protocol.Minute
			if query.Association(i).Partition == "slow" {
				wait += protocol.Hour
			}
			q := protocol.Quote{Job: r.Job, AWTLow: wait / 2, AWT: wait, AWTHigh: 2 * wait, Bound: 3 * wait, ERT: r.WallTime}
			if r.CPUs > f.cpus {
				q = protocol.Quote{Job: r.Job, Declined: "too large"}
			}
			quotes = append(quotes, q)
		}
		return nil
	})
}

func (f *fake) Submit(_ context.Context, job localsched.Submission) (localsched.LocalID, error) {
	return "behind", f.do("submit", job.Tag, func() error {
		if j, known := f.jobs[job.Tag]; known {
			if j.state == withdrawnState {
				return &localsched.RefusedError{Reason: "it was withdrawn"}
			}
			return nil
		}
		f.jobs[job.Tag] = fakeJob{state: protocol.Pending, cpus: job.Spec.CPUs}
		f.tell(job.Tag, protocol.Pending)
		return nil
	})
}

func (f *fake) FindByTag(_ context.Context, tag protocol.Tag) (presence localsched.Presence, id localsched.LocalID, err error) {
	return presence, "behind", f.do("find", tag, func() error {
		presence = localsched.Absent
		if j, known := f.jobs[tag]; known && j.state != withdrawnState && !j.gone {
			presence = localsched.Present
		}
		return nil
	})
}

func (f *fake) Withdraw(_ context.Context, tag protocol.Tag) (became localsched.Withdrawal, err error) {
	return became, f.do("withdraw", tag, func() error {
		j := f.jobs[tag]
		if became = localsched.Started; j.state == protocol.Pending || j.state == withdrawnState {
			became = localsched.Withdrawn
			f.jobs[tag] = fakeJob{}
			f.forget(tag)
		}
		return nil
	})
}

func (f *fake) Kill(_ context.Context, tag protocol.Tag) error {
	return f.do("kill", tag, func() error {
		if _, known := f.jobs[tag]; !known {
			return localsched.ErrUnknownJob
		}
		return nil
	})
}

func (f *fake) Forget(_ context.Context, tag protocol.Tag) error {
	return f.do("forget", tag, func() error {
		switch j, known := f.jobs[tag]; {
		case known && j.state == withdrawnState:
			delete(f.jobs, tag) // it is as if it had never come
		case known: // what it did is kept for the test
			j.gone = true
			f.jobs[tag] = j
			f.forget(tag)
		}
		return nil
	})
}

func (f *fake) Fetch(context.Context, protocol.Tag, protocol.Stream, int64, int) ([]byte, error) {
	return []byte("output"), nil
}

func (f *fake) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	for {
		f.mu.Lock()
		list, cursor, moved := f.changes.After(after)
		news, load, err := f.changes.News(), f.load(), f.trouble["watch"]
		f.mu.Unlock()
		if err != nil {
			return localsched.Watched{}, err
		}
		if moved {
			return localsched.Watched{Changes: list, Cursor: cursor, Load: load}, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return localsched.Watched{}, ctx.Err()
		}
	}
}
