package reproduce

import (
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Ahead is what a site is days of prices that begin at its midnight start, at an
// instant.
func Ahead(paid price.Series, start, now protocol.Instant, oracle bool) (price.Forecast, error) {
	a, err := newArea(paid, "USD")
	if err != nil {
		return price.Forecast{}, err
	}
	name := forecast.NewAuto().Name()
	if oracle {
		name = priceforecast.Known
	}
	days, err := a.outlook(name)
	if err != nil {
		return price.Forecast{}, err
	}
	return ahead(days, start)(price.Query{From: now, Until: now.Add(7 * protocol.Day)})
}

// Ceiling is what all CPUs of the XSEDE grid cost at full power for the first days of
// the prices, each site from its own midnight on.
func Ceiling(o Options, days int) (dollars float64, err error) {
	s, err := newStudy(o)
	if err != nil {
		return 0, err
	}
	grid, err := s.scene(xsede, 1)
	if err != nil {
		return 0, err
	}
	for i := range grid.sites {
		one := *grid
		one.sites, one.ceiling = grid.sites[i:i+1], grid.ceiling[i:i+1]
		dollars += one.most(grid.starts[i], grid.starts[i].Add(protocol.Duration(days)*protocol.Day))
	}
	return dollars, nil
}

// Clock is the wall clock of a site, in hours after midnight, when its prices begin.
func Clock(o Options) (hours []float64, err error) {
	s, err := newStudy(o)
	if err != nil {
		return nil, err
	}
	grid, err := s.scene(xsede, 1)
	if err != nil {
		return nil, err
	}
	for i, system := range grid.systems {
		local := grid.starts[i].Add(system.ZoneLag).Time()
		hours = append(hours, local.Sub(local.Truncate(24*time.Hour)).Hours())
	}
	return hours, nil
}

// CostAt is the least cost that a line through points of response and cost has at a
// response.
func CostAt(line [][2]float64, response float64) (cost float64, ok bool) {
	points := make([]point, len(line))
	for i, p := range line {
		points[i] = point{p[0], p[1]}
	}
	return costAt(points, response)
}

// Geometric is the geometric mean of ratios and half its interval.
func Geometric(values []float64) (mean, half float64) {
	c := geometric(values)
	return c.Ours.Mean, *c.Ours.CI95
}

// ReleasedCost is what the released code's choices make of a job of 2 CPUs at a site with 500 W for each
// whose first midnight is at an hour of the workload, some days after which it is now.
func ReleasedCost(
	paid price.Series, variant string, now, wait, estimate protocol.Duration, choices ...Choice,
) (cost float64, ok bool, err error) {
	a, err := newArea(paid, "USD")
	if err != nil {
		return 0, false, err
	}
	t := trial{policy: variant, portal: true, forecast: forecast.NewAuto().Name()}.with(choices...)
	days, err := a.outlook(t.forecast)
	if err != nil {
		return 0, false, err
	}
	start := protocol.Instant(7 * protocol.Hour)
	r := &released{
		authors: t.authors, variant: variant, outlooks: [][]price.Forecast{days},
		scene: &scene{starts: []protocol.Instant{start}, sites: []sim.Site{{Electricity: sim.Electricity{Milliwatts: 500_000}}}},
	}
	run := estimate
	if r.hours && !r.fractions {
		run = wholeHours(estimate)
	}
	micro, ok := r.cost(0, 2, start.Add(3*protocol.Day+now), wait, run)
	return float64(micro) / float64(protocol.Unit), ok, nil
}

// Logged are the jobs of the grids of logs, in the order of the grids.
func Logged(o Options) ([][]workload.Job, error) {
	s, err := newStudy(o)
	if err != nil {
		return nil, err
	}
	var all [][]workload.Job
	for _, grid := range logGrids() {
		made, err := s.scene(grid.scene, 1)
		if err != nil {
			return nil, err
		}
		all = append(all, made.jobs)
	}
	return all, nil
}
