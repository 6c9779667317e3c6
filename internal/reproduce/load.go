package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// named is a trial with a label.
type named struct {
	label string
	trial trial
}

// rivals are the strategies that [MC] Figures 6 to 9 compare.
func (o *Options) rivals(weight int) []named {
	return []named{
		{"baseline", o.baseline()},
		{"MCMF", o.portal(builtin.MCMF, weight)},
		{"INST", o.portal(builtin.Inst, weight)},
		{"TWOPRICE", o.portal(builtin.TwoPrice, weight)},
	}
}

func trialsOf(all []named) []trial {
	trials := make([]trial, len(all))
	for i, one := range all {
		trials[i] = one.trial
	}
	return trials
}

// cores is [MC] Figures 6 and 8.
func (o *Options) cores() exhibit {
	rivals := o.rivals(usual)
	sweep := []int{0, 250_000, 500_000, 750_000, 1_000_000}
	e := exhibit{
		Exhibit: Exhibit{
			Name: "fig6", Also: []string{"fig8"}, Title: "core hours of each system, the cheapest service unit first; utilization over w",
			Paper: "[MC] Figures 6 and 8",
		},
		waits: o.Waits, trials: trialsOf(rivals),
	}
	for _, w := range sweep {
		e.trials = append(e.trials, o.portal(builtin.MCMF, w))
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		first := s.outcomes[o.baseline()][0].scene
		byCost := make([]int, len(first.systems))
		for i := range byCost {
			byCost[i] = i
		}
		slices.SortStableFunc(byCost, func(a, b int) int { return cmp.Compare(first.serviceUnit(a), first.serviceUnit(b)) })
		hours := Table{Title: "Figure 6: thousands of core hours, w = 25 %", Stub: "system", Columns: []Column{
			{"service_unit", "service unit", "¢ a core hour", 3}, {"mflops", "speed", "Gflop/s a core", 2},
		}}
		for _, one := range rivals {
			hours.Columns = append(hours.Columns, Column{"core_kh_" + one.trial.policy, one.label, "", 0})
		}
		busy := Table{Title: "Figure 8: utilization under MCMF, %", Stub: "system"}
		for _, w := range sweep {
			busy.Columns = append(busy.Columns, Column{fmt.Sprintf("utilization_w%d", w/10_000), "w = " + percent(w), "", 1})
		}
		for _, site := range byCost {
			system := first.systems[site]
			row := Row{system.Name, []Cell{Ours(100 * first.serviceUnit(site)), Ours(float64(system.MflopsPerCore) / 1000)}}
			for _, one := range rivals {
				row.Cells = append(row.Cells, Ours(s.each(one.trial, func(o *outcome) float64 { return o.coreHoursAt(site) / 1000 })...))
			}
			hours.Rows = append(hours.Rows, row)
			row = Row{Label: system.Name}
			for _, w := range sweep {
				row.Cells = append(row.Cells, Ours(s.each(o.portal(builtin.MCMF, w), func(o *outcome) float64 { return 100 * o.utilization(site) })...))
			}
			busy.Rows = append(busy.Rows, row)
		}
		r.Tables = append(r.Tables, hours, busy)
		return nil
	}
	return e
}

// coreHoursAt are those of the measured jobs that a site ran.
func (o *outcome) coreHoursAt(site int) float64 {
	sum := 0.0
	o.measured(func(i int, _ *workload.Job, p sim.Placement) {
		if p.Site == site {
			sum += o.coreHours(i)
		}
	})
	return sum
}

// utilization is the share of a site's core hours that measured jobs used, up to the
// last end on any site ([MC 4.6]).
func (o *outcome) utilization(site int) float64 {
	from, until := o.span()
	return ratio(o.coreHoursAt(site), float64(o.systems[site].Cores)*float64(until-from)/float64(protocol.Hour))
}

// hours is [MC] Figures 7 and 9: the first seed, hour by hour.
func (o *Options) hours() exhibit {
	rivals := o.rivals(usual)
	return exhibit{
		Exhibit: Exhibit{
			Name: "fig7", Also: []string{"fig9"}, Title: "load and power hour by hour of the first seed, w = 25 %",
			Paper: "[MC] Figures 7 and 9; --json has the series",
		},
		waits: o.Waits, trials: trialsOf(rivals),
		build: func(_ context.Context, s *study, r *Report) error {
			r.Seeds = r.Seeds[:1]
			r.Notes = append(r.Notes, "Load is the core hours of what waits and runs over the cores ([MC 4.6]); power is what runs.",
				"On-peak hours are the tenth of the hours with the highest price at the system, within the submissions.")
			r.Tables = append(r.Tables,
				s.hourly(r, rivals, "Figure 7: instantaneous load", "load", "h", []string{"Mason", "Gordon"}, (*outcome).load),
				s.hourly(r, rivals, "Figure 9: power", "power", "kW", []string{"Blacklight", "Lonestar"}, (*outcome).power))
			return nil
		},
	}
}

// hourly adds the series of some systems to the report, and sums them up in a table.
func (s *study) hourly(
	r *Report, rivals []named, title, key, unit string, systems []string, of func(o *outcome, site int) []float64,
) Table {
	t := Table{Title: title, Stub: "system and strategy", Columns: []Column{
		{key + "_mean", "mean", unit, 2}, {key + "_on_peak", "in on-peak hours", unit, 2}, {key + "_most", "highest", unit, 2},
	}}
	for _, name := range systems {
		for _, one := range rivals {
			o := s.outcomes[one.trial][0]
			site := o.site(name)
			values := of(o, site)
			r.Series = append(r.Series, Series{Label: name + " " + key + ", " + one.label, Unit: unit, Values: values})
			mean, onPeak := o.overPrice(site, values)
			t.Rows = append(t.Rows, Row{name + ", " + one.label, []Cell{Ours(mean), Ours(onPeak), Ours(slices.Max(values))}})
		}
		o := s.outcomes[rivals[0].trial][0]
		r.Series = append(r.Series, Series{Label: name + " price", Unit: "$/MWh", Values: o.hourlyPrices(o.site(name))})
	}
	return t
}

// hourCount is how many hours there are from the first measured submission to the last.
func (o *outcome) hourCount() int {
	return 1 + int(o.jobs[len(o.jobs)-1].Submit.Sub(o.jobs[o.history].Submit)/protocol.Hour)
}

// hour is the beginning of an hour of those.
func (o *outcome) hour(n int) protocol.Instant {
	return o.jobs[o.history].Submit.Add(protocol.Duration(n) * protocol.Hour)
}

func (o *outcome) hourlyPrices(site int) []float64 {
	prices := make([]float64, o.hourCount())
	paid := o.areas[site].paid.Later(o.starts[site])
	for n := range prices {
		micro, _ := paid.At(o.hour(n))
		prices[n] = float64(micro) / float64(protocol.Unit)
	}
	return prices
}

// overPrice is the mean of hourly values, and that of the tenth with the highest prices.
func (o *outcome) overPrice(site int, values []float64) (mean, onPeak float64) {
	prices := o.hourlyPrices(site)
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(prices[b], prices[a]) })
	top := max(1, len(order)/10)
	for rank, i := range order {
		mean += values[i] / float64(len(order))
		if rank < top {
			onPeak += values[i] / float64(top)
		}
	}
	return mean, onPeak
}

// load is, for each hour, the core hours of the measured jobs that wait or run at a
// site, over its cores. A job that the portal holds counts where it will run.
func (o *outcome) load(site int) []float64 {
	values := make([]float64, o.hourCount())
	o.measured(func(i int, job *workload.Job, p sim.Placement) {
		if p.Site != site {
			return
		}
		for n := o.firstHour(job.Submit); n < len(values) && o.hour(n) < p.End; n++ {
			values[n] += o.coreHours(i) / float64(o.systems[site].Cores)
		}
	})
	return values
}

// firstHour is the first of the hours that begins at an instant or later.
func (o *outcome) firstHour(at protocol.Instant) int {
	past := at.Sub(o.hour(0))
	return int((past + protocol.Hour - 1) / protocol.Hour)
}

// power is the mean draw of the measured jobs at a site in each hour, in kW.
func (o *outcome) power(site int) []float64 {
	values := make([]float64, o.hourCount())
	o.measured(func(_ int, job *workload.Job, p sim.Placement) {
		if p.Site != site {
			return
		}
		kilowatts := float64(job.CPUs) * float64(o.systems[site].MilliwattsPerCore) / 1e6
		for n := int(p.Start.Sub(o.hour(0)) / protocol.Hour); n < len(values) && o.hour(n) < p.End; n++ {
			overlap := min(p.End, o.hour(n+1)).Sub(max(p.Start, o.hour(n)))
			values[n] += kilowatts * float64(overlap) / float64(protocol.Hour)
		}
	})
	return values
}
