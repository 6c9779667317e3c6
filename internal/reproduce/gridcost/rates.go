package gridcost

import (
	"errors"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// at is an instant of March 2026, of which the 2nd is a Monday.
func at(day, hour int) protocol.Instant {
	return protocol.Instant(time.Date(2026, time.March, day, hour, 0, 0, 0, time.UTC).UnixMilli())
}

// units are an amount of money for people.
func units(amount protocol.Micro) float64 { return float64(amount) / float64(protocol.Unit) }

// hoursOf are spans of the day, as "08-20"; the days are those of [cost.ParseDays].
func hoursOf(days string, rate protocol.Micro, spans ...contract.Span) (cost.Period, error) {
	set, err := cost.ParseDays(days)
	return cost.Period{Days: set, Hours: spans, PerHour: rate}, err
}

// daysOf are the rates of a curve over a workday and a day of the weekend.
func daysOf(what, unit string, curve *cost.Curve) []reproduce.Series {
	const minutes = 15
	var all []reproduce.Series
	for _, day := range []struct {
		label string
		of    int
	}{{"Monday to Friday", 2}, {"Saturday and Sunday", 7}} {
		s := reproduce.Series{Label: what + ", " + day.label, Unit: unit, Minutes: minutes}
		for t := at(day.of, 0); t < at(day.of+1, 0); t = t.Add(minutes * protocol.Minute) {
			s.Values = append(s.Values, units(curve.At(t)))
		}
		all = append(all, s)
	}
	return all
}

// usage is [IS] Figure 1: other prices by day, by night and at the weekend.
func usage() exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "is-fig1", Title: "K_e: the price of CPUs by day, night and weekend", Paper: "[IS] Figure 1"},
		notes:   []string{"The figure has no numbers: 4, 2 and 1 per CPU-hour are assumed. K_e is that of a run of 12 hours on 100 CPUs."},
		build: func(_ string, r *reproduce.Report) error {
			day, err := hoursOf("mon-fri", 4*protocol.Unit, contract.Span{From: 8 * 60, Until: 20 * 60})
			weekend, wrong := hoursOf("sat-sun", protocol.Unit)
			if err = errors.Join(err, wrong); err != nil {
				return err
			}
			curve := cost.NewCurve(cost.Calendar{}, 2*protocol.Unit, []cost.Period{day, weekend})
			charges := cost.Charges{CPU: &cost.CPU{Own: curve, Guest: curve}}
			t := reproduce.Table{Stub: "start", Columns: []reproduce.Column{
				{Key: "rate", Title: "k_e at the start"}, {Key: "cost", Title: "K_e of the run"},
			}}
			for _, start := range []struct {
				label string
				at    protocol.Instant
			}{{"Monday 8:00", at(2, 8)}, {"Monday 14:00", at(2, 14)}, {"Monday 20:00", at(2, 20)}, {"Friday 20:00", at(6, 20)}, {"Saturday 8:00", at(7, 8)}} {
				spec := protocol.Spec{Request: protocol.Request{CPUs: 100, WallTime: protocol.Day}}
				bill, _ := charges.Bill(cost.Work{Spec: &spec, Start: start.at, Run: 12 * protocol.Hour})
				t.Rows = append(t.Rows, reproduce.Row{Label: start.label, Cells: []reproduce.Cell{
					reproduce.Ours(units(curve.At(start.at))), reproduce.Ours(units(termOf(&bill, cost.CPUTerm))),
				}})
			}
			r.Tables, r.Series = []reproduce.Table{t}, daysOf("k_e", "per CPU-hour", curve)
			return nil
		},
	}
}

// termOf is a term of a bill, 0 where it has none.
func termOf(bill *cost.Bill, name string) protocol.Micro {
	for _, one := range bill.Terms {
		if one.Name == name {
			return one.Amount
		}
	}
	return 0
}

// waiting is [IS] Figure 2: the salary of an engineer who waits in working hours, and a product with a launch.
func waiting() exhibit {
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "is-fig2", Title: "K_w: an engineer's salary, and time to market", Paper: "[IS] Figure 2"},
		notes: []string{
			"The figure has no numbers: 60 per working hour (8 to 12 and 13 to 17 h), and 10 before and 1,000 from Thursday 0:00 on are assumed.",
			"K_w counts from the submission on Monday 8:00 to the last data collected.",
		},
		build: func(_ string, r *reproduce.Report) error {
			office, err := hoursOf("mon-fri", 60*protocol.Unit, contract.Span{From: 8 * 60, Until: 12 * 60}, contract.Span{From: 13 * 60, Until: 17 * 60})
			if err != nil {
				return err
			}
			curve := cost.NewCurve(cost.Calendar{}, 0, []cost.Period{office})
			salary := cost.WaitingCost{Parts: []cost.WaitingPart{cost.Salary{Curve: curve}}}
			market := cost.WaitingCost{Parts: []cost.WaitingPart{cost.Steps{
				Before: 10 * protocol.Unit, Steps: []cost.Step{{At: at(5, 0), PerHour: 1000 * protocol.Unit}},
			}}}
			t := reproduce.Table{Stub: "results are back on", Columns: []reproduce.Column{
				{Key: "salary", Title: "K_w, salary"}, {Key: "market", Title: "K_w, time to market"},
			}}
			for _, end := range []struct {
				label string
				at    protocol.Instant
			}{
				{"Monday 12:00", at(2, 12)},
				{"Monday 17:00", at(2, 17)},
				{"Tuesday 8:00", at(3, 8)},
				{"Thursday 0:00", at(5, 0)},
				{"Thursday 12:00", at(5, 12)},
				{"Friday 17:00", at(6, 17)},
				{"next Monday 8:00", at(9, 8)},
			} {
				t.Rows = append(t.Rows, reproduce.Row{Label: end.label, Cells: []reproduce.Cell{
					reproduce.Ours(units(waited(&salary, at(2, 8), end.at))), reproduce.Ours(units(waited(&market, at(2, 8), end.at))),
				}})
			}
			r.Tables, r.Series = []reproduce.Table{t}, daysOf("k_w, salary", "per hour", curve)
			return nil
		},
	}
}
