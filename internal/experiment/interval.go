package experiment

import "github.com/switchyard-hpc/switchyard/internal/report"

// Estimate is the mean of a metric over seeds, with half the width of its
// confidence interval.
type Estimate struct {
	Mean   float64   `json:"mean"`
	CI95   *float64  `json:"ci95,omitempty"` // Student's t at 95 %; nil for a single seed
	Values []float64 `json:"values"`         // of the seeds
}

// Half is half the width of the interval, 0 where there is none.
func (e Estimate) Half() float64 {
	if e.CI95 == nil {
		return 0
	}
	return *e.CI95
}

// EstimateOf is the estimate of a metric that has such values for the seeds.
func EstimateOf(values []float64) Estimate {
	e := report.Interval(values)
	if e.N < 2 {
		return Estimate{Mean: e.Mean, Values: values}
	}
	return Estimate{Mean: e.Mean, CI95: &e.Half, Values: values}
}
