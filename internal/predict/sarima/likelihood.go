package sarima

import (
	"errors"
	"math"
)

// likelihood is what a search evaluates: a series and its regression effects under
// ARMA noise.
type likelihood struct {
	order   Order
	columns [][]float64 // the effects, missing observations before the mean, and last the differenced series
	missing int         // how many effects are missing observations
	used    int         // observations that are there

	process *process
	filter  *filter
	states  [][]float64 // of each column
	inner   []float64   // the innovations of an observation, by column
	factor  triangle    // of the inner products of all columns
}

// estimate is the likelihood's value at some coefficients, and what maximises it
// there.
type estimate struct {
	logLikelihood float64
	variance      float64
}

func newLikelihood(o Order, columns [][]float64, missing int) *likelihood {
	l := &likelihood{
		order: o, columns: columns, missing: missing, used: len(columns[0]) - missing,
		process: newProcess(o), filter: newFilter(o),
		states: make([][]float64, len(columns)),
		inner:  make([]float64, len(columns)),
		factor: newTriangle(len(columns)),
	}
	for i := range l.states {
		l.states[i] = make([]float64, len(l.filter.gain))
	}
	return l
}

// whiten runs the filter over all columns: factor becomes the inner products of
// their standardised innovations. It returns the logarithm of the determinant of the
// covariance, and false where the arithmetic fails.
func (l *likelihood) whiten(c Coefficients) (logDeterminant float64, ok bool) {
	if !l.process.set(c, l.order.Period) {
		return 0, false
	}
	l.filter.start(l.process)
	for i, state := range l.states {
		clear(state)
		clear(l.factor[i])
	}
	product := 1.0 // logarithms are expensive: one for many variances
	for t := range l.columns[0] {
		for i, column := range l.columns {
			l.inner[i] = l.filter.observe(l.states[i], column[t])
		}
		l.factor.add(l.inner, 1/l.filter.variance)
		if product *= l.filter.variance; product > 1e200 {
			logDeterminant += math.Log(product)
			product = 1
		}
		l.filter.advance()
		if !l.filter.sound() {
			return 0, false
		}
	}
	return logDeterminant + math.Log(product), true
}

// at is the exact likelihood at some coefficients, maximal over variance and
// effects. With missing observations it is that of the others: the determinant of
// their covariance is that of the whole one times that of the information on the
// missing ones.
func (l *likelihood) at(c Coefficients) (estimate, bool) {
	logDeterminant, ok := l.whiten(c)
	if !ok || !l.factor.factorize() {
		return estimate{}, false
	}
	for i := range l.missing {
		logDeterminant += 2 * math.Log(l.factor[i][i])
	}
	n, left := float64(l.used), l.factor.residual()
	e := estimate{variance: max(left*left, math.SmallestNonzeroFloat64) / n}
	e.logLikelihood = -(n*(math.Log(2*math.Pi*e.variance)+1) + logDeterminant) / 2
	return e, true
}

// flat is whether white noise of no variance explains the series but for its effects.
// The coefficients are zero; the sum of squares is that of the undifferenced series.
func (l *likelihood) flat(zero Coefficients, squares float64) (bool, error) {
	e, ok := l.at(zero)
	if !ok && l.missing == 0 {
		return false, errors.New("the observations are too large for the arithmetic: scale the series")
	}
	if !ok {
		return false, errors.New("a missing observation cannot be determined from the rest of the series: each hour of the season must be observed at least once")
	}
	response := l.columns[len(l.columns)-1]
	return e.variance*float64(l.used) <= max(10*rounding*dot(response, response), 1e-20*squares), nil
}
