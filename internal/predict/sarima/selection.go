package sarima

import (
	"errors"
	"fmt"
)

// Grid are the orders that [Select] is meant for: up to two non-seasonal and one seasonal
// term on each side, with a mean and without differences. A period of 24 is that of hours.
func Grid(period int) []Order {
	var orders []Order
	for ar := range 3 {
		for ma := range 3 {
			for seasonalAR := range 2 {
				for seasonalMA := range 2 {
					orders = append(orders, Order{
						AR: ar, MA: ma, SeasonalAR: seasonalAR, SeasonalMA: seasonalMA, Period: period, Mean: true,
					})
				}
			}
		}
	}
	return orders
}

// AIC is Akaike's information criterion of a model, 2·k − 2·log-likelihood with k the number of
// its coefficients, its mean and its variance; lower is better. −Inf if nothing is left to explain.
func (m *Model) AIC() float64 {
	k := m.Order.coefficients() + 1
	if m.Order.Mean {
		k++
	}
	return 2*float64(k) - 2*m.LogLikelihood
}

// Select returns the order with the lowest [Model.AIC] on a series, the first of equal ones.
// Orders that cannot be fitted to it are skipped; the error is theirs if that is all of them.
// Orders that difference differently are refused: they explain different series, so that their
// likelihoods cannot be compared.
func Select(series []float64, orders []Order) (Order, error) {
	var best *Model
	var problems []error
	for _, order := range orders {
		if order.Diff != orders[0].Diff || order.SeasonalDiff != orders[0].SeasonalDiff || order.lagDiff() != orders[0].lagDiff() {
			return Order{}, fmt.Errorf("orders %v and %v difference differently: their likelihoods cannot be compared", orders[0], order)
		}
		m, err := Fit(series, order)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if best == nil || m.AIC() < best.AIC() {
			best = m
		}
	}
	if best == nil {
		return Order{}, errors.Join(append([]error{errors.New("no order can be fitted")}, problems...)...)
	}
	return best.Order, nil
}
