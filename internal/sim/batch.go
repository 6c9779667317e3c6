package sim

import (
	"errors"
	"fmt"
	"io"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/virtual"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// batchSystem is a site's batch system: the driver and the engine of a live site, and jobs
// that run as long as the workload says. It lives on when the site's peer crashes.
type batchSystem struct {
	*virtual.System[placed]

	site      *site
	held      io.Closer // an engine elsewhere; nil: it is in this program
	tariff    localsched.Tariff
	predictor *waitpredict.Predictor // nil if quotes are the planned waits
	slots     []*batchJob            // of jobs that have begun, as the heap knows them
	free      []int32
	wake      protocol.Instant // the engine's wake that is in the heap; 0: none
	wakes     bool             // it has made advance reservations, whose time no other event may bring
	budget    power.Signal     // on the peers' clock
}

// placed is what the simulator knows of a job of a batch system.
type placed struct {
	index int32             // in the workload
	slot  int32             // once it has begun
	limit protocol.Duration // of its wall time, without the time for which it stands held for data
	data  protocol.Instant  // when its data are here
	run   *componentRun     // nil: a job of the workload
}

type batchJob = virtual.Job[placed]

func newBatchSystem(s *site, from *Site) (*batchSystem, error) {
	b := &batchSystem{site: s, tariff: from.Tariff}
	runner := virtual.Runner[placed]{
		Now: func() protocol.Instant { return s.grid.now }, Start: b.starts, Limit: virtual.NoLimit[placed], Changed: b.changed,
	}
	if err := from.open(b, runner); err != nil {
		return nil, err
	}
	if from.budgeted() {
		b.budget = from.signal(s.grid.zero)
	}
	var err error
	if from.Waits != "" {
		b.predictor, err = waitpredict.NewPredictor(from.Waits, from.CPUs())
	}
	return b, err
}

// open makes the site's batch system. Where jobs stand held for their data the limit of
// wall time is the peers' business alone: a job that asks for all of it may be held
// besides.
func (s *Site) open(b *batchSystem, runner virtual.Runner[placed]) error {
	c := s.Capacity()
	if b.site.grid.staged {
		c.MaxWallTime = 0
	}
	if s.Engine == nil {
		m, err := s.divided(c)
		if err != nil {
			return fmt.Errorf("site %s: %w", s.Name, err)
		}
		b.System = virtual.New(m, s.rules(b.site.grid.zero), runner)
		return nil
	}
	made, err := s.Engine(c)
	if err != nil {
		return fmt.Errorf("site %s: %w", s.Name, err)
	}
	b.held, _ = made.(io.Closer)
	if _, ok := made.(localsched.DelayEstimator); b.site.cfg.Protect.Delay > 0 && !ok {
		b.close()
		return fmt.Errorf("site %s: its batch system cannot tell delays, so max_owner_delay of [guest_limits] would not hold; leave delay out, or give the site a local policy", s.Name)
	}
	b.System = virtual.WithEngine(made, runner)
	return nil
}

// close gives back an engine elsewhere, whose results are there.
func (b *batchSystem) close() {
	if b.held != nil {
		_ = b.held.Close()
	}
}

// quote answers each job alone, as [localsched.Planner] wants it.
func (b *batchSystem) quote(now protocol.Instant, query localsched.Query) ([]protocol.Quote, error) {
	quotes, err := b.Quote(query)
	if err != nil {
		return nil, b.fails(err)
	}
	added, err := b.added(query, quotes)
	if err != nil {
		return nil, b.fails(err)
	}
	for i := range quotes {
		if q := &quotes[i]; q.Declined == "" {
			b.expect(now, &query.Jobs[i], q, added[i])
		}
		b.tariff.Charge(&quotes[i], query.Jobs[i].CPUs)
	}
	return quotes, nil
}

// added is by how much those ahead put each job back, for predictions, which do not
// know of them.
func (b *batchSystem) added(query localsched.Query, quotes []protocol.Quote) ([]protocol.Duration, error) {
	added := make([]protocol.Duration, len(quotes))
	if len(query.Ahead) == 0 || b.predictor == nil || b.predictor.ByPlan() {
		return added, nil
	}
	without, err := b.Quote(localsched.Query{Jobs: query.Jobs})
	if err != nil {
		return nil, err
	}
	for i := range quotes {
		if quotes[i].Declined == "" && without[i].Declined == "" {
			added[i] = max(0, quotes[i].AWT-without[i].AWT)
		}
	}
	return added, nil
}

// expect turns a planned wait into the one quoted to partners: the prediction, with the
// error that the configuration asks for, and for the portal until the job's data can be
// here.
func (b *batchSystem) expect(now protocol.Instant, r *protocol.Request, q *protocol.Quote, added protocol.Duration) {
	if b.predictor != nil {
		b.predictor.Annotate(now, *r, q, added)
	}
	c := &b.site.grid.cfg
	if c.Perturb == 0 && !b.site.grid.staged {
		return
	}
	index, err := b.site.grid.indexOf(r.Job)
	if err != nil {
		return // a question about a job that is not submitted
	}
	q.AWT = c.perturb(q.AWT, index, b.site.index)
	if c.Scheme == Central {
		q.AWT = max(q.AWT, b.site.grid.transfer(index, b.site.index))
	}
	q.AWTLow, q.AWTHigh = min(q.AWTLow, q.AWT), max(q.AWTHigh, q.AWT)
}

// load is how busy the machine is.
func (b *batchSystem) load() protocol.Load {
	load, err := b.Load()
	_ = b.fails(err)
	return load
}

// fails ends the simulation if an engine has failed: that makes all that follows worthless.
// It returns the error.
func (b *batchSystem) fails(err error) error {
	if fault := new(virtual.FaultError); errors.As(err, &fault) {
		b.site.grid.fail("site %s: %w", b.site.name, fault.Err)
	}
	return err
}

// done is fails for a call that may have moved the engine's wake.
func (b *batchSystem) done(err error) error {
	if err == nil {
		b.wakeLater()
	}
	return b.fails(err)
}

// submit puts a job in the queue, for the time too that it may be held up by its data.
func (b *batchSystem) submit(now protocol.Instant, s localsched.Submission) (localsched.LocalID, error) {
	if j := b.Job(s.Tag); j != nil {
		return j.ID(), nil
	}
	index, err := b.site.grid.indexOf(s.Tag.Job)
	if err != nil {
		return "", err
	}
	transfer := b.site.grid.transfer(index, b.site.index)
	detail := placed{
		index: index, limit: s.Spec.WallTime, data: now.Add(transfer), run: b.site.grid.prepare(b.site, index, &s),
	}
	request := heldForData(s.Spec.Request, transfer)
	j, err := b.Submit(s.Tag, request, detail)
	if b.done(err) != nil {
		return "", err
	}
	return j.ID(), nil
}

// heldForData is a request with limits for a job that may be held for so long until its data are here.
func heldForData(r protocol.Request, transfer protocol.Duration) protocol.Request {
	r.WallTime = r.WallTime.Plus(transfer)
	if r.MinTime > 0 {
		r.MinTime = r.MinTime.Plus(transfer)
	}
	return r
}

// withdraw takes a job out of the queue if it has not started.
func (b *batchSystem) withdraw(now protocol.Instant, tag protocol.Tag) (localsched.Withdrawal, error) {
	if j := b.Job(tag); j != nil && b.predictor != nil && j.State == protocol.Pending && !j.Withdrawn {
		b.predictor.Withdrawn(now, tag)
	}
	became, err := b.Withdraw(tag)
	return became, b.done(err)
}

// forget drops a job that has ended or was withdrawn.
func (b *batchSystem) forget(tag protocol.Tag) error {
	j := b.Job(tag)
	err := b.Forget(tag)
	if err == nil && j != nil && j.Started != 0 {
		b.free = append(b.free, j.Detail.slot)
	}
	return err
}

// reserve makes an advance reservation, as [localsched.Reserver] wants it: for the time too
// that the job may be held up by its data.
func (b *batchSystem) reserve(hold localsched.Reservation) (protocol.Instant, error) {
	index, err := b.site.grid.indexOf(hold.Tag.Job)
	if err != nil {
		return 0, err
	}
	hold.Request = heldForData(hold.Request, b.site.grid.transfer(index, b.site.index))
	at, err := b.Reserve(hold)
	b.wakes = b.wakes || err == nil
	return at, b.done(err)
}

// watched is what happened after the cursor; ok is false when nothing has, and the load
// is what it was.
func (b *batchSystem) watched(after localsched.Cursor) (w localsched.Watched, ok bool) {
	w, ok, err := b.Watched(after)
	_ = b.fails(err)
	return w, ok
}

// starts has a job begin that the engine has started, now or when its start-up is over.
func (b *batchSystem) starts(j *batchJob) error {
	j.Detail.slot = b.slot(j)
	if latency := b.site.latenciesOf(j.Detail.index).Start; latency > 0 {
		b.site.grid.heap.push(b.site.grid.now.Add(latency), jobBegins, b.site.index, int(j.Detail.slot))
		return nil
	}
	b.begin(j)
	return nil
}

// begins is the end of a job's start-up, unless it was withdrawn before.
func (b *batchSystem) begins(slot int32) {
	if j := b.slots[slot]; j.State == protocol.Pending && !j.Withdrawn {
		b.begin(j)
	}
}

func (b *batchSystem) begin(j *batchJob) {
	now := b.site.grid.now
	run := b.site.grid.started(b.site, j, now)
	b.site.grid.heap.push(now.Add(run).Add(b.site.latenciesOf(j.Detail.index).End), jobEnds, b.site.index, int(j.Detail.slot))
	b.Begin(j)
}

func (b *batchSystem) slot(j *batchJob) int32 {
	if n := len(b.free); n > 0 {
		slot := b.free[n-1]
		b.free = b.free[:n-1]
		b.slots[slot] = j
		return slot
	}
	b.slots = append(b.slots, j)
	return int32(len(b.slots) - 1) //nolint:gosec // a slot for each job that is kept at once
}

// changed passes a change on to the wait prediction and to the peer.
func (b *batchSystem) changed(j *batchJob, change localsched.Change) {
	if b.predictor != nil {
		if change.State == protocol.Pending && !j.Reserved { // the wait for a reservation says nothing of others
			request := j.Request
			request.WallTime = j.Detail.limit
			b.predictor.Submitted(b.site.grid.now, j.Tag, request)
		}
		b.predictor.Changed(b.site.grid.now, change)
	}
	b.site.grid.touch(b.site)
}

// ends is the end of a running job, unless it was killed before.
func (b *batchSystem) ends(now protocol.Instant, slot int32) {
	j := b.slots[slot]
	end := b.site.grid.endOf(j.Detail.index)
	if j.State != protocol.Running || end.Add(b.site.latenciesOf(j.Detail.index).End) != now {
		return
	}
	outcome := j.Detail.run.outcome()
	if end < now && outcome.Ran == 0 {
		outcome.Ran = end.Sub(j.Started)
	}
	_ = b.done(b.End(j, outcome))
}

// tick starts jobs at their reservations. Time limits need no timer: in a workload no job runs
// longer than its estimate.
func (b *batchSystem) tick(now protocol.Instant) {
	if b.wake == now {
		b.wake = 0
		_ = b.done(b.Tick())
	}
}

// wakeLater has the engine be asked again when it wants that, where no other event may bring it.
func (b *batchSystem) wakeLater() {
	if wake := b.Wake(); (b.site.wakesBatch || b.wakes) && wake != 0 && wake != b.wake {
		b.wake = max(wake, b.site.grid.now)
		b.site.grid.heap.push(b.wake, batch, b.site.index, 0)
	}
}

// turns asks for the next time at which the site's budget is another. The peer must hear
// of it though no job comes or goes: its digest and what it volunteers for depend on it.
func (b *batchSystem) turns(now protocol.Instant) {
	if _, until := b.budget.At(now); until != power.End {
		b.site.grid.heap.push(until, budgetTurns, b.site.index, 0)
	}
}

// turn is such a time.
func (b *batchSystem) turn(now protocol.Instant) {
	_ = b.done(b.Tick())
	b.site.grid.check.last = now
	b.site.grid.touch(b.site)
	b.turns(now)
}
