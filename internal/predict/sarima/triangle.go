package sarima

import "math"

// triangle is the lower half of a symmetric matrix, by rows: the inner products of
// effects and, last, of the response, and then their Cholesky factor, which holds all
// of a least-squares fit.
type triangle [][]float64

// rounding is the share of a square below which nothing is known of what is left of
// it.
const rounding = 1e-14

func newTriangle(size int) triangle {
	out := make(triangle, size)
	for i := range out {
		out[i] = make([]float64, i+1)
	}
	return out
}

// add adds the products of an observation.
func (a triangle) add(values []float64, weight float64) {
	for i, row := range a {
		by := weight * values[i]
		for j := range row {
			row[j] += by * values[j]
		}
	}
}

// factorize replaces the products by their factor; false if one effect is a sum of
// others. A response without a rest is left with one that is lost in rounding.
func (a triangle) factorize() bool {
	for i, row := range a {
		for j := range i {
			row[j] = (row[j] - dot(row[:j], a[j])) / a[j][j]
		}
		least := rounding * row[i]
		rest := row[i] - dot(row[:i], row)
		if !(rest > least) {
			if i < len(a)-1 || !(rest < math.Inf(1)) {
				return false
			}
			rest = least
		}
		row[i] = math.Sqrt(rest)
	}
	return true
}

// residual is the root of the sum of squares that the effects leave of the response.
func (a triangle) residual() float64 {
	last := len(a) - 1
	return a[last][last]
}

// effects are the coefficients of the fit.
func (a triangle) effects() []float64 {
	last := len(a) - 1
	out := make([]float64, last)
	copy(out, a[last])
	for i := last - 1; i >= 0; i-- {
		out[i] /= a[i][i]
		for j := range i {
			out[j] -= a[i][j] * out[i]
		}
	}
	return out
}

// variance is that of the sum of the first effects by weights, for a residual
// variance of 1, if the other effects are known.
func (a triangle) variance(weights []float64) (sum float64) {
	solved := make([]float64, len(weights))
	for i, weight := range weights {
		solved[i] = (weight - dot(solved[:i], a[i])) / a[i][i]
		sum += solved[i] * solved[i]
	}
	return sum
}
