package reproduce

import (
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Ahead is what a site is told of prices that begin at its midnight start, at an
// instant.
func Ahead(paid price.Series, start, now protocol.Instant, oracle bool) (price.Forecast, error) {
	forecaster, err := forecast.Named("auto")
	if err != nil {
		return price.Forecast{}, err
	}
	a, err := newArea(paid, "USD", forecaster)
	if err != nil {
		return price.Forecast{}, err
	}
	return a.ahead(start, oracle)(price.Query{From: now, Until: now.Add(7 * protocol.Day)})
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
