package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/foresight"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// batchSystem is a site's batch system: the engine of a live site, and jobs that
// run as long as the workload says. It lives on when the site's peer crashes.
type batchSystem struct {
	site      *site
	engine    localsched.Engine
	tariff    localsched.Tariff
	foresight *foresight.Foresight   // nil: quotes tell the plan
	jobs      map[protocol.Tag]int32 // slots
	slots     []batchJob
	free      []int32
	changes   []localsched.Change
	dropped   int                               // changes no longer kept, which the peer has seen
	wake      protocol.Instant                  // the engine's wake that is in the heap; 0: none
	held      map[protocol.Tag]protocol.Instant // until when room is held for jobs that have not come
	wakes     bool                              // it has held room, whose time no other event may bring
	budget    power.Signal                      // on the peers' clock
	news      bool                              // the load is another, though no job came or went
}

type batchJob struct {
	tag       protocol.Tag
	index     int32 // in the workload
	state     protocol.State
	withdrawn bool
	started   protocol.Instant
	queued    protocol.Instant
	data      protocol.Instant // when its data are here
	run       *componentRun    // nil: a job of the workload
}

func newBatchSystem(s *site, from *Site) (*batchSystem, error) {
	made, err := from.open(s.grid.zero, s.grid.staged)
	if err != nil {
		return nil, err
	}
	if _, ok := made.(localsched.Guard); s.cfg.Protect.Delay > 0 && !ok {
		if held, elsewhere := made.(io.Closer); elsewhere {
			_ = held.Close() // it has not been used
		}
		return nil, fmt.Errorf("site %s: its batch system cannot tell delays, so delay of [protect] would not hold; leave delay out, or give the site a local policy", s.name)
	}
	b := &batchSystem{site: s, engine: made, tariff: from.Tariff, jobs: map[protocol.Tag]int32{}, held: map[protocol.Tag]protocol.Instant{}}
	if from.budgeted() {
		b.budget = from.signal(s.grid.zero)
	}
	if from.Waits != "" {
		b.foresight, err = foresight.New(from.Waits, from.CPUs())
	}
	return b, err
}

// quote answers each job alone, as [localsched.Planner] wants it.
func (b *batchSystem) quote(now protocol.Instant, query localsched.Query) ([]protocol.Quote, error) {
	if len(query.Jobs) == 0 {
		return nil, nil
	}
	var ahead []protocol.Request
	for _, one := range query.Ahead {
		if _, ok := b.jobs[one.Tag]; !ok && !b.holds(now, one.Tag) {
			ahead = append(ahead, one.Request)
		}
	}
	plan, err := b.engine.Plan(now, ahead, query.Jobs)
	if err != nil {
		return nil, b.fails(err)
	}
	added, err := b.added(now, ahead, query.Jobs, plan)
	if err != nil {
		return nil, b.fails(err)
	}
	delays, err := b.delays(now, ahead, query)
	if err != nil {
		return nil, b.fails(err)
	}
	quotes := make([]protocol.Quote, len(query.Jobs))
	for i, planned := range plan {
		q := &quotes[i]
		q.Job, q.Declined = query.Jobs[i].Job, planned.Declined
		if planned.Start < now && q.Declined == "" {
			return nil, b.fails(fmt.Errorf("the engine plans job %v for %v ago", q.Job, now.Sub(planned.Start)))
		}
		if q.Declined == "" {
			q.AWT, q.ERT = planned.Start.Sub(now), query.Jobs[i].WallTime
			b.expect(now, &query.Jobs[i], q, added[i])
		}
		if delays != nil && q.Declined == "" {
			q.Delay = delays[i]
		}
		b.tariff.Charge(q, query.Jobs[i].CPUs)
	}
	return quotes, nil
}

// added is by how much those ahead put each job back, for predictions, which do not
// know of them.
func (b *batchSystem) added(now protocol.Instant, ahead, jobs []protocol.Request, plan []localsched.Planned) ([]protocol.Duration, error) {
	added := make([]protocol.Duration, len(jobs))
	if len(ahead) == 0 || b.foresight == nil || !b.foresight.Predicts() {
		return added, nil
	}
	without, err := b.engine.Plan(now, nil, jobs)
	if err != nil {
		return nil, err
	}
	for i := range plan {
		if plan[i].Declined == "" && without[i].Declined == "" {
			added[i] = max(0, plan[i].Start.Sub(without[i].Start))
		}
	}
	return added, nil
}

// delays are how much later jobs of the guarded site would start; none without one.
func (b *batchSystem) delays(now protocol.Instant, ahead []protocol.Request, query localsched.Query) ([]protocol.Duration, error) {
	guard, ok := b.engine.(localsched.Guard)
	if query.Guard == 0 || !ok {
		return nil, nil
	}
	return guard.Delays(now, ahead, query.Jobs, query.Guard)
}

// expect makes of a planned wait what partners are told: what is foreseen, with the
// error that the configuration asks for, and for the portal until the job's data can be
// here.
func (b *batchSystem) expect(now protocol.Instant, r *protocol.Request, q *protocol.Quote, added protocol.Duration) {
	if b.foresight != nil {
		b.foresight.Expect(now, *r, q, added)
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
	if q.AWTHigh != 0 {
		q.AWTLow, q.AWTHigh = min(q.AWTLow, q.AWT), max(q.AWTHigh, q.AWT)
	}
}

// load is how busy the machine is.
func (b *batchSystem) load() protocol.Load {
	load, err := b.engine.Load()
	if err != nil {
		_ = b.fails(err)
	}
	return load
}

// fails ends the simulation: what went wrong in a batch system makes all that
// follows worthless. It returns the error.
func (b *batchSystem) fails(err error) error {
	b.site.grid.fail("site %s: %w", b.site.name, err)
	return err
}

// submit puts a job in the queue. Repeating a tag changes nothing.
func (b *batchSystem) submit(now protocol.Instant, s localsched.Submission) (localsched.LocalID, error) {
	if slot, ok := b.jobs[s.Tag]; ok {
		return localID(slot), nil
	}
	index, err := b.site.grid.indexOf(s.Tag.Job)
	if err != nil {
		return "", err
	}
	slot := b.slot()
	b.slots[slot] = batchJob{tag: s.Tag, index: index, state: protocol.Pending, queued: now, run: b.site.grid.prepare(b.site, index, &s)}
	b.jobs[s.Tag] = slot
	request := s.Spec.Request
	transfer := b.site.grid.transfer(index, b.site.index)
	b.slots[slot].data = now.Add(transfer)
	request.WallTime = request.WallTime.Plus(transfer) // it may be held so long
	actions, err := b.engine.Submit(now, localsched.Queued{Request: request, Tag: s.Tag})
	if err != nil {
		b.drop(s.Tag)
		return "", fmt.Errorf("submit %v: %w", s.Tag, err)
	}
	if b.foresight != nil && !b.holds(now, s.Tag) { // the wait for a hold says nothing of others
		b.foresight.Submitted(now, s.Tag, s.Spec.Request)
	}
	delete(b.held, s.Tag)
	b.change(slot, protocol.Outcome{})
	b.carryOut(now, actions)
	return localID(slot), nil
}

func localID(slot int32) localsched.LocalID { return localsched.LocalID(strconv.Itoa(int(slot))) }

func (b *batchSystem) slot() int32 {
	if n := len(b.free); n > 0 {
		slot := b.free[n-1]
		b.free = b.free[:n-1]
		return slot
	}
	b.slots = append(b.slots, batchJob{})
	return int32(len(b.slots) - 1) //nolint:gosec // a slot for each job that is kept at once
}

func (b *batchSystem) drop(tag protocol.Tag) {
	b.free = append(b.free, b.jobs[tag])
	delete(b.jobs, tag)
}

func (b *batchSystem) find(tag protocol.Tag) (localsched.Presence, localsched.LocalID) {
	slot, ok := b.jobs[tag]
	if !ok {
		return localsched.Absent, ""
	}
	return localsched.Present, localID(slot)
}

// withdraw takes a job out of the queue if it has not started.
func (b *batchSystem) withdraw(now protocol.Instant, tag protocol.Tag) (localsched.Withdrawal, error) {
	slot, ok := b.jobs[tag]
	switch {
	case !ok:
		return 0, localsched.ErrUnknownJob
	case b.slots[slot].withdrawn:
		return localsched.Withdrawn, nil
	case b.slots[slot].state != protocol.Pending:
		return localsched.Started, nil
	}
	actions, err := b.engine.Withdraw(now, tag)
	if err != nil {
		return 0, fmt.Errorf("withdraw %v: %w", tag, err)
	}
	b.slots[slot].withdrawn = true
	if b.foresight != nil {
		b.foresight.Withdrawn(now, tag)
	}
	b.carryOut(now, actions)
	return localsched.Withdrawn, nil
}

// kill ends a job that runs.
func (b *batchSystem) kill(now protocol.Instant, tag protocol.Tag) error {
	slot, ok := b.jobs[tag]
	if !ok {
		return localsched.ErrUnknownJob
	}
	switch job := &b.slots[slot]; {
	case job.state == protocol.Running:
		b.finish(now, slot, protocol.Outcome{State: protocol.Cancelled, Signal: 15, Reason: "killed"})
	case job.state == protocol.Pending && !job.withdrawn:
		return errors.New("the job has not started")
	}
	return nil
}

// watched is what happened after the cursor; ok is false when nothing has, and the load
// is what it was. What
// is before the cursor has been seen for good and is dropped.
func (b *batchSystem) watched(after localsched.Cursor) (w localsched.Watched, ok bool) {
	from, err := strconv.Atoi(cmp.Or(string(after), "0"))
	seen := from - b.dropped
	if err != nil || seen < 0 || seen > len(b.changes) || seen == len(b.changes) && !b.news {
		return w, false
	}
	b.news = false
	w = localsched.Watched{
		Changes: slices.Clone(b.changes[seen:]),
		Cursor:  localsched.Cursor(strconv.Itoa(b.dropped + len(b.changes))),
		Load:    b.load(),
	}
	if !b.site.grid.keepsRows {
		b.dropped += len(b.changes)
		b.changes = b.changes[:0]
	}
	return w, true
}

// forget drops a job that has ended or was withdrawn.
func (b *batchSystem) forget(tag protocol.Tag) error {
	slot, ok := b.jobs[tag]
	if !ok {
		return nil
	}
	if job := &b.slots[slot]; !job.state.Terminal() && !job.withdrawn {
		return fmt.Errorf("job %v has not ended", tag)
	}
	b.drop(tag)
	return nil
}

func (b *batchSystem) carryOut(now protocol.Instant, actions localsched.Actions) {
	for _, tag := range actions.Starts {
		slot, known := b.jobs[tag]
		if !known || b.slots[slot].state != protocol.Pending || b.slots[slot].withdrawn {
			_ = b.fails(fmt.Errorf("the engine starts job %v, which does not wait", tag))
			return
		}
		job := &b.slots[slot]
		job.state, job.started = protocol.Running, now
		run := b.site.grid.started(b.site, job, now)
		b.site.grid.heap.push(now.Add(run), jobEnds, b.site.index, int(slot))
		b.change(slot, protocol.Outcome{})
	}
	if (b.site.wakesBatch || b.wakes) && actions.Wake != 0 && actions.Wake != b.wake {
		b.wake = max(actions.Wake, now)
		b.site.grid.heap.push(b.wake, batch, b.site.index, 0)
	}
}

// ends is the end of a running job, unless it was killed before.
func (b *batchSystem) ends(now protocol.Instant, slot int32) {
	if job := &b.slots[slot]; job.state == protocol.Running && b.site.grid.endOf(job.index) == now {
		b.finish(now, slot, job.run.outcome())
	}
}

func (b *batchSystem) finish(now protocol.Instant, slot int32, outcome protocol.Outcome) {
	job := &b.slots[slot]
	outcome.Waited, outcome.Ran = job.started.Sub(job.queued), cmp.Or(outcome.Ran, now.Sub(job.started))
	job.state = outcome.State
	b.change(slot, outcome)
	actions, err := b.engine.Finished(now, job.tag)
	if err != nil {
		_ = b.fails(err)
		return
	}
	b.carryOut(now, actions)
}

// tick lets reserved starts begin. Limits need nobody: in a workload no job runs
// longer than its estimate.
func (b *batchSystem) tick(now protocol.Instant) {
	if b.wake == now {
		b.wake = 0
		actions, err := b.engine.Tick(now)
		if err != nil {
			_ = b.fails(err)
			return
		}
		b.carryOut(now, actions)
	}
}

func (b *batchSystem) change(slot int32, outcome protocol.Outcome) {
	job := &b.slots[slot]
	change := localsched.Change{
		Tag: job.tag, State: job.state, Started: job.started, Outcome: outcome, Reason: outcome.Reason,
	}
	if b.foresight != nil {
		b.foresight.Changed(b.site.grid.now, change)
	}
	b.changes = append(b.changes, change)
	b.site.grid.touch(b.site)
}
