package reproduce

import (
	"math"

	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// The measures of an outcome that several exhibits have.
func meanResponse(o *outcome) float64 { return o.metrics.MeanResponse / 60 }
func meanWait(o *outcome) float64     { return o.metrics.MeanWait / 60 }
func cost(o *outcome) float64         { return o.bill.Cost }
func authorsCost(o *outcome) float64  { return o.bill.Authors }
func moved(o *outcome) float64        { return 100 * o.metrics.Transferred }

// relative is a measure in percent of that of another outcome.
func relative(measure func(*outcome) float64) func(one, base *outcome) float64 {
	return func(one, base *outcome) float64 { return 100 * ratio(measure(one), measure(base)) }
}

// weights are those of the sweep of [MC] Figures 4 and 11, in parts per million.
func weights() []int {
	return []int{0, 100_000, 200_000, 250_000, 400_000, 500_000, 750_000, 1_000_000}
}

// equalResponse says what TWOPRICE costs over MCMF where MCMF, with another w, has the
// same mean response.
func (s *study) equalResponse(o *Options) Table {
	t := Table{Title: "TWOPRICE's cost over MCMF's at equal response", Stub: "TWOPRICE with", Columns: []Column{
		{"cost_rel", "cost over MCMF's", "%", 2},
	}}
	for _, w := range weights() {
		var values []float64
		for seed, two := range s.outcomes[o.portal(builtin.TwoPrice, w)] {
			var curve []point
			for _, v := range weights() {
				one := s.outcomes[o.portal(builtin.MCMF, v)][seed]
				curve = append(curve, point{meanResponse(one), cost(one)})
			}
			if at, ok := costAt(curve, meanResponse(two)); ok {
				values = append(values, 100*ratio(cost(two), at))
			}
		}
		if len(values) > 0 {
			t.Rows = append(t.Rows, Row{"w = " + percent(w), []Cell{Ours(values...)}})
		}
	}
	return t
}

// point is a mean response and a cost.
type point struct{ response, cost float64 }

// costAt is the least cost that a line through the points has at a response; ok is false
// if it does not reach it.
func costAt(line []point, response float64) (cost float64, ok bool) {
	cost = math.Inf(1)
	for i := range len(line) - 1 {
		a, b := line[i], line[i+1]
		if response < min(a.response, b.response) || response > max(a.response, b.response) {
			continue
		}
		part := ratio(response-a.response, b.response-a.response)
		cost, ok = min(cost, a.cost+part*(b.cost-a.cost)), true
	}
	return cost, ok
}
