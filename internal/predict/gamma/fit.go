package gamma

import "math"

// The unknowns of a fit. Each is the logarithm of a factor: by how much the amounts differ
// from those presumed, and by how much computing and communicating take longer than the
// amounts explain.
const (
	flop = iota
	words
	sent
	messages
	computing
	network
	unknowns
)

// vector holds one number for each unknown.
type vector [unknowns]float64

// The doubts, as standard deviations of logarithms.
const (
	doubtMeasured = 0.05 // of a measured time or a counter
	doubtStated   = 1.0  // of what a user states: often wrong by a factor of e
	doubtInferred = 3.0  // of amounts that were not stated: only measurements determine them
	doubtBelow    = 0.7  // of W that is presumed because the peak was nearly reached
	doubtSilent   = 1.5  // of S that is presumed because S = 0 was not stated
	doubtCompute  = 0.15 // of the pace of computing
	doubtNetwork  = 0.25 // of the pace of communicating
)

// fit finds the most likely unknowns: those that make the least of the squared errors of all
// rows, each in its doubts. Errors beyond [bend] doubts count linearly (Huber), so that an
// outlier does not pull much.
type fit struct {
	samples []sample
	doubts  vector // that each unknown is 0
	rows    []row  // room for them
}

// bend is where the error of a row begins to count linearly.
const bend = 2

// best settles from each way to explain the time to compute, by the peak or by the memory,
// since the model's max() has a local optimum on either side.
func (f *fit) best() vector {
	var found vector
	if len(f.samples) == 0 {
		return found
	}
	least := math.Inf(1)
	for _, start := range f.starts() {
		if at, cost := f.settle(start); cost < least {
			found, least = at, cost
		}
	}
	return found
}

// starts are the amounts as presumed, and with O, W or both as the times to compute want.
func (f *fit) starts() []vector {
	var byPeak, byMemory []weighted
	for i := range f.samples {
		s := &f.samples[i]
		took := s.ran
		if s.timed {
			took = s.computed
		}
		byPeak = append(byPeak, weighted{took - math.Log(s.work.flop/s.cpus/s.peak), s.weight})
		if s.work.words > 0 {
			byMemory = append(byMemory, weighted{took - math.Log(s.work.words/s.cpus/s.memory), s.weight})
		}
	}
	o, w := median(byPeak), median(byMemory)
	return []vector{{}, {flop: o}, {words: w}, {flop: o, words: w}}
}

// settle goes downhill by Levenberg's and Marquardt's method. It returns where it ended and
// the cost there.
func (f *fit) settle(at vector) (vector, float64) {
	const steps, stuck, little = 40, 1e3, 1e-4
	cost, damping := f.cost(&at), 1e-3
	for range steps {
		a, g := f.normal(&at)
		for i := range a {
			a[i][i] *= 1 + damping
		}
		step := solve(a, g)
		next := at.minus(&step)
		now := f.cost(&next)
		if !(now < cost) {
			if damping *= 10; damping > stuck {
				break
			}
			continue
		}
		gain := cost - now
		at, cost, damping = next, now, max(damping/10, 1e-6)
		if gain < little*(1+cost) {
			break
		}
	}
	return at, cost
}

// cost is what is to be made least.
func (f *fit) cost(at *vector) (cost float64) {
	for _, r := range f.compare(at) {
		size := math.Abs(r.off)
		if size <= bend {
			cost += r.weight * size * size / 2
		} else {
			cost += r.weight * bend * (size - bend/2.0)
		}
	}
	for i, doubt := range f.doubts {
		cost += at[i] * at[i] / (2 * doubt * doubt)
	}
	return cost
}

// normal is the matrix and the right side of the normal equations.
func (f *fit) normal(at *vector) (a [unknowns]vector, g vector) {
	for _, r := range f.compare(at) {
		weight := r.weight
		if size := math.Abs(r.off); size > bend {
			weight *= bend / size
		}
		for i, slope := range r.slope {
			if slope == 0 {
				continue
			}
			g[i] += weight * slope * r.off
			for j := range r.slope {
				a[i][j] += weight * slope * r.slope[j]
			}
		}
	}
	for i, doubt := range f.doubts {
		a[i][i] += 1 / (doubt * doubt)
		g[i] += at[i] / (doubt * doubt)
	}
	return a, g
}

// compare are the rows of all samples.
func (f *fit) compare(at *vector) []row {
	by := at.factors()
	f.rows = f.rows[:0]
	for i := range f.samples {
		f.rows = f.samples[i].rows(at, &by, f.rows)
	}
	return f.rows
}

func (v *vector) minus(step *vector) vector {
	next := *v
	for i := range next {
		next[i] -= step[i]
	}
	return next
}

// solve solves a·x = g by elimination. It needs no pivots, since a is symmetric and positive
// definite.
func solve(a [unknowns]vector, g vector) vector {
	for i := range a {
		for j := range a {
			if j == i {
				continue
			}
			factor := a[j][i] / a[i][i]
			for k := range a[j] {
				a[j][k] -= factor * a[i][k]
			}
			g[j] -= factor * g[i]
		}
	}
	for i := range g {
		g[i] /= a[i][i]
	}
	return g
}
