package driver_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const begin protocol.Instant = 1000

var machine = engine.Of(protocol.Capacity{CPUs: 4, Nodes: 1})

// rig is a driver of four CPUs and its jobs.
type rig struct {
	*driver.Driver

	feed *changefeed.Feed
	jobs map[uint64]*driver.Job
}

func newRig(policy engine.Policy) *rig {
	feed := changefeed.New(1)
	return &rig{Driver: driver.New(machine, driver.Rules{Policy: policy}, feed), feed: feed, jobs: map[uint64]*driver.Job{}}
}

func tag(n uint64) protocol.Tag { return protocol.Tag{Job: protocol.NewJobID(1, n), Epoch: 1} }

func request(cpus int, wall protocol.Duration) protocol.Request {
	return protocol.Request{CPUs: cpus, WallTime: wall}
}

// job is a job of a minute that has not come.
func (r *rig) job(n uint64, cpus int) *driver.Job {
	j := &driver.Job{Seq: n}
	j.Tag, j.Request = tag(n), request(cpus, protocol.Minute)
	r.jobs[n] = j
	return j
}

// submit submits a job at begin.
func (r *rig) submit(t *testing.T, n uint64, cpus int) *driver.Job {
	t.Helper()
	j := r.job(n, cpus)
	if err := r.Submit(begin, j); err != nil {
		t.Fatal(err)
	}
	return j
}

// reasons are those with which jobs were reported as pending, in order.
func (r *rig) reasons() (all []string) {
	changes, _, _ := r.feed.After("")
	for _, c := range changes {
		all = append(all, c.Reason)
	}
	return all
}

func tags(numbers ...uint64) (all []protocol.Tag) {
	for _, n := range numbers {
		all = append(all, tag(n))
	}
	return all
}

// TestWork checks what each call leaves to do: job 1 has all CPUs, jobs 2 and 3 wait for them.
func TestWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call          func(r *rig) error
		starts, kills []protocol.Tag
	}{
		"a job ends":                  {func(r *rig) error { return r.Leave(begin+1, r.jobs[1]) }, tags(2), nil},
		"the head is withdrawn":       {func(r *rig) error { return r.Leave(begin+1, r.jobs[2]) }, nil, nil},
		"the time limit":              {func(r *rig) error { return r.Tick(begin.Add(protocol.Minute)) }, nil, tags(1)},
		"before the time limit":       {func(r *rig) error { return r.Tick(begin + 1) }, nil, nil},
		"a job that has not come":     {func(r *rig) error { return r.Leave(begin+1, r.job(9, 1)) }, nil, nil},
		"a started job is taken back": {func(r *rig) error { r.UndoStarts(begin+1, []*driver.Job{r.jobs[1]}); return nil }, tags(1), nil},
		"and put behind the others": {func(r *rig) error {
			_, err := r.Requeue(begin+1, r.jobs[1])
			return err
		}, tags(2), nil},
	} {
		r := newRig(engine.EASY())
		for n := range uint64(3) {
			r.submit(t, n+1, 4)
		}
		if got := r.TakeWork(); !slices.Equal(got.Starts, tags(1)) {
			t.Fatalf("%s: at first %v are started, want job 1", name, got.Starts)
		}
		if err := c.call(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := r.TakeWork()
		if !slices.Equal(got.Starts, c.starts) || !slices.Equal(got.Kills, c.kills) {
			t.Errorf("%s: got the starts %v and the kills %v, want %v and %v", name, got.Starts, got.Kills, c.starts, c.kills)
		}
		if again := r.TakeWork(); len(again.Starts)+len(again.Kills)+len(again.EndedReservations) > 0 {
			t.Errorf("%s: the work is there a second time: %v", name, again)
		}
	}
}

// TestStartTakenBack has a job leave whose start nobody has taken yet.
func TestStartTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(engine.EASY())
	if err := r.Leave(begin, r.submit(t, 1, 4)); err != nil {
		t.Fatal(err)
	}
	if got := r.TakeWork(); len(got.Starts) > 0 {
		t.Errorf("jobs %v are to be started, and have left", got.Starts)
	}
}

// TestSubmitOver submits to an idle and to a busy machine for a runner that starts jobs itself.
func TestSubmitOver(t *testing.T) {
	t.Parallel()
	r := newRig(engine.EASY())
	for n, want := range map[uint64]bool{1: true} {
		if starts, err := r.SubmitOver(begin, r.job(n, 4)); starts != want || err != nil {
			t.Errorf("job %d: it starts: %v, %v", n, starts, err)
		}
	}
	if got, reported := r.TakeWork(), r.reasons(); len(got.Starts) > 0 || len(reported) > 0 {
		t.Errorf("the caller starts job 1, but there are the starts %v and the reports %q", got.Starts, reported)
	}
	if starts, err := r.SubmitOver(begin, r.job(2, 1)); starts || err != nil {
		t.Errorf("job 2 starts beside job 1: %v, %v", starts, err)
	}
	if reported := r.reasons(); !slices.Equal(reported, []string{""}) {
		t.Errorf("got the reports %q, want one", reported)
	}
}

// TestQuote quotes on a machine that job 1 fills for a minute.
func TestQuote(t *testing.T) {
	t.Parallel()
	ahead := localsched.Tentative{Tag: tag(7), Request: request(4, protocol.Hour)}
	for name, c := range map[string]struct {
		request  protocol.Request
		ahead    []localsched.Tentative
		come     bool
		low, awt protocol.Duration
		declined bool
	}{
		"behind job 1":             {request(4, protocol.Minute), nil, false, 0, protocol.Minute, false},
		"behind a tentative one":   {request(4, protocol.Minute), []localsched.Tentative{ahead}, false, 0, protocol.Minute + protocol.Hour, false},
		"that has come, elsewhere": {request(4, protocol.Minute), []localsched.Tentative{ahead}, true, 0, protocol.Minute, false},
		"more than the machine":    {request(5, protocol.Minute), nil, false, 0, 0, true},
	} {
		r := newRig(engine.EASY())
		r.submit(t, 1, 4)
		quotes, err := r.Quote(begin, localsched.Query{Jobs: []protocol.Request{c.request}, Ahead: c.ahead},
			func(protocol.Tag) bool { return c.come })
		if err != nil || len(quotes) != 1 {
			t.Fatalf("%s: %v, %v", name, quotes, err)
		}
		q := quotes[0]
		if q.AWTLow != c.low || q.AWT != c.awt || (q.Declined != "") != c.declined {
			t.Errorf("%s: got %+v, want the waits %v and %v", name, q, c.low, c.awt)
		}
	}
}

// TestReservations reserves the machine from the hour on.
func TestReservations(t *testing.T) {
	t.Parallel()
	at := begin.Add(protocol.Hour)
	over := at.Add(protocol.Minute)
	for name, c := range map[string]struct {
		call  func(t *testing.T, r *rig) error
		left  bool
		ended []protocol.Tag
	}{
		"nothing happens":     {func(_ *testing.T, r *rig) error { return r.Tick(at) }, true, nil},
		"its time is over":    {func(_ *testing.T, r *rig) error { return r.Tick(over) }, false, tags(1)},
		"it is cancelled":     {func(_ *testing.T, r *rig) error { return r.CancelReservation(at, tag(1)) }, false, nil},
		"its job has come":    {func(t *testing.T, r *rig) error { t.Helper(); r.submit(t, 1, 4); return nil }, false, nil},
		"its job has left":    {func(t *testing.T, r *rig) error { t.Helper(); return r.Leave(begin, r.submit(t, 1, 4)) }, false, tags(1)},
		"the engine is new":   {func(_ *testing.T, r *rig) error { r.Rebuild(begin, nil); return nil }, true, nil},
		"after its time":      {func(_ *testing.T, r *rig) error { r.Rebuild(over, nil); return nil }, false, tags(1)},
		"the clock is set on": {func(_ *testing.T, r *rig) error { r.ClockSet(over, protocol.Hour); return nil }, false, tags(1)},
	} {
		r := newRig(engine.EASY())
		asked := localsched.Reservation{Tag: tag(1), Request: request(4, protocol.Minute), Start: at}
		for range 2 {
			if got, err := r.Reserve(begin, asked); got != at || err != nil {
				t.Fatalf("%s: reserved at %v, %v, want %v", name, got, err, at)
			}
		}
		if err := c.call(t, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := len(r.Reservations()) > 0; left != c.left {
			t.Errorf("%s: the reservation is left: %v, want %v", name, left, c.left)
		}
		if ended := r.TakeWork().EndedReservations; !slices.Equal(ended, c.ended) {
			t.Errorf("%s: got the ended reservations %v, want %v", name, ended, c.ended)
		}
	}
}

// TestClockSet moves the clock while job 1 runs and job 2 waits for it.
func TestClockSet(t *testing.T) {
	t.Parallel()
	const by = 5 * protocol.Hour
	r := newRig(engine.Conservative())
	one, two := r.submit(t, 1, 4), r.submit(t, 2, 4)
	if misfits := r.ClockSet(begin.Add(by), by); len(misfits) > 0 {
		t.Errorf("there is no place for %v", misfits)
	}
	if one.Began != begin.Add(by) || !one.Started() || two.Started() {
		t.Errorf("job 1 began at %d, and job 2 has started: %v", one.Began, two.Started())
	}
	want := begin.Add(by + protocol.Minute)
	if reserved := r.ReservedStarts(); len(reserved) != 1 || reserved[0].Start != want {
		t.Errorf("job 2 has the reserved starts %v, want %d", reserved, want)
	}
	if next := r.Next(); next != want {
		t.Errorf("the next tick is at %d, want the limit of job 1 at %d", next, want)
	}
}

// TestMisfits rebuilds the engine for jobs of which there is room for one.
func TestMisfits(t *testing.T) {
	t.Parallel()
	r := newRig(engine.EASY())
	r.Add(r.job(1, 3), true)
	r.Add(r.job(2, 3), true)
	r.Add(r.job(3, 5), false)
	r.Add(r.job(4, 1), false)
	var running, pending []protocol.Tag
	for _, m := range r.Rebuild(begin, nil) {
		if m.Err == nil {
			t.Errorf("job %v does not fit, and there is no reason", m.Tag)
		}
		if m.Running {
			running = append(running, m.Tag)
		} else {
			pending = append(pending, m.Tag)
		}
	}
	if !slices.Equal(running, tags(2)) || !slices.Equal(pending, tags(3)) {
		t.Errorf("the misfits are %v of the running jobs and %v of the pending ones, want 2 and 3", running, pending)
	}
	for n, want := range map[uint64]bool{1: true, 2: false, 3: false, 4: true} {
		if got := r.jobs[n].Planned(); got != want {
			t.Errorf("job %d is planned: %v, want %v", n, got, want)
		}
	}
	if work := r.TakeWork(); !slices.Equal(work.Starts, tags(4)) {
		t.Errorf("%v are started, want job 4", work.Starts)
	}
	if err := r.Leave(begin, r.jobs[2]); err != nil {
		t.Errorf("a job beside the plan leaves: %v", err)
	}
}

// TestBudget has a budget begin that allows the power of one CPU, and end.
func TestBudget(t *testing.T) {
	t.Parallel()
	r := newRig(engine.EASY())
	budget := engine.Budget{Signal: power.Always(1000), Rates: power.Rates{Busy: 1_000_000}}
	if misfits := r.SetRules(begin, driver.Rules{Policy: engine.EASY(), Budget: budget}); len(misfits) > 0 {
		t.Errorf("there is no place for %v", misfits)
	}
	r.submit(t, 1, 1)
	j := r.submit(t, 2, 1)
	if work := r.TakeWork(); !slices.Equal(work.Starts, tags(1)) {
		t.Errorf("%v are started, want job 1", work.Starts)
	}
	if reported := r.reasons(); !slices.Contains(reported, changefeed.PowerBudget) {
		t.Errorf("got the reasons %q, want one that names the budget", reported)
	}
	var refused *localsched.RefusedError
	if err := r.Submit(begin, r.job(3, 2)); !errors.As(err, &refused) {
		t.Errorf("a job beyond the budget: got %v, want a refusal", err)
	}
	r.SetRules(begin, driver.Rules{Policy: engine.EASY()})
	if !j.Started() {
		t.Error("without a budget job 2 still waits")
	}
}

// TestRules checks what is wrong with budgets.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget          engine.Budget
		budgeted, valid bool
	}{
		{engine.Budget{}, false, true},
		{engine.Budget{Mode: "none"}, false, true},
		{engine.Budget{Rates: power.Rates{Busy: 1}}, true, true},
		{engine.Budget{Rates: power.Rates{Busy: 1}, Mode: "none"}, true, false},
		{engine.Budget{Signal: power.Always(5)}, true, false},
	} {
		rules := driver.Rules{Budget: c.budget}
		if got, err := rules.Budgeted(), rules.Check(); got != c.budgeted || (err == nil) != c.valid {
			t.Errorf("%+v: budgeted %v, %v", c.budget, got, err)
		}
	}
}
