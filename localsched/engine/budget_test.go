package engine_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watts has a CPU that works draw a watt and one that is held idle a quarter of it.
func watts() power.Rates { return power.Rates{Busy: 1_000_000, Idle: 250_000} }

// days is a budget in watts of the first so many milliseconds of every ten, from 100 on, in
// the style of [BG]: between them, and in the end, there is none.
func days(onPeak protocol.Instant, limits ...int64) power.Signal {
	var steps []power.Step
	for i, limit := range limits {
		at := 100 + 10*protocol.Instant(i)
		steps = append(steps, power.Step{At: at, Limit: 1000 * limit}, power.Step{At: at + onPeak, Limit: power.Unlimited})
	}
	signal, err := power.NewSignal(steps)
	if err != nil {
		panic(err)
	}
	return signal
}

// budgets are budgets by the name of the policy that they bind and more.
func budgets() map[string]engine.Budget {
	short := days(6, 3, 0, 8, 5, 2, 7, 1, 4)
	return map[string]engine.Budget{
		"easy by filter":          {Signal: short, Rates: watts(), Mode: engine.Filter},
		"easy by window":          {Signal: short, Rates: watts(), Window: 3},
		"easysjbf by filter":      {Signal: short, Rates: watts(), Mode: engine.Filter, Bound: 12},
		"conservative by filter":  {Signal: short, Rates: watts(), Mode: engine.Filter},
		"conservative by window":  {Signal: short, Rates: watts(), Window: 5, Bound: 7},
		"firstfit with a bound":   {Signal: short, Rates: watts(), Mode: engine.Filter, Bound: 5},
		"sjf by window":           {Signal: days(9, 4, 4, 4, 0), Rates: watts(), Bound: 20},
		"sjffit whatever it does": {Signal: days(1, 1, 2, 3), Rates: watts(), Mode: engine.Filter, Bound: 1},
	}
}

// TestFigureOne is the scene of [BG] Figure 1, whose table the paper does not print. This
// one is assumed: nodes and watts of J1 to J5.
func TestFigureOne(t *testing.T) {
	t.Parallel()
	jobs := []struct{ nodes, watts int }{{4, 70}, {4, 70}, {5, 85}, {2, 30}, {2, 30}}
	for _, c := range []struct {
		name   string
		policy func(engine.Budget) engine.Policy
		want   []int // the jobs that start
		nodes  int
		watts  int64
	}{
		{"FCFS", func(engine.Budget) engine.Policy { return engine.FCFS() }, []int{1, 2}, 8, 140},
		{"FCFS with backfilling", func(engine.Budget) engine.Policy { return engine.EASY() }, []int{1, 2}, 8, 140},
		{"window", func(b engine.Budget) engine.Policy { return engine.Within(b, engine.FCFS()) }, []int{3, 4, 5}, 9, 145},
		{"window of two", func(b engine.Budget) engine.Policy {
			b.Window = 2
			return engine.Within(b, engine.FCFS())
		}, []int{1, 2}, 8, 140},
		{"window of one", func(b engine.Budget) engine.Policy {
			b.Window = 1
			return engine.Within(b, engine.FCFS())
		}, []int{1}, 4, 70},
		{"filter", func(b engine.Budget) engine.Policy {
			b.Mode = engine.Filter
			return engine.Within(b, engine.FCFS())
		}, []int{1, 2}, 8, 140},
	} {
		r := newRig(t, engine.WholeNode(protocol.Capacity{CPUs: 9, Nodes: 9}), engine.FCFS())
		blocker := job(0, 9, 10)
		r.submit(blocker, 10)
		for i, j := range jobs {
			one := job(i+1, j.nodes, 100)
			one.Power = (j.watts*protocol.PPM + j.nodes - 1) / j.nodes
			r.submit(one, 100)
		}
		rates := power.Rates{Busy: 1_000_000}
		r.apply(r.engine.SetPolicy(r.now, c.policy(engine.Budget{Signal: power.Always(150_000), Rates: rates})))
		r.advance(10)
		var started []int
		nodes, drawn := 0, int64(0)
		for i, j := range jobs {
			if one := r.jobs[tag(i+1)]; one.running {
				started, nodes = append(started, i+1), nodes+j.nodes
				drawn += rates.Draw(j.nodes, j.nodes, one.Power) / 1000
			}
		}
		if !slices.Equal(started, c.want) || nodes != c.nodes || drawn != c.watts {
			t.Errorf("%s: starts %v on %d nodes with %d W, want %v on %d with %d", c.name, started, nodes, drawn, c.want, c.nodes, c.watts)
		}
	}
}

// TestBudgetCheck: what an operator writes is right up to its bounds; all that is not is said at
// once, and in so many words.
func TestBudgetCheck(t *testing.T) {
	t.Parallel()
	right := []engine.Budget{
		{Rates: watts()},
		{Rates: watts(), Mode: engine.Filter, Window: 1, Bound: 1},
		{Rates: watts(), Mode: engine.Window, Window: engine.MaxWindow},
	}
	for _, b := range right {
		if err := b.Check(); err != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
	const (
		mode   = `mode "fliter" is unknown; use "window" or "filter"`
		window = " jobs; use 1 to 10000"
		bound  = "a bound of -1ms; it cannot be negative"
	)
	for _, c := range []struct {
		budget engine.Budget
		want   []string
	}{
		{engine.Budget{Rates: watts(), Mode: "fliter"}, []string{mode}},
		{engine.Budget{Rates: watts(), Window: -1}, []string{"a window of -1" + window}},
		{engine.Budget{Rates: watts(), Window: engine.MaxWindow + 1}, []string{"a window of 10001" + window}},
		{engine.Budget{Rates: watts(), Bound: -1}, []string{bound}},
		{engine.Budget{Mode: "fliter", Window: -1, Bound: -1}, []string{power.Rates{}.Check().Error(), mode, window, bound}},
	} {
		err := c.budget.Check()
		if err == nil || strings.Count(err.Error(), "\n") != len(c.want)-1 {
			t.Errorf("%+v: %v, want %d faults", c.budget, err, len(c.want))
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %s", c.budget, err, want)
			}
		}
	}
}

// TestWhoWakesByItself: a driver that does not heed wakes would leave jobs of these waiting for
// ever. All others start jobs only when something comes or goes.
func TestWhoWakesByItself(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		policy, err := engine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := engine.WakesByItself(policy), name == "conservative"; got != want {
			t.Errorf("%s wakes by itself: %t", name, got)
		}
		if !engine.WakesByItself(engine.Within(engine.Budget{}, policy)) {
			t.Errorf("%s within a budget does not wake by itself", name)
		}
	}
}

// TestDraw: what a budget says that a job draws is what the machine draws while it runs alone.
func TestDraw(t *testing.T) {
	t.Parallel()
	m := engine.WholeNode(protocol.Capacity{CPUs: 16, Nodes: 4})
	budget := engine.Budget{Rates: watts()}
	for _, request := range []protocol.Request{
		{CPUs: 1, WallTime: 5}, {CPUs: 4, WallTime: 5}, {CPUs: 5, WallTime: 5, Power: protocol.PPM / 2}, {Nodes: 3, WallTime: 5},
	} {
		r := newRig(t, m, engine.Within(budget, engine.FCFS()))
		r.submit(localsched.Queued{Request: request, Tag: tag(1)}, 5)
		if got, want := budget.Draw(m, request), r.engine.Load().Draw; got != want || got == 0 {
			t.Errorf("%+v is said to draw %d mW, and draws %d", request, got, want)
		}
	}
	if got := budget.Draw(m, protocol.Request{CPUs: 17, WallTime: 5}); got != 0 {
		t.Errorf("a job that cannot run draws %d mW", got)
	}
}

// drawn is what a job draws on a machine.
func drawn(m engine.Machine, b engine.Budget, r protocol.Request) int64 {
	units, _ := m.Units(r)
	held := m.CPUs(units)
	return b.Rates.Draw(min(r.CPUs, held), held, r.Power)
}

// TestBudgetHolds: whatever happens, no job is started that brings the draw above the
// budget of the time.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	for name, budget := range budgets() {
		for machineName, draw := range machines() {
			t.Run(name+" on "+machineName, func(t *testing.T) {
				t.Parallel()
				base, err := engine.Named(strings.Fields(name)[0])
				if err != nil {
					t.Fatal(err)
				}
				rapid.Check(t, func(t *rapid.T) { budgetHolds(t, draw(t), budget, base) })
			})
		}
	}
}

func budgetHolds(t *rapid.T, m engine.Machine, budget engine.Budget, base engine.Policy) {
	r := newRig(t, m, engine.Within(budget, base))
	r.now = 100
	started := 0
	check := func() {
		limit, _ := budget.Signal.At(r.now)
		total := int64(0)
		for _, j := range r.started {
			total += drawn(m, budget, j.Request)
		}
		if limit != power.Unlimited && len(r.order) > started && total > limit {
			t.Fatalf("at %d jobs draw %d mW of %d after %v started", r.now, total, limit, r.order[started:])
		}
		load := r.engine.Load()
		if load.Draw != total || load.PowerIdledCPUs < 0 || load.Busy+load.PowerIdledCPUs > load.CPUs {
			t.Fatalf("at %d the load is %+v, and jobs draw %d mW", r.now, load, total)
		}
		started = len(r.order)
	}
	for n := range rapid.IntRange(1, 30).Draw(t, "jobs") {
		j := localsched.Queued{Request: drawRequest(t, m), Tag: tag(n)}
		r.submit(j, protocol.Duration(rapid.IntRange(1, 15).Draw(t, "run")))
		check()
		for to := r.now + protocol.Instant(rapid.IntRange(0, 5).Draw(t, "pause")); r.step(to); {
			check()
		}
	}
	for r.step(1 << 62) {
		check()
	}
	r.drain()
}

// TestOffPeakAsBase: while no budget holds, the schedule is that of the base policy from the
// same state. The state is one that on-peak has left; the twin has the same jobs running
// and waiting, and never had a budget.
func TestOffPeakAsBase(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		for _, mode := range engine.Modes() {
			t.Run(name+" by "+string(mode), func(t *testing.T) {
				t.Parallel()
				base, err := engine.Named(name)
				if err != nil {
					t.Fatal(err)
				}
				rapid.Check(t, func(t *rapid.T) {
					m := drawMachine(t)
					offPeakAsBase(t, m, engine.Budget{Signal: days(40, int64(rapid.IntRange(0, 9).Draw(t, "watts"))), Rates: watts(), Mode: mode}, base)
				})
			})
		}
	}
}

func offPeakAsBase(t *rapid.T, m engine.Machine, budget engine.Budget, base engine.Policy) {
	r := newRig(t, m, engine.Within(budget, base))
	r.now = 100
	n := 0
	submit := func() localsched.Queued {
		n++
		j := localsched.Queued{Request: drawRequest(t, m), Tag: tag(n)}
		r.submit(j, protocol.Duration(rapid.IntRange(1, int(j.WallTime)).Draw(t, "run")))
		return j
	}
	for range rapid.IntRange(0, 20).Draw(t, "on-peak jobs") {
		submit()
		r.advance(min(139, r.now+protocol.Instant(rapid.IntRange(0, 3).Draw(t, "pause"))))
	}
	r.advance(139)
	// What ends at 140 has its pass before the twin begins.
	twin := newRig(t, m, closed{})
	twin.now = 140
	for j, ok := r.next(); ok && j.end <= 140; j, ok = r.next() {
		r.finish(j)
	}
	if r.wake == 140 { // a pass at 140 may have been made by an end
		r.now = 140
	}
	running := slices.Clone(r.started)
	var queue []*testJob
	for _, waits := range r.waiting() {
		queue = append(queue, r.jobs[waits])
	}
	if r.now == 140 && len(r.order) > 0 && r.jobs[r.order[len(r.order)-1]].start == 140 {
		return // the pass of 140 has begun with an end: the state before it is gone
	}
	for _, j := range running {
		if err := twin.restore(j.Queued, j.start, j.run); err != nil {
			t.Fatalf("%v: %v", j.Tag, err)
		}
		twin.jobs[j.Tag].end = j.end
	}
	for _, j := range queue {
		twin.submit(j.Queued, j.run)
	}
	r.advance(140)
	twin.apply(twin.engine.SetPolicy(140, base))
	for range rapid.IntRange(0, 10).Draw(t, "off-peak jobs") {
		j := submit()
		twin.submit(j, r.jobs[j.Tag].run)
		to := r.now + protocol.Instant(rapid.IntRange(0, 3).Draw(t, "pause"))
		r.advance(to)
		twin.advance(to)
	}
	r.drain()
	twin.drain()
	for tag, j := range twin.jobs {
		if got := r.jobs[tag].start; got != j.start {
			t.Fatalf("%v starts at %d, under the base policy alone at %d", tag, got, j.start)
		}
	}
}

// TestLateJob: a job that has waited longer than the bound starts when the budget ends, and
// what came later does not delay it. What is over by then may start meanwhile.
//
//	watts  3 until 110, then any
//	  A A A A A A A . . . B B      A runs, B would draw 4 W
//	            D D D D D          C comes at 105: with it, B could not start at 110, with D it can
func TestLateJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		mode  engine.Mode
		bound protocol.Duration
		want  protocol.Instant // of B
	}{
		{"no bound: whoever fits goes first", engine.Filter, 0, 125},
		{"past its bound B has its place at the end of the budget", engine.Filter, 4, 110},
		{"the head of the queue has its place anyway", engine.Window, 0, 110},
		{"past its bound it has it too", engine.Window, 4, 110},
	} {
		budget := engine.Budget{Signal: days(10, 3), Rates: watts(), Mode: c.mode, Bound: c.bound}
		r := newRig(t, cpus(4), engine.Within(budget, engine.FirstFit()))
		r.now = 100
		r.submit(job(0, 1, 7), 7)
		r.submit(job(1, 4, 2), 2)
		r.advance(105)
		r.submit(job(2, 1, 20), 20)
		r.submit(job(3, 1, 5), 5)
		r.drain()
		if b, d := r.jobs[tag(1)].start, r.jobs[tag(3)].start; b != c.want || d != 105 {
			t.Errorf("%s: B starts at %d, want %d, D at %d, want 105", c.name, b, c.want, d)
		}
	}
}

// TestWindowKeepsTheHead: on-peak a wide job at the head of the queue starts when what runs
// has ended, though small ones would fit all the time.
func TestWindowKeepsTheHead(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]power.Signal{
		"for ever":       power.Always(8000),
		"until tomorrow": signalOf(t, power.Step{At: 0, Limit: 8000}, power.Step{At: 1000, Limit: power.Unlimited}),
	} {
		r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: signal, Rates: watts()}, engine.EASY()))
		wide := job(1, 8, 5) // it has the power, but not the nodes
		wide.Power = protocol.PPM / 2
		r.submit(job(0, 4, 10), 10)
		r.submit(wide, 5)
		for n := 2; n < 30; n++ {
			r.submit(job(n, 2, 4), 4)
			r.advance(r.now + 1)
		}
		r.drain()
		if got := r.jobs[tag(1)].start; got != 10 {
			t.Errorf("a budget %s: the wide job starts at %d, want 10", name, got)
		}
	}
}

// TestLateUnderOneBudget: when the budget never ends, a late job has its power kept, though it
// draws all that the budget ever allows.
func TestLateUnderOneBudget(t *testing.T) {
	t.Parallel()
	for _, mode := range engine.Modes() {
		budget := engine.Budget{Signal: power.Always(4000), Rates: watts(), Mode: mode, Bound: 10}
		r := newRig(t, cpus(8), engine.Within(budget, engine.FirstFit()))
		r.submit(job(0, 2, 5), 5)
		r.submit(job(1, 4, 5), 5) // draws all of it
		for n := 2; n < 40; n++ {
			r.submit(job(n, 2, 5), 5)
			r.advance(r.now + 2)
		}
		r.drain()
		if got := r.jobs[tag(1)].start; got > 16 {
			t.Errorf("%s: the wide job starts at %d, though it was late at 10 and what ran then was over by 15", mode, got)
		}
	}
}

// TestOnlyLateJobsHavePlaces: beside a late job one that has not waited so long yet keeps nobody
// from the machine, though no budget holds.
//
//	8 │ A A A A A . . B B   B is late when D comes at 12, C is not: D starts at once,
//	  │ A A A A A D D D D   beside B from 100 on, and in the way of C, which is to be late at 15
//	  └ 0     12      100
func TestOnlyLateJobsHavePlaces(t *testing.T) {
	t.Parallel()
	for _, mode := range engine.Modes() {
		r := newRig(t, cpus(8), engine.Within(engine.Budget{Rates: watts(), Mode: mode, Bound: 10}, engine.FirstFit()))
		r.submit(job(0, 4, 100), 100)
		r.submit(job(1, 6, 5), 5)
		r.advance(5)
		r.submit(job(2, 8, 5), 5)
		r.advance(12)
		r.submit(job(3, 2, 200), 200)
		r.drain()
		if late, beside := r.jobs[tag(1)].start, r.jobs[tag(3)].start; late != 100 || beside != 12 {
			t.Errorf("%s: the late job starts at %d, want 100, the newcomer beside it at %d, want 12", mode, late, beside)
		}
	}
}

// TestHeld: a budget keeps a job from starting that draws more than is left of it, not one that
// draws all of that and waits for CPUs.
func TestHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: power.Always(4000), Rates: power.Rates{Busy: 1_000_000}}, engine.EASY()))
	for n, parts := range []int{protocol.PPM / 2, protocol.PPM / 4, protocol.PPM/4 + 1} {
		one := job(n, 4+2*(1-min(n, 1)), 10) // the first runs on six CPUs and leaves 1 W
		one.Power = parts
		r.submit(one, 10)
	}
	if held := r.engine.BudgetBlocked(r.now); !slices.Equal(held, []protocol.Tag{tag(2)}) {
		t.Errorf("held are %v, want the last alone", held)
	}
	none := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: days(6, 1), Rates: watts()}, engine.EASY()))
	none.submit(job(0, 8, 10), 10)
	none.submit(job(1, 8, 10), 10)
	if held := none.engine.BudgetBlocked(none.now); len(held) > 0 {
		t.Errorf("held are %v, though no budget holds yet", held)
	}
}

// TestLateNeverOvertaken: jobs that come when another is late do not delay it beyond the
// next time at which no budget holds, on any machine and whatever the base policy would do.
func TestLateNeverOvertaken(t *testing.T) {
	t.Parallel()
	for machineName, draw := range machines() {
		t.Run(machineName, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { lateNeverOvertaken(t, draw(t)) })
		})
	}
}

func lateNeverOvertaken(t *rapid.T, m engine.Machine) {
	mode := rapid.SampledFrom(engine.Modes()).Draw(t, "mode")
	budget := engine.Budget{Signal: days(9, 2, 2, 2, 2, 2, 2), Rates: watts(), Mode: mode, Bound: 12}
	base, err := engine.Named(rapid.SampledFrom([]string{"easy", "firstfit", "fcfs", "easysjbf"}).Draw(t, "base"))
	if err != nil {
		t.Fatal(err)
	}
	before := drawRequests(t, m, 12, "before")
	after := drawRequests(t, m, 12, "after")
	var first protocol.Tag // of those that are late
	run := func(others []protocol.Request) protocol.Instant {
		r := newRig(t, m, engine.Within(budget, base))
		r.now = 100
		for i, request := range before {
			r.submit(localsched.Queued{Request: request, Tag: tag(i)}, request.WallTime)
		}
		r.advance(113) // all that wait are late
		if first = (protocol.Tag{}); len(r.waiting()) == 0 {
			return 0
		}
		first = r.waiting()[0]
		for i, request := range others {
			r.submit(localsched.Queued{Request: request, Tag: tag(1000 + i)}, request.WallTime)
			r.advance(r.now + 1)
		}
		r.drain()
		return r.jobs[first].start
	}
	alone, beside := run(nil), run(after)
	if beside > budget.Signal.Free(max(alone, 113)) {
		t.Fatalf("late %v starts at %d, at %d beside the newcomers", first, alone, beside)
	}
}

// TestMovedBesideLate: a job that the base policy would start on what is kept for a late one
// starts elsewhere.
func TestMovedBesideLate(t *testing.T) {
	t.Parallel()
	nodes := func(n, nodes int, time protocol.Duration) localsched.Queued {
		q := job(n, 0, time)
		q.Nodes = nodes
		return q
	}
	budget := engine.Budget{Signal: days(9, 2, 2), Rates: watts(), Mode: engine.Filter, Bound: 3}
	r := newRig(t, partitions{}, engine.Within(budget, engine.FirstFit()))
	r.now = 100
	r.submit(nodes(0, 1, 3), 3) // on the first node
	r.submit(nodes(1, 1, 5), 5) // on the second
	r.submit(nodes(2, 1, 9), 9) // on the third
	r.submit(nodes(3, 2, 1), 1) // kept the first two off-peak when it is late
	r.submit(nodes(4, 1, 3), 3) // on the fourth
	r.advance(103)
	r.submit(nodes(5, 1, 9), 9)
	r.drain()
	if late, moved := r.jobs[tag(3)].start, r.jobs[tag(5)].start; late != 105 || moved != 103 {
		t.Errorf("the late job starts at %d and the newcomer at %d, want 105 and 103 on the fourth node", late, moved)
	}
}

// TestOffPeakOnly: a job whose own power exceeds the budget waits for the end of it, and its
// quote says so; one that no budget ever allows is refused.
func TestOffPeakOnly(t *testing.T) {
	t.Parallel()
	budget := engine.Budget{Signal: days(10, 3), Rates: watts()}
	r := newRig(t, cpus(8), engine.Within(budget, engine.EASY()))
	r.now = 105
	planned := r.engine.Plan(r.now, nil, []protocol.Request{{CPUs: 4, WallTime: 5}, {CPUs: 3, WallTime: 5}})
	if planned[0].Start != 110 || !strings.HasPrefix(planned[0].Note, "off-peak only: the power budget is 3 W until 1970") {
		t.Errorf("planned %+v, want a start at 110 and the reason", planned[0])
	}
	if planned[1].Start != 105 || planned[1].Note != "" {
		t.Errorf("planned %+v, want a start at once", planned[1])
	}
	r.submit(job(0, 4, 5), 5)
	r.submit(job(1, 2, 9), 9)
	r.submit(job(2, 2, 9), 9)
	if held := r.engine.BudgetBlocked(r.now); !slices.Equal(held, []protocol.Tag{tag(0), tag(2)}) {
		t.Errorf("held are %v", held)
	}
	planned = r.engine.Plan(r.now, nil, []protocol.Request{{CPUs: 2, WallTime: 5}})
	if !strings.HasPrefix(planned[0].Note, "the power budget is 3 W, of which 1 W are left until ") {
		t.Errorf("the note is %q", planned[0].Note)
	}
	always := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: power.Always(3000), Rates: watts()}, engine.EASY()))
	if p := always.engine.Plan(0, nil, []protocol.Request{{CPUs: 4, WallTime: 5}}); p[0].Declined != "would draw 4 W, and the power budget is never more than 3 W" {
		t.Errorf("planned %+v, want a refusal", p[0])
	}
}

// TestRunningOnCount: jobs that run when the budget falls go on, count, and let nothing
// start until enough of them have ended.
func TestRunningOnCount(t *testing.T) {
	t.Parallel()
	budget := engine.Budget{Signal: days(50, 4), Rates: watts()}
	r := newRig(t, cpus(8), engine.Within(budget, engine.EASY()))
	r.now = 90
	r.submit(job(0, 4, 20), 20)
	r.submit(job(1, 2, 30), 30)
	r.advance(105)
	r.submit(job(2, 2, 5), 5)
	if load := r.engine.Load(); load.Draw != 6000 || load.Budget != protocol.ActiveBudget(4000) || load.PowerIdledCPUs != 2 || load.Free() != 0 {
		t.Errorf("the load is %+v", load)
	}
	r.drain()
	if got := r.jobs[tag(2)].start; got != 110 {
		t.Errorf("the newcomer starts at %d, want 110, when the larger has ended", got)
	}
}

// TestBudgetChanges: a reload brings a budget to jobs that run and wait already, and takes
// it away again.
func TestBudgetChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(8), engine.EASY())
	r.submit(job(0, 4, 50), 50)
	budget := engine.Budget{Signal: power.Always(5000), Rates: watts()}
	r.apply(r.engine.SetPolicy(r.now, engine.Within(budget, engine.EASY())))
	r.submit(job(1, 2, 5), 5)
	if load := r.engine.Load(); load.Draw != 4000 || load.QueuedJobs != 1 {
		t.Errorf("under the budget: %+v", load)
	}
	r.apply(r.engine.SetPolicy(r.now, engine.EASY()))
	if load := r.engine.Load(); load.Draw != 0 || load.QueuedJobs != 0 {
		t.Errorf("without it: %+v", load)
	}
}
