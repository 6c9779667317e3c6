package rounds_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// report shows the round to people: why a row was not asked about is its number and the partner, and
// what describes a quote sets its CPUs to 1 for the own site's and 2 for partners'.
func report(r *rounds.Round) *rounds.Report {
	return &rounds.Report{
		Round: r, Own: rounds.Own{Site: "m", Load: protocol.Load{CPUs: 4, Busy: 1}}, Now: 100,
		Unasked: func(row int, one *partner.Partner) string { return fmt.Sprintf("row %d not at %s", row, one.Site) },
		Describe: func(_ int, a *rounds.Ask, q view.Quote) view.Quote {
			if q.CPUs = 1; a != nil {
				q.CPUs = 2
			}
			return q
		},
	}
}

func TestReportedQuote(t *testing.T) {
	t.Parallel()
	r, b, c := three()
	b.Partner.Load, b.Partner.LoadAt = protocol.Load{CPUs: 10, Busy: 5}, 70
	b.Partner.Latency, b.Partner.Bandwidth, r.Specs[0].Data = 1, 1000, 9000
	full := protocol.Quote{
		Job: 1, AWT: 5, AWTLow: 4, AWTHigh: 6, ERT: 7, Bound: 8, Note: "soon", Currency: "EUR", Terms: []protocol.Term{{Name: "use", Amount: 3}},
	}
	if err := r.Take(b, protocol.QuoteReply{Quotes: []protocol.Quote{full, {Job: 2, Declined: "no"}, {Job: 2}, {Job: 3}}}); err != nil {
		t.Fatal(err)
	}
	p := report(r)
	want := view.Quote{
		Site: "b", AWT: 5, AWTLow: 4, AWTHigh: 6, ERT: 7, Bound: 8, Note: "soon", Currency: "EUR", Cost: 3, CPUs: 2,
		Terms: []view.PriceTerm{{Name: "use", Amount: 3}}, RUS: 500_000, Age: 30, Transfer: 9001,
	}
	if got := p.Quote(0, b); !reflect.DeepEqual(got, want) {
		t.Errorf("b's quote is\n%+v, want\n%+v", got, want)
	}
	if got := p.Quote(1, b); got.Declined != "no" || got.Transfer != 0 {
		t.Errorf("b's refusal is %+v", got)
	}
	if got := p.Quote(1, c); got.Declined != "row 1 not at c" || got.Age != -1 {
		t.Errorf("of what c was not asked: %+v", got)
	}
	if got := p.Quote(0, c); got.Declined != "no answer in time" {
		t.Errorf("of what c has not answered: %+v", got)
	}
	if got := p.Quote(0, nil); got.Site != "m" || got.RUS != 250_000 || got.Age != 0 || got.CPUs != 1 || got.AWT != 60*protocol.Second {
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
	if got := p.All(1); len(got) != 6 || got[2].Site == got[3].Site && got[3].Declined != "" {
		t.Errorf("all of them are %+v", got)
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
		if got := p.All(0); len(got) != 11 {
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
