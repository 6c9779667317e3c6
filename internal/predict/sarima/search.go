package sarima

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// The search's effort. On the 405 reference windows it finds the best known optimum
// in all that have one; half of the points to look at loses two.
const (
	looks    = 200  // points that are looked at
	climbs   = 12   // of these, from which a short climb starts
	ascents  = 3    // of where these end, from which a climb goes to its end
	paces    = 10   // steps of a short climb
	most     = 100  // steps of a climb to its end
	spread   = 1.5  // of the points, as a standard deviation
	apart    = 0.5  // distance between two starts
	stride   = 2.0  // longest step
	enough   = 1e-8 // least gain for another step, in log-likelihood for an observation
	halvings = 30
	pull     = 1e-3 // log-likelihood that a point at the distance of 1 may cost
)

// hill is a point of the search space and its cost: the log-likelihood for an
// observation, negative, and the pull.
type hill struct {
	point []float64
	cost  float64
}

// search maximises the likelihood, which has several optima: it climbs from the best
// of many points, the same for all series, first a little and then, from the best
// of where that leads, to the end.
//
// The likelihood is flat along the edges of stationarity and where terms cancel, and
// forecasts there depend on where a search happens to stop. A weak pull to the origin
// decides between models that the series cannot tell apart. It costs less than 0.007
// of log-likelihood in 404 of the 405 reference windows.
func (l *likelihood) search() ([]float64, error) {
	cost := func(point []float64) float64 {
		if e, sound := l.at(l.order.coefficientsAt(point)); sound {
			return (pull*dot(point, point) - e.logLikelihood) / float64(l.used)
		}
		return math.Inf(1)
	}
	hills := scatter(l.order.coefficients(), cost)
	for i, h := range hills {
		hills[i] = climb(h, cost, roughly, paces)
	}
	hills = best(hills, ascents)
	for i, h := range hills {
		hills[i] = climb(h, cost, closely, most)
	}
	hills = best(hills, 1)
	if len(hills) == 0 {
		return nil, errors.New("no coefficients have a likelihood within the arithmetic: scale the series")
	}
	return hills[0].point, nil
}

// scatter looks at points, the origin among them, and returns the best.
func scatter(size int, cost func([]float64) float64) []hill {
	random := rand.New(rand.NewPCG(1, 1))
	origin := make([]float64, size)
	hills := []hill{{origin, cost(origin)}}
	for range looks - 1 {
		point := make([]float64, size)
		for i := range point {
			point[i] = spread * random.NormFloat64()
		}
		hills = append(hills, hill{point, cost(point)})
	}
	return best(hills, climbs)
}

// best is up to n of the hills, the best first, none beside a better one.
func best(hills []hill, n int) (chosen []hill) {
	slices.SortStableFunc(hills, func(a, b hill) int { return cmp.Compare(a.cost, b.cost) })
	for _, h := range hills {
		beside := func(other hill) bool { return distance(h.point, other.point) < apart }
		if len(chosen) < n && !math.IsInf(h.cost, 0) && !slices.ContainsFunc(chosen, beside) {
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// climb lowers the cost by a bounded number of quasi-Newton steps (BFGS). A step is halved
// until it gains enough (Armijo's rule).
func climb(from hill, cost func([]float64) float64, slope slope, steps int) hill {
	size := len(from.point)
	at := hill{slices.Clone(from.point), from.cost}
	down, next := make([]float64, size), make([]float64, size)
	slope(down, at, cost)
	h := newInverse(size)
	for range steps {
		to, ok := h.step(at, down, cost)
		if !ok {
			break
		}
		slope(next, to, cost)
		h.learn(at.point, to.point, down, next)
		gain := at.cost - to.cost
		at = to
		copy(down, next)
		if gain < enough {
			break
		}
	}
	return at
}

// inverse approximates the inverse of the cost's second derivatives.
type inverse [][]float64

func newInverse(size int) inverse {
	h := make(inverse, size)
	for i := range h {
		h[i] = make([]float64, size)
		h[i][i] = 1
	}
	return h
}

// step goes towards the minimum that the approximation promises; ok is false when
// that leads nowhere.
func (h inverse) step(at hill, down []float64, cost func([]float64) float64) (to hill, ok bool) {
	direction := make([]float64, len(down))
	for i, row := range h {
		direction[i] = -dot(row, down)
	}
	along := dot(direction, down)
	if !(along < 0) {
		return hill{}, false
	}
	to.point = make([]float64, len(down))
	step := min(1, stride/math.Sqrt(dot(direction, direction)))
	for range halvings {
		for i, start := range at.point {
			to.point[i] = start + step*direction[i]
		}
		if to.cost = cost(to.point); to.cost <= at.cost+1e-4*step*along {
			return to, true
		}
		step /= 2
	}
	return hill{}, false
}

// learn takes in how the slope changed on a step (Broyden, Fletcher, Goldfarb and
// Shanno).
func (h inverse) learn(from, to, before, after []float64) {
	moved, turned := difference(to, from), difference(after, before)
	curvature := dot(moved, turned)
	if !(curvature > 1e-12) {
		return
	}
	ahead := make([]float64, len(h))
	for i, row := range h {
		ahead[i] = dot(row, turned)
	}
	by := (1 + dot(turned, ahead)/curvature) / curvature
	for i, row := range h {
		for j := range row {
			row[j] += by*moved[i]*moved[j] - (moved[i]*ahead[j]+ahead[i]*moved[j])/curvature
		}
	}
}

// slope sets the derivatives of the cost.
type slope func(to []float64, at hill, cost func([]float64) float64)

// roughly takes them from one side, which is half the work.
func roughly(to []float64, at hill, cost func([]float64) float64) {
	const nudge = 1e-6
	point := slices.Clone(at.point)
	for i, x := range at.point {
		point[i] = x + nudge
		to[i] = (cost(point) - at.cost) / nudge
		point[i] = x
	}
}

// closely takes them from both sides.
func closely(to []float64, at hill, cost func([]float64) float64) {
	const nudge = 1e-5
	point := slices.Clone(at.point)
	for i, x := range at.point {
		point[i] = x + nudge
		to[i] = cost(point)
		point[i] = x - nudge
		to[i] = (to[i] - cost(point)) / (2 * nudge)
		point[i] = x
	}
}

func dot(a, b []float64) (sum float64) {
	for i, value := range a {
		sum += value * b[i]
	}
	return sum
}

func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i, value := range a {
		out[i] = value - b[i]
	}
	return out
}

func distance(a, b []float64) float64 {
	d := difference(a, b)
	return math.Sqrt(dot(d, d))
}
