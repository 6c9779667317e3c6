package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Mode says which waiting jobs a budgeted pass chooses from [BG 3.4].
type Mode string

// The modes.
const (
	// Window chooses from the first jobs of the queue those that use most units within
	// what is free and the budget leaves, as [BG 3.2] and Figure 1 have it. If the head
	// cannot start, its place is kept as by EASY, which the paper does not say; without
	// that wide jobs wait for weeks.
	Window Mode = "window"
	// Filter lets the base policy choose first, then leaves out of its choice what the
	// budget does not allow: steps 1 to 5 of [BG 3.4] as printed.
	Filter Mode = "filter"
)

// Modes are the modes, the default first.
func Modes() []Mode { return []Mode{Window, Filter} }

// Budget is a power budget for the jobs of a machine [BG]. Jobs that run when it falls go
// on and count; none is started beyond it.
type Budget struct {
	Signal power.Signal
	Rates  power.Rates
	Mode   Mode              // empty: [Window]
	Window int               // jobs in the window; 0: [DefaultWindow]
	Bound  protocol.Duration // a job that has waited so long gets a reservation that nothing may overtake; 0: none does
}

// DefaultWindow is how many jobs a window has.
const DefaultWindow = 100

// MaxWindow bounds what a pass may take.
const MaxWindow = 10_000

// Check says everything that is wrong with the budget.
func (b Budget) Check() error {
	var wrong []error
	if err := b.Rates.Check(); err != nil {
		wrong = append(wrong, err)
	}
	if b.Mode != "" && !slices.Contains(Modes(), b.Mode) {
		wrong = append(wrong, fmt.Errorf("mode %q is unknown; use %q or %q", b.Mode, Window, Filter))
	}
	if b.Window < 0 || b.Window > MaxWindow {
		wrong = append(wrong, fmt.Errorf("a window of %d jobs; use 1 to %d", b.Window, MaxWindow))
	}
	if b.Bound < 0 {
		wrong = append(wrong, fmt.Errorf("a bound of %v; it cannot be negative", b.Bound))
	}
	return errors.Join(wrong...)
}

// Within is a policy under a power budget. While no budget holds it is the base policy
// itself, but for jobs that have waited longer than the bound: each of them gets the first
// place from the next time on at which no budget holds, and no other job may delay it. If
// no such time is known, the power that it needs is kept for it instead. As many jobs have
// such places at once as a window has.
//
// Under a budget the promises of a base policy that makes any are made anew with each pass.
// What [Budget.Check] finds wrong is taken as its default.
func Within(budget Budget, base Policy) Policy {
	b := &budgeted{Budget: budget, base: base}
	if inner, ok := base.(*budgeted); ok {
		b.base = inner.base
	}
	b.Mode = cmp.Or(b.Mode, Window)
	b.Window = cmp.Or(max(0, b.Window), DefaultWindow)
	return b
}

// Held are the waiting jobs that a power budget keeps from starting now, those far down the
// queue left out: their own draw is more than it leaves.
func (e *Engine) Held(now protocol.Instant) (tags []protocol.Tag) {
	f := &e.core.floor
	if f.budget == nil {
		return nil
	}
	limit, _ := f.budget.Signal.At(max(now, f.now))
	looked := 0
	for w := range f.waiting.all() {
		if looked++; looked > MaxWindow || limit == power.Unlimited {
			break
		}
		if w.draw > limit-f.supply.taken {
			tags = append(tags, e.book.tags[w.slot])
		}
	}
	return tags
}

// WakesByItself says whether a policy starts jobs at times at which nothing else happens, so
// that its driver must heed [localsched.Actions.Wake].
func WakesByItself(p Policy) bool {
	_, ok := p.(*budgeted)
	return ok || p.Quotes() == Reserved
}

type budgeted struct {
	Budget

	base Policy
}

// pick is a job that a pass may start, and where.
type pick struct {
	job   Waiting
	place Place
}

// Rank implements [Policy].
func (b *budgeted) Rank(w Waiting) int64 { return b.base.Rank(w) }

// Quotes implements [Policy]. A newcomer may take power that others wait for.
func (*budgeted) Quotes() Quotes { return Alone }

// Pass implements [Policy].
func (b *budgeted) Pass(f *Floor) Opening {
	s := &f.supply
	s.change = 0
	limit, until := b.Signal.At(f.now)
	late := b.late(f)
	switch {
	case limit == power.Unlimited && late == nil:
		b.base.Pass(f)
	default:
		b.choose(f, limit, late)
	}
	if f.waiting.length > 0 {
		s.change = until
	}
	return Opening{}
}

// choose starts what may start while a budget holds or a late job has a reservation.
func (b *budgeted) choose(f *Floor, limit int64, late []pick) {
	f.profile.forget()
	slack := power.Unlimited
	if limit != power.Unlimited {
		slack = max(0, limit-f.supply.taken)
	}
	t := f.tryOut()
	kept, slack := b.serveLate(f, t, late, slack)
	switch {
	case slack < 0:
	case limit != power.Unlimited && b.Mode == Window:
		if !kept {
			kept = b.keepHead(f, t, slack)
		}
		b.fill(f, t, slack, kept)
	default:
		b.filter(f, t, slack, kept)
	}
}

// late are the waiting jobs past their bound, in the order of the queue: as many as a window
// has. Those behind them get their places when they move up.
func (b *budgeted) late(f *Floor) (late []pick) {
	s := &f.supply
	if b.Bound == 0 || f.waiting.length == 0 || f.now.Sub(s.oldest) < b.Bound {
		return nil
	}
	oldest := lastInstant
	for w := range f.waiting.all() {
		oldest = min(oldest, w.since)
		if f.now.Sub(w.since) < b.Bound {
			continue
		}
		if late = append(late, pick{job: *w}); len(late) == b.Window {
			return late
		}
	}
	s.oldest = oldest
	return late
}

// serveLate starts the late jobs that may start and keeps a place in the trial's profile
// for the others. It returns whether any is kept, and the power that is left; less than 0
// when all of it is kept too.
func (b *budgeted) serveLate(f *Floor, t *trial, late []pick, slack int64) (kept bool, left int64) {
	if len(late) == 0 {
		return false, slack
	}
	t.foresee(f)
	for _, one := range late {
		job := &one.job
		at, place := t.profile.earliest(f.now, job.Units, job.Time)
		if at == f.now && job.draw <= slack && f.room.Has(job.Units, place) {
			t.profile.take(at, at.Add(job.Time), job.Units, place)
			f.startOne(job, place)
			slack = less(slack, job.draw)
			continue
		}
		if b.serves(f.now, job) == f.now {
			slack = less(slack, job.draw)
		}
		for from := b.serves(at, job); from > at; from = b.serves(at, job) {
			at, place = t.profile.earliest(from, job.Units, job.Time)
		}
		t.profile.take(at, at.Add(job.Time), job.Units, place)
		kept = true
	}
	return kept, slack
}

// serves is when a job that is kept a place is to be served, from a time on: when no budget holds or, if
// there will always be one, when it is enough for the job.
func (b *budgeted) serves(now protocol.Instant, job *Waiting) protocol.Instant {
	if free := b.Signal.Free(now); free != power.End {
		return free
	}
	return b.Signal.Allows(now, job.draw)
}

// keepHead keeps a place for the head of the queue if it cannot start now, as EASY does: else
// what ends would always go to small jobs, and wide ones would starve. One that has no power
// now has its place from the end of the budget on. It returns whether a place is kept.
func (b *budgeted) keepHead(f *Floor, t *trial, slack int64) bool {
	head, ok := f.Head()
	if !ok {
		return false
	}
	t.foresee(f)
	at, place := t.profile.earliest(f.now, head.Units, head.Time)
	if from := b.serves(f.now, &head); head.draw > slack && from > at {
		at, place = t.profile.earliest(from, head.Units, head.Time)
	}
	if at == f.now {
		return false
	}
	t.profile.take(at, at.Add(head.Time), head.Units, place)
	return true
}

// less is what is left of a power without a draw; less than 0 when it is not enough.
func less(slack, draw int64) int64 {
	if slack == power.Unlimited {
		return slack
	}
	return max(slack, math.MinInt64/2) - draw
}

// foresee makes the trial's profile that of the running jobs alone. One past its estimate may
// end at any moment: nothing that a late job needs of it is lent meanwhile.
func (t *trial) foresee(f *Floor) {
	p := &t.profile
	p.reset(f.now, f.room)
	list := f.running.list()
	for i := range list {
		p.give(max(list[i].End, f.now), lastInstant, list[i].Units, list[i].Place)
	}
}

// startOne starts a waiting job.
func (f *Floor) startOne(job *Waiting, place Place) {
	if c, ok := f.waiting.find(job); ok {
		f.Start(c, place)
	}
}

// filter starts what the base policy would, as far as the power reaches and the places that
// are kept allow.
func (b *budgeted) filter(f *Floor, t *trial, slack int64, kept bool) {
	t.picks = t.picks[:0]
	if t.floor.room == nil {
		t.floor = newFloor(f.machine, f.policy)
	}
	t.floor.copyFrom(f)
	t.floor.profile.forget()
	t.floor.picks = &t.picks
	b.base.Pass(&t.floor)
	if kept {
		t.picks = slices.DeleteFunc(t.picks, func(p pick) bool { return !t.beside(f, &p) })
	}
	for i, chosen := range t.affordable(math.MaxInt, slack) {
		if chosen {
			f.startOne(&t.picks[i].job, t.picks[i].place)
		}
	}
}

// beside says whether a pick leaves the kept places alone, and takes its own if so.
func (t *trial) beside(f *Floor, p *pick) bool {
	end := f.now.Add(p.job.Time)
	if !t.profile.holds(f.now, end, p.job.Units, p.place) {
		return false
	}
	t.profile.take(f.now, end, p.job.Units, p.place)
	return true
}

// affordable are the picks of most units within so many units and so much power.
func (t *trial) affordable(units int, slack int64) []bool {
	t.items = t.items[:0]
	for i := range t.picks {
		t.items = append(t.items, power.Item{Units: t.picks[i].job.Units, Draw: t.picks[i].job.draw})
	}
	return t.chooser.Choose(t.items, units, slack)
}

// fill starts those of the first waiting jobs that use most of the machine. On a machine of
// partitions what fits by number may have no place; such jobs are left out and the rest is
// chosen again.
func (b *budgeted) fill(f *Floor, t *trial, slack int64, kept bool) {
	t.window(f, b.Window, slack, kept)
	for len(t.picks) > 0 {
		chosen := t.affordable(f.room.Free(), slack)
		placed, wanted := t.place(f, chosen, kept)
		slack = less(slack, placed)
		if wanted == 0 {
			return
		}
	}
}

// window picks the first jobs of the queue that have a place and the power now.
func (t *trial) window(f *Floor, size int, slack int64, kept bool) {
	t.picks = t.picks[:0]
	for w := range f.waiting.all() {
		if size--; size < 0 {
			return
		}
		if w.draw > slack {
			continue
		}
		if place, ok := t.find(f, w, kept); ok {
			t.picks = append(t.picks, pick{job: *w, place: place})
		}
	}
}

// find is a place for a job beside those that are kept.
func (t *trial) find(f *Floor, w *Waiting, kept bool) (Place, bool) {
	if !kept {
		return f.room.Find(w.Units, nil)
	}
	at, place := t.profile.earliest(f.now, w.Units, w.Time)
	return place, at == f.now && f.room.Has(w.Units, place)
}

// place starts the chosen picks that have a place, the largest first, and forgets all that
// were chosen. It returns what those started draw, and how many had no place.
func (t *trial) place(f *Floor, chosen []bool, kept bool) (draw int64, wanted int) {
	var order []int
	rest := t.picks[:0:0]
	for i := range t.picks {
		if chosen[i] {
			order = append(order, i)
		} else {
			rest = append(rest, t.picks[i])
		}
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(t.picks[k].job.Units, t.picks[i].job.Units) })
	for _, i := range order {
		job := &t.picks[i].job
		place, ok := t.find(f, job, kept)
		if !ok {
			wanted++
			continue
		}
		if kept {
			t.profile.take(f.now, f.now.Add(job.Time), job.Units, place)
		}
		f.startOne(job, place)
		draw += job.draw
	}
	t.picks = rest
	return draw, wanted
}

// draw is what a job draws on the units that it takes.
func (b *budgeted) draw(m Machine, units int, a appetite) int64 {
	held := m.CPUs(units)
	return b.Rates.Draw(min(int(a.cpus), held), held, int(a.power))
}

// refuses says why a job would never be started; empty when it would.
func (b *budgeted) refuses(m Machine, w *Waiting) (reason string) {
	w.draw = b.draw(m, w.Units, w.appetite)
	if most := b.Signal.Most(math.MinInt64); w.draw > most {
		return fmt.Sprintf("would draw %s, and the power budget is never more than %s", power.Text(w.draw), power.Text(most))
	}
	return ""
}

// note says how the budget makes a job wait that would start later than now; empty when it
// does not.
func (b *budgeted) note(now, start protocol.Instant, job *Waiting, f *Floor) string {
	limit, until := b.Signal.At(now)
	if start <= now || limit == power.Unlimited || job.draw <= limit-f.supply.taken {
		return ""
	}
	reason := fmt.Sprintf("the power budget is %s, of which %s are left", power.Text(limit), power.Text(max(0, limit-f.supply.taken)))
	if job.draw > limit {
		reason = "off-peak only: the power budget is " + power.Text(limit)
	}
	if until != power.End {
		reason += until.Time().Format(" until 2006-01-02 15:04Z")
	}
	return fmt.Sprintf("%s; the job would draw %s", reason, power.Text(job.draw))
}

// tell adds to a load what the budget does to the machine now.
func (b *budgeted) tell(load *protocol.Load, f *Floor) {
	load.Draw = f.supply.taken
	limit, _ := b.Signal.At(f.now)
	if limit == power.Unlimited {
		return
	}
	load.Budget = max(1, limit)
	usable := max(0, limit-f.supply.taken) * 1000 / b.Rates.Busy
	load.Withheld = int(max(0, int64(load.CPUs-load.Busy)-usable))
}
