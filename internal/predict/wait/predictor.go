package wait

import "github.com/switchyard-hpc/switchyard/protocol"

// Predictor says how long jobs will wait.
type Predictor interface {
	// Name is the predictor's, for tables.
	Name() string

	// Predict answers for a job at its submission, or for one that might be
	// submitted.
	Predict(a Arrival) Prediction

	// Observe tells what happened. A predictor that is asked about a job's arrival
	// is asked before it hears of the submission.
	Observe(e Event)
}

// Method says which part of a predictor an answer comes from.
type Method string

// The methods of the predictors here.
const (
	ByNothing  Method = "none"    // too little is known: the wait is 0, the bound open
	ByEmpty    Method = "empty"   // nothing waits or runs: the wait is 0
	ByCluster  Method = "cluster" // jobs like it, without their outliers
	ByRidge    Method = "ridge"   // a linear model of the jobs around it
	ByNearest  Method = "nearest" // the job most like it
	ByKernel   Method = "kernel"  // the jobs around it, weighted by distance
	ByQuantile Method = "bounds"  // the waits of its size class
	BySummary  Method = "summary" // one number for all jobs
)

// Prediction is an answer: 0 ≤ Low ≤ Median ≤ High ≤ Bound. What a predictor
// cannot bound yet is [protocol.Never].
type Prediction struct {
	Wait   protocol.Duration // the predictor's answer as published, which may lie outside of Low to High
	Low    protocol.Duration // P10: one job in ten starts before
	Median protocol.Duration // P50
	Mean   protocol.Duration // expected value, by the mean ratio of recent waits to medians
	High   protocol.Duration // P90: one job in ten starts after
	Bound  protocol.Duration // the job starts within it with a probability of nominally 95 %, see [Nominal]
	By     Method
}

// unknown is the answer of a predictor that has seen too little.
func unknown() Prediction {
	return Prediction{High: protocol.Never, Bound: protocol.Never, By: ByNothing}
}

// ordered makes the quantiles of a prediction rise.
func (p Prediction) ordered() Prediction {
	p.Median = max(p.Median, p.Low)
	p.High = max(p.High, p.Median)
	p.Bound = max(p.Bound, p.High)
	return p
}
