package forecast

import (
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Backtest says where a forecaster is tried on a curve: at the end of First and
// every Every from there it sees what came before, and forecasts the time Ahead.
type Backtest struct {
	First, Every, Ahead protocol.Duration // multiples of the curve's slots; what is less is dropped
}

// Daily is how [MC]'s model was tried: after three days, each day the next 24 hours.
func Daily() Backtest {
	return Backtest{First: 3 * protocol.Day, Every: protocol.Day, Ahead: protocol.Day}
}

// Windows are the forecasts of a backtest. Those of several areas may be put
// together.
type Windows []Window

// Window is one forecast, and what came.
type Window struct {
	Clock    protocol.Instant // the local clock at its start, read as if it were UTC
	Forecast []protocol.Micro
	Actual   []protocol.Micro // [Hole] where it is not known
}

// Run tries a forecaster.
func (b Backtest) Run(c *Curve, f Forecaster) (out Windows) {
	past := c.Past()
	every, ahead := max(int(b.Every/c.step), 1), int(b.Ahead/c.step)
	for origin := max(int(b.First/c.step), 1); origin+ahead <= len(past.Prices); origin += every {
		out = append(out, Window{
			Clock:    c.start.Add(protocol.Duration(origin) * c.step),
			Forecast: f.Forecast(Past{past.Prices[:origin], past.Day}, ahead),
			Actual:   past.Prices[origin : origin+ahead],
		})
	}
	return out
}

// Accuracy sums up windows. Percentages are of the actual price; slots where that is
// 0 have none, and near 0 they say little. All is 0 where there is nothing to
// measure.
type Accuracy struct {
	Windows     int     `json:"windows"`
	MAE         float64 `json:"mae"`              // mean absolute error of all slots, units of the currency for an MWh
	RMSE        float64 `json:"rmse"`             // root of the mean square
	Relative    float64 `json:"relative_pct"`     // the mean absolute error as a share of the mean absolute price, %
	MeanAPE     float64 `json:"mean_ape_pct"`     // mean, over the windows, of the mean absolute percentage error of a window
	MedianAPE   float64 `json:"median_ape_pct"`   // and the median
	MedianSlot  float64 `json:"median_slot_pct"`  // median absolute percentage error of a slot
	Under15     float64 `json:"windows_under_15"` // share of the windows under 15 % [MC 5.3], 0 to 1
	SlotUnder15 float64 `json:"slots_under_15"`   // and of the slots
}

// Accuracy measures the windows.
func (w Windows) Accuracy() Accuracy {
	var errors, squares, size float64
	var ofSlots, ofWindows []float64
	slots := 0
	for _, one := range w {
		first := len(ofSlots)
		for i, actual := range one.Actual {
			if actual == Hole {
				continue
			}
			off := math.Abs(units(one.Forecast[i]) - units(actual))
			errors, squares, size, slots = errors+off, squares+off*off, size+math.Abs(units(actual)), slots+1
			if actual != 0 {
				ofSlots = append(ofSlots, 100*off/math.Abs(units(actual)))
			}
		}
		if first < len(ofSlots) {
			ofWindows = append(ofWindows, average(ofSlots[first:]))
		}
	}
	return Accuracy{
		Windows:     len(w),
		MAE:         ratio(errors, float64(slots)),
		RMSE:        math.Sqrt(ratio(squares, float64(slots))),
		Relative:    100 * ratio(errors, size),
		MeanAPE:     average(ofWindows),
		MedianAPE:   median(ofWindows),
		MedianSlot:  median(ofSlots),
		Under15:     under(ofWindows, 15),
		SlotUnder15: under(ofSlots, 15),
	}
}

// ratio is 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func average(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return ratio(sum, float64(len(values)))
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// under is the share of the values below a limit.
func under(values []float64, limit float64) float64 {
	n := 0
	for _, value := range values {
		if value < limit {
			n++
		}
	}
	return ratio(float64(n), float64(len(values)))
}
