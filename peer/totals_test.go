package peer_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// electricity is what the own site tells of it now.
func (l *lone) electricity() view.Electricity {
	l.t.Helper()
	l.step(event.AskSites{Asked: 5})
	view, _ := l.answers[len(l.answers)-1].(view.Sites)
	if view.Sites[0].Electricity == nil {
		l.t.Fatalf("nothing is told of electricity: %+v", view.Sites[0])
	}
	return *view.Sites[0].Electricity
}

// heard is a change in the local queue, and the load with it.
func (l *lone) heard(change localsched.Change, busy int) {
	l.t.Helper()
	l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
		Load: protocol.Load{CPUs: 4, Busy: busy}, Changes: []localsched.Change{change},
	}}})
}

// A job's energy and its cost are reported as quoted and as it ran; the site's total counts it once, and keeps
// it, and partners read what is drawn without a budget.
func TestEnergyIsCounted(t *testing.T) {
	t.Parallel()
	l := priced(t, atOnce)
	ev := submission(1)
	ev.Jobs[0].Spec.CPUs, ev.Jobs[0].Spec.WallTime = 4, protocol.Hour
	l.step(ev)
	l.advance(10 * protocol.Second) // b does not answer
	submitted, _ := l.answers[len(l.answers)-1].(view.Submitted)
	tag := protocol.Tag{Job: submitted.Jobs[0], Epoch: 1}
	start := l.now
	l.heard(localsched.Change{Tag: tag, State: protocol.Running, Started: start}, 4)
	l.now = l.now.Add(protocol.Hour / 2)
	reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{guest(1, 1)}})
	if reply.Load.Draw != 1_000_000 {
		t.Errorf("b is told of %d mW", reply.Load.Draw)
	}
	if got := l.electricity(); got.Draw != 1_000_000 || got.Running != 1_800_000_000 || got.Energy != 0 || *got.Price != 10*protocol.Unit {
		t.Errorf("half an hour at 1 kW: %+v", got)
	}
	l.now = start.Add(protocol.Hour)
	l.heard(localsched.Change{
		Tag: tag, State: protocol.Completed, Started: start,
		Outcome: protocol.Outcome{State: protocol.Completed, Ran: protocol.Hour, Usage: protocol.Usage{Energy: 9}},
	}, 0)
	got := l.electricity()
	want := []view.MoneyTotals{{Currency: "EUR", Cost: got.Money[0].Cost}}
	if got.Energy != 3_600_000_000 || got.Draw != 0 || got.Running != 0 || !reflect.DeepEqual(got.Money, want) {
		t.Errorf("an hour at 1 kW: %+v", got)
	}
	bill := l.finished().Bill
	e := l.finished().Energy
	if e == nil || e.Used != 3_600_000_000 || e.Cost == nil || *e.Cost != bill.Cost || *e.Cost != got.Money[0].Cost || e.Measured != 9 {
		t.Errorf("the job: %+v, billed %+v", e, bill)
	}
	if got.Since == 0 || bill.Cost <= 10_000 {
		t.Errorf("since %d, for %d", got.Since, bill.Cost) // ten seconds of it at 30 a MWh
	}
	for _, rec := range slices.Backward(l.records) {
		if row, ok := rec.Row.(row.Site); ok {
			if !reflect.DeepEqual(row.Totals, got.Totals) {
				t.Errorf("kept are %+v, told %+v", row.Totals, got.Totals)
			}
			break
		}
	}
}

// What the grid saves is what home had quoted, for as long as the job ran, less the bill.
func TestSavedAgainstHome(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		home protocol.Micro // an hour at home
		ran  protocol.Duration
		want []view.MoneyTotals
	}{
		"dearer at home":          {30 * protocol.Unit, protocol.Hour, []view.MoneyTotals{{Currency: "CHF", Saved: 10 * protocol.Unit}}},
		"for a quarter of it":     {30 * protocol.Unit, protocol.Hour / 4, []view.MoneyTotals{{Currency: "CHF", Saved: 2_500_000}}},
		"cheaper at home":         {5 * protocol.Unit, protocol.Hour, []view.MoneyTotals{{Currency: "CHF", Lost: 15 * protocol.Unit}}},
		"home names no price":     {0, protocol.Hour, nil},
		"no run, no bill to name": {30 * protocol.Unit, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := peertest.Greedy{}
			home := func(r protocol.Request) protocol.Quote {
				q := protocol.Quote{Job: r.Job, AWT: protocol.Hour, ERT: protocol.Hour}
				if tt.home > 0 {
					q.Currency, q.Terms = "CHF", []protocol.Term{{Name: "cpu", Amount: tt.home}}
				}
				return q
			}
			answers := idle(place, home)
			l := newLone(t, func(c *rules.Config) { c.Power = 250_000 }, func(op event.Op) (event.Result, error) {
				if op, ok := op.(event.DecideOp); ok {
					return event.DecideResult{Decisions: []policy.Decision{{Job: 0, Site: len(op.Snapshot.Sites) - 1}}}, nil
				}
				return answers(op)
			})
			l.step(submission(1))
			offer := l.expensive()
			outcome := protocol.Outcome{State: protocol.Completed}
			if tt.ran > 0 {
				outcome.Bill = billOf(l.now, protocol.Micro(int64(20*protocol.Unit)*int64(tt.ran)/int64(protocol.Hour)))
			}
			l.runsAtB(offer, perHour(20*protocol.Unit), tt.ran, outcome)
			if got := l.electricity(); !reflect.DeepEqual(got.Money, tt.want) || got.Energy != 0 {
				t.Errorf("counted %+v, want %+v", got, tt.want)
			}
			if seen := l.finished().LocalQuoted; (seen != nil) != (tt.home > 0) {
				t.Errorf("home quoted %+v", seen)
			}
		})
	}
}

// TestNoLocalQuoteOfALocalJob: what home quoted is kept of jobs that a round places elsewhere, and of no others.
func TestNoLocalQuoteOfALocalJob(t *testing.T) {
	t.Parallel()
	answers := idle(peertest.Greedy{}, func(r protocol.Request) protocol.Quote {
		return protocol.Quote{Job: r.Job, AWT: protocol.Hour, ERT: protocol.Hour, Currency: "CHF", Terms: []protocol.Term{{Name: "cpu", Amount: protocol.Unit}}}
	})
	l := newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if op, ok := op.(event.DecideOp); ok {
			return event.DecideResult{Decisions: []policy.Decision{{Job: 0, Site: slices.IndexFunc(op.Snapshot.Sites, func(s policy.Site) bool { return s.Name == "a" })}}}, nil
		}
		return answers(op)
	})
	l.step(submission(1))
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok {
		t.Fatalf("got %T instead of a question", l.last())
	}
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{
		Round: request.Round, MaxJobs: 1, Load: protocol.Load{CPUs: 8}, Free: 8, Quotes: []protocol.Quote{{Job: request.Jobs[0].Job, ERT: protocol.Hour}},
	}})
	for _, rec := range slices.Backward(l.records) {
		if j, ok := rec.Row.(row.Job); ok {
			if j.Site != "a" || j.Quoted == nil || j.Home != nil {
				t.Errorf("placed at %s, quoted %+v, at home %+v", j.Site, j.Quoted, j.Home)
			}
			return
		}
	}
	t.Error("the job was not placed")
}
