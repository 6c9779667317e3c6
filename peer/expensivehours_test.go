package peer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// gettingExpensive has two sites, at one of which a megawatt hour comes to cost ten thousand francs after
// an hour instead of one.
func gettingExpensive(t *testing.T, expensive protocol.SiteName) *peertest.World {
	t.Helper()
	return roomy(t, "ab", func(o *peertest.SiteOptions) {
		o.Prices = peertest.HourlyPrices("CHF", 0, 0, 0, 0)
		if o.Name == expensive {
			o.Prices = peertest.HourlyPrices("CHF", 1, 10_000, 10_000, 10_000)
		}
		also(o, func(c *rules.Config) { c.Area, c.Power, c.Currency = string(o.Name), 1_000_000, "CHF" })
	})
}

// inExpensiveHours submits a group of two at a, one for each site, of which the other is full for
// an hour and a half, until the expensive one is expensive. It returns what is left of the group after a second.
func inExpensiveHours(w *peertest.World, full protocol.SiteName, most protocol.Micro) (left []row.Job) {
	w.Advance(protocol.Second)
	w.Submit("a", "ada", "", peertest.Plan{Run: 90 * protocol.Minute}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 8, WallTime: 90 * protocol.Minute}, Sites: []protocol.SiteName{full},
	}))
	w.Advance(protocol.Minute)
	application := wanting()
	application.MaxCost = most
	w.Ask("a", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: []protocol.Job{anywhere(8, "a"), anywhere(8, "b")}, Application: application}
	})
	w.Advance(protocol.Second)
	for _, row := range w.Site("a").Rows().Jobs() {
		if row.Component != nil {
			left = append(left, row)
		}
	}
	return left
}

// What the hours cost that a site holds is reported beside their instant, at home and elsewhere, and
// nothing of a site that charges nothing.
func TestHeldHoursHaveTheirPrice(t *testing.T) {
	t.Parallel()
	for _, sites := range [][2]protocol.SiteName{{"a", "b"}, {"b", "a"}} {
		w, last := gettingExpensive(t, sites[0]), map[protocol.SiteName]event.LogEvent{}
		w.Facts = func(site protocol.SiteName, fact event.LogEvent) {
			if site == "a" && fact.Kind == event.LogReserved {
				last[fact.Site] = fact
			}
		}
		inExpensiveHours(w, sites[1], 10*protocol.Unit)
		expensive := last[sites[0]].Price
		if expensive == nil || expensive.Cost != 2_666_667 || expensive.Currency != "CHF" || expensive.Run != 2*protocol.Minute || expensive.Start < peertest.Epoch.Add(protocol.Hour) ||
			len(expensive.Terms) != 1 || expensive.Terms[0] != (view.PriceTerm{Name: "energy", Amount: 2_666_667}) {
			t.Errorf("dear at %s: held for %+v", sites[0], expensive)
		}
		if free := last[sites[1]].Price; free == nil || free.Cost != 0 {
			t.Errorf("dear at %s: the other one is held for %+v", sites[0], free)
		}
	}
	w, held := holders(t, "ab"), 0
	w.Facts = func(_ protocol.SiteName, fact event.LogEvent) {
		if fact.Kind == event.LogReserved {
			held++
		}
		if fact.Price != nil {
			t.Errorf("without a tariff: %+v", fact)
		}
	}
	together(w, pair(2, []protocol.SiteName{"a"}, []protocol.SiteName{"b"}))
	quiet(t, w)
	if held < 2 {
		t.Errorf("%d are held", held)
	}
}

// A group is not granted hours in which it costs more than its limit, though it was quoted for
// cheaper ones: wherever the expensive hours are. Within the limit it is, and is billed for them.
func TestHoldsCostWhatTheirHoursCost(t *testing.T) {
	t.Parallel()
	for _, sites := range [][2]protocol.SiteName{{"a", "b"}, {"b", "a"}} {
		left := inExpensiveHours(gettingExpensive(t, sites[0]), sites[1], protocol.Unit)
		if len(left) != 2 {
			t.Fatalf("dear at %s: %d of 2 members are left", sites[0], len(left))
		}
		for _, stored := range left {
			if stored.Phase != row.JobInGridQueue || !strings.Contains(stored.Reason, " and now charges ") || !strings.Contains(stored.Reason, "of at most 1.00 CHF") {
				t.Errorf("dear at %s: job %v is %v: %s", sites[0], stored.Spec.Job, stored.Phase, stored.Reason)
			}
		}
		w := gettingExpensive(t, sites[0])
		inExpensiveHours(w, sites[1], 10*protocol.Unit)
		if busy := w.RunUntilQuiet(3 * protocol.Hour); busy != "" {
			t.Fatalf("still busy:\n%s", busy)
		}
		starts, _ := startsOf(t, w, w.Site("a"))
		var paid protocol.Micro
		for _, view := range w.Site("a").Finished() {
			if view.Bill != nil && view.Objectives != nil {
				paid += view.Bill.Cost
			}
		}
		// 8 kW for a minute at 10,000 francs a MWh.
		if want := protocol.Micro(1_333_333); slices.Max(starts) < peertest.Epoch.Add(protocol.Hour) || paid != want {
			t.Errorf("dear at %s: started at %v, and paid %v, want %v", sites[0], starts, paid, want)
		}
	}
}
