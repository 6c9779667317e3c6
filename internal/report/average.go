package report

import (
	"math"
	"strconv"
)

// Average is the mean of a metric over seeds, with half the width of its confidence
// interval, as it is printed in JSON.
type Average struct {
	Mean   float64   `json:"mean"`
	CI95   *float64  `json:"ci95,omitempty"` // Student's t at 95 %; nil for a single seed
	Values []float64 `json:"values"`         // of the seeds
}

// AverageOf is the average of a metric that has such values for the seeds.
func AverageOf(values []float64) Average {
	e := Interval(values)
	if e.N < 2 {
		return Average{Mean: e.Mean, Values: values}
	}
	return Average{Mean: e.Mean, CI95: &e.Half, Values: values}
}

// Half is half the width of the interval, 0 where there is none.
func (a Average) Half() float64 {
	if a.CI95 == nil {
		return 0
	}
	return *a.CI95
}

// Scaled is the average in another unit, for figures.
func (a Average) Scaled(scale float64) Estimate {
	return Estimate{Mean: a.Mean * scale, Half: a.Half() * scale, N: max(1, len(a.Values))}
}

// Text prints an average with as many digits as its interval leaves sense.
func (a Average) Text(scale float64) string {
	if len(a.Values) == 0 {
		return "-" // it has none under this scheme
	}
	text := rounded(a.Mean * scale)
	if a.CI95 != nil {
		text += " ± " + rounded(a.Half()*scale)
	}
	return text
}

// Clock prints an average of a time in seconds as h:mm:ss.
func (a Average) Clock() string {
	if len(a.Values) == 0 {
		return "-"
	}
	text := Time.Text(a.Mean)
	if a.CI95 != nil {
		text += " ± " + Time.Text(a.Half())
	}
	return text
}

func rounded(x float64) string {
	digits := 2
	if size := math.Abs(x); size >= 100 {
		digits = 0
	} else if size >= 10 {
		digits = 1
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}
