package sarima

import (
	"errors"
	"fmt"
	"math"
)

// Model is a fitted model, and the series that it was fitted to. It may be used by
// several goroutines.
type Model struct {
	Order         Order
	Coefficients  Coefficients
	Mean          float64 // of the differenced series; 0 unless the order has one
	Variance      float64 // of an innovation, as maximum likelihood estimates it
	LogLikelihood float64 // of the differenced series; +Inf if nothing is left to explain

	series  observed
	offset  float64     // what was taken from the differenced series, for the arithmetic
	columns [][]float64 // of the likelihood
}

// Fit estimates a model by maximum likelihood; of models that differ by thousandths of
// log-likelihood it takes the one farther from the edge of stationarity. NaN is a
// missing observation; each one inside the series costs the time of another series.
//
// If nothing is left to explain, as in a constant series or, differenced by the
// season, in one that repeats itself, the model has coefficients of 0 and forecasts
// without error. It is an error if the order is none, if an observation is infinite,
// or if there are too few for the order.
func Fit(series []float64, order Order) (*Model, error) {
	m, err := prepare(series, order)
	if err != nil {
		return nil, err
	}
	l := m.likelihood()
	point := make([]float64, order.coefficients())
	flat, err := l.flat(order.coefficientsAt(point), m.series.squares())
	if err != nil {
		return nil, err
	}
	if !flat && len(point) > 0 {
		if point, err = l.search(); err != nil {
			return nil, err
		}
	}
	if err := m.take(l, order.coefficientsAt(point)); err != nil {
		return nil, err
	}
	if flat {
		m.Variance, m.LogLikelihood = 0, math.Inf(1)
	}
	return m, nil
}

// prepare checks a series and an order, and sets up all but the estimates.
func prepare(series []float64, order Order) (*Model, error) {
	if err := order.Validate(); err != nil {
		return nil, err
	}
	seen, err := observe(series)
	if err != nil {
		return nil, err
	}
	m := &Model{Order: order, series: seen}
	left := len(seen.level) - order.lagDiff() - len(seen.holes)
	if least := max(order.lagAR(), order.lagMA()) + order.coefficients() + 2; left < least {
		return nil, fmt.Errorf("%d observations, %d of them missing, are too few for %v: differencing must leave %d, and leaves %d",
			len(seen.level), len(seen.holes), order, least, max(left, 0))
	}
	m.design()
	return m, nil
}

func (m *Model) likelihood() *likelihood {
	return newLikelihood(m.Order, m.columns, len(m.series.holes))
}

// take sets the estimates at some coefficients.
func (m *Model) take(l *likelihood, c Coefficients) error {
	e, ok := l.at(c)
	if !ok {
		return fmt.Errorf("the likelihood cannot be computed at %+v: they are not stationary", c)
	}
	m.Coefficients, m.Variance, m.LogLikelihood = c, e.variance, e.logLikelihood
	if m.Order.Mean {
		m.Mean = m.offset + l.factor.effects()[l.missing]
	}
	return nil
}

// observed is a series without the missing observations at its ends.
type observed struct {
	level []float64 // missing ones are as the one before
	holes []int     // where these are
	late  int       // missing observations after the last one
}

func observe(series []float64) (observed, error) {
	first, last := -1, -1
	for i, value := range series {
		if math.IsInf(value, 0) {
			return observed{}, fmt.Errorf("observation %d is infinite; write NaN for a missing one", i)
		}
		if !math.IsNaN(value) {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return observed{}, errors.New("no observation is known")
	}
	seen := observed{level: make([]float64, 0, last-first+1), late: len(series) - 1 - last}
	for i, value := range series[first : last+1] {
		if math.IsNaN(value) {
			value = seen.level[i-1]
			seen.holes = append(seen.holes, i)
		}
		seen.level = append(seen.level, value)
	}
	return seen, nil
}

// squares is the sum of the observations' squares.
func (s observed) squares() float64 { return dot(s.level, s.level) }

// design sets the columns of the likelihood: y = Σ effects·column + noise, all
// differenced. What a missing observation is too high counts against its column.
func (m *Model) design() {
	poly := m.Order.differencing()
	response := apply(poly, m.series.level)
	for _, hole := range m.series.holes {
		m.columns = append(m.columns, apply(poly, indicator(len(m.series.level), hole, -1)))
	}
	if m.Order.Mean {
		constant := make([]float64, len(response))
		for i, value := range response {
			m.offset += value / float64(len(response))
			constant[i] = 1
		}
		for i := range response {
			response[i] -= m.offset
		}
		m.columns = append(m.columns, constant)
	}
	m.columns = append(m.columns, response)
}

func indicator(size, at int, value float64) []float64 {
	out := make([]float64, size)
	out[at] = value
	return out
}

// apply takes differences of a level.
func apply(poly, level []float64) []float64 {
	out := make([]float64, len(level)-(len(poly)-1))
	for t := range out {
		for lag, by := range poly {
			if by != 0 {
				out[t] += by * level[t+len(poly)-1-lag]
			}
		}
	}
	return out
}
