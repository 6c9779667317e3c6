package broker_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// francs reckons in CHF, of which one is worth 0.3 of the common unit, and a EUR 0.31.
func francs() broker.Money {
	return broker.Money{Own: "CHF", Exchange: cost.Exchange{"CHF": 300_000, "EUR": 310_000}}
}

// TestMaxCostIsRoundedDown: whoever keeps the limit as it is told here keeps it as its user has it.
func TestMaxCostIsRoundedDown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		money    broker.Money
		limit    protocol.Micro
		currency string
		want     protocol.Micro
	}{
		"no limit":                 {francs(), protocol.Unlimited, "EUR", protocol.Unlimited},
		"the site's own":           {francs(), 7, "CHF", 7},
		"no currency":              {francs(), 7, "", 7},
		"another one":              {francs(), 1_000_000, "EUR", 1_033_333},
		"another one, exactly":     {francs(), 3_000_000, "EUR", 3_100_000},
		"one that nobody knows":    {francs(), 1_000_000, "XAU", 0},
		"a site without currency":  {broker.Money{Exchange: francs().Exchange}, 1_000_000, "EUR", 0},
		"a site without any table": {broker.Money{Own: "CHF"}, 1_000_000, "EUR", 0},
	} {
		if got := tt.money.MaxCost(&protocol.Application{MaxCost: tt.limit, Currency: tt.currency}); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	if _, err := (broker.Money{}).Convert(1, "EUR"); err == nil || !strings.Contains(err.Error(), "set currency in [site]") {
		t.Errorf("without a currency of its own: %v", err)
	}
}

// TestHopeless: a limit is kept to its last micro-unit and millisecond.
func TestHopeless(t *testing.T) {
	t.Parallel()
	a := row.Application{
		Application: protocol.Application{MaxCost: 5 * protocol.Unit, MaxTime: protocol.Hour}, Submitted: noon, Spent: 5 * protocol.Unit,
	}
	end := noon.Add(protocol.Hour)
	if why := broker.Hopeless(&a, francs(), end-1); why != "" {
		t.Errorf("within both limits: %s", why)
	}
	if why := broker.Hopeless(&a, francs(), end); !strings.HasPrefix(why, "max_time") {
		t.Errorf("the time is over: %q", why)
	}
	a.Spent++
	if why := broker.Hopeless(&a, francs(), noon); !strings.Contains(why, "max_cost is 5.00 CHF") {
		t.Errorf("it has cost more: %q", why)
	}
	a.MaxCost, a.MaxTime = protocol.Unlimited, protocol.Never
	if why := broker.Hopeless(&a, francs(), end); why != "" {
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
		Foreseen: &row.Prediction{Run: 20 * protocol.Minute, Cost: 2 * protocol.Unit},
	}
	if why := broker.BrokenBy(application(5*protocol.Unit), &j, 3*protocol.Unit, francs()); why != "" {
		t.Errorf("both are kept: %s", why)
	}
	why := broker.BrokenBy(application(6*protocol.Unit), &j, 3*protocol.Unit, francs())
	if !strings.HasPrefix(why, "max_cost: what has run cost 6.00 CHF of at most 5.00 CHF; mesh ran 0:30:00 and cost 3.00 CHF, foreseen were 0:20:00 and 2.00 CHF") {
		t.Errorf("too dear: %q", why)
	}
	j.Ended++
	if why = broker.BrokenBy(application(0), &j, 0, francs()); !strings.HasPrefix(why, "max_time: mesh ended") {
		t.Errorf("too late: %q", why)
	}
	j.Outcome = nil // it was cancelled, and ran nowhere
	if why = broker.BrokenBy(application(0), &j, 0, francs()); why != "" {
		t.Errorf("it did not run: %s", why)
	}
}
