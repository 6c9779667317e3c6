package engine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func signalOf(t failer, steps ...power.Step) power.Signal {
	t.Helper()
	signal, err := power.NewSignal(steps)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return signal
}

// TestRestoredUnderLessPower: what runs at a restart runs on and counts, though the budget
// of now would refuse it.
func TestRestoredUnderLessPower(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: power.Always(4000), Rates: watts()}, engine.EASY()))
	r.now = 100
	if err := r.restore(job(0, 6, 1000), 50, 1000); err != nil {
		t.Fatal(err)
	}
	r.submit(job(1, 2, 10), 10)
	if load := r.engine.Load(); load.Busy != 6 || load.Draw != 6000 || load.QueuedJobs != 1 || load.PowerIdledCPUs != 2 {
		t.Errorf("the load is %+v", load)
	}
}

// TestKeptPlaceOfTheHead: a running job that may end at any moment is no reason to lend the
// head's place to a long one.
func TestKeptPlaceOfTheHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		run   protocol.Duration
		comes protocol.Instant
	}{
		{"past its estimate", 12, 11},
		{"ends in this millisecond", 10, 10},
	} {
		r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: power.Always(8000), Rates: watts()}, engine.EASY()))
		r.submit(job(0, 4, 10), c.run)
		r.submit(job(1, 8, 5), 5)
		if r.now = c.comes; c.run > 10 {
			r.advance(c.comes)
		}
		r.submit(job(2, 4, 1000), 1000)
		r.drain()
		if got := r.jobs[tag(1)].start; got != protocol.Instant(c.run) {
			t.Errorf("%s: the head starts at %d, want %d", c.name, got, c.run)
		}
	}
}

// TestNoReservationOutlivesOnPeak: jobs that the knapsack starts on-peak against the shadow
// of the head leave EASY no false one off-peak. K would be over long before the head starts.
func TestNoReservationOutlivesOnPeak(t *testing.T) {
	t.Parallel()
	budget := engine.Budget{
		Signal: signalOf(t, power.Step{At: 100, Limit: 100_000}, power.Step{At: 110, Limit: power.Unlimited}), Rates: watts(), Mode: engine.Filter,
	}
	for _, mode := range engine.Modes() {
		budget.Mode = mode
		starts := func(forget bool) protocol.Instant {
			r := newRig(t, cpus(8), engine.Within(budget, engine.EASY()))
			r.now = 90
			r.submit(job(0, 4, 15), 15)
			r.submit(job(1, 5, 10), 10) // the head: its shadow is 105
			r.advance(101)
			r.submit(job(2, 4, 95), 95)
			r.submit(job(3, 4, 15), 15)
			r.advance(110)
			if forget {
				r.apply(r.engine.SetPolicy(110, engine.EASY()))
			}
			r.submit(job(4, 1, 5), 5)
			r.drain()
			return r.jobs[tag(4)].start
		}
		if kept, forgotten := starts(false), starts(true); kept != forgotten {
			t.Errorf("%s: K starts at %d, %d by the base policy alone", mode, kept, forgotten)
		}
	}
}

// TestLateByAge: under policies that put short jobs first the oldest late job is served
// first all the same.
func TestLateByAge(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sjf", "sjffit", "easysjbf", "easy", "conservative"} {
		base, err := engine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		starts := func(others int) protocol.Instant {
			var steps []power.Step
			for d := range protocol.Instant(100) {
				steps = append(steps, power.Step{At: 100 + 10*d, Limit: 2000}, power.Step{At: 105 + 10*d, Limit: power.Unlimited})
			}
			r := newRig(t, cpus(4), engine.Within(engine.Budget{Signal: signalOf(t, steps...), Rates: watts(), Bound: 10}, base))
			r.now = 100
			for n := range 3 {
				r.submit(job(n, 4, 20), 20)
			}
			r.advance(114) // all three have waited for ten
			for n := range others {
				r.submit(job(3+n, 4, 3), 3)
				r.advance(r.now + 3)
			}
			r.drain()
			return max(r.jobs[tag(0)].start, r.jobs[tag(1)].start, r.jobs[tag(2)].start)
		}
		if alone, beside := starts(0), starts(60); beside > alone {
			t.Errorf("%s: the last of the late ones starts at %d, at %d beside sixty short ones", name, alone, beside)
		}
	}
}

// TestNeverAllowed: jobs that a lowered budget never allows stand in nobody's way, and
// newcomers of the kind are refused.
func TestNeverAllowed(t *testing.T) {
	t.Parallel()
	for _, mode := range engine.Modes() {
		for _, signal := range []power.Signal{power.Always(4000), signalOf(t, power.Step{At: 1, Limit: 4000})} {
			budget := engine.Budget{Signal: signal, Rates: watts(), Mode: mode, Window: 2, Bound: 3}
			r := newRig(t, cpus(8), engine.EASY())
			for n := range 4 {
				r.submit(job(n, 8, 10), 10) // one runs, three wait
			}
			r.apply(r.engine.SetPolicy(1, engine.Within(budget, engine.EASY())))
			r.now = 1
			for n := 4; n < 14; n++ {
				r.submit(job(n, 1, 5), 5)
			}
			for r.step(1 << 62) {
			}
			if load := r.engine.Load(); load.QueuedJobs != 3 {
				t.Errorf("%s: %d jobs wait for ever, want the three that need 8 W", mode, load.QueuedJobs)
			}
			const refused = "would draw 8 W, and the power budget is never more than 4 W"
			if p := r.engine.Plan(r.now, nil, []protocol.Request{{CPUs: 8, WallTime: 5}}); p[0].Declined != refused {
				t.Errorf("%s: planned %+v", mode, p)
			}
		}
	}
}

// TestEarliest: what a plan has behind limits may start at once when all ends before them, but never
// before a budget allows its own draw.
func TestEarliest(t *testing.T) {
	t.Parallel()
	signal := signalOf(t, power.Step{At: 0, Limit: 4000}, power.Step{At: 500, Limit: power.Unlimited})
	r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: signal, Rates: watts()}, engine.EASY()))
	r.now = 100
	r.submit(job(0, 4, 1000), 1000)
	for width, want := range map[int][2]protocol.Instant{2: {500, 100}, 6: {1100, 500}} {
		request := job(1, width, 10).Request
		planned := r.engine.Plan(r.now, nil, []protocol.Request{request})[0].Start
		if got := [2]protocol.Instant{planned, r.engine.Earliest(r.now, request, planned)}; got != want {
			t.Errorf("%d CPUs: planned for and at the earliest %v, want %v", width, got, want)
		}
	}
}

// TestPowerIsKeptForTheHead: under a budget that never ends a hungry head gets its power
// when what runs has ended, and jobs that are over by then may use it meanwhile.
func TestPowerIsKeptForTheHead(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(100), engine.Within(engine.Budget{Signal: power.Always(8000), Rates: watts()}, engine.EASY()))
	r.submit(job(0, 4, 10), 10)
	r.submit(job(1, 8, 5), 5)
	for n := 2; n < 60; n++ {
		r.submit(job(n, 2, 4), 4)
		r.advance(r.now + 1)
	}
	r.drain()
	if head, short := r.jobs[tag(1)].start, r.jobs[tag(2)].start; head != 10 || short != 0 {
		t.Errorf("the head starts at %d, want 10; a job that is over by then at %d, want 0", head, short)
	}
}

// TestHowMuchPowerIsKept: H waits for the power that A gives back at 10. Until then others may use
// all that there is, from then on only what is left beside H and what still runs.
//
//	8 │ C C C C . . .           a newcomer of 3 W may run until 10, one of 1 W for ever
//	  │ A A A A A A A H H H H
//	1 │ B B B B B B B B B B B
//	  └ 0       4     10
func TestHowMuchPowerIsKept(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]engine.Budget{
		"window, the head":        {},
		"window, the late":        {Bound: 1},
		"filter, the late":        {Bound: 1, Mode: engine.Filter},
		"window, one late of two": {Bound: 3},
	} {
		for _, c := range []struct {
			cpus int
			time protocol.Duration
			want protocol.Instant
		}{
			{1, 100, 4}, {2, 100, 15}, {3, 100, 15}, // for long
			{2, 6, 4}, {3, 6, 4}, // until 10
			{2, 7, 15}, {3, 7, 15}, // a moment longer
		} {
			budget.Signal, budget.Rates = power.Always(8000), watts()
			r := newRig(t, cpus(100), engine.Within(budget, engine.FirstFit()))
			r.submit(job(0, 4, 10), 10)
			r.submit(job(1, 1, 50), 50)
			r.submit(job(2, 3, 4), 4)
			r.submit(job(3, 6, 5), 5)
			r.advance(2)
			r.submit(job(4, c.cpus, c.time), c.time)
			r.drain()
			if head, got := r.jobs[tag(3)].start, r.jobs[tag(4)].start; head != 10 || got != c.want {
				t.Errorf("%s: H starts at %d, want 10, %d W for %d ms at %d, want %d", name, head, c.cpus, c.time, got, c.want)
			}
		}
	}
}

// TestShortBesideLong: where power is kept, those that outlast the time are chosen first, and the
// others get what these leave of it. The wide one would be the best choice for the machine, but not
// for H, which waits for 6 W.
func TestShortBesideLong(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(100), engine.Within(engine.Budget{Signal: power.Always(8000), Rates: power.Rates{Busy: 1_000_000}}, engine.EASY()))
	r.submit(job(0, 4, 10), 10)
	r.submit(job(1, 1, 50), 50)
	r.submit(job(2, 3, 4), 4)
	head, wide := job(3, 12, 5), job(5, 4, 100) // 6 W and 2 W
	head.Power, wide.Power = protocol.PPM/2, protocol.PPM/2
	r.submit(head, 5)
	r.submit(job(4, 1, 100), 100)
	r.submit(wide, 100)
	r.submit(job(6, 3, 6), 6)
	r.submit(job(7, 2, 6), 6)
	r.drain()
	for n, want := range map[int]protocol.Instant{3: 10, 4: 4, 7: 4} {
		if got := r.jobs[tag(n)].start; got != want {
			t.Errorf("job %d starts at %d, want %d", n, got, want)
		}
	}
	if early := r.jobs[tag(5)].start; early < 10 {
		t.Errorf("the wide job starts at %d and takes the power that is kept", early)
	}
}

// TestHeadThatDrawsAll: a head that draws all that the budget of today allows waits for what runs,
// not for the end of the budget.
func TestHeadThatDrawsAll(t *testing.T) {
	t.Parallel()
	signal := signalOf(t, power.Step{At: 0, Limit: 8000}, power.Step{At: 1000, Limit: power.Unlimited})
	r := newRig(t, cpus(100), engine.Within(engine.Budget{Signal: signal, Rates: watts()}, engine.EASY()))
	r.submit(job(0, 4, 10), 10)
	r.submit(job(1, 8, 5), 5)
	r.submit(job(2, 2, 100), 100)
	r.drain()
	if head, other := r.jobs[tag(1)].start, r.jobs[tag(2)].start; head != 10 || other != 15 {
		t.Errorf("the head starts at %d, want 10, one that would take its power at %d, want 15", head, other)
	}
}

// TestKeptPowerIsLent: a late job that lacks nodes until much later keeps nobody from the
// power meanwhile.
func TestKeptPowerIsLent(t *testing.T) {
	t.Parallel()
	budget := engine.Budget{Signal: power.Always(4000), Rates: power.Rates{Busy: 1_000_000}, Bound: 10}
	r := newRig(t, cpus(8), engine.Within(budget, engine.FirstFit()))
	sparing, wide := job(0, 5, 1000), job(1, 4, 5)
	sparing.Power, wide.Power = 1, 900_000
	r.submit(sparing, 1000)
	r.submit(wide, 5)
	r.advance(15)
	for n := 2; n < 5; n++ {
		r.submit(job(n, 1, 5), 5)
	}
	r.drain()
	if small, late := r.jobs[tag(2)].start, r.jobs[tag(1)].start; small != 15 || late != 1000 {
		t.Errorf("the small job starts at %d, want 15, the late one at %d, want 1000", small, late)
	}
}

// TestNoteOfABudgetToCome: a quote says what will make the job wait, also before the budget
// holds.
func TestNoteOfABudgetToCome(t *testing.T) {
	t.Parallel()
	r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: days(10, 3), Rates: watts()}, engine.EASY()))
	r.now = 95
	r.submit(job(0, 8, 10), 10)
	p := r.engine.Plan(95, nil, []protocol.Request{{CPUs: 4, WallTime: 5}})
	const want = "off-peak only: the power budget is 3 W from 1970-01-01 00:00Z until 1970-01-01 00:00Z; the job would draw 4 W"
	if p[0].Start != 110 || p[0].Note != want {
		t.Errorf("planned %+v", p[0])
	}
	p = r.engine.Plan(95, nil, []protocol.Request{{CPUs: 3, WallTime: 5}}) // all that there will be
	if p[0].Start != 105 || p[0].Note != "" {
		t.Errorf("planned %+v, want a start at 105, which only CPUs keep it from", p[0])
	}
}

// TestDelaysWhenTheBudgetHasEnded: a pass that is due, but not made yet, is nobody's delay.
func TestDelaysWhenTheBudgetHasEnded(t *testing.T) {
	t.Parallel()
	budget := engine.Budget{
		Signal: signalOf(t, power.Step{At: 100, Limit: 3000}, power.Step{At: 110, Limit: power.Unlimited}), Rates: watts(),
	}
	r := newRig(t, cpus(8), engine.Within(budget, engine.EASY()))
	r.now = 100
	r.submit(of(own, job(1, 4, 5)), 5) // off-peak only
	for _, now := range []protocol.Instant{109, 110, 113} {
		if d := r.engine.Delays(now, nil, []protocol.Request{{CPUs: 1, WallTime: 1}}, own); d[0] != 0 {
			t.Errorf("at %d a job that fits beside is said to delay by %v", now, d[0])
		}
	}
}

// TestLoadOfAnyBudget: whatever the budget, the load adds up.
func TestLoadOfAnyBudget(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{0, 1, 1000, 1 << 54, 1<<63 - 2} {
		for _, rates := range []power.Rates{{}, watts(), {Busy: power.MaxRate}} {
			r := newRig(t, cpus(8), engine.Within(engine.Budget{Signal: power.Always(limit), Rates: rates, Mode: "odd", Window: -1, Bound: -5}, engine.EASY()))
			if _, err := r.engine.Submit(0, job(0, 1, 5)); err != nil && limit > power.MaxDraw {
				t.Error(err)
			}
			if load := r.engine.Load(); load.PowerIdledCPUs < 0 || load.Busy+load.PowerIdledCPUs > load.CPUs || limit > power.MaxDraw*8 && load.PowerIdledCPUs > 0 {
				t.Errorf("%d mW at %+v: the load is %+v", limit, rates, load)
			}
		}
	}
}

// drawBudget draws budgets that change, and may never end.
func drawBudget(t *rapid.T, from protocol.Instant) engine.Budget {
	var steps []power.Step
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		from += protocol.Instant(rapid.IntRange(1, 12).Draw(t, "gap"))
		limit := rapid.SampledFrom([]int64{0, 1000, 2500, 4000, 9000, power.Unlimited}).Draw(t, "limit")
		steps = append(steps, power.Step{At: from, Limit: limit})
	}
	if rapid.Bool().Draw(t, "ends") {
		steps = append(steps, power.Step{At: from + 5, Limit: power.Unlimited})
	}
	return engine.Budget{
		Signal: signalOf(t, steps...), Rates: watts(), Mode: rapid.SampledFrom(engine.Modes()).Draw(t, "mode"),
		Window: rapid.IntRange(0, 4).Draw(t, "window"),
		Bound:  rapid.SampledFrom([]protocol.Duration{0, 1, 5, 20}).Draw(t, "bound"),
	}
}

// TestNoJobIsStuck: with budgets that change under way, none is exceeded by a start, and
// in the end only those wait that the last one never allows.
func TestNoJobIsStuck(t *testing.T) {
	t.Parallel()
	for name, draw := range machines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { noJobIsStuck(t, draw(t)) })
		})
	}
}

func noJobIsStuck(t *rapid.T, m engine.Machine) {
	base, err := engine.Named(rapid.SampledFrom(engine.Names()).Draw(t, "base"))
	if err != nil {
		t.Fatal(err)
	}
	b := drawBudget(t, 100)
	r := newRig(t, m, engine.Within(b, base))
	r.now = 100
	started := 0
	check := func() {
		limit, _ := b.Signal.At(r.now)
		total := int64(0)
		for _, j := range r.started {
			total += drawn(m, b, j.Request)
		}
		if limit != power.Unlimited && len(r.order) > started && total > limit {
			t.Fatalf("at %d jobs draw %d mW of %d", r.now, total, limit)
		}
		started = len(r.order)
	}
	for n := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		j := localsched.Queued{Request: drawRequest(t, m), Tag: tag(n)}
		run := protocol.Duration(rapid.IntRange(1, 15).Draw(t, "run"))
		if p := r.engine.Plan(r.now, nil, []protocol.Request{j.Request}); p[0].Declined == "" {
			r.submit(j, run)
		}
		check()
		for to := r.now + protocol.Instant(rapid.IntRange(0, 5).Draw(t, "pause")); r.step(to); {
			check()
		}
		if rapid.IntRange(0, 5).Draw(t, "change") == 0 {
			b = drawBudget(t, r.now)
			r.apply(r.engine.SetPolicy(r.now, engine.Within(b, base)))
			check()
		}
	}
	for r.step(1 << 62) {
		check()
	}
	limit, _ := b.Signal.At(1 << 60)
	for _, waits := range r.waiting() {
		if drawn(m, b, r.jobs[waits].Request) <= limit {
			t.Fatalf("at %d %v waits for ever, of %d mW", r.now, waits, limit)
		}
	}
}

// TestQuotesUnderAnyBudget: a quote is the start, and a refusal or no start in sight is none.
func TestQuotesUnderAnyBudget(t *testing.T) {
	t.Parallel()
	for name, draw := range machines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { quoteUnderAnyBudget(t, draw(t)) })
		})
	}
}

func quoteUnderAnyBudget(t *rapid.T, m engine.Machine) {
	base, err := engine.Named(rapid.SampledFrom(engine.Names()).Draw(t, "base"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, m, engine.Within(drawBudget(t, 100), base))
	r.now = 100
	for n := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		j := localsched.Queued{Request: drawRequest(t, m), Tag: tag(n)}
		run := protocol.Duration(rapid.IntRange(1, 15).Draw(t, "run"))
		if p := r.engine.Plan(r.now, nil, []protocol.Request{j.Request}); p[0].Declined == "" {
			r.submit(j, run)
		}
		r.advance(r.now + protocol.Instant(rapid.IntRange(0, 5).Draw(t, "pause")))
	}
	j := localsched.Queued{Request: drawRequest(t, m), Tag: tag(1000)}
	p := r.engine.Plan(r.now, nil, []protocol.Request{j.Request})
	if p[0].Declined != "" {
		return
	}
	r.submit(j, j.WallTime)
	r.comeTrue()
	for r.step(1 << 62) {
	}
	const never = protocol.Instant(protocol.Never) // it must wait, and the last budget is too little
	got := r.jobs[tag(1000)]
	if !got.ended && p[0].Start != never {
		t.Fatalf("planned for %d, it never starts", p[0].Start)
	}
	if got.ended && got.start != p[0].Start {
		t.Fatalf("planned for %d, it starts at %d", p[0].Start, got.start)
	}
}
