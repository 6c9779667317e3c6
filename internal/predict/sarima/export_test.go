package sarima

import "fmt"

// Evaluate is [Fit] with coefficients that are known: only the mean, the variance and
// the missing observations are estimated. It is an error if they do not match the
// order or are not stationary.
func Evaluate(series []float64, order Order, c Coefficients) (*Model, error) {
	m, err := prepare(series, order)
	if err != nil {
		return nil, err
	}
	if len(c.AR) != order.AR || len(c.MA) != order.MA || len(c.SeasonalAR) != order.SeasonalAR || len(c.SeasonalMA) != order.SeasonalMA {
		return nil, fmt.Errorf("the coefficients %+v are not those of the order %v", c, order)
	}
	if err := m.take(m.likelihood(), c); err != nil {
		return nil, err
	}
	return m, nil
}
