package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/changes"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ErrClosed says that the scheduler was closed.
var ErrClosed = errors.New("the process scheduler is closed")

// Scheduler is a batch system over processes of this machine. [Open] makes one.
type Scheduler struct {
	config   Config
	spool    *spool.Spool
	accounts spool.Accounts
	groups   cgroup.Found // below whose parent each job gets one

	mu      sync.Mutex // never held during I/O
	clock   *wallclock.Clock
	rules   rules
	engine  *engine.Engine
	jobs    map[protocol.Tag]*job
	changes *changes.Feed
	seq     uint64           // of the latest submission
	starts  []*job           // the engine has said so, the driver has yet to do it
	kills   []*job           // likewise
	wake    protocol.Instant // the engine's
	turn    protocol.Instant // the next one at which the budget is another
	told    int64            // the budget that watchers were told of, as in [protocol.Load]
	held    []*job           // by the budget, as told
	looks   uint64           // at the budget
	holds   map[protocol.Tag]*held
	spent   []protocol.Tag // holds whose records are to be removed
	learnt  learnt
	closed  bool
	paused  bool // what the engine starts waits

	uncontained uncontained // jobs

	promises promises       // the keeper's alone, but for its channel
	kick     chan struct{}  // wakes the driver
	stopping chan struct{}  // closed: nothing is started any more
	gone     chan struct{}  // closed: watchers return
	unfollow func()         // ends all that follow jobs
	stop     func()         // ends the driver
	driver   sync.WaitGroup // the driver and its timers
	running  sync.WaitGroup // one for each job from its start to its end
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
	begin := rules{base: config.Policy, budget: config.Budget}
	s := &Scheduler{
		config:   config,
		spool:    sp,
		clock:    wallclock.New(config.Clock),
		rules:    begin,
		paused:   config.Paused,
		jobs:     map[protocol.Tag]*job{},
		holds:    map[protocol.Tag]*held{},
		changes:  changes.New(),
		turn:     power.End,
		promises: promises{news: make(chan struct{}, 1)},
		kick:     make(chan struct{}, 1),
		stopping: make(chan struct{}),
		gone:     make(chan struct{}),
	}
	if config.Learn {
		s.learnt = readLearnt(config.Dir, config.Log)
	}
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
	s.driver.Go(func() { s.drive(driving, following) })
	s.driver.Go(func() { s.keepPromised(driving) })
	if config.Learn {
		s.driver.Go(func() { s.keepLearnt(driving) })
	}
	return s, nil
}

// Close stops driving. Running jobs go on, unless [Config.OnStop] is [EndJobs]:
// then Close waits for their ends. Calls that wait return [ErrClosed].
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
	s.driver.Wait()
	if s.config.OnStop == EndJobs {
		s.endAll()
	}
	s.unfollow()
	s.running.Wait()
	close(s.gone)
	s.closeGroups()
	return errors.Join(s.saveLearnt(), s.spool.Close())
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
		return protocol.Load{}, ErrClosed
	}
	return s.engine.Load(), nil
}

// Quote implements [localsched.Planner]. The expected run time is the wall-time
// limit.
func (s *Scheduler) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	now := s.now()
	ahead, jobs := s.missing(query.Ahead), s.likelyAll(query.Jobs)
	planned := s.engine.Plan(now, ahead, jobs)
	quotes := make([]protocol.Quote, len(planned))
	for i, p := range planned {
		quotes[i] = quoteOf(jobs[i], p, now)
		if quotes[i].AWT > 0 { // limits make the plan: it may well be sooner
			quotes[i].AWTLow = max(0, s.engine.Earliest(now, jobs[i], p.Start).Sub(now))
		}
	}
	if query.Guard != 0 {
		tellDelays(quotes, s.engine.Delays(now, ahead, jobs, query.Guard))
	}
	return quotes, nil
}

// tellDelays says in the quotes whom the jobs would delay.
func tellDelays(quotes []protocol.Quote, delays []protocol.Duration) {
	for i, delay := range delays {
		if quotes[i].Declined == "" {
			quotes[i].Delay = delay
		}
	}
}

// missing are the promised jobs that the engine neither has yet nor holds room for.
func (s *Scheduler) missing(ahead []localsched.Promise) []protocol.Request {
	var out []protocol.Request
	for _, one := range ahead {
		if j := s.jobs[one.Tag]; s.holds[one.Tag] == nil && (j == nil || j.state == making) {
			out = append(out, s.likely(one.Request))
		}
	}
	return out
}

func quoteOf(request protocol.Request, p localsched.Planned, now protocol.Instant) protocol.Quote {
	if p.Declined != "" {
		return protocol.Quote{Job: request.Job, Declined: p.Declined}
	}
	if p.Start == protocol.Instant(protocol.Never) {
		return protocol.Quote{Job: request.Job, Declined: "no start is in sight"}
	}
	wait := max(0, p.Start.Sub(now))
	return protocol.Quote{Job: request.Job, AWT: wait, AWTLow: wait, AWTHigh: wait, ERT: request.WallTime, Note: p.Note}
}

// find is the job with this tag, once its submission is through; nil when there
// is none.
func (s *Scheduler) find(ctx context.Context, tag protocol.Tag) (*job, error) {
	s.mu.Lock()
	j, closed := s.jobs[tag], s.closed
	s.mu.Unlock()
	if closed {
		return nil, ErrClosed
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

func unknown(tag protocol.Tag) error {
	return fmt.Errorf("job %v: %w", tag, localsched.ErrUnknownJob)
}
