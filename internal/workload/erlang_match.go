package workload

import "math"

// Match returns a hyper-Erlang of common order with the given moments, and how
// many of the three it has.
//
// With 3 it is the one of the least order n up to most (Johnson and Taaffe
// 1989). Divided by n(n+1)…(n+k−1), the moments of such a mixture are those of
// a distribution on two points, the mean stage times 1/λ1 and 1/λ2. These are
// the roots of z² − Sz + P with S = (m3 − m1·m2)/(m2 − m1²) and
// P = (m1·m3 − m2²)/(m2 − m1²), and they are positive if and only if m2 > m1²
// and m1·m3 > m2²: in the moments themselves c² > 1/n and
// µ1·µ3/µ2² > (n+2)/(n+1).
//
// If no order up to most can have the three, the first two are matched by the
// least order that can have them (c² > 1/n), with branches of equal weight in
// the mean, ρ/λ1 = (1−ρ)/λ2. If c² ≤ 1/most, only the mean is matched, by an
// Erlang of order most, the least variable there is. Moments that no positive
// time has give 0 and no distribution. Always λ1 ≤ λ2.
func Match(m Moments, most int) (HyperErlang, int) {
	if !isPositive(m[0]) {
		return HyperErlang{}, 0
	}
	for n := 1; n <= most; n++ {
		if h, ok := threeMoments(m, n); ok {
			return h, 3
		}
	}
	for n := 1; n <= most; n++ {
		if h, ok := twoMoments(m, n); ok {
			return h, 2
		}
	}
	n := max(1, most)
	rate := float64(n) / m[0]
	return HyperErlang{N: n, Lambda1: rate, Lambda2: rate, Rho: 1}, 1
}

// matchSlack keeps the matching away from the border of what an order can have,
// where the roots drown in rounding errors.
const matchSlack = 1e-9

// threeMoments solves in units of the mean and from the mean, so that no power
// of a long time overflows and no difference of the roots cancels.
func threeMoments(m Moments, n int) (HyperErlang, bool) {
	order := float64(n)
	m2 := m[1] / (m[0] * m[0]) * order / (order + 1)
	m3 := m[2] / (m[0] * m[0] * m[0]) * order * order / ((order + 1) * (order + 2))
	spread := m2 - 1 // the variance of the two points
	if !(spread > matchSlack && m3 > m2*m2*(1+matchSlack)) || math.IsInf(m3, 1) {
		return HyperErlang{}, false
	}
	// Measured from the mean, the points are the roots of w² − Sw − spread.
	sum := (m3 - 3*m2 + 2) / spread
	root := math.Hypot(sum, 2*math.Sqrt(spread))
	over, under := (root+sum)/2, (root-sum)/2
	if sum > 0 {
		under = spread / over
	} else {
		over = spread / under
	}
	if !(under < 1) || math.IsInf(over, 1) {
		return HyperErlang{}, false
	}
	unit := order / m[0]
	return HyperErlang{N: n, Lambda1: unit / (1 + over), Lambda2: unit / (1 - under), Rho: under / (over + under)}, true
}

func twoMoments(m Moments, n int) (HyperErlang, bool) {
	order := float64(n)
	m2 := m[1] / (m[0] * m[0]) * order / (order + 1)
	if !(m2 > 1+matchSlack) || math.IsInf(m2, 1) {
		return HyperErlang{}, false
	}
	rho := (1 - math.Sqrt(1-1/m2)) / 2
	unit := 2 * order / m[0]
	return HyperErlang{N: n, Lambda1: unit * rho, Lambda2: unit * (1 - rho), Rho: rho}, true
}
