package slurm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Scheduler is a site's Slurm. [Open] makes one.
type Scheduler struct {
	config   Config
	commands *commands
	spool    *spool.Spool
	accounts spool.Accounts
	asked    testOnlyAnswers // of sbatch --test-only

	mu       sync.Mutex // never held during I/O
	jobs     map[protocol.Tag]*job
	changes  *changefeed.Feed
	snapshot *snapshot    // the last look at the queue; nil: Slurm has not answered yet
	look     *pendingLook // that is in progress; nil: none is
	history  *history     // of the last look; nil: Slurm has not answered yet
	record   observed
	orphans  []orphan
	// cancellations that have not been carried out, by the name in Slurm.
	cancellations       map[string]cancellation
	advanceReservations map[protocol.Tag]*advanceReservation
	linear              bool // Slurm gives jobs whole nodes only
	memory              memory
	runs                runTimes // of the look that is under way
	closed              bool
	troubled            time.Time // when Slurm last did not answer, or had lost a job

	reserves chan struct{} // holds one word: who takes it may make and delete reservations
	swept    atomic.Bool   // reservations without a record have been deleted
	cancels  chan struct{} // holds a word while there are cancellations
	carrying sync.Mutex    // held while cancellations are carried out

	workSlots chan struct{}   // bounds what the driver does at once
	gone      chan struct{}   // closed: watchers return
	ctx       context.Context //nolint:containedctx // what the driver starts lives as long as the scheduler
	stop      func()
	driver    sync.WaitGroup // the driver, and what it has started
}

var _ localsched.Scheduler = (*Scheduler)(nil)

// Check reports whether Slurm's commands are installed and of a version that the adapter supports, whether the accounts of jobs
// reach the spool, and whether Slurm has the partitions. The controller need not answer; then nothing is said of partitions.
func Check(ctx context.Context, config Config) []error {
	config = config.withDefaults()
	c := newCommands(config)
	if _, err := c.version(ctx); err != nil {
		return []error{err}
	}
	var wrong []error
	if err := spool.CheckReachable(config.Dir); err != nil {
		wrong = append(wrong, err)
	}
	all, err := c.partitions(ctx)
	if _, failed := errors.AsType[*commandError](err); failed {
		return wrong
	}
	if err == nil {
		_, err = ours(all, config.Partitions)
	}
	if err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// Open takes the spool, finds the jobs in it again, looks at the queue, and begins
// to watch it. The errors are about the configuration, the spool and Slurm's
// version. A controller that does not answer is none: calls say so until it does.
func Open(ctx context.Context, config Config) (*Scheduler, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	s := &Scheduler{
		config:              config,
		commands:            newCommands(config),
		jobs:                map[protocol.Tag]*job{},
		advanceReservations: map[protocol.Tag]*advanceReservation{},
		reserves:            make(chan struct{}, 1),
		cancels:             make(chan struct{}, 1),

		cancellations: map[string]cancellation{},
		workSlots:     make(chan struct{}, 2*atOnce),
		gone:          make(chan struct{}),
	}
	version, err := s.commands.version(ctx)
	if err != nil {
		return nil, err
	}
	config.Log.Info("slurm_commands_found", "version", version)
	if s.spool, err = openSpool(config.Dir, config.Log); err != nil {
		return nil, err
	}
	if err = s.begin(ctx); err != nil {
		return nil, errors.Join(err, s.spool.Close())
	}
	return s, nil
}

// begin finds the jobs and starts the driver.
func (s *Scheduler) begin(ctx context.Context) error {
	generation, err := nextGeneration(s.config.Dir)
	if err != nil {
		return err
	}
	s.changes = changefeed.New(generation)
	s.record = loadObserved(s.config.Dir, s.config.Log)
	if err = errors.Join(s.restore(), s.restoreReservations()); err != nil {
		return err
	}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	// A controller that is about to end, or to start, has commands fail with whatever words, or none.
	err = s.lookNow(ctx)
	if _, failed := errors.AsType[*commandError](err); failed {
		s.config.Log.Error("slurm_unreachable", "error", err)
		s.trouble()
	} else if err != nil {
		s.stop()
		s.driver.Wait()
		return fmt.Errorf("look at Slurm's queue: %w", err)
	}
	s.driver.Go(s.drive)
	s.driver.Go(s.carryOutCancels)
	if s.config.NodeExporter != "" {
		s.driver.Go(s.meterNodes)
	}
	return nil
}

// Close stops watching. Jobs go on in Slurm. Calls that wait return [localsched.ErrClosed].
func (s *Scheduler) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.driver.Wait()
	close(s.gone)
	return errors.Join(s.saveObserved(), s.spool.Close())
}

// Describe implements [localsched.Planner].
func (s *Scheduler) Describe(ctx context.Context) (localsched.Description, error) {
	now, err := s.fresh(ctx)
	if err != nil {
		return localsched.Description{}, err
	}
	d := localsched.Description{Name: "slurm", Capacity: now.capacity(), Capabilities: []string{localsched.Associations}}
	if s.config.Reservations {
		d.Capabilities = append(d.Capabilities, localsched.Reserve)
	}
	return d, nil
}

// Load implements [localsched.Planner]. It is at most a few polls old.
func (s *Scheduler) Load(ctx context.Context) (protocol.Load, error) {
	if _, err := s.fresh(ctx); err != nil {
		return protocol.Load{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(), nil
}

// fresh is the last look at the queue, or a new one if that is old because the
// controller did not answer. Its error says so.
func (s *Scheduler) fresh(ctx context.Context) (*snapshot, error) {
	const old = 5 // polls
	s.mu.Lock()
	seen, closed := s.snapshot, s.closed
	s.mu.Unlock()
	if closed {
		return nil, localsched.ErrClosed
	}
	if seen != nil && time.Since(seen.at) < old*s.config.Poll+time.Second {
		return seen, nil
	}
	return s.lookSince(ctx, time.Time{})
}

// load is the load of the last look and of what was submitted since. The lock is
// held.
func (s *Scheduler) load() protocol.Load {
	if s.snapshot == nil {
		return protocol.Load{}
	}
	load := s.snapshot.load
	for _, r := range s.since(s.snapshot) {
		load.QueuedJobs++
		load.QueuedWork = addWork(load.QueuedWork, r.CPUs, r.WallTime)
	}
	return load
}

// since lists the jobs that Slurm has taken since a look. The lock is held.
func (s *Scheduler) since(seen *snapshot) (specs []*protocol.Spec) {
	for _, j := range s.jobs {
		if j.state == queued && j.since.After(seen.at) && !seen.has(j.name) {
			specs = append(specs, &j.record.Submission.Spec)
		}
	}
	return specs
}

// get is the job with this tag; nil when there is none.
func (s *Scheduler) get(tag protocol.Tag) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, localsched.ErrClosed
	}
	return s.jobs[tag], nil
}

// stateOf is where a job stands now.
func (s *Scheduler) stateOf(j *job) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return j.state
}
