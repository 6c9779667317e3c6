package rounds_test

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// report shows the round to users: its jobs are components in two shapes, and so each quote has its CPUs.
func report(r *rounds.Round) *rounds.Report {
	component := &row.Job{Component: &protocol.Component{Shapes: []protocol.Shape{{CPUs: 2}, {CPUs: 8}}}}
	r.Reach = make([]rounds.Reach, len(r.Specs))
	return &rounds.Report{
		Round: r, Own: rounds.Own{Site: "m", Load: protocol.Load{CPUs: 4, Busy: 1}}, Now: 100, Money: &pricing.Money{Own: "EUR"},
		Asking: &rounds.Asking{Round: r, Job: func(int) rounds.Job { return rounds.Job{Row: component, Excluded: &rounds.Exclusions{}} }},
	}
}

func TestReportedQuote(t *testing.T) {
	t.Parallel()
	r, b, c := three()
	b.Partner.Load, b.Partner.LoadAt = protocol.Load{CPUs: 10, Busy: 5}, 70
	b.Partner.Latency, b.Partner.Bandwidth, r.Specs[0].Data = 1, 1000, 9000
	full := protocol.Quote{
		Job: 1, AWT: 5, AWTLow: 4, AWTMedian: 5, AWTHigh: 6, ERT: 7, Bound: 8, Note: "soon", Currency: "EUR", Terms: []protocol.Term{{Name: "use", Amount: 3}},
	}
	if err := r.Take(b, protocol.QuoteReply{Quotes: []protocol.Quote{full, {Job: 2, Declined: "no"}, {Job: 2}, {Job: 3}}}); err != nil {
		t.Fatal(err)
	}
	p := report(r)
	want := view.Quote{
		Site: "b", AWT: 5, AWTLow: 4, Median: 5, AWTHigh: 6, ERT: 7, Bound: 8, Note: "soon", Currency: "EUR", Cost: 3, CPUs: 4,
		Money: &view.Money{Currency: "EUR", Cost: 3, CPU: 3},
		Terms: []view.PriceTerm{{Name: "use", Amount: 3}}, RUS: 500_000, Age: new(protocol.Duration(30)), Transfer: 9001,
	}
	if got := p.Quote(0, b); !reflect.DeepEqual(got, want) {
		t.Errorf("b's quote is\n%+v, want\n%+v", got, want)
	}
	p.Money = nil
	if got := p.Quote(0, b); got.CPUs != 4 || got.Money != nil {
		t.Errorf("under a policy without costs of applications: %+v", got)
	}
	p.Money = &pricing.Money{Own: "EUR"}
	if got := p.Quote(1, b); got.Declined != "no" || got.Transfer != 0 {
		t.Errorf("b's refusal is %+v", got)
	}
	if got := p.Quote(1, c); got.Declined != "nothing is known of its machine yet" || got.Age != nil {
		t.Errorf("of what c was not asked: %+v", got)
	}
	if got := p.Quote(0, c); got.Declined != "no answer in time" {
		t.Errorf("of what c has not answered: %+v", got)
	}
	if got := p.Quote(0, nil); got.Site != "m" || got.RUS != 250_000 || got.Age == nil || *got.Age != 0 || got.CPUs != 4 || got.AWT != 60*protocol.Second {
		t.Errorf("the own quote is %+v", got)
	}
}

func TestReportedOrder(t *testing.T) {
	t.Parallel()
	r, b, c := three()
	names := func(quotes []view.Quote) (out []protocol.SiteName) {
		for _, q := range quotes {
			out = append(out, q.Site)
		}
		return out
	}
	_ = r.Take(b, protocol.QuoteReply{Quotes: waits(r, 90, 20, 10, 0)})
	_ = r.Take(c, protocol.QuoteReply{Quotes: []protocol.Quote{{Job: 1, AWT: 30 * protocol.Second, ERT: protocol.Hour}, {Job: 3, Declined: "no"}}})
	p := report(r)
	for row, want := range map[int][]protocol.SiteName{
		0: {"c", "m", "b"},
		1: {"b", "c", "m"}, // c was not asked, and m declines it
		3: {"b", "m", "c"}, // two that are equal, by name
	} {
		if got := names(p.Row(row, 9)); !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", row, got, want)
		}
	}
	if got := names(p.Row(0, 2)); !slices.Equal(got, []protocol.SiteName{"c", "m"}) {
		t.Errorf("the first two are %v", got)
	}
	// Data that travel longer than the wait put a site back.
	r.Specs[0].Data, c.Partner.Bandwidth = 200_000, 1000
	if got := names(p.Row(0, 9)); !slices.Equal(got, []protocol.SiteName{"m", "b", "c"}) {
		t.Errorf("with data: %v", got)
	}
	if quotes, others := p.Job(1); len(quotes) != 6 || others != 0 {
		t.Errorf("of a job in two shapes %d quotes, and %d others", len(quotes), others)
	}
	jobs := p.Jobs()
	if len(jobs) != 3 || len(jobs[1]) != 6 {
		t.Fatalf("all quotes are %+v", jobs)
	}
	if !slices.IsSortedFunc(jobs[1], func(a, b view.Quote) int { return cmp.Compare(a.ATT(), b.ATT()) }) {
		t.Errorf("all quotes of a job in two shapes are %+v", jobs[1])
	}
}

func TestReportOfManyJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rows, quotes, others int }{{256, 11, 0}, {257, 8, 3}} {
		r := &rounds.Round{}
		for i := range c.rows {
			r.Specs = append(r.Specs, spec(protocol.JobID(i+1), 1))
		}
		r.Home = waits(r, make([]int, c.rows)...)
		for i := range 10 {
			r.Asks = append(r.Asks, &rounds.Ask{Partner: at(protocol.SiteName(rune('a' + i)))})
		}
		p := report(r)
		if quotes, others := p.Job(0); len(quotes) != c.quotes || others != c.others {
			t.Errorf("of %d jobs: %d quotes and %d others, want %d and %d", c.rows, len(quotes), others, c.quotes, c.others)
		}
		if got := p.Jobs(); len(got) != c.rows || len(got[0]) != 11 {
			t.Errorf("of %d jobs all are %d", c.rows, len(got))
		}
	}
}

func TestDeclines(t *testing.T) {
	t.Parallel()
	quotes := []view.Quote{{Site: "b", Declined: "full"}, {Site: "c", Declined: "too large"}}
	if got := rounds.Declines(quotes, 0); got != "b: full; c: too large" {
		t.Errorf("%q", got)
	}
	if got := rounds.Declines(quotes[:1], 3); got != "b: full; and 3 others" {
		t.Errorf("%q", got)
	}
}

func TestFrontView(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{Sites: []policy.Site{{Name: "a"}, {Name: "b"}}}
	got := rounds.FrontView(&in, &policy.ParetoFront{
		Currency: "EUR", More: true, Gap: 5, Reason: "limits",
		Points: []policy.FrontPoint{{Time: 1, Cost: 2, Chosen: true, Choices: []policy.FrontChoice{{Site: 1, CPUs: 4, Wait: 6, Run: 7, Cost: 8}}}},
	})
	want := &view.ParetoFront{
		Currency: "EUR", Truncated: true, Gap: 5, Reason: "limits",
		Points: []view.ParetoPoint{{Time: 1, Cost: 2, Chosen: true, Choices: []view.ParetoChoice{{Site: "b", CPUs: 4, Wait: 6, Run: 7, Cost: 8}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := rounds.FrontView(&in, &policy.ParetoFront{}); got.Points == nil {
		t.Error("no points are not an empty list")
	}
}

// TestNoFrontReason: a front is of one application, and needs a policy that lays it out.
func TestNoFrontReason(t *testing.T) {
	t.Parallel()
	one := []policy.Application{{}}
	for name, tt := range map[string]struct {
		apps    []policy.Application
		can     []policy.Capability
		builtIn bool
		ok      bool
	}{
		"the policy":     {one, []policy.Capability{policy.Applications, policy.ParetoFronts}, false, true},
		"a built-in one": {one, nil, true, true},
		"none":           {one, []policy.Capability{policy.Applications}, false, false},
		"no application": {nil, nil, true, false},
		"more than one":  {append(one, policy.Application{}), nil, true, false},
	} {
		got := rounds.NoFrontReason(&policy.Snapshot{Applications: tt.apps}, &policy.Description{Name: "p", Can: tt.can}, tt.builtIn)
		if (got == "") != tt.ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLeftOut: users see why a member of a group is not offered to a partner that cannot reserve CPUs.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*scene, *rounds.Report, *row.Job)
		want   bool
	}{
		"a partner without reservations": {func(*scene, *rounds.Report, *row.Job) {}, true},
		"a job on its own":               {func(_ *scene, _ *rounds.Report, j *row.Job) { j.Component = nil }, false},
		"no partner is asked":            {func(_ *scene, p *rounds.Report, _ *row.Job) { p.LocalOnly = true }, false},
		"one that was asked": {func(s *scene, p *rounds.Report, _ *row.Job) {
			p.Round.Asks = append(p.Round.Asks, &rounds.Ask{Partner: s.c})
		}, false},
		"one without a session": {func(s *scene, _ *rounds.Report, _ *row.Job) { s.c.Linked = false }, false},
		"one that reserves":     {func(s *scene, _ *rounds.Report, _ *row.Job) { s.c.Card.Reserves = true }, false},
		"a job that is over":    {func(s *scene, _ *rounds.Report, _ *row.Job) { s.jobs[0].Row = nil }, false},
	} {
		s := newScene()
		j := &row.Job{Spec: spec(1, 4), Component: &protocol.Component{Together: 1}}
		s.jobs[0].Row, s.b.Card.Reserves = j, true
		r := s.asking.Round
		r.Home = waits(r, 1, 1)
		p := &rounds.Report{Round: r, Own: rounds.Own{Site: "m"}, Now: now, Asking: &s.asking}
		tt.change(s, p, j)
		quotes, others := p.Job(0)
		left := quotes[1+len(r.Asks):]
		got := len(left) == 1 && left[0].Site == "c" && strings.Contains(left[0].Declined, "room")
		if got != tt.want || got != (len(left) > 0) || others != 0 {
			t.Errorf("%s: %+v, and %d others", name, quotes, others)
		}
		if all := p.Jobs()[0]; len(all) != len(quotes) {
			t.Errorf("%s: a question has %+v", name, all)
		}
	}
}
