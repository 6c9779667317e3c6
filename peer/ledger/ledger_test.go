package ledger_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/ledger"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const now = protocol.Instant(100 * protocol.Hour)

var seven = protocol.NewJobID(1, 7)

// accounts are those of site a, whose CPUs draw 10 W each, with a partner b.
func accounts() ledger.Ledger {
	site, partners := lives.New(lives.Here{Site: "a", Number: 1}), partner.NewSet()
	partners.Begin(rules.Partner{Site: "b"})
	rows := tables.New(&site, &partners, &gridqueue.Queue{})
	return ledger.Ledger{
		Name: "a", Rows: &rows, Site: &site, Partners: &partners, Drawing: &pricing.Drawing{}, Now: now,
		Desk:  pricing.Desk{Number: 1, Capacity: &protocol.Capacity{CPUs: 8, MHz: 1000}, Power: 10_000, Prices: &pricing.Prices{}},
		Money: pricing.Money{Own: "EUR", Exchange: cost.Exchange{"EUR": 1_000_000}},
	}
}

func jobAt(site protocol.SiteName, phase row.JobPhase) *tables.Job {
	return &tables.Job{Job: row.Job{
		Spec:  protocol.Spec{Request: protocol.Request{Job: seven, CPUs: 2, WallTime: protocol.Hour}, User: "ada"},
		Phase: phase, Epoch: 1, Site: site, State: protocol.Pending,
	}}
}

func component(l ledger.Ledger, j *tables.Job, maxCost protocol.Micro) *tables.Application {
	a := &tables.Application{Application: row.Application{
		ID: seven, Count: 1, Submitted: now, Application: protocol.Application{MaxTime: protocol.Never, MaxCost: maxCost},
	}}
	a.Join(j)
	l.Rows.Jobs[seven], l.Rows.Applications[seven] = j, a
	return a
}

// TestDrawOfRuns: a run counts once in what the site draws, from its start to its end.
func TestDrawOfRuns(t *testing.T) {
	t.Parallel()
	l := accounts()
	l.Rows.Jobs[seven] = jobAt("a", row.JobCommittedLocal)
	r := &localrun.Run{Run: row.Run{Tag: protocol.Tag{Job: seven, Epoch: 1}, Phase: row.RunQueued}, Request: protocol.Request{CPUs: 2}}
	l.Rows.Runs[r.Tag] = r
	draws := func() int64 { return l.Desk.DrawOfAll(*l.Drawing, &protocol.Load{}) }
	if l.NoteDraw(r); draws() != 0 || !l.Drawing.Idle() {
		t.Errorf("a pending run draws %d", draws())
	}
	r.Phase, r.Started = row.RunRunning, now.Add(-protocol.Second)
	l.NoteDraw(r)
	if l.NoteDraw(r); draws() != 20_000 {
		t.Errorf("two CPUs draw %d mW", draws())
	}
	if v := l.Electricity(0); v == nil || v.Running != 20_000 {
		t.Errorf("in a second they use %+v", v)
	}
	r.Phase = row.RunEnded
	if l.NoteDraw(r); draws() != 0 || !l.Drawing.Idle() {
		t.Errorf("an ended run draws %d", draws())
	}
	l.Desk.Power = 0
	r.Phase = row.RunRunning
	if l.NoteDraw(r); r.Draws {
		t.Error("a run counts where no power is stated")
	}
	if l.Electricity(0) != nil || l.Electricity(5) == nil {
		t.Error("whether electricity is shown")
	}
}

// TestSettle: a run is billed by its tariff, and counts in the totals, which are saved.
func TestSettle(t *testing.T) {
	t.Parallel()
	l := accounts()
	j := jobAt("a", row.JobCommittedLocal)
	j.Tariff = &protocol.Tariff{Currency: "EUR"}
	l.Rows.Jobs[seven] = j
	r := &localrun.Run{Run: row.Run{Tag: j.Tag()}, Request: protocol.Request{CPUs: 2}}
	outcome := protocol.Outcome{State: protocol.Completed, Ran: protocol.Hour, Usage: protocol.Usage{Energy: 36_000_000}}
	l.Settle(r, &outcome, now.Add(-protocol.Hour))
	if outcome.Bill == nil || outcome.Bill.Currency != "EUR" || outcome.Usage.Power != 500_000 {
		t.Errorf("%+v, %+v", outcome, outcome.Bill)
	}
	if l.Site.Totals.Energy != 72_000_000 || l.Site.Totals.Since != now {
		t.Errorf("the totals: %+v", l.Site.Totals)
	}
	if records, err := l.Rows.Records(nil); err != nil || len(records) != 1 || records[0].Table != row.SiteTable {
		t.Errorf("saved are %v, %v", records, err)
	}
}

// TestCountSaved: what the local site had quoted, less what the partner billed, at the speed of home.
func TestCountSaved(t *testing.T) {
	t.Parallel()
	l := accounts()
	l.Partners.Of("b").Card = &protocol.Card{Capacity: protocol.Capacity{CPUs: 8, MHz: 2000}}
	if l.Capacity("a") != l.Desk.Capacity || l.Capacity("b").MHz != 2000 || l.Capacity("c") != nil {
		t.Error("the machines of sites")
	}
	j := jobAt("b", row.JobHandedOff)
	j.Home = &view.QuotedPrice{Cost: 100, Run: protocol.Hour, Currency: "EUR"}
	o := protocol.Outcome{Ran: protocol.Hour, Bill: &protocol.Bill{Currency: "EUR", Terms: []protocol.Term{{Name: cost.CPUTerm, Amount: 30}}}}
	l.CountSaved(j, &o) // at home it would have run for 2 hours
	if got := l.Site.Totals.Money; len(got) != 1 || got[0].Saved != 170 {
		t.Errorf("%+v", got)
	}
}

// TestPlaced: what has ended, and what is placed as it was predicted; a question has placed nothing.
func TestPlaced(t *testing.T) {
	t.Parallel()
	l := accounts()
	j := jobAt("b", row.JobHandedOff)
	a := component(l, j, protocol.Unlimited)
	a.Spent = 5
	if got := l.Placed(&a.Application); got.Cost != 5 || got.CommittedUntil != 0 {
		t.Errorf("nothing is placed: %+v", got)
	}
	j.Prediction = &row.Prediction{Cost: 30, End: 77}
	if got := l.Placed(&a.Application); got.Cost != 35 || got.CommittedUntil != 77 {
		t.Errorf("a component is placed: %+v", got)
	}
	if got := l.Placed(&row.Application{ID: 1, Spent: 9}); got.Cost != 9 {
		t.Errorf("a question: %+v", got)
	}
}

// TestEndComponent: the cost of an ended component counts, and the first limit that breaks is told once.
func TestEndComponent(t *testing.T) {
	t.Parallel()
	l := accounts()
	if broken := l.EndComponent(jobAt("b", row.JobHandedOff)); broken != "" {
		t.Errorf("a job of its own breaks %q", broken)
	}
	j := jobAt("b", row.JobHandedOff)
	a := component(l, j, 10)
	j.Outcome = &protocol.Outcome{Bill: &protocol.Bill{Currency: "EUR", Terms: []protocol.Term{{Name: cost.CPUTerm, Amount: 30}}}}
	if l.UnreachableReason(a) != "" || l.UnreachableReason(nil) != "" {
		t.Error("the limit is unreachable before anything is spent")
	}
	broken := l.EndComponent(j)
	if !strings.Contains(broken, "max_cost") || a.Broken != broken || a.Spent != 30 || slices.Contains(a.Jobs, seven) {
		t.Errorf("broken is %q, spent %d, left %v", broken, a.Spent, a.Jobs)
	}
	if l.UnreachableReason(a) == "" {
		t.Error("a limit that is broken is not unreachable")
	}
	if again := l.EndComponent(j); again != "" || a.Spent != 60 {
		t.Errorf("the second one breaks %q, spent %d", again, a.Spent)
	}
}

// TestAgree: a tariff is kept, and replaces the prediction of the cost; one above the limit is refused.
func TestAgree(t *testing.T) {
	t.Parallel()
	tariff := &protocol.Tariff{Currency: "EUR", Charges: []protocol.Charge{{Name: cost.CPUTerm, Units: 2, Per: 1, Steps: []protocol.PriceStep{{PerHour: 10}}}}}
	for name, tt := range map[string]struct {
		tariff     *protocol.Tariff
		prediction *row.Prediction
		limit      protocol.Micro
		refused    bool
	}{
		"no tariff":                {nil, &row.Prediction{Cost: 1, Run: protocol.Hour}, 0, false},
		"nothing was predicted":    {tariff, nil, 0, false},
		"within the limit":         {tariff, &row.Prediction{Cost: 1, Run: protocol.Hour}, 1000, false},
		"more than the limit":      {tariff, &row.Prediction{Cost: 1, Run: protocol.Hour}, 5, true},
		"without any limit at all": {tariff, &row.Prediction{Cost: 1, Run: protocol.Hour}, protocol.Unlimited, false},
	} {
		l := accounts()
		j := jobAt("b", row.JobOffered)
		component(l, j, tt.limit)
		j.Prediction = tt.prediction
		why := l.Agree(j, protocol.Prepared{Tag: j.Tag(), Tariff: tt.tariff})
		if (why != "") != tt.refused || j.Tariff != tt.tariff {
			t.Errorf("%s: %q, and the tariff is %v", name, why, j.Tariff)
		}
	}
}

// TestShown: the bill and the energy of a job here, of one elsewhere, and of a guest.
func TestShown(t *testing.T) {
	t.Parallel()
	l := accounts()
	here := jobAt("a", row.JobCommittedLocal)
	here.State, here.Started, here.Disputed = protocol.Running, now.Add(-protocol.Second), "why"
	here.Tariff = &protocol.Tariff{Currency: "EUR"}
	var v view.Job
	if l.ShowJob(&v, here); v.Bill == nil || v.Bill.Disputed != "why" || v.Energy == nil || v.Energy.Power != 20_000 {
		t.Errorf("here: %+v, %+v", v.Bill, v.Energy)
	}
	v = view.Job{}
	if l.ShowJob(&v, jobAt("b", row.JobHandedOff)); v.Bill != nil || v.Energy != nil {
		t.Errorf("elsewhere: %+v, %+v", v.Bill, v.Energy)
	}
	guest := &tables.Guest{Guest: row.Guest{Spec: here.Spec, Origin: "b", Epoch: 1}}
	l.Rows.Guests[seven] = guest
	r := &localrun.Run{Run: row.Run{Tag: guest.Tag(), Phase: row.RunRunning, Started: now.Add(-protocol.Second)}}
	v = view.Job{}
	if l.ShowGuest(&v, guest, r); v.Bill != nil || v.Energy == nil || v.Energy.Used != 20_000 {
		t.Errorf("a guest: %+v, %+v", v.Bill, v.Energy)
	}
}

// TestNoteBenefit: a job counts if this site had quoted it, and the machine that it has run on is known.
func TestNoteBenefit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		site  protocol.SiteName
		known bool
		card  *protocol.Card
		want  bool
	}{
		"at this site":                   {"a", true, nil, true},
		"that it has not quoted":         {"a", false, nil, false},
		"at a partner":                   {"b", true, &protocol.Card{Capacity: protocol.Capacity{CPUs: 8, MHz: 2000}}, true},
		"at one whose card is not there": {"b", true, nil, false},
	} {
		l, b := accounts(), &status.Benefit{}
		l.Partners.Of("b").Card = tt.card
		j := jobAt(tt.site, row.JobHandedOff)
		j.Spec.Submitted, j.Started, j.Outcome = now-10, now-5, &protocol.Outcome{Ran: protocol.Hour}
		j.LocalQuote = tables.LocalQuote{AWT: protocol.Hour, Known: tt.known}
		none := b.PPM()
		if l.NoteBenefit(b, j); (b.PPM() != none) != tt.want {
			t.Errorf("%s: the benefit is %d, and was %d", name, b.PPM(), none)
		}
	}
}
