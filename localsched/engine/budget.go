package engine

import (
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
	// cannot start, its place and its power are kept as by EASY, which the paper does not
	// say; without that wide jobs wait for weeks.
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
// no such time is known, it is kept the first place and the power for it instead. As many
// jobs, the oldest, have such places at once as a window has.
//
// Jobs that the budget never allows, after it was lowered, are passed over. Under a budget
// the reservations of a base policy that makes any are planned again in each pass. The budget is
// one that [Budget.Check] accepts; in another one each invalid value has its default.
func Within(budget Budget, base Policy) Policy {
	b := &budgeted{Budget: budget, base: base}
	if inner, ok := base.(*budgeted); ok {
		b.base = inner.base
	}
	if b.Mode != Filter {
		b.Mode = Window
	}
	if b.Window < 1 || b.Window > MaxWindow {
		b.Window = DefaultWindow
	}
	b.Bound, b.Rates.Busy = max(0, b.Bound), max(1, b.Rates.Busy)
	return b
}

// WakesByItself reports whether a policy starts jobs at times at which nothing else happens, so
// that its driver must heed [localsched.Actions.Wake].
func WakesByItself(p Policy) bool {
	_, ok := p.(*budgeted)
	return ok || p.PlanMode() == PlanReserved
}

// BudgetBlocked are the waiting jobs that a power budget keeps from starting now, those far down the
// queue left out: their own draw is more than it leaves.
func (e *Engine) BudgetBlocked(now protocol.Instant) (tags []protocol.Tag) {
	f := &e.core.state
	if f.budget == nil {
		return nil
	}
	limit, _ := f.budget.Signal.At(max(now, f.now))
	looked := 0
	for w := range f.pending.all() {
		if looked++; looked > MaxWindow || limit == power.Unlimited {
			break
		}
		if w.draw > limit-f.supply.taken {
			tags = append(tags, e.tags.tags[w.slot])
		}
	}
	return tags
}

// Draw is what a job draws on a machine, in milliwatts; 0 where it cannot run.
func (b Budget) Draw(m Machine, r protocol.Request) int64 {
	units, reason := m.Units(r)
	if reason != "" {
		return 0
	}
	held := m.CPUs(units)
	return b.Rates.Draw(min(r.CPUs, held), held, r.Power)
}

// draw is what a job draws on the units that it takes.
func (b *budgeted) draw(m Machine, units int, a powerDemand) int64 {
	held := m.CPUs(units)
	return b.Rates.Draw(min(int(a.cpus), held), held, int(a.power))
}

// refusalReason says why a job would never be started; empty when it would.
func (b *budgeted) refusalReason(m Machine, now protocol.Instant, w *PendingJob) (reason string) {
	draw := b.draw(m, w.Units, w.powerDemand)
	if most := b.Signal.MaxBudget(now); draw > most {
		return fmt.Sprintf("would draw %s, and the power budget is never more than %s", power.Text(draw), power.Text(most))
	}
	return ""
}

// note says how the budget makes a job wait that would start later than now; empty when it
// does not.
func (b *budgeted) note(now, start protocol.Instant, job *PendingJob, f *ClusterState) string {
	draw := b.draw(f.machine, job.Units, job.powerDemand)
	at := b.lacks(now, start, draw)
	limit, until := b.Signal.At(at)
	if start <= now || limit == power.Unlimited {
		return ""
	}
	left := max(0, limit-f.supply.taken)
	reason := "off-peak only: the power budget is " + power.Text(limit)
	switch {
	case draw > limit && at > now:
		reason += at.Time().Format(" from 2006-01-02 15:04Z")
	case draw > limit:
	case draw > left:
		reason = fmt.Sprintf("the power budget is %s, of which %s are left", power.Text(limit), power.Text(left))
	default:
		return ""
	}
	if until != power.End {
		reason += until.Time().Format(" until 2006-01-02 15:04Z")
	}
	return fmt.Sprintf("%s; the job would draw %s", reason, power.Text(draw))
}

// lacks is the first time from now on and before a start at which the budget is less than a
// draw; now if there is none.
func (b *budgeted) lacks(now, start protocol.Instant, draw int64) protocol.Instant {
	for at := now; at < start; {
		limit, until := b.Signal.At(at)
		if limit < draw {
			return at
		}
		at = until
	}
	return now
}

// addToLoad adds to a load what the budget does to the machine now.
func (b *budgeted) addToLoad(load *protocol.Load, f *ClusterState) {
	load.Draw = f.supply.taken
	limit, _ := b.Signal.At(f.now)
	if limit == power.Unlimited {
		return
	}
	load.Budget = protocol.ActiveBudget(limit)
	idle := int64(max(0, load.CPUs-load.Busy))
	usable := idle
	if left := max(0, limit-f.supply.taken); left < math.MaxInt64/1000 {
		usable = min(idle, left*1000/b.Rates.Busy)
	}
	load.PowerIdledCPUs = int(idle - usable)
}
