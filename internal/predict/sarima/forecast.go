package sarima

import (
	"math"
	"slices"
)

// Forecast returns the expectations of the steps observations after the last of the
// series that was fitted, and their standard errors: of the innovations to come, of
// the few observations that there were and of the missing ones, but not of the
// coefficients and the mean, as R and statsmodels have it.
func (m *Model) Forecast(steps int) (mean, stderr []float64) {
	if steps <= 0 {
		return nil, nil
	}
	horizon := m.series.late + steps
	l := m.likelihood()
	l.at(m.Coefficients) // for the states at the end; that it succeeds, Fit has seen
	o := outlook{filter: l.filter, differencing: m.Order.differencing(), horizon: horizon}

	noise := l.states[len(l.states)-1]
	level := slices.Clone(m.series.level)
	for i, effect := range l.factor.effects() {
		for k, value := range l.states[i] {
			noise[k] -= effect * value
		}
		if i < len(m.series.holes) {
			level[m.series.holes[i]] += effect
		}
	}
	mean = o.from(noise, level, m.Mean)
	stderr = make([]float64, horizon)
	if m.Variance > 0 {
		o.addHoles(stderr, l, m.series)
		o.addInnovations(stderr)
	}
	for h, squares := range stderr {
		stderr[h] = math.Sqrt(squares * m.Variance)
	}
	return mean[m.series.late:], stderr[m.series.late:]
}

// outlook looks ahead from the end of a series.
type outlook struct {
	filter       *filter
	differencing []float64
	horizon      int
}

// from continues a level by what its state expects, undoing the differences.
func (o outlook) from(state, level []float64, mean float64) []float64 {
	lags := len(o.differencing) - 1
	path := slices.Clone(level[len(level)-lags:])
	for range o.horizon {
		next := state[0] + mean
		for lag, by := range o.differencing[1:] {
			next -= by * path[len(path)-1-lag]
		}
		path = append(path, next)
		o.filter.observe(state, state[0])
	}
	return path[lags:]
}

// addHoles adds what the missing observations leave open.
func (o outlook) addHoles(squares []float64, l *likelihood, series observed) {
	paths := make([][]float64, len(series.holes))
	for i, hole := range series.holes {
		state := l.states[i]
		negate(state)
		paths[i] = o.from(state, indicator(len(series.level), hole, 1), 0)
	}
	response := make([]float64, len(paths))
	for h := range squares {
		for i, path := range paths {
			response[i] = path[h]
		}
		squares[h] += l.factor.variance(response)
	}
}

// addInnovations adds what is to come: the filter goes on without observations, and
// the innovation that it would have had at each step moves all later ones.
func (o outlook) addInnovations(squares []float64) {
	state := make([]float64, len(o.filter.gain))
	past := make([]float64, len(o.differencing))
	for first := range squares {
		for i, value := range o.filter.gain {
			state[i] = value / o.filter.variance
		}
		rest := outlook{o.filter, o.differencing, len(squares) - first - 1}
		past[len(past)-1] = 1 // the innovation itself
		squares[first] += o.filter.variance
		for h, moved := range rest.from(state, past, 0) {
			squares[first+1+h] += o.filter.variance * moved * moved
		}
		o.filter.advance()
	}
}
