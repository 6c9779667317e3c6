package forecast

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Seasonal fits a SARIMA model to the last hours [MC 3.2]. Shorter slots are averaged
// to hours, counted back from the end of the past, and a forecast slot differs from
// its hour by as much as it did the day before. Where no model can be fitted it
// forecasts the same hour of the day before.
type Seasonal struct {
	Order sarima.Order
	Hours int // that are fitted
}

// paperHours is the training of [MC 4.3]: the previous three days.
const paperHours = 72

// PaperOrder is the order of [MC]'s price model, (1,0,1)(1,0,1)24.
func PaperOrder() sarima.Order {
	return sarima.Order{AR: 1, MA: 1, SeasonalAR: 1, SeasonalMA: 1, Period: 24, Mean: true}
}

// NewSeasonal fits an order to the previous three days, as [MC] does.
func NewSeasonal(order sarima.Order) Seasonal { return Seasonal{Order: order, Hours: paperHours} }

// Name is "sarima" for the order of [MC], and else the order.
func (s Seasonal) Name() string {
	if s.Order == PaperOrder() {
		return "sarima"
	}
	return s.Order.String()
}

// Forecast is the expectation of the model.
func (s Seasonal) Forecast(past Past, steps int) []protocol.Micro {
	out := yesterday{}.Forecast(past, steps)
	per := max(past.Day/24, 1)
	model, err := sarima.Fit(hourly(past.Prices, per, s.Hours), s.Order)
	if err != nil {
		return out
	}
	hours, _ := model.Forecast((steps + per - 1) / per)
	for hour, expected := range hours {
		if !(math.Abs(expected) <= units(Largest)) {
			return out // and what follows, which grows from it
		}
		slots := out[hour*per : min(hour*per+per, steps)]
		var sum protocol.Micro
		for _, cost := range slots {
			sum += cost
		}
		shift := protocol.Micro(math.Round(expected*1e6)) - share(sum, protocol.Micro(len(slots)))
		for i := range slots {
			slots[i] += shift
		}
	}
	return out
}

// units is an amount in the currency's units.
func units(amount protocol.Micro) float64 { return float64(amount) / 1e6 }

// hourly is the last hours, at most this number, each the mean of its slots; NaN where
// none is known.
func hourly(prices []protocol.Micro, per, hours int) []float64 {
	hours = min(hours, len(prices)/per)
	prices = prices[len(prices)-hours*per:]
	out := make([]float64, hours)
	for hour := range out {
		sum, known := 0.0, 0
		for _, cost := range prices[hour*per : (hour+1)*per] {
			if cost != Hole {
				sum, known = sum+units(cost), known+1
			}
		}
		out[hour] = sum / float64(known) // NaN of none
	}
	return out
}
