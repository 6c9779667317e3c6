package waitpredict_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const begin protocol.Instant = 1_800_000_000_000

func newPredictor(t *testing.T, method waitpredict.Method) *waitpredict.Predictor {
	t.Helper()
	f, err := waitpredict.NewPredictor(method, 8)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tagOf(n uint64) protocol.Tag { return protocol.Tag{Job: protocol.JobID(n), Epoch: 1} }

func request(n uint64) protocol.Request {
	return protocol.Request{Job: protocol.JobID(n), CPUs: 2, WallTime: protocol.Hour}
}

// expected is what a quote of a planned wait becomes.
func expected(f *waitpredict.Predictor, now protocol.Instant, r protocol.Request, planned protocol.Duration) protocol.Quote {
	q := protocol.Quote{Job: r.Job, AWT: planned, ERT: r.WallTime}
	f.Annotate(now, r, &q, 0)
	return q
}

// life is that of jobs that are quoted a minute and start after so many seconds.
func life(f *waitpredict.Predictor, first uint64, waits ...int64) {
	for i, seconds := range waits {
		n := first + uint64(i)
		now := begin.Add(protocol.Duration(n) * protocol.Hour)
		expected(f, now, request(n), protocol.Minute)
		f.Submitted(now, tagOf(n), request(n))
		start := now.Add(protocol.Duration(seconds) * protocol.Second)
		f.Changed(start, localsched.Change{Tag: tagOf(n), State: protocol.Running})
		f.Changed(start.Add(protocol.Minute), localsched.Change{Tag: tagOf(n), State: protocol.Completed})
	}
}

func sec(n int64) protocol.Duration { return protocol.Duration(n) * protocol.Second }

// TestPlanByHand: what is foreseen of a plan is how far the recent ones were off, by the
// ratio of the waits with a minute added to both. Of nine jobs that were quoted a minute
// one started at once (half), one after three (twice), the others in time.
func TestPlanByHand(t *testing.T) {
	t.Parallel()
	f := newPredictor(t, waitpredict.Plan)
	life(f, 1, 0, 60, 60, 60, 60, 60, 60, 60)
	later := begin.Add(protocol.Day)
	check := func(what string, planned protocol.Duration, low, high, bound int64) {
		t.Helper()
		got := expected(f, later, request(99), planned)
		want := protocol.Quote{
			Job: 99, AWT: planned, AWTLow: sec(low), AWTHigh: sec(high), Bound: sec(bound), ERT: protocol.Hour,
		}
		if got.AWT != want.AWT || got.AWTLow != want.AWTLow || got.AWTHigh != want.AWTHigh || got.Bound != want.Bound {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	check("of eight nothing is known", protocol.Minute, 0, 0, 0)
	life(f, 9, 180)
	check("of nine the P10 and the P90", protocol.Minute, 0, 180, 0)
	check("a shorter plan", sec(30), 0, 120, 0)
	check("no wait", 0, 0, 60, 0)
	check("a plan of another magnitude", protocol.Hour, 0, 0, 0)
	life(f, 10, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60)
	check("of nineteen the bound of 95 % as well", protocol.Minute, 60, 60, 180)
}

// TestOthersByTheirPredictors: what the predictors say is what quotes tell: of a random
// life of jobs that wait, run, end and are withdrawn.
func TestOthersByTheirPredictors(t *testing.T) {
	t.Parallel()
	for method, open := range map[waitpredict.Method]func() (wait.Predictor, error){
		waitpredict.Adaptive: func() (wait.Predictor, error) { return wait.NewAdaptive(wait.EarlierParams()) },
		waitpredict.QBETS:    func() (wait.Predictor, error) { return wait.NewQBETS(wait.DefaultBoundParams()) },
		waitpredict.IBL:      func() (wait.Predictor, error) { return wait.NewIBL(wait.DefaultLearningParams()) },
	} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			predictor, err := open()
			if err != nil {
				t.Fatal(err)
			}
			o := &oracle{state: wait.NewState(8), predictor: predictor}
			reported := followOracle(t, newPredictor(t, method), o)
			if reported < 50 {
				t.Errorf("only %d quotes had an interval", reported)
			}
		})
	}
}

// oracle is a predictor that is told all by hand.
type oracle struct {
	state     *wait.State
	predictor wait.Predictor
}

func (o *oracle) observe(e wait.Event, ok bool) {
	if ok {
		o.predictor.Observe(e)
	}
}

func followOracle(t *testing.T, f *waitpredict.Predictor, o *oracle) (reported int) {
	t.Helper()
	rng, now := rand.New(rand.NewPCG(1, 2)), begin
	var waiting, running []uint64
	for n := uint64(1); n <= 400; n++ {
		now = now.Add(protocol.Duration(rng.Int64N(600_000)))
		r := protocol.Request{Job: protocol.JobID(n), CPUs: 1 + rng.IntN(4), WallTime: protocol.Duration(1+rng.Int64N(10)) * protocol.Hour}
		job := wait.Job{ID: int64(n), User: wait.UnknownUser, CPUs: r.CPUs, Estimate: r.WallTime}
		asked := job
		asked.ID = 0
		want := o.predictor.Predict(o.state.Arrival(now, asked))
		got := protocol.Quote{Job: r.Job, AWT: protocol.Minute, AWTLow: protocol.Minute, AWTHigh: protocol.Minute, ERT: r.WallTime}
		f.Annotate(now, r, &got, 0)
		if got.AWT != want.Wait || got.AWTLow > got.AWT || got.AWT > got.AWTHigh {
			t.Fatalf("job %d: quoted %+v, foreseen %+v", n, got, want)
		}
		if want.High != protocol.Never {
			reported++
			if got.AWTLow != min(want.Low, want.Wait) || got.AWTHigh != max(want.High, want.Wait) {
				t.Fatalf("job %d: quoted %+v, foreseen %+v", n, got, want)
			}
		}
		if bound := max(want.Bound, want.Wait); want.Bound != protocol.Never && got.Bound != bound {
			t.Fatalf("job %d: quoted %+v, foreseen %+v", n, got, want)
		}
		f.Submitted(now, tagOf(n), r)
		o.observe(o.state.Submit(o.state.Arrival(now, job)))
		waiting = append(waiting, n)
		for range rng.IntN(3) {
			waiting, running = happen(rng, now, f, o, waiting, running)
		}
	}
	return reported
}

// happen starts, ends or withdraws one job.
func happen(rng *rand.Rand, now protocol.Instant, f *waitpredict.Predictor, o *oracle, waiting, running []uint64) (w, r []uint64) {
	switch {
	case len(waiting) > 0 && rng.IntN(12) == 0:
		f.Withdrawn(now, tagOf(waiting[0]))
		o.observe(o.state.Leave(now, int64(waiting[0])))
		return waiting[1:], running
	case len(waiting) > 0 && rng.IntN(2) == 0:
		f.Changed(now, localsched.Change{Tag: tagOf(waiting[0]), State: protocol.Running})
		o.observe(o.state.Start(now, int64(waiting[0])))
		return waiting[1:], append(running, waiting[0])
	case len(running) > 0:
		f.Changed(now, localsched.Change{Tag: tagOf(running[0]), State: protocol.Failed})
		o.observe(o.state.Leave(now, int64(running[0])))
		return waiting, running[1:]
	}
	return waiting, running
}

// knows reports whether nine starts have been learnt.
func knows(f *waitpredict.Predictor) bool {
	return expected(f, begin.Add(protocol.Day), request(999), protocol.Minute).AWTHigh != 0
}

// TestWhatCountsOnce: of what is told of nine jobs, all is learnt once or, for one of
// them, not at all: then an interval is known or not.
func TestWhatCountsOnce(t *testing.T) {
	t.Parallel()
	running := localsched.Change{Tag: tagOf(9), State: protocol.Running}
	ended := localsched.Change{Tag: tagOf(9), State: protocol.Completed}
	now := begin.Add(protocol.Hour)
	for name, tt := range map[string]struct {
		ninth func(f *waitpredict.Predictor)
		want  bool
	}{
		"it waits": {func(f *waitpredict.Predictor) {
			expected(f, now, request(9), protocol.Minute)
			f.Submitted(now, tagOf(9), request(9))
			f.Changed(now, localsched.Change{Tag: tagOf(9), State: protocol.Pending})
		}, false},
		"it runs": {func(f *waitpredict.Predictor) {
			expected(f, now, request(9), protocol.Minute)
			f.Submitted(now, tagOf(9), request(9))
			f.Changed(now, running)
		}, true},
		"it ended before anybody saw it run": {func(f *waitpredict.Predictor) {
			expected(f, now, request(9), protocol.Minute)
			f.Submitted(now, tagOf(9), request(9))
			f.Changed(now, ended)
		}, true},
		"it was withdrawn, whatever is said later": {func(f *waitpredict.Predictor) {
			expected(f, now, request(9), protocol.Minute)
			f.Submitted(now, tagOf(9), request(9))
			f.Withdrawn(now, tagOf(9))
			f.Changed(now, running)
		}, false},
		"it never came": {func(f *waitpredict.Predictor) { f.Changed(now, running); f.Changed(now, ended) }, false},
		"it came without a quote": {func(f *waitpredict.Predictor) {
			f.Submitted(now, tagOf(9), request(9))
			f.Changed(now, running)
		}, false},
		"it was declined": {func(f *waitpredict.Predictor) {
			f.Annotate(now, request(9), &protocol.Quote{Job: 9, Declined: "full"}, 0)
			f.Submitted(now, tagOf(9), request(9))
			f.Changed(now, running)
		}, false},
		"its quote was for nobody's job": {func(f *waitpredict.Predictor) {
			expected(f, now, request(0), protocol.Minute)
			f.Submitted(now, protocol.Tag{Epoch: 1}, request(0))
			f.Changed(now, localsched.Change{Tag: protocol.Tag{Epoch: 1}, State: protocol.Running})
		}, false},
		"it started in its second epoch, without a new quote": {func(f *waitpredict.Predictor) {
			expected(f, now, request(9), protocol.Minute)
			f.Submitted(now, tagOf(9), request(9))
			f.Withdrawn(now, tagOf(9))
			second := protocol.Tag{Job: 9, Epoch: 2}
			f.Submitted(now, second, request(9))
			f.Changed(now, localsched.Change{Tag: second, State: protocol.Running})
		}, false},
		"it was quoted before all were forgotten": {func(f *waitpredict.Predictor) {
			expected(f, now, request(9), protocol.Minute)
			for n := range uint64(1 << 16) {
				expected(f, now, request(1000+n), protocol.Minute)
			}
			f.Submitted(now, tagOf(9), request(9))
			f.Changed(now, running)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPredictor(t, waitpredict.Plan)
			life(f, 1, 60, 60, 60, 60, 60, 60, 60, 60)
			for n := range uint64(8) { // all that they did is told again, twice
				for range 2 {
					f.Submitted(now, tagOf(9), request(9))
					f.Withdrawn(now, tagOf(9))
					f.Changed(now, localsched.Change{Tag: tagOf(1 + n), State: protocol.Running})
					f.Changed(now, localsched.Change{Tag: tagOf(1 + n), State: protocol.Completed})
				}
			}
			if knows(f) {
				t.Fatal("an interval is known after eight starts")
			}
			tt.ninth(f)
			if got := knows(f); got != tt.want {
				t.Errorf("an interval is known: %t, want %t", got, tt.want)
			}
		})
	}
}

// TestRepeatedChangesCountOnce while a job runs, too.
func TestRepeatedChangesCountOnce(t *testing.T) {
	t.Parallel()
	f := newPredictor(t, waitpredict.Plan)
	expected(f, begin, request(1), protocol.Minute)
	f.Submitted(begin, tagOf(1), request(1))
	for i := range protocol.Duration(20) {
		f.Submitted(begin.Add(i), tagOf(1), request(1))
		f.Changed(begin.Add(i), localsched.Change{Tag: tagOf(1), State: protocol.Running})
	}
	if knows(f) {
		t.Error("one start told twenty times counts as many")
	}
}

// TestGrowthQuotesChangeNothing: a question about nobody's job does not take the place of
// a job's quote.
func TestGrowthQuotesChangeNothing(t *testing.T) {
	t.Parallel()
	f := newPredictor(t, waitpredict.Plan)
	for n := uint64(1); n <= 9; n++ {
		expected(f, begin, request(n), protocol.Minute)
		expected(f, begin, request(0), protocol.Hour)
		f.Submitted(begin, tagOf(n), request(n))
		f.Changed(begin.Add(protocol.Minute), localsched.Change{Tag: tagOf(n), State: protocol.Running})
	}
	if q := expected(f, begin, request(99), protocol.Minute); q.AWTLow != protocol.Minute || q.AWTHigh != protocol.Minute {
		t.Errorf("a minute is %+v", q)
	}
	if q := expected(f, begin, request(99), protocol.Hour); q.AWTHigh != 0 {
		t.Errorf("an hour is %+v", q)
	}
}

// TestDeclinedQuotesStay as they are, and those without a start in sight.
func TestDeclinedQuotesStay(t *testing.T) {
	t.Parallel()
	for _, method := range waitpredict.Methods() {
		f := newPredictor(t, method)
		life(f, 1, 60, 60, 60, 60, 60, 60, 60, 60, 60)
		for _, want := range []protocol.Quote{{Job: 5, Declined: "full"}, {Job: 5, AWT: protocol.Never, ERT: 1}} {
			got := want
			f.Annotate(begin.Add(protocol.Day), request(5), &got, protocol.Hour)
			if got.AWT != want.AWT || got.AWTLow != 0 || got.AWTHigh != 0 || got.Bound != 0 || got.Declined != want.Declined {
				t.Errorf("%s: %+v became %+v", method, want, got)
			}
		}
	}
}

// TestIntervalsHoldTheWait, though nothing is known yet: the interval of the batch system
// is widened by what is foreseen, or partners would not read the quote.
func TestIntervalsHoldTheWait(t *testing.T) {
	t.Parallel()
	for _, method := range waitpredict.Methods() {
		q := protocol.Quote{Job: 5, AWT: protocol.Hour, AWTLow: protocol.Hour, AWTHigh: protocol.Hour, ERT: 1}
		newPredictor(t, method).Annotate(begin, request(5), &q, protocol.Hour)
		if q.AWTLow > q.AWT || q.AWT > q.AWTHigh {
			t.Errorf("%s: %+v", method, q)
		}
	}
}

// TestPredictionsArePutBack by what jobs that are promised room add to the plan; a plan
// knows of them already.
func TestPredictionsArePutBack(t *testing.T) {
	t.Parallel()
	const added protocol.Duration = 7 * protocol.Minute
	for _, method := range waitpredict.Methods() {
		f := newPredictor(t, method)
		for n := range uint64(10) {
			life(f, 1+10*n, 0, 30, 60, 90, 120, 60, 60, 60, 60, 60)
		}
		now := begin.Add(100 * protocol.Day)
		alone := expected(f, now, request(999), protocol.Minute)
		after := protocol.Quote{Job: 999, AWT: protocol.Minute, ERT: protocol.Hour}
		f.Annotate(now, request(999), &after, added)
		want := added
		planOnly := method == waitpredict.Plan || method == waitpredict.Median || method == waitpredict.Mean
		if planOnly {
			want = 0
		}
		awt := want
		if method == waitpredict.Auto { // the plan of the other quote knows of them
			awt, want = 0, 0
			after.AWTHigh, after.AWTLow, after.Bound = alone.AWTHigh, alone.AWTLow, alone.Bound
		}
		if (method != waitpredict.Auto && f.ByPlan() != planOnly) || after.AWT != alone.AWT+awt || alone.Bound == 0 || after.Bound != alone.Bound+want {
			t.Errorf("%s: %+v became %+v", method, alone, after)
		}
		if (alone.AWTHigh != 0 && after.AWTHigh != alone.AWTHigh+want) || (alone.AWTHigh != 0 && after.AWTLow != alone.AWTLow+want) {
			t.Errorf("%s: the interval of %+v became that of %+v", method, alone, after)
		}
	}
}

func TestUnknownMethod(t *testing.T) {
	t.Parallel()
	if _, err := waitpredict.NewPredictor("tea leaves", 8); err == nil || !strings.Contains(err.Error(), `"tea leaves"; use one of "plan"`) {
		t.Errorf("error %v", err)
	}
}

// fake is a batch system under a foresight.
type fake struct {
	localsched.Scheduler
	quotes     []protocol.Quote
	alone      []protocol.Quote // without jobs ahead, if they are other ones
	asked      []localsched.Query
	submitting func() // while Submit is under way
	fails      error
	withdrawal localsched.Withdrawal
	changes    []localsched.Change
}

func (f *fake) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	f.asked = append(f.asked, query)
	if f.alone != nil && len(query.Ahead) == 0 {
		return append([]protocol.Quote(nil), f.alone...), f.fails
	}
	return append([]protocol.Quote(nil), f.quotes...), f.fails
}

func (f *fake) Submit(context.Context, localsched.Submission) (localsched.LocalID, error) {
	if f.submitting != nil {
		f.submitting()
	}
	return "1", f.fails
}

func (f *fake) Withdraw(context.Context, protocol.Tag) (localsched.Withdrawal, error) {
	return f.withdrawal, f.fails
}

func (f *fake) Watch(context.Context, localsched.Cursor) (localsched.Watched, error) {
	changes := f.changes
	f.changes = nil
	return localsched.Watched{Changes: changes}, nil
}

// schedule is what nine jobs do in a scheduler with a foresight; known reports whether the
// quotes have an interval then.
func schedule(t *testing.T, under *fake, nth func(s localsched.Scheduler, n uint64)) (known bool) {
	t.Helper()
	now := begin
	s := waitpredict.New(under, newPredictor(t, waitpredict.Plan), func() protocol.Instant { return now })
	under.quotes = []protocol.Quote{{AWT: protocol.Minute, ERT: 1}}
	for n := uint64(1); n <= 9; n++ {
		quote(t, s, n)
		now = now.Add(protocol.Minute)
		nth(s, n)
	}
	return quote(t, s, 99).AWTHigh != 0
}

func quote(t *testing.T, s localsched.Scheduler, n uint64) protocol.Quote {
	t.Helper()
	quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{request(n)}})
	if err != nil || len(quotes) != 1 {
		t.Fatalf("got %v, %v", quotes, err)
	}
	return quotes[0]
}

func submission(n uint64) localsched.Submission {
	return localsched.Submission{Tag: tagOf(n), Spec: protocol.Spec{Request: request(n)}}
}

// TestSchedulerSeesAll: what goes through it is learnt, also when a watch tells of a start
// before the submission has returned; not what was refused, nor what was withdrawn.
func TestSchedulerSeesAll(t *testing.T) {
	t.Parallel()
	watch := func(s localsched.Scheduler, under *fake, n uint64) {
		under.changes = []localsched.Change{{Tag: tagOf(n), State: protocol.Running}}
		if _, err := s.Watch(t.Context(), ""); err != nil {
			t.Error(err)
		}
	}
	submit := func(s localsched.Scheduler, n uint64) error {
		_, err := s.Submit(t.Context(), submission(n))
		return err
	}
	for name, tt := range map[string]struct {
		nth  func(s localsched.Scheduler, under *fake, n uint64)
		want bool
	}{
		"submitted, then seen to run": {func(s localsched.Scheduler, under *fake, n uint64) {
			if err := submit(s, n); err != nil {
				t.Error(err)
			}
			watch(s, under, n)
		}, true},
		"seen to run while it is submitted": {func(s localsched.Scheduler, under *fake, n uint64) {
			under.submitting = func() { watch(s, under, n) }
			if err := submit(s, n); err != nil {
				t.Error(err)
			}
		}, true},
		"refused": {func(s localsched.Scheduler, under *fake, n uint64) {
			under.fails = &localsched.RefusedError{Reason: "no"}
			err := submit(s, n)
			under.fails = nil
			if refused, ok := errors.AsType[*localsched.RefusedError](err); !ok {
				t.Errorf("the refusal became %v", refused)
			}
			watch(s, under, n)
		}, false},
		"withdrawn": {func(s localsched.Scheduler, under *fake, n uint64) {
			under.withdrawal = localsched.Withdrawn
			if err := submit(s, n); err != nil {
				t.Error(err)
			}
			if got, err := s.Withdraw(t.Context(), tagOf(n)); got != localsched.Withdrawn || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
			watch(s, under, n)
		}, false},
		"too late to be withdrawn": {func(s localsched.Scheduler, under *fake, n uint64) {
			under.withdrawal = localsched.Started
			if err := submit(s, n); err != nil {
				t.Error(err)
			}
			if got, err := s.Withdraw(t.Context(), tagOf(n)); got != localsched.Started || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
			watch(s, under, n)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			under := &fake{}
			got := schedule(t, under, func(s localsched.Scheduler, n uint64) { tt.nth(s, under, n) })
			if got != tt.want {
				t.Errorf("an interval is known: %t, want %t", got, tt.want)
			}
		})
	}
}

// TestSchedulerAfterARestart: a new foresight is told all again from the beginning, of jobs
// that it has not seen come; quotes are the batch system's until new ones have.
func TestSchedulerAfterARestart(t *testing.T) {
	t.Parallel()
	under := &fake{quotes: []protocol.Quote{{AWT: protocol.Minute, ERT: 1}}}
	for n := uint64(1); n <= 30; n++ {
		under.changes = append(under.changes,
			localsched.Change{Tag: tagOf(n), State: protocol.Pending},
			localsched.Change{Tag: tagOf(n), State: protocol.Running},
			localsched.Change{Tag: tagOf(n), State: protocol.Completed})
	}
	s := waitpredict.New(under, newPredictor(t, waitpredict.Plan), func() protocol.Instant { return begin })
	if watched, err := s.Watch(t.Context(), ""); err != nil || len(watched.Changes) != 90 {
		t.Errorf("got %d changes, %v", len(watched.Changes), err)
	}
	if q := quote(t, s, 1); q.AWT != protocol.Minute || q.AWTHigh != 0 || q.Bound != 0 {
		t.Errorf("got %+v", q)
	}
}

// TestSchedulerAsksForThoseAhead: a prediction is put back by the planned difference that
// they make, where there is one; nobody asks twice for nothing.
func TestSchedulerAsksForThoseAhead(t *testing.T) {
	t.Parallel()
	planned := func(waits ...protocol.Duration) (quotes []protocol.Quote) {
		for _, wait := range waits {
			q := protocol.Quote{AWT: wait, ERT: 1}
			if wait < 0 {
				q = protocol.Quote{Declined: "full"}
			}
			quotes = append(quotes, q)
		}
		return quotes
	}
	ahead := []localsched.Tentative{{Tag: tagOf(50), Request: request(50)}}
	jobs := []protocol.Request{request(1), request(2), request(3), request(4), request(5)}
	with, without := planned(sec(90), sec(20), sec(9), protocol.Never, -1), planned(sec(30), sec(25), -1, sec(1), sec(1))
	for name, tt := range map[string]struct {
		method waitpredict.Method
		ahead  []localsched.Tentative
		asked  int
		want   []protocol.Duration // nothing has been learnt: predicted are waits of 0
	}{
		"predicted, some ahead":   {waitpredict.QBETS, ahead, 2, []protocol.Duration{sec(60), 0, 0, protocol.Never, 0}},
		"predicted, nobody ahead": {waitpredict.QBETS, nil, 1, []protocol.Duration{0, 0, 0, 0, 0}},
		"planned, some ahead":     {waitpredict.Plan, ahead, 1, []protocol.Duration{sec(90), sec(20), sec(9), protocol.Never, 0}},
	} {
		under := &fake{quotes: with, alone: without}
		s := waitpredict.New(under, newPredictor(t, tt.method), func() protocol.Instant { return begin })
		quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: jobs, Ahead: tt.ahead, ProtectSite: new(protocol.SiteNumber(3))})
		if err != nil || len(under.asked) != tt.asked {
			t.Fatalf("%s: asked %d times, %v", name, len(under.asked), err)
		}
		if again := under.asked[len(under.asked)-1]; tt.asked == 2 && (again.Ahead != nil || again.ProtectSite != nil || len(again.Jobs) != len(jobs)) {
			t.Errorf("%s: asked again for %+v", name, again)
		}
		for i, want := range tt.want {
			if quotes[i].AWT != want {
				t.Errorf("%s: job %d waits %v, want %v", name, i, quotes[i].AWT, want)
			}
		}
	}
	under := &fake{quotes: with, alone: without[:2]}
	s := waitpredict.New(under, newPredictor(t, waitpredict.QBETS), func() protocol.Instant { return begin })
	if _, err := s.Quote(t.Context(), localsched.Query{Jobs: jobs, Ahead: ahead}); err == nil || !strings.Contains(err.Error(), "quotes 5 jobs, and 2 of them when no jobs are ahead") {
		t.Errorf("got %v", err)
	}
	// By auto the waits are the plan's, which the first answer has. The second question is for
	// estimates that know of no tentative job; that it fails costs no quote.
	for knowsSize, asked := range map[bool]int{false: 1, true: 2} {
		under = &fake{quotes: with, alone: without[:2]}
		f := newPredictor(t, waitpredict.Auto)
		if knowsSize {
			waitBySize(f)
		}
		quotes, err := waitpredict.New(under, f, func() protocol.Instant { return begin }).Quote(t.Context(), localsched.Query{Jobs: jobs, Ahead: ahead})
		if err != nil || len(under.asked) != asked || !reflect.DeepEqual(quotes, with) {
			t.Errorf("by auto, %v: asked %d times, %+v, %v", knowsSize, len(under.asked), quotes, err)
		}
	}
}

// waitBySize has jobs wait by their CPUs, of which the plan knows nothing.
func waitBySize(f *waitpredict.Predictor) {
	for n := uint64(1); n <= 200; n++ {
		r := request(n)
		r.CPUs = 1 + int(n%2)*7
		now := begin.Add(protocol.Duration(n) * protocol.Day)
		expected(f, now, r, protocol.Minute)
		f.Submitted(now, tagOf(n), r)
		start := now.Add(sec(1000 * int64(r.CPUs)))
		f.Changed(start, localsched.Change{Tag: tagOf(n), State: protocol.Running})
		f.Changed(start.Add(protocol.Minute), localsched.Change{Tag: tagOf(n), State: protocol.Completed})
	}
}

// TestSchedulerPassesErrorsOn, and answers that make no sense, for others to judge.
func TestSchedulerPassesErrorsOn(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	under := &fake{fails: down, quotes: []protocol.Quote{{ERT: 1}, {ERT: 2}}}
	s := waitpredict.New(under, newPredictor(t, waitpredict.Adaptive), func() protocol.Instant { return begin })
	query := localsched.Query{Jobs: []protocol.Request{request(1)}}
	if _, err := s.Quote(t.Context(), query); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
	under.fails = nil
	if quotes, err := s.Quote(t.Context(), query); err != nil || len(quotes) != 2 {
		t.Errorf("got %v, %v", quotes, err)
	}
}
