package wait

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// ridge is a regression of the waits of jobs on their features. It keeps its room
// between calls.
type ridge struct {
	squares []float64 // of the distances of all jobs
	places  []int
	points  []float64 // a row for each feature, a column for each job, centred on the jobs
	targets []float64
	asked   []float64 // the features of the job asked about, from the same means
	scale   []float64 // 1 ÷ deviation of each feature
	gram    mat.SymDense
	factor  mat.Cholesky
}

// predict fits the jobs around an arrival and returns the wait that the fit gives
// it, which may be below 0; ok is false if there are too few jobs.
func (r *ridge) predict(h *History, d *distance, w *Weights, a *Arrival, p *Ridge) (wait float64, ok bool) {
	r.squares = r.squares[:0]
	for place := range h.meets {
		r.squares = append(r.squares, d.square(&h.meets[place], math.Inf(1)))
	}
	r.gather(p)
	if len(r.places)+1 < p.Least {
		return 0, false
	}
	r.points, r.asked, r.targets = r.points[:0], r.asked[:0], r.targets[:0]
	for f, weight := range w {
		if weight > 0 {
			r.column(h, f, a.Meets[f])
		}
	}
	for _, place := range r.places {
		r.targets = append(r.targets, h.waits[place])
	}
	mean := center(r.targets)
	if len(r.asked) == 0 {
		return mean, true
	}
	fitted, ok := r.solve(p.Lambda)
	return mean + fitted, ok
}

// gather takes the jobs within the first circle that has enough, or the widest.
func (r *ridge) gather(p *Ridge) {
	for step := 0; ; step++ {
		radius := p.From + float64(step)*p.Step
		last := radius+p.Step > p.To*(1+1e-9)
		r.places = r.places[:0]
		for place, square := range r.squares {
			if square < radius*radius {
				r.places = append(r.places, place)
			}
		}
		if last || len(r.places) > p.Enough*FeatureCount {
			return
		}
	}
}

// column adds the row of a feature, centred on the jobs. One that is the same for
// all is left out.
func (r *ridge) column(h *History, feature int, asked float64) {
	begin := len(r.points)
	low, high := asked, asked
	for _, place := range r.places {
		v := h.meets[place][feature]
		low, high = min(low, v), max(high, v)
		r.points = append(r.points, v)
	}
	if low == high {
		r.points = r.points[:begin]
		return
	}
	r.asked = append(r.asked, asked-center(r.points[begin:]))
}

// solve returns x·β for the job asked about, where (Z Zᵀ + λ) β = Z y for the
// targets y and the rows Z of features, which have the deviation 1 over the jobs
// and the one asked about together. The rows are scaled in the products, of which
// there are fewer.
func (r *ridge) solve(lambda float64) (fitted float64, ok bool) {
	features, jobs := len(r.asked), len(r.places)
	rows := mat.NewDense(features, jobs, r.points)
	r.gram.Reset()
	r.gram.SymOuterK(1, rows)
	var moments, beta mat.VecDense
	moments.MulVec(rows, mat.NewVecDense(jobs, r.targets))
	r.scale = r.scale[:0]
	for f, x := range r.asked {
		all := float64(jobs + 1)
		// The asked job's part in the squares about the mean of all of them.
		squares := r.gram.At(f, f) + x*x*float64(jobs)/all
		r.scale = append(r.scale, 1/math.Sqrt(squares/all))
	}
	for f, scale := range r.scale {
		for g := range f + 1 {
			r.gram.SetSym(f, g, r.gram.At(f, g)*scale*r.scale[g])
		}
		r.gram.SetSym(f, f, r.gram.At(f, f)+lambda)
		moments.SetVec(f, moments.AtVec(f)*scale)
	}
	if !r.factor.Factorize(&r.gram) {
		return 0, false
	}
	if err := r.factor.SolveVecTo(&beta, &moments); err != nil {
		return 0, false
	}
	for f, scale := range r.scale {
		fitted += beta.AtVec(f) * scale * r.asked[f]
	}
	return fitted, true
}

// center takes the mean from values and returns it.
func center(values []float64) (mean float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for i := range values {
		values[i] -= mean
	}
	return mean
}
