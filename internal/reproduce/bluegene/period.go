package bluegene

import (
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// period is a month, or another stretch of a workload, that is scheduled by itself on a
// machine that is empty before.
type period struct {
	name        string
	site        *site
	from, until protocol.Instant // since 1970, as all times here
	jobs        []workload.Job   // that are submitted in it
}

// newPeriod cuts a period from jobs in the order of their submissions.
func newPeriod(name string, s *site, jobs []workload.Job, from, until protocol.Instant) *period {
	at := func(t protocol.Instant) int {
		i, _ := slices.BinarySearchFunc(jobs, t, func(j workload.Job, t protocol.Instant) int { return int(min(1, max(-1, j.Submit-t))) })
		return i
	}
	return &period{name: name, site: s, from: from, until: until, jobs: jobs[at(from):at(until)]}
}

// aftermath is how long prices and budgets go on after a period, while its last jobs run.
const aftermath = 366 * protocol.Day

// signal is a budget in milliwatts that holds on-peak: from 9 to 23 h by the site's clock
// [BG] Table 1.
func (p *period) signal(limit int64) (power.Signal, error) {
	hours, err := budget.ParseHours("09:00-23:00")
	if err != nil {
		return power.Signal{}, err
	}
	return hours.Signal(p.site.zone, p.from.Add(-protocol.Day), p.until.Add(aftermath), limit), nil
}

// onPeak are the minutes of the day that [period.signal] knows as on-peak.
func onPeak(minute int) bool { return minute >= 9*60 && minute < 23*60 }

// ratios are how many times its price off-peak energy costs on-peak [BG] Table 1, where
// they stand the other way round.
func ratios() [3]int { return [3]int{3, 4, 5} }

// meters are the prices of the ratios: 1 a MWh off-peak, the ratio on-peak.
func (p *period) meters() (meters [3]*price.Meter, err error) {
	signal, err := p.signal(0)
	if err != nil {
		return meters, err
	}
	steps := signal.Steps()
	for i, ratio := range ratios() {
		var s price.Series
		for k := range len(steps) - 1 {
			slot := price.Slot{Start: steps[k].At, Length: steps[k+1].At.Sub(steps[k].At), Price: protocol.Unit}
			if steps[k].Limit != power.Unlimited {
				slot.Price *= protocol.Micro(ratio)
			}
			s.Slots = append(s.Slots, slot)
		}
		meters[i] = price.NewMeter(s)
	}
	return meters, nil
}

// local is what the site's clock shows, as an instant of a clock that never changes.
func (p *period) local(at protocol.Instant) protocol.Instant {
	_, offset := at.Time().In(p.site.zone).Zone()
	return at.Add(protocol.Duration(offset) * protocol.Second)
}

// midnight is the instant at which a day of the site begins.
func (s *site) midnight(year int, month time.Month, day int) protocol.Instant {
	return protocol.Instant(time.Date(year, month, day, 0, 0, 0, 0, s.zone).UnixMilli())
}
