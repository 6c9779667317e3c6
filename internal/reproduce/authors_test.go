package reproduce_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestWhatTheReleasedCodeCharges, worked by hand: 2 CPUs of 500 W are a kilowatt, the price of
// hour n of the day is n a MWh, and a site's day begins at its own midnight.
func TestWhatTheReleasedCodeCharges(t *testing.T) {
	t.Parallel()
	var hours []int
	for hour := range 5 * 24 {
		hours = append(hours, hour%24)
	}
	const hour = protocol.Hour
	for _, c := range []struct {
		variant  string
		now      protocol.Duration // after midnight
		wait     protocol.Duration
		estimate protocol.Duration
		choices  []reproduce.Choice
		want     float64
	}{
		// 2 h estimated are 3 h, which from 3:30 on touch hours 3 to 6.
		{"mcmf", 3*hour + hour/2, 0, 2 * hour, []reproduce.Choice{reproduce.WholeHours}, (3 + 4 + 5 + 6) / 1000.},
		{"mcmf", 1 * hour, 2*hour + hour/2, 2 * hour, []reproduce.Choice{reproduce.WholeHours}, (3 + 4 + 5 + 6) / 1000.},
		{"inst", 3*hour + hour/2, 5 * hour, 2 * hour, []reproduce.Choice{reproduce.WholeHours}, (3 + 4 + 5 + 6) / 1000.},
		// Two prices: the 10th percentile of hours 0 to 23 is 2, the 90th 21; from 10:00 to 13:00.
		{"twoprice", 10 * hour, 0, 2 * hour, []reproduce.Choice{reproduce.WholeHours, reproduce.KnownAhead}, (2 + 2 + 21 + 21) / 1000.},
		// Half an hour at the price of 5:00 and a MW, beside hours 3 and 4.
		{"mcmf", 3*hour + hour/4, 0, hour + hour/2, []reproduce.Choice{reproduce.Fractions}, (3+4)/1000. + .5*5},
	} {
		got, ok, err := reproduce.ReleasedCost(days(hours), c.variant, c.now, c.wait, c.estimate, c.choices...)
		if err != nil || !ok || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s at %v: %v, %v, %v; want %v", c.variant, c.now, got, ok, err, c.want)
		}
	}
	if _, ok, err := reproduce.ReleasedCost(days(hours), "mcmf", 0, 9*protocol.Day, hour, reproduce.WholeHours); ok || err != nil {
		t.Errorf("beyond what is looked ahead: %v, %v", ok, err)
	}
}

// TestTheWalkChangesWhatItSays: rows differ where a choice matters to a strategy, and only there.
func TestTheWalkChangesWhatItSays(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Waits = waitpredict.Plan
	drawn := run(t, o, "walk")[0].Tables[0]
	inst, flow, two := values(t, drawn, "inst_authors_rel"), values(t, drawn, "mcmf_authors_rel"), values(t, drawn, "twoprice_authors_rel")
	unscaled, before := "+ INST's estimates not scaled", "+ MaxQ 5"
	if inst[unscaled] == inst[before] || flow[unscaled] != flow[before] || two[unscaled] != two[before] {
		t.Errorf("estimates that are not scaled: INST %v, MCMF %v, TWOPRICE %v", inst, flow, two)
	}
	if flow["ours"] == flow["+ whole hours"] {
		t.Errorf("whole hours change nothing: %v", flow)
	}
	o.Authors = reproduce.Choices()[:6]
	if all := values(t, run(t, o, "walk")[0].Tables[0], "inst_authors_rel"); all["ours"] != inst[unscaled] {
		t.Errorf("all choices as options give %v, as a row %v", all["ours"], inst[unscaled])
	}
}

func TestChoicesOfTheAuthorsAreChecked(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Authors = []reproduce.Choice{"haste"}
	if err := o.Check(); err == nil || !strings.Contains(err.Error(), `authors: "haste" is none of whole-hours, known`) {
		t.Errorf("%v", err)
	}
	o.Authors = []reproduce.Choice{reproduce.WholeHours}
	_, err := reproduce.MCMF().Run(t.Context(), o, []string{"decentral"}, nil)
	if err == nil || !strings.Contains(err.Error(), "need one portal") {
		t.Errorf("a peer at each site: %v", err)
	}
}

// TestKnownPricesAreAForecast of sim reproduce, too.
func TestKnownPricesAreAForecast(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Waits, o.Forecast = waitpredict.Plan, priceforecast.Known
	known := run(t, o, "table6")[0]
	if known.Prices != "all known ahead" || !slices.Equal(known.Seeds, []uint64{1}) {
		t.Errorf("%+v", known)
	}
}

// TestTheValueOfKnowingPrices: every forecast is tried, and with prices that nearly repeat from day to
// day none costs much more than knowing them.
func TestTheValueOfKnowingPrices(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Waits = waitpredict.Plan
	for _, table := range run(t, o, "knowledge")[0].Tables {
		cost := values(t, table, "cost")
		if len(cost) != 6 {
			t.Errorf("%s: %v", table.Title, cost)
		}
		for label, one := range cost {
			if one <= 0 || one > 1.2*cost["known"] {
				t.Errorf("%s, %s: %v, known %v", table.Title, label, one, cost["known"])
			}
		}
	}
}
