package process

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/live"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Scheduler is a batch system over processes of this machine. [Open] makes one.
type Scheduler struct {
	config   Config
	spool    *spool.Spool
	accounts spool.Accounts
	groups   cgroup.Found // below whose parent each job gets one

	mu                sync.Mutex // never held during I/O
	driver            *live.Driver
	jobs              map[protocol.Tag]*job
	changes           *changefeed.Feed
	seq               uint64 // of the latest submission
	starts            []*job // the driver has started these, the loop has yet to do it
	kills             []*job // the driver has ended these, the loop has yet to do it
	reservations      map[protocol.Tag]*reservation
	endedReservations []protocol.Tag // reservations whose records are to be removed
	powerHistory      powerHistory
	closed            bool
	paused            bool // what the engine starts waits

	uncontained uncontained        // jobs
	devices     map[deviceKey]*job // those that jobs have
	openDevices string             // why jobs can use the devices of others; empty: they cannot

	reservedStarts reservedStarts // the keeper's alone, but for its channel
	stopping       chan struct{}  // closed: nothing is started any more
	gone           chan struct{}  // closed: watchers return
	unfollow       func()         // ends all that follow jobs
	stop           func()         // ends the loop
	loops          sync.WaitGroup // the loop and its timers
	running        sync.WaitGroup // one for each job from its start to its end
}

var _ localsched.Scheduler = (*Scheduler)(nil)

// Open takes the spool, finds the jobs in it again, and begins to drive them. The
// errors are about the configuration and the spool.
func Open(config Config) (*Scheduler, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	sp, err := openSpool(config.Dir, config.Log)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{
		config:         config,
		spool:          sp,
		paused:         config.Paused,
		jobs:           map[protocol.Tag]*job{},
		reservations:   map[protocol.Tag]*reservation{},
		devices:        map[deviceKey]*job{},
		changes:        changefeed.New(rand.Uint64()),
		reservedStarts: reservedStarts{changed: make(chan struct{}, 1)},
		stopping:       make(chan struct{}),
		gone:           make(chan struct{}),
	}
	s.driver = live.New(config.Clock, config.Log, live.Runner{CarryOut: s.carryOut, Advice: misfitAdvice()})
	if config.LearnJobPower {
		s.powerHistory = readPowerHistory(config.Dir, config.Log)
	}
	s.warnOfDevices()
	s.openGroups()
	found, err := s.restore()
	if err == nil {
		s.sweepGroups()
	}
	if err != nil {
		return nil, errors.Join(err, sp.Close())
	}
	following, unfollow := context.WithCancel(context.Background())
	driving, stop := context.WithCancel(following)
	s.unfollow, s.stop = unfollow, stop
	for _, r := range found {
		s.running.Go(func() { s.follow(following, r.job, r.handle) })
	}
	s.loops.Go(func() { s.drive(driving, following) })
	s.loops.Go(func() { s.saveReservedStartsPeriodically(driving) })
	if config.LearnJobPower {
		s.loops.Go(func() { s.savePowerHistoryPeriodically(driving) })
	}
	return s, nil
}

// Close stops driving. Running jobs go on, unless [Config.OnStop] is [EndJobs]:
// then Close waits for their ends. Calls that wait return [localsched.ErrClosed].
func (s *Scheduler) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.stopping)
	s.mu.Unlock()
	s.stop()
	s.loops.Wait()
	if s.config.OnStop == EndJobs {
		s.endAll()
	}
	s.unfollow()
	s.running.Wait()
	close(s.gone)
	s.closeGroups()
	return errors.Join(s.savePowerHistory(), s.spool.Close())
}

// endAll ends what runs and waits for it, not for ever.
func (s *Scheduler) endAll() {
	for _, j := range s.all(running) {
		s.end(j)
	}
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	patience := time.NewTimer(2*s.config.GraceKill + 10*time.Second)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
		s.config.Log.Warn("jobs_still_run_at_stop", "jobs", len(s.all(running)),
			"advice", "see what they wait for; the next start of the peer finds them")
	}
}

// all lists the jobs in a state.
func (s *Scheduler) all(in state) (jobs []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.state == in {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// Describe implements [localsched.Planner].
func (s *Scheduler) Describe(context.Context) (localsched.Description, error) {
	return localsched.Description{
		Name: "process", Capacity: s.config.Capacity, Capabilities: s.capabilities(),
	}, nil
}

// Load implements [localsched.Planner].
func (s *Scheduler) Load(context.Context) (protocol.Load, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return protocol.Load{}, localsched.ErrClosed
	}
	return s.driver.Load()
}

// Quote implements [localsched.Planner]. The expected run time is the wall-time
// limit.
func (s *Scheduler) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, localsched.ErrClosed
	}
	query.Jobs, query.Ahead = s.withPredictedPowers(query.Jobs), slices.Clone(query.Ahead)
	for i := range query.Ahead {
		query.Ahead[i].Request = s.withPredictedPower(query.Ahead[i].Request)
	}
	return s.driver.Quote(s.driver.Now(), query, func(tag protocol.Tag) bool {
		j := s.jobs[tag]
		return j != nil && j.state != making
	})
}

// find is the job with this tag, once its submission is through; nil when there
// is none.
func (s *Scheduler) find(ctx context.Context, tag protocol.Tag) (*job, error) {
	s.mu.Lock()
	j, closed := s.jobs[tag], s.closed
	s.mu.Unlock()
	if closed {
		return nil, localsched.ErrClosed
	}
	if j == nil {
		return nil, nil
	}
	if err := j.wait(ctx); err != nil {
		return nil, err
	}
	if j.failed == nil {
		return j, nil
	}
	return nil, nil // its submission failed: it is in the map no more
}
