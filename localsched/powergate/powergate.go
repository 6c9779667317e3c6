package powergate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/live"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxConcurrentSubmits is how many jobs are given to the batch system at the same time.
const maxConcurrentSubmits = 8

// Gate is a batch system within a power budget. [Open] makes one. What it does not say
// itself, the batch system behind it does.
type Gate struct {
	localsched.Scheduler // behind the gate

	config  Config
	records records

	mu             sync.Mutex // never held during I/O
	unrated        bool       // what CPUs draw is not known
	driver         *live.Driver
	jobs           map[protocol.Tag]*job
	changes        *changefeed.Feed
	seq            uint64        // of the latest submission
	starts         []start       // the loop has yet to do them
	lastLoadBehind protocol.Load // the last one that the batch system has reported
	closed         bool

	unmanaged   map[protocol.Tag]*changefeed.Job // what is reported of jobs that are not the gate's
	withdrawing bool                             // jobs of the batch system's queue

	submitSlots chan struct{}  // takes maxConcurrentSubmits
	gone        chan struct{}  // closed: watchers return
	stop        func()         // ends the loop and all that it has started
	running     sync.WaitGroup // these
}

var _ localsched.Scheduler = (*Gate)(nil)

// Open finds the jobs in the gate's directory again and begins to follow the batch system. It
// does not ask that anything. The errors are about the configuration and the directory.
func Open(config Config) (*Gate, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	g := &Gate{
		Scheduler:   config.Scheduler,
		config:      config,
		records:     records{config.Dir},
		jobs:        map[protocol.Tag]*job{},
		unmanaged:   map[protocol.Tag]*changefeed.Job{},
		changes:     changefeed.New(rand.Uint64()),
		submitSlots: make(chan struct{}, maxConcurrentSubmits),
		gone:        make(chan struct{}),
	}
	g.unrated = unrated(config.Budget)
	g.driver = live.New(config.Clock, config.Log, live.Runner{CarryOut: g.carryOut, Advice: misfitAdvice()})
	if err := g.restore(); err != nil {
		return nil, fmt.Errorf("the gate's directory %s: %w", config.Dir, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	g.running.Go(func() { g.drive(ctx) })
	g.running.Go(func() { g.follow(ctx) })
	return g, nil
}

// budget is the active one. The lock is held.
func (g *Gate) budget() engine.Budget { return g.driver.Rules().Budget }

// load is what the engine says of the jobs that it has started and that wait here. The lock is
// held.
func (g *Gate) load() protocol.Load {
	load, _ := g.driver.Load() // the built-in engine has no errors
	return load
}

// Close stops giving jobs to the batch system and following it. Jobs that are held stay
// in the directory. Calls that wait return [localsched.ErrClosed].
func (g *Gate) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.running.Wait()
	close(g.gone)
	return nil
}

// SetBudget has another power budget hold from here on: another signal too. The error
// says what is wrong with it.
func (g *Gate) SetBudget(budget engine.Budget) error {
	if err := rulesOf(budget).Check(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return localsched.ErrClosed
	}
	g.unrated = unrated(budget)
	for _, j := range g.jobs {
		j.until = 0 // what was let go was so within the old one
	}
	g.driver.ChangeRules(func(r *driver.Rules) { *r = rulesOf(budget) })
	return nil
}

// lockJob is the job with this tag, held; nil when there is none. The caller releases it.
func (g *Gate) lockJob(ctx context.Context, tag protocol.Tag) (*job, error) {
	j, err := g.lockJobOr(ctx, tag, func() *job { return nil })
	if j != nil && g.stateOf(j) == stateNew {
		g.dropUnsubmitted(j)
		j.unlock()
		return nil, nil
	}
	return j, err
}

// lockOrCreateJob is grab, and makes the job if need be.
func (g *Gate) lockOrCreateJob(ctx context.Context, tag protocol.Tag) (*job, error) {
	return g.lockJobOr(ctx, tag, func() *job {
		j := newJob(tag)
		if s := g.unmanaged[tag]; s != nil {
			j.Reported = *s
			delete(g.unmanaged, tag)
		}
		g.jobs[tag] = j
		return j
	})
}

func (g *Gate) lockJobOr(ctx context.Context, tag protocol.Tag, otherwise func() *job) (*job, error) {
	for {
		g.mu.Lock()
		j, closed := g.jobs[tag], g.closed
		if j == nil && !closed {
			j = otherwise()
		}
		g.mu.Unlock()
		if closed {
			return nil, localsched.ErrClosed
		}
		if j == nil {
			return nil, nil
		}
		if err := j.lock(ctx); err != nil {
			return nil, err
		}
		if g.isCurrent(j) {
			return j, nil
		}
		j.unlock() // it was dropped meanwhile
	}
}

// isCurrent reports whether a job is not dropped.
func (g *Gate) isCurrent(j *job) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.jobs[j.Tag] == j
}

func (g *Gate) stateOf(j *job) state {
	g.mu.Lock()
	defer g.mu.Unlock()
	return j.state
}

// drop forgets a job, in memory.
func (g *Gate) drop(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(j)
	delete(g.jobs, j.Tag)
	g.changes.Forget(&j.Reported)
}

// leave takes a job out of the engine. The lock is held.
func (g *Gate) leave(j *job) {
	at := g.driver.Now()
	g.driver.Done(g.driver.Leave(at, &j.Job))
}
