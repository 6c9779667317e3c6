package sarima

import "math"

// filter is the Chandrasekhar form of the Kalman filter of a [process]: the gain and
// the variance of an innovation follow from step to step by one column, since the
// covariance of a stationary start changes by a matrix of rank 1 (Pearlman,
// Biometrika 67, 1980; Mélard, Applied Statistics 33, 1984). All variances are in
// units of that of the process's innovations.
type filter struct {
	phi      []float64
	gain     []float64 // T·P·Z′, not divided by the variance
	column   []float64 // L of P[t+1] − P[t] = m·L·L′
	m        float64
	variance float64 // of the next innovation
}

func newFilter(o Order) *filter {
	state := max(o.lagAR(), o.lagMA()+1)
	return &filter{gain: make([]float64, state), column: make([]float64, state)}
}

// start stands before the first observation.
func (f *filter) start(p *process) {
	f.phi = p.phi
	last := len(f.gain) - 1
	f.variance = p.cross[0]
	for i := range f.gain {
		f.gain[i] = f.phi[i] * p.cross[0]
		if i < last {
			f.gain[i] += p.cross[i+1]
		}
	}
	copy(f.column, f.gain)
	f.m = -1 / f.variance
}

// observe takes an observation into a state, which is the expectation of what is to
// come, and returns the innovation. Any number of series share a filter.
func (f *filter) observe(state []float64, value float64) (innovation float64) {
	phi, gain := f.phi[:len(state)], f.gain[:len(state)]
	expected := state[0]
	innovation = value - expected
	scaled := innovation / f.variance
	last := len(state) - 1
	for i := range last {
		state[i] = phi[i]*expected + state[i+1] + gain[i]*scaled
	}
	state[last] = phi[last]*expected + gain[last]*scaled
	return innovation
}

// advance goes to the next observation's gain and variance.
func (f *filter) advance() {
	column := f.column
	phi, gain := f.phi[:len(column)], f.gain[:len(column)]
	lead := column[0]
	by := f.m * lead
	before := f.variance
	f.variance += by * lead
	f.m += by * by / before
	part := lead / f.variance
	last := len(column) - 1
	for i := range last {
		moved := phi[i]*lead + column[i+1]
		gain[i] += by * moved
		column[i] = moved - gain[i]*part
	}
	moved := phi[last] * lead
	gain[last] += by * moved
	column[last] = moved - gain[last]*part
}

// sound is false once rounding has eaten the variance, which is at least 1.
func (f *filter) sound() bool { return f.variance > 0.5 && !math.IsInf(f.variance, 0) }
