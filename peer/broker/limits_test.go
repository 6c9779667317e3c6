package broker_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// francs reckons in CHF, of which one is worth 0.3 of the common unit, and a EUR 0.31.
func francs() pricing.Money {
	return pricing.Money{Own: "CHF", Exchange: cost.Exchange{"CHF": 300_000, "EUR": 310_000}}
}

// TestUnreachable: a limit is kept to its last micro-unit and millisecond.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	a := row.Application{
		Application: protocol.Application{MaxCost: 5 * protocol.Unit, MaxTime: protocol.Hour}, Submitted: noon, Spent: 5 * protocol.Unit,
	}
	end := noon.Add(protocol.Hour)
	if why := (broker.Limits{App: &a, Money: francs()}).Unreachable(end - 1); why != "" {
		t.Errorf("within both limits: %s", why)
	}
	if why := (broker.Limits{App: &a, Money: francs()}).Unreachable(end); !strings.HasPrefix(why, "max_time") {
		t.Errorf("the time is over: %q", why)
	}
	a.Spent++
	if why := (broker.Limits{App: &a, Money: francs()}).Unreachable(noon); !strings.Contains(why, "max_cost is 5.00 CHF") {
		t.Errorf("it has cost more: %q", why)
	}
	a.MaxCost, a.MaxTime = protocol.Unlimited, protocol.Never
	if why := (broker.Limits{App: &a, Money: francs()}).Unreachable(end); why != "" {
		t.Errorf("without limits: %s", why)
	}
}

// TestBrokenBy: a limit that was broken is told with what was predicted of the component.
func TestBrokenBy(t *testing.T) {
	t.Parallel()
	application := func(spent protocol.Micro) *row.Application {
		return &row.Application{
			Application: protocol.Application{MaxCost: 5 * protocol.Unit, MaxTime: protocol.Hour}, Submitted: noon, Spent: spent,
		}
	}
	j := row.Job{
		Spec: protocol.Spec{Name: "mesh"}, Ended: noon.Add(protocol.Hour), Outcome: &protocol.Outcome{Ran: 30 * protocol.Minute},
		Prediction: &row.Prediction{Run: 20 * protocol.Minute, Cost: 2 * protocol.Unit},
	}
	if why := (broker.Limits{App: application(5 * protocol.Unit), Money: francs()}).BrokenBy(&j, 3*protocol.Unit); why != "" {
		t.Errorf("both are kept: %s", why)
	}
	why := broker.Limits{App: application(6 * protocol.Unit), Money: francs()}.BrokenBy(&j, 3*protocol.Unit)
	if !strings.HasPrefix(why, "max_cost: what has run cost 6.00 CHF of at most 5.00 CHF; mesh ran 0:30:00 and cost 3.00 CHF, predicted were 0:20:00 and 2.00 CHF") {
		t.Errorf("too dear: %q", why)
	}
	j.Ended++
	if why = (broker.Limits{App: application(0), Money: francs()}).BrokenBy(&j, 0); !strings.HasPrefix(why, "max_time: mesh ended") {
		t.Errorf("too late: %q", why)
	}
	j.Outcome = nil // it was cancelled, and ran nowhere
	if why = (broker.Limits{App: application(0), Money: francs()}).BrokenBy(&j, 0); why != "" {
		t.Errorf("it did not run: %s", why)
	}
}

// TestChargedMore: only a site that charges more than it quoted can break a limit by it.
func TestChargedMore(t *testing.T) {
	t.Parallel()
	const unit = protocol.Unit
	for name, tt := range map[string]struct {
		limit, quoted, charged, all protocol.Micro
		refused                     bool
	}{
		"as quoted, beyond the limit":    {5 * unit, 2 * unit, 2 * unit, 6 * unit, false},
		"more, and at the limit":         {5 * unit, 2 * unit, 3 * unit, 5 * unit, false},
		"more, and beyond the limit":     {5 * unit, 2 * unit, 3 * unit, 5*unit + 1, true},
		"more, and there is no limit":    {protocol.Unlimited, 2 * unit, 3 * unit, 9 * unit, false},
		"less, and all cost too much":    {5 * unit, 3 * unit, 2 * unit, 6 * unit, false},
		"a micro more, and a micro over": {5 * unit, 2 * unit, 2*unit + 1, 5*unit + 1, true},
	} {
		l := broker.Limits{App: &row.Application{Application: protocol.Application{MaxCost: tt.limit}}, Money: francs()}
		why := l.ChargedMore("b", tt.quoted, tt.charged, tt.all)
		if (why != "") != tt.refused {
			t.Errorf("%s: %q", name, why)
		}
		if tt.refused && !strings.HasPrefix(why, "b quoted 2.00 CHF and now charges ") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestPastTime: max_time counts to the end of the run and the way of the data back.
func TestPastTime(t *testing.T) {
	t.Parallel()
	j := member(1, row.JobOffered, noon)
	j.Prediction = &row.Prediction{Run: 40 * protocol.Minute, Back: 5 * protocol.Minute}
	members := []*row.Job{member(2, row.JobOffered, noon), j} // nothing is predicted of the first
	l := broker.Limits{App: &row.Application{Application: protocol.Application{MaxTime: protocol.Hour}, Submitted: noon}}
	if why := l.PastTime(members, noon.Add(15*protocol.Minute)); why != "" {
		t.Errorf("it would be done within its hour: %s", why)
	}
	if why := l.PastTime(members, noon.Add(15*protocol.Minute+1)); !strings.Contains(why, "job 1 ") || !strings.HasPrefix(why, "max_time") {
		t.Errorf("a millisecond late: %q", why)
	}
	l.App.MaxTime = protocol.Never
	if why := l.PastTime(members, noon.Add(protocol.Day)); why != "" {
		t.Errorf("without a limit: %s", why)
	}
}
