package broker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const margin = 10 * protocol.Second

// salary is a curve that says in its rate from when on it was asked, and until when.
type salary struct{}

func (salary) Rates(submitted, now protocol.Instant, until protocol.Duration) ([]protocol.WaitingRate, string) {
	return []protocol.WaitingRate{{PerHour: protocol.Micro(now.Sub(submitted))}, {From: until}}, "CHF"
}

func objectives() *broker.Objectives {
	return &broker.Objectives{
		Policy:         &policy.Description{Name: "iss", Can: []policy.Capability{policy.Applications}},
		DefaultWeights: rules.DefaultWeights{Alpha: 1, Beta: 2, Gamma: 3, Delta: 4, WaitingCost: "salary"},
		WaitingCosts:   map[string]rules.WaitingCost{"salary": salary{}, "market": salary{}}, Money: francs(), Margin: margin,
	}
}

// TestRefuseObjectives: all that cannot be granted is named at once.
func TestRefuseObjectives(t *testing.T) {
	t.Parallel()
	whole := []protocol.Job{{Component: protocol.Component{Name: "m"}}}
	for name, tt := range map[string]struct {
		app    *protocol.Application
		change func(o *broker.Objectives)
		says   []string
	}{
		"no application":           {nil, nil, nil},
		"all can be granted":       {&protocol.Application{MaxCost: 1, MaxTime: protocol.Hour, Currency: "EUR", Waiting: "market"}, nil, nil},
		"a currency and a curve":   {&protocol.Application{MaxCost: 1, MaxTime: protocol.Hour, Currency: "XAU", Waiting: "love"}, nil, []string{"XAU", `no curve "love"`, "this site has market, salary"}},
		"a site without any curve": {&protocol.Application{MaxCost: 1, MaxTime: protocol.Hour, Waiting: "love"}, func(o *broker.Objectives) { o.WaitingCosts = nil }, []string{"this site has none"}},
		"a policy that looks at none": {&protocol.Application{MaxCost: 1, MaxTime: protocol.Hour}, func(o *broker.Objectives) {
			o.Policy = &policy.Description{Name: "tc"}
		}, []string{"the policy tc of this site"}},
		"a fault of the application itself": {&protocol.Application{MaxCost: -1, MaxTime: protocol.Hour, Currency: "XAU"}, nil, []string{"XAU", "; "}},
	} {
		o := objectives()
		if tt.change != nil {
			tt.change(o)
		}
		got := o.Refuse(tt.app, whole)
		if (got == "") != (tt.says == nil) {
			t.Errorf("%s: %q", name, got)
		}
		for _, say := range tt.says {
			if !strings.Contains(got, say) {
				t.Errorf("%s: %q says nothing of %q", name, got, say)
			}
		}
	}
}

// TestWeighed: the site's weights are for those who give none, and what was submitted stays as it is.
func TestWeighed(t *testing.T) {
	t.Parallel()
	a, jobs := &protocol.Application{}, []protocol.Job{{}, {}}
	weighed, of := objectives().Weighed(a, jobs)
	if c := of[1].Component; weighed.Beta != 2 || c.Alpha != 1 || c.Gamma != 3 || c.Delta != 4 || a.Beta != 0 || jobs[1].Component.Alpha != 0 {
		t.Errorf("%+v, %+v, of %+v", weighed, of, jobs)
	}
	jobs[0].Component.Gamma = 9
	if weighed, of = objectives().Weighed(a, jobs); weighed != a || of[1].Component.Alpha != 0 {
		t.Errorf("its user weighs: %+v, %+v", weighed, of)
	}
	if weighed, _ = objectives().Weighed(nil, jobs); weighed != nil {
		t.Errorf("no application: %+v", weighed)
	}
	own, app := &row.Job{Component: &protocol.Component{Alpha: 7, Gamma: 8, Delta: 9}}, &row.Application{}
	for name, tt := range map[string]struct {
		j    *row.Job
		a    *row.Application
		want [3]int
	}{
		"on its own": {own, nil, [3]int{1, 3, 4}}, "a component": {own, app, [3]int{7, 8, 9}}, "β alone": {&row.Job{}, app, [3]int{}},
	} {
		if alpha, gamma, delta := objectives().Weights(tt.j, tt.a); [3]int{alpha, gamma, delta} != tt.want {
			t.Errorf("%s: %d, %d, %d", name, alpha, gamma, delta)
		}
	}
}

// TestNewComponent: a plain job has none, and a moldable one has its own shape first.
func TestNewComponent(t *testing.T) {
	t.Parallel()
	one := protocol.Job{Spec: protocol.Spec{Request: protocol.Request{CPUs: 4, Nodes: 2, WallTime: protocol.Hour}}}
	if c := broker.NewComponent(&one); c != nil {
		t.Errorf("%+v", c)
	}
	for name, c := range map[string]protocol.Component{
		"name": {Name: "m"}, "estimate": {Estimate: 1}, "alpha": {Alpha: 1}, "gamma": {Gamma: 1}, "delta": {Delta: 1}, "together": {Together: 1},
	} {
		one.Component = c
		if got := broker.NewComponent(&one); got == nil || len(got.Shapes) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	one.Component = protocol.Component{Estimate: 5, Shapes: []protocol.Shape{{CPUs: 8}}}
	got := broker.NewComponent(&one)
	if len(got.Shapes) != 2 || got.Shapes[0] != (protocol.Shape{CPUs: 4, Nodes: 2, WallTime: protocol.Hour, Estimate: 5}) || got.Shapes[1].CPUs != 8 || len(one.Component.Shapes) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	free := &row.Application{Application: protocol.Application{MaxCost: protocol.Unlimited, MaxTime: protocol.Never}}
	cheap, quick := *free, *free
	cheap.MaxCost, quick.MaxTime = 1, 1
	plain, together := &row.Job{}, &row.Job{Component: &protocol.Component{Together: 1}}
	for name, tt := range map[string]struct {
		j    *row.Job
		a    *row.Application
		want bool
	}{
		"on its own": {plain, nil, false}, "without limits": {plain, free, false}, "a limit of cost": {plain, &cheap, true},
		"a limit of time": {plain, &quick, true}, "in a group": {together, free, true}, "in a group of a question": {together, nil, false},
	} {
		if got := broker.Bound(tt.j, tt.a); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// snapshot has a row for each id, and two sites, of which the second one declines the last row.
func snapshot(ids ...protocol.JobID) (policy.Snapshot, []broker.Asked) {
	in, rows := policy.Snapshot{Sites: []policy.Site{{Name: "a"}, {Name: "b"}}}, make([]broker.Asked, len(ids))
	for i, id := range ids {
		in.Jobs = append(in.Jobs, policy.Job{ID: id})
		in.AWT = append(in.AWT, protocol.Minute, protocol.Duration(i)*protocol.Hour)
		in.ERT = append(in.ERT, protocol.Hour, protocol.Hour)
		rows[i] = broker.Asked{Job: &row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: id}, Submitted: noon}}}
	}
	in.AWT[len(in.AWT)-1] = protocol.Never
	return in, rows
}

// TestWaitedCost: K_w counts from the first submission [IS 4.2], by the user's own rates, by a curve, or by the default.
func TestWaitedCost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		app  *row.Application
		want protocol.Micro // of three hours
	}{
		"rates of the user, in another currency": {
			&row.Application{Application: protocol.Application{
				Currency: "EUR", Rates: []protocol.WaitingRate{{PerHour: 10 * protocol.Unit}, {From: protocol.Hour, PerHour: 20 * protocol.Unit}},
			}},
			51_666_667, // 50 EUR at 0.31 for 0.30, as [francs] has it
		},
		"a curve": {&row.Application{Application: protocol.Application{Waiting: "flat"}}, 21 * protocol.Unit},
		"nothing": {&row.Application{}, 3 * protocol.Unit},
	} {
		in, rows := snapshot(1)
		o := objectives()
		o.DefaultWeights.WaitingCost, o.WaitingCosts = "", map[string]rules.WaitingCost{"flat": flat{}}
		tt.app.ID, tt.app.Submitted, rows[0].App = 1, noon.Add(-3*protocol.Hour), tt.app
		o.Describe(&in, rows, func(*row.Application) broker.Placed { return broker.Placed{} }, noon)
		if got := in.Applications[0].WaitedCost; got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// flat charges 7 an hour.
type flat struct{}

func (flat) Rates(protocol.Instant, protocol.Instant, protocol.Duration) ([]protocol.WaitingRate, string) {
	return []protocol.WaitingRate{{PerHour: 7 * protocol.Unit}}, "CHF"
}

// TestDescribe: each application is told once, with what is placed of it, and groups are numbered of
// which several members are in the round.
func TestDescribe(t *testing.T) {
	t.Parallel()
	in, rows := snapshot(1, 2, 2, 3, 9)
	app := &row.Application{
		Application: protocol.Application{MaxCost: 3 * protocol.Unit, MaxTime: protocol.Day, Currency: "EUR", Beta: 5, Waiting: "market"}, ID: 1, Submitted: noon.Add(-protocol.Minute),
	}
	for i := range 4 {
		rows[i].App = app
		rows[i].Job.Component = &protocol.Component{Alpha: 10 + i, Together: 1}
	}
	rows[3].Job.Component.Together = 2 // alone in its group
	placed := func(a *row.Application) broker.Placed {
		if a != app {
			t.Errorf("asked of %+v", a)
		}
		return broker.Placed{Cost: 77, CommittedUntil: noon.Add(protocol.Hour)}
	}
	objectives().Describe(&in, rows, placed, noon.Add(protocol.Second))
	if in.Currency != "CHF" || len(in.Applications) != 2 {
		t.Fatalf("%+v", in)
	}
	a, own := in.Applications[0], in.Applications[1]
	if a.ID != 1 || a.Beta != 5 || a.MaxCost != 3_100_000 || a.MaxTime != protocol.Day || a.Elapsed != protocol.Minute+protocol.Second || a.Spent != 77 ||
		a.CommittedUntil != protocol.Hour-protocol.Second || len(a.WaitingCost) != 2 || a.WaitingCost[0].PerHour != protocol.Micro(protocol.Minute+protocol.Second) {
		t.Errorf("the application: %+v", a)
	}
	// The curve charges so many millionths an hour as it is asked for ms after the submission: nothing for the time since.
	if a.WaitedCost != 0 || own.WaitedCost != 0 {
		t.Errorf("waiting has cost %d and %d", a.WaitedCost, own.WaitedCost)
	}
	if own.ID != 9 || own.Beta != 2 || own.MaxCost != protocol.Unlimited || own.MaxTime != protocol.Never || own.Elapsed != protocol.Second || own.Spent != 0 || own.CommittedUntil != 0 ||
		own.WaitingCost[0].PerHour != protocol.Micro(protocol.Second) {
		t.Errorf("a job on its own: %+v", own)
	}
	// Longest of the rows: the third at b, 2 h + 1 h, less than a day; its application's add up.
	if until := a.WaitingCost[1].From; until != 2*protocol.Day+(protocol.Hour+protocol.Minute)+3*protocol.Hour+4*protocol.Hour {
		t.Errorf("rates until %s", until.Text())
	}
	if until := own.WaitingCost[1].From; until != 2*protocol.Day+protocol.Hour+protocol.Minute {
		t.Errorf("rates of a job on its own until %s", until.Text())
	}
	var together, alphas []int
	for _, one := range in.Jobs {
		together, alphas = append(together, one.Together), append(alphas, one.Alpha)
	}
	if !slices.Equal(together, []int{1, 1, 1, 0, 0}) || !slices.Equal(alphas, []int{10, 11, 12, 13, 1}) {
		t.Errorf("together %v, α %v", together, alphas)
	}
	if want := []protocol.Duration{protocol.Minute + margin, margin, protocol.Minute + margin, protocol.Hour + margin}; !slices.Equal(in.AWT[:4], want) ||
		in.AWT[6] != protocol.Minute || in.AWT[9] != protocol.Never {
		t.Errorf("waits %v", in.AWT)
	}
}

// TestDescribeTheGone: a job that has ended counts for the others' horizon, and has none of its own.
func TestDescribeTheGone(t *testing.T) {
	t.Parallel()
	in, rows := snapshot(1, 2, 3)
	rows[1].Gone = true
	in.ERT[3] = 10 * protocol.Day
	objectives().Describe(&in, rows, nil, noon)
	if until := in.Applications[1].WaitingCost[1].From; until != 0 {
		t.Errorf("rates of the one that has gone until %s", until.Text())
	}
	if until := in.Applications[0].WaitingCost[1].From; until != 2*(10*protocol.Day+protocol.Hour)+protocol.Hour+protocol.Minute {
		t.Errorf("rates of the other until %s", until.Text())
	}
	in.ERT[0] = 400 * protocol.Day
	in.Applications = nil
	objectives().Describe(&in, rows, nil, noon)
	if until := in.Applications[0].WaitingCost[1].From; until != 366*protocol.Day {
		t.Errorf("rates until %s", until.Text())
	}
}

// TestRatesOfAnApplication: its own rates go on from when it was submitted; without a curve an hour costs one.
func TestRatesOfAnApplication(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(o *broker.Objectives, a *row.Application)
		want   []protocol.WaitingRate
	}{
		"its own, which have all begun": {func(_ *broker.Objectives, a *row.Application) {
			a.Rates = []protocol.WaitingRate{{PerHour: 1}, {From: protocol.Minute, PerHour: 2}, {From: protocol.Hour, PerHour: 3}}
		}, []protocol.WaitingRate{{PerHour: 3}}},
		"its own, of which one is to come": {func(_ *broker.Objectives, a *row.Application) {
			a.Rates = []protocol.WaitingRate{{PerHour: 1}, {From: protocol.Minute, PerHour: 2}, {From: protocol.Hour + 1, PerHour: 3}}
		}, []protocol.WaitingRate{{PerHour: 2}, {From: 1, PerHour: 3}}},
		"no curve is named": {func(o *broker.Objectives, _ *row.Application) { o.DefaultWeights.WaitingCost = "" }, []protocol.WaitingRate{{PerHour: protocol.Unit}}},
		"a curve that went": {func(o *broker.Objectives, _ *row.Application) { o.WaitingCosts = nil }, []protocol.WaitingRate{{PerHour: protocol.Unit}}},
		"the site's":        {func(*broker.Objectives, *row.Application) {}, []protocol.WaitingRate{{PerHour: protocol.Micro(protocol.Hour)}, {From: 2*protocol.Day + protocol.Hour + protocol.Minute}}},
	} {
		in, rows := snapshot(1)
		o, app := objectives(), &row.Application{Application: protocol.Application{MaxCost: protocol.Unlimited, MaxTime: protocol.Never}, ID: 1, Submitted: noon}
		rows[0].App = app
		tt.change(o, app)
		o.Describe(&in, rows, func(*row.Application) broker.Placed { return broker.Placed{} }, noon.Add(protocol.Hour))
		if got := in.Applications[0]; !slices.Equal(got.WaitingCost, tt.want) || got.CommittedUntil != 0 {
			t.Errorf("%s: %v", name, got.WaitingCost)
		}
	}
}

// TestPredicted: what a decision is predicted to cost, and when its data are back.
func TestPredicted(t *testing.T) {
	t.Parallel()
	in, _ := snapshot(1)
	d := policy.Decision{Job: 0, Site: 0, Wait: protocol.Minute}
	if got := broker.Predicted(&in, d, noon); got != nil {
		t.Errorf("without parts of prices: %+v", got)
	}
	for range in.Sites {
		broker.AddMoney(&in, view.Money{CPU: 1, License: 20, Energy: 300, Data: 4000})
	}
	want := row.Prediction{Cost: 4321, Run: protocol.Hour, End: noon.Add(protocol.Hour + protocol.Minute)}
	if got := broker.Predicted(&in, d, noon); got == nil || *got != want {
		t.Errorf("%+v", got)
	}
}
