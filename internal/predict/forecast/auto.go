package forecast

import "github.com/switchyard-hpc/switchyard/protocol"

// Auto takes, of several forecasters, the one that would have been best on the days
// before: from the start of each it forecasts that day, and the sum of the absolute
// errors counts. Of equally good ones it takes the first, and always the first until
// there are enough days.
type Auto struct {
	Of    []Forecaster
	Days  int // that are forecast again, at most
	Least int // below which there are too few to choose by
}

// NewAuto chooses among the forecasters that need no fit, by eight of each weekday if
// there are as many and at least one. Days differ more than these forecasters do: on
// June 2014 of XSEDE two weeks are as good, and on the year 2014 of Nord Pool worse.
func NewAuto() Auto { return Auto{Of: simple(), Days: 56, Least: 7} }

// Name is "auto".
func (Auto) Name() string { return "auto" }

// Forecast is that of the best forecaster.
func (a Auto) Forecast(past Past, steps int) []protocol.Micro {
	return a.Choose(past).Forecast(past, steps)
}

// Choose returns the best forecaster. The choice holds for a day: who forecasts more
// often keeps it.
func (a Auto) Choose(past Past) Forecaster {
	best := a.Of[0]
	days := min(a.Days, len(past.Prices)/past.Day-1)
	if days < a.Least {
		return best
	}
	least := a.error(best, past, days)
	for _, f := range a.Of[1:] {
		if off := a.error(f, past, days); off < least {
			best, least = f, off
		}
	}
	return best
}

// error is the sum of a forecaster's absolute errors on some days before.
func (a Auto) error(f Forecaster, past Past, days int) (sum protocol.Micro) {
	for back := 1; back <= days; back++ {
		origin := len(past.Prices) - back*past.Day
		for i, expected := range f.Forecast(Past{past.Prices[:origin], past.Day}, past.Day) {
			if actual := past.Prices[origin+i]; actual != Hole {
				sum = sum.Plus(max(actual-expected, expected-actual))
			}
		}
	}
	return sum
}
