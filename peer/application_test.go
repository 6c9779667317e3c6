package peer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// looker is a policy that keeps what it was shown, and decides as configured.
type looker struct {
	seen   *[]policy.Snapshot
	decide func(policy.Snapshot) []policy.Decision
}

func (looker) Info() policy.Info { return peertest.Greedy{}.Info() }

// DecidesApplications implements [policy.ApplicationPolicy].
func (looker) DecidesApplications() {}

func (l looker) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	*l.seen = append(*l.seen, in)
	if l.decide == nil {
		return nil, nil, nil
	}
	return l.decide(in), nil, nil
}

// flat charges so much for every CPU-hour, in its own currency, and sells one license.
type flat struct {
	price    protocol.Micro
	currency string
}

func (f flat) Bill(w cost.Work) (cost.Bill, string) {
	for _, license := range w.Spec.Licenses() {
		if license.Type != "matlab" {
			return cost.Bill{}, "no license " + license.Type
		}
	}
	amount := protocol.Micro(int64(f.price) * int64(w.Spec.CPUs) * int64(w.Run) / int64(protocol.Hour))
	return cost.Bill{Currency: f.currency, Run: w.Run, Terms: []protocol.Term{
		{Name: cost.CPUTerm, Amount: amount}, {Name: cost.LicenseTerm, Amount: 2}, {Name: cost.EcoTerm, Amount: 3}, {Name: cost.DataTerm, Amount: 4},
	}}, ""
}

// salary costs so much an hour, always.
type salary struct{ rate protocol.Micro }

func (s salary) Rates(_, _ protocol.Instant, _ protocol.Duration) ([]protocol.WaitingRate, string) {
	return []protocol.WaitingRate{{PerHour: s.rate}}, "CHF"
}

// seeing is a lone peer whose policy keeps what it is shown. Its partner b charges in EUR.
func seeing(t *testing.T, decide func(policy.Snapshot) []policy.Decision, changes ...func(*rules.Config)) (*lone, *[]policy.Snapshot) {
	t.Helper()
	seen := &[]policy.Snapshot{}
	l := newLone(t, func(c *rules.Config) {
		c.Policy, c.Costs, c.Currency = policy.Describe(looker{}), flat{3 * protocol.Unit, "CHF"}, "CHF"
		c.Exchange = map[string]protocol.Micro{"CHF": protocol.Unit, "EUR": 2 * protocol.Unit, "USD": protocol.Unit * 3 / 4}
		c.WaitingCosts = map[string]rules.WaitingCost{"salary": salary{60 * protocol.Unit}}
		c.DefaultWeights = rules.DefaultWeights{Alpha: 1, Beta: 2, Gamma: 3, Delta: 4, WaitingCost: "salary"}
		c.Capacity.Machine = protocol.Machine{Flops: 1e9, Words: 1e9, Network: 1e8, Latency: 1000}
		c.Partners[0].PerGB, c.Partners[0].Bandwidth, c.Partners[0].PerHour = protocol.Unit, 1e6, 3600*protocol.Unit
		for _, change := range changes {
			change(c)
		}
	}, idle(looker{seen, decide}, atOnce))
	return l, seen
}

// answerQuotes has b answer the last question: every job at once, for 10 EUR and a license
// of 1.
func (l *lone) answerQuotes() protocol.QuoteRequest {
	l.t.Helper()
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok {
		l.t.Fatalf("got %T instead of a question", l.last())
	}
	reply := protocol.QuoteReply{Round: request.Round, MaxJobs: 100, Load: protocol.Load{CPUs: 8}, Free: 8}
	for _, spec := range request.Jobs {
		reply.Quotes = append(reply.Quotes, protocol.Quote{
			Job: spec.Job, ERT: max(spec.PredictedRunTime, 1), Currency: "EUR",
			Terms: []protocol.Term{{Name: "cpu", Amount: 10}, {Name: "license", Amount: 1}, {Name: "energy", Amount: -7}},
		})
	}
	l.step(event.MessageIn{From: "b", Body: reply})
	return request
}

func moldable() event.Submit {
	ev := submission(2)
	ev.Jobs[0].Component = protocol.Component{
		Name: "solver", Alpha: 5, Gamma: 6, Delta: 7,
		Shapes:   []protocol.Shape{{CPUs: 2, WallTime: 2 * protocol.Hour}, {CPUs: 4, WallTime: protocol.Hour / 2}},
		Behavior: protocol.Behavior{Mflop: 1_000_000}, // a thousand seconds of one CPU
	}
	ev.Jobs[1].Component = protocol.Component{Alpha: 1, Estimate: protocol.Minute}
	ev.Jobs[1].Spec.Data, ev.Jobs[1].Spec.DataOut = 2_000_000_000, 1_000_000_000
	ev.Application = &protocol.Application{Beta: 8, MaxCost: 100, Currency: "EUR", MaxTime: protocol.Day, Waiting: "salary"}
	return ev
}

// A policy that decides about applications sees each shape of a component, with its own price and run time,
// all money in one currency, and what the user wants.
func TestWholeSnapshot(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, nil)
	l.step(moldable())
	request := l.answerQuotes()
	if len(*seen) != 1 || len(request.Jobs) != 4 {
		t.Fatalf("%d snapshots, %d rows asked", len(*seen), len(request.Jobs))
	}
	in := (*seen)[0]
	if got := []int{in.Jobs[0].CPUs, in.Jobs[1].CPUs, in.Jobs[2].CPUs, in.Jobs[3].CPUs}; got[0] != 1 || got[1] != 2 || got[2] != 4 || got[3] != 1 {
		t.Errorf("rows of %v CPUs", got)
	}
	if in.Jobs[0].ID != in.Jobs[2].ID || in.Jobs[2].ID == in.Jobs[3].ID {
		t.Error("the rows of one job do not have one id, or two jobs have")
	}
	a := in.Applications[0]
	if len(in.Applications) != 1 || a.Beta != 8 || a.MaxCost != 200 || a.MaxTime != protocol.Day || in.Currency != "CHF" {
		t.Errorf("application %+v in %s", in.Applications, in.Currency)
	}
	if got := a.WaitCost(protocol.Hour); got != 60*protocol.Unit {
		t.Errorf("an hour of waiting costs %d", got)
	}
	if j := in.Jobs[1]; j.Alpha != 5 || j.Gamma != 6 || j.Delta != 7 || j.Application != 0 {
		t.Errorf("row %+v", j)
	}
	home, away := in.At(1, 0), in.At(1, 1)
	if in.ERT[home] != 500*protocol.Second {
		t.Errorf("on two CPUs it is expected to run %v here", in.ERT[home])
	}
	if in.UsageCost[home] != protocol.Micro(3*2*500*1_000_000/3600) || in.LicenseCost[home] != 2 || in.EnergyCost[home] != 3 || in.DataCost[home] != 4 {
		t.Errorf("terms here: %d %d %d %d", in.UsageCost[home], in.LicenseCost[home], in.EnergyCost[home], in.DataCost[home])
	}
	if in.UsageCost[away] != 20 || in.LicenseCost[away] != 2 || in.EnergyCost[away] != -14 || in.DataCost[away] != 0 {
		t.Errorf("terms at b: %d %d %d %d", in.UsageCost[away], in.LicenseCost[away], in.EnergyCost[away], in.DataCost[away])
	}
	if got := in.ERT[in.At(3, 0)]; got != protocol.Minute {
		t.Errorf("by the user's estimate it runs %v", got)
	}
	if got := in.DataCost[in.At(3, 1)]; got != 3*protocol.Unit+3000*protocol.Unit { // 3 GB, and 3000 s of the link
		t.Errorf("the way of its data costs %d", got)
	}
	if in.Transfer(3, 1) != 2000*protocol.Second || in.Return(3, 1) != 1000*protocol.Second || in.Return(3, 0) != 0 {
		t.Errorf("data travel %v there and %v back", in.Transfer(3, 1), in.Return(3, 1))
	}
}

// A limit in another currency is rounded down: a bill within the one that a policy sees is
// within the user's.
func TestForeignLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[protocol.Micro]protocol.Micro{0: 0, 1: 0, 2: 1, 3: 2, 4: 3, 5: 3, -1: -1, -2: -2, -3: -3, -4: -3} {
		l, seen := seeing(t, nil)
		ev := moldable()
		ev.Application.MaxCost, ev.Application.Currency = limit, "USD"
		l.step(ev)
		l.answerQuotes()
		if got := (*seen)[0].Applications[0].MaxCost; got != want {
			t.Errorf("%d millionths of a dollar, of which four are three of a franc, are %d; want %d", limit, got, want)
		}
	}
}

// A chosen shape is the one that is run, and comes back in all shapes when it is refused.
// What is placed counts against the application's limits from then on.
func TestChosenShape(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, func(in policy.Snapshot) []policy.Decision {
		if len(in.Jobs) < 4 {
			return nil
		}
		return []policy.Decision{{Job: 2, Site: 1, Wait: 5, Reason: "four CPUs"}, {Job: 3, Site: policy.NoSite, Reason: "max_cost: too dear"}}
	})
	l.step(moldable())
	l.answerQuotes()
	offer, ok := l.last().(protocol.Offer)
	if !ok || offer.Spec.CPUs != 4 || offer.Spec.WallTime != protocol.Hour/2 {
		t.Fatalf("got %+v", l.last())
	}
	if reason := l.view(offer.Spec.Job + 1).Reason; reason != "Infeasible (max_cost: too dear)" {
		t.Errorf("the other one waits for %q", reason)
	}
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag}})
	l.step(event.MessageIn{From: "b", Body: protocol.Accept{Tag: tag}})
	l.advance(protocol.Minute)
	l.answerQuotes()
	last := (*seen)[len(*seen)-1]
	if len(last.Jobs) != 1 || last.Applications[0].Spent != 8 { // 10 + 1 − 7 EUR
		t.Errorf("then %d rows with %d spent", len(last.Jobs), last.Applications[0].Spent)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Recalled{Tag: tag}})
	if view := l.view(offer.Spec.Job); view.CPUs != 1 || view.WallTime != protocol.Hour || view.Cost != 0 {
		t.Errorf("back in the queue with %d CPUs for %v, cost %d", view.CPUs, view.WallTime, view.Cost)
	}
}

// view is a job as the API shows it.
func (l *lone) view(id protocol.JobID) view.Job {
	l.t.Helper()
	l.step(event.AskJob{Asked: 99, Job: id})
	view, ok := l.answers[len(l.answers)-1].(view.Job)
	if !ok {
		l.t.Fatalf("got %+v", l.answers[len(l.answers)-1])
	}
	return view
}

// Every run is kept once, in the transaction that ends the job, and the next one is expected
// to last as long; a restarted peer knows it too.
func TestRunHistoryIsUsed(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, func(in policy.Snapshot) []policy.Decision {
		return []policy.Decision{{Job: 0, Site: 0}}
	})
	run := func() {
		ev := submission(1)
		ev.Jobs[0].Component = protocol.Component{Name: "solver", Alpha: 1, Behavior: protocol.Behavior{Mflop: 1_000_000}}
		l.step(ev)
		l.answerQuotes()
	}
	run()
	if got := (*seen)[0].ERT[0]; got != 1000*protocol.Second {
		t.Fatalf("as stated it runs %v", got)
	}
	var w view.RunHistory
	ask := func() {
		l.step(event.AskRunHistory{Asked: 7, User: "ada"})
		w, _ = l.answers[len(l.answers)-1].(view.RunHistory)
	}
	if ask(); len(w.Components) != 0 {
		t.Errorf("before its end it is known: %+v", w)
	}
	l.endHere(250 * protocol.Second)
	ask()
	if len(w.Components) != 1 || w.Components[0].Name != "solver" || len(w.Components[0].Sites) != 1 || len(w.Components[0].Sites[0].Runs) != 1 {
		t.Fatalf("known: %+v", w)
	}
	if got := w.Components[0].Sites[0].Runs[0]; got.Ran != 250*protocol.Second || got.PredictedRunTime != 1000*protocol.Second || got.CPUs != 1 {
		t.Errorf("kept: %+v", got)
	}
	run()
	if got := (*seen)[1].ERT[0]; got < 225*protocol.Second || got > 275*protocol.Second {
		t.Errorf("after a run of 250 s it is expected to run %v", got)
	}
	if rows := l.lastRows(row.ExecutionTable); rows != 1 {
		t.Errorf("%d rows of executions", rows)
	}
}

// What a run was measured to draw is what the next one is charged for, here and at sites where
// it never ran; what its user states counts for more.
func TestMeasuredPowerIsCharged(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, func(in policy.Snapshot) []policy.Decision {
		return []policy.Decision{{Job: 0, Site: 0}}
	}, func(c *rules.Config) { c.Power, c.Costs = 80_000, byPower{} })
	run := func(power int) (reported protocol.Spec) {
		ev := submission(1)
		ev.Jobs[0].Spec.CPUs, ev.Jobs[0].Spec.Power = 2, power
		ev.Jobs[0].Component = protocol.Component{Name: "solver", Delta: 1, Estimate: protocol.Hour}
		l.step(ev)
		return l.answerQuotes().Jobs[0]
	}
	for _, c := range []struct {
		power     int            // stated by the user
		energy    int64          // measured of the run, in millijoules
		eco       protocol.Micro // in the quote before it: the draw in milliwatts
		elsewhere int            // the power that another site reads
	}{
		{eco: 160_000, energy: 2 * 20_000 * 100}, // 20 W a CPU for 100 s
		{eco: 40_000, elsewhere: 250_000},        // not measured
		{eco: 40_000, elsewhere: 250_000},
		{eco: 16_000, elsewhere: 250_000, power: 100_000},
	} {
		reported := run(c.power)
		in := (*seen)[len(*seen)-1]
		if in.EnergyCost[0] != c.eco || reported.MeasuredPower != c.elsewhere {
			t.Errorf("charged for %d mW, and elsewhere it draws %d ppm, want %+v", in.EnergyCost[0], reported.MeasuredPower, c)
		}
		l.endMeasured(100*protocol.Second, protocol.Usage{Energy: c.energy})
	}
}

// byPower charges a millionth for each milliwatt.
type byPower struct{}

func (byPower) Bill(w cost.Work) (cost.Bill, string) {
	return cost.Bill{Currency: "CHF", Run: w.Run, Terms: []protocol.Term{{Name: cost.EcoTerm, Amount: protocol.Micro(w.Power)}}}, ""
}

// endHere ends the run of the job submitted last after so long.
func (l *lone) endHere(ran protocol.Duration) {
	l.t.Helper()
	l.endMeasured(ran, protocol.Usage{})
}

func (l *lone) endMeasured(ran protocol.Duration, used protocol.Usage) {
	l.t.Helper()
	for _, op := range slices.Backward(l.asked) {
		if submit, ok := op.(event.SubmitOp); ok {
			l.finish(submit.Job.Tag, ran, used)
			return
		}
	}
	l.t.Fatal("nothing was submitted")
}

// Contradictory options, unknown currencies and curves are refused before anything is taken.
func TestObjectivesAreChecked(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*event.Submit){
		"CPF":                    func(ev *event.Submit) { ev.Application.Currency = "CPF" },
		`no curve "overtime"`:    func(ev *event.Submit) { ev.Application.Waiting = "overtime" },
		"time limit":             func(ev *event.Submit) { ev.Application.MaxTime = 0 },
		"β is -1":                func(ev *event.Submit) { ev.Application.Beta = -1 },
		"no weight above 0":      func(ev *event.Submit) { ev.Application.Beta, ev.Jobs[1].Component.Alpha = 0, 0 },
		"weights outside":        func(ev *event.Submit) { ev.Jobs[0].Component.Gamma = -5 },
		"together with no other": func(ev *event.Submit) { ev.Jobs[0].Component.Together = 3 },
		"names 2 CPUs twice":     func(ev *event.Submit) { ev.Jobs[0].Component.Shapes[1].CPUs = 2 },
		"must be 0 or more": func(ev *event.Submit) {
			ev.Application.Waiting, ev.Application.Rates = "", []protocol.WaitingRate{{From: 1}}
		},
		"choose one":               func(ev *event.Submit) { ev.Application.Rates = []protocol.WaitingRate{{}} },
		"0 CPUs; ask for 1":        func(ev *event.Submit) { ev.Jobs[0].Component.Shapes[0].CPUs = 0 },
		"may run in 17 shapes":     func(ev *event.Submit) { ev.Jobs[0].Component.Shapes = make([]protocol.Shape, 16) },
		"no site can run this job": func(ev *event.Submit) { ev.Jobs[1].Spec.CPUs = 100 },
	} {
		l, _ := seeing(t, nil)
		ev := moldable()
		change(&ev)
		l.step(ev)
		refusal, ok := l.answers[len(l.answers)-1].(view.Refusal)
		if !ok || !strings.Contains(refusal.Reason, want) {
			t.Errorf("got %+v, want a refusal with %q", l.answers[len(l.answers)-1], want)
		}
	}
	l, _ := seeing(t, nil)
	ev := moldable()
	ev.Application.Currency, ev.Application.Waiting, ev.Application.Beta = "CPF", "overtime", -1
	ev.Jobs[0].Component.Gamma, ev.Jobs[1].Spec.CPUs = -5, 100
	l.step(ev)
	refusal, _ := l.answers[len(l.answers)-1].(view.Refusal)
	for _, want := range []string{"CPF", `no curve "overtime"`, "β is -1", "component 1 has weights outside", "job 2 of 2, x: no site can run this job"} {
		if !strings.Contains(refusal.Reason, want) {
			t.Errorf("of many faults it says %q, want %q as well", refusal.Reason, want)
		}
	}
	l = newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	l.step(moldable())
	if refusal, ok := l.answers[0].(view.Refusal); !ok || !strings.Contains(refusal.Reason, "policy greedy of this site looks at no objectives") {
		t.Errorf("got %+v", l.answers[0])
	}
}

// A site declines what it does not sell, and quotes in currencies that it cannot convert
// count as declined.
func TestUnsoldIsDeclined(t *testing.T) {
	t.Parallel()
	spec := guest(1, 1)
	spec.Resources = []protocol.Resource{protocol.NewLicense("ansys", 1)}
	l, _ := seeing(t, nil, func(c *rules.Config) {
		c.Capacity.Shared = []protocol.Resource{{Name: protocol.License, Type: "ansys", Count: 1}}
	})
	reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{spec}})
	if got := reply.Quotes[0].Declined; got != "no license ansys" {
		t.Errorf("declined: %q", got)
	}
	plain := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	if got := plain.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{spec}}).Quotes[0].Declined; got != "needs 1 license:ansys, the site has none" {
		t.Errorf("without licenses: %q", got)
	}
	l, seen := seeing(t, nil)
	l.step(submission(1))
	request, _ := l.last().(protocol.QuoteRequest)
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{Round: request.Round, MaxJobs: 1, Quotes: []protocol.Quote{{
		Job: request.Jobs[0].Job, ERT: 1, Currency: "XAU", Terms: []protocol.Term{{Name: "cpu", Amount: 1}},
	}}}})
	if in := (*seen)[0]; in.AWT[in.At(0, 1)] != protocol.Never {
		t.Error("a price in gold was compared")
	}
}

// Limits and groups wait while the active policy does not look at them, and while the
// fallback policy decides; an application without them does not.
func TestLimitsOutliveTheirPolicy(t *testing.T) {
	t.Parallel()
	l, _ := seeing(t, nil)
	l.step(moldable())
	l.answerQuotes()
	limited := l.answers[0].(view.Submitted).Jobs[0]
	free := moldable()
	free.Application = &protocol.Application{Beta: 1, MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
	l.step(free)
	other := l.answers[len(l.answers)-1].(view.Submitted).Jobs[0]
	cfg := goodConfig()
	cfg.Policy, cfg.Initiation = policy.Describe(peertest.Greedy{}), policy.Sender
	l.calls = idle(peertest.Greedy{}, atOnce)
	l.step(event.Reconfigure{Asked: 5, Runtime: cfg.Runtime()})
	for range 5 {
		l.advance(protocol.Minute)
		if _, asks := l.last().(protocol.QuoteRequest); asks {
			l.answerQuotes()
		}
	}
	if view := l.view(limited); !strings.HasPrefix(view.Reason, "PolicyUnsupported (the policy greedy looks at no limits") {
		t.Errorf("the limited job is %v: %s", view.State, view.Reason)
	}
	if view := l.view(other); view.CommittedAt == 0 {
		t.Errorf("the one without limits is %v: %s", view.State, view.Reason)
	}
}

// A policy that decides in the stead of one that looks at them places nothing that has limits.
func TestNoLimitsInStead(t *testing.T) {
	t.Parallel()
	l, _ := seeing(t, nil, func(c *rules.Config) { c.Fallback = "local" })
	quote := l.calls
	l.calls = func(op event.Op) (event.Result, error) {
		decide, ok := op.(event.DecideOp)
		switch {
		case !ok:
			return quote(op)
		case !decide.Fallback:
			return nil, errors.New("the plugin is down")
		}
		decisions, _, err := peertest.Greedy{}.Decide(t.Context(), decide.Snapshot)
		return event.DecideResult{Decisions: decisions}, err
	}
	l.step(moldable())
	l.answerQuotes()
	for _, job := range l.answers[0].(view.Submitted).Jobs {
		if view := l.view(job); view.CommittedAt != 0 || !strings.HasPrefix(view.Reason, "PolicyUnsupported (") {
			t.Errorf("job %v is placed at %d: %s", job, view.CommittedAt, view.Reason)
		}
	}
}

// A run that is predicted to take longer than its limit is quoted so: a machine that is too
// slow must not look cheap because the job would be ended there.
func TestPredictedBeyondTheLimit(t *testing.T) {
	t.Parallel()
	l, seen := seeing(t, nil)
	ev := submission(1)
	ev.Jobs[0].Component = protocol.Component{Behavior: protocol.Behavior{Mflop: 36_000_000}} // ten hours of one CPU
	l.step(ev)
	l.answerQuotes()
	if got := (*seen)[0].ERT[0]; got != 10*protocol.Hour {
		t.Errorf("with a limit of an hour it is quoted %v", got)
	}
	reported := func(f event.LogEvent) bool {
		return slices.ContainsFunc(f.Quotes, func(q view.Quote) bool { return q.Note == "would be ended at its limit of time, 1:00:00" })
	}
	if !slices.ContainsFunc(l.facts, reported) {
		t.Errorf("nobody is told that its limit is too low: %+v", l.facts)
	}
}
