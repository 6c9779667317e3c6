package broker

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Predict states in a spec what is expected of the run of a component, in one of its shapes, on the
// machine of a site: by its past executions and the Γ model [IS 4.1], else by its user's estimate.
func (h *History) Predict(j *row.Job, shape int, spec *protocol.Spec, site protocol.SiteName, on *protocol.Capacity) {
	known := h.knowledge(j)
	spec.MeasuredPower = known.Draws(site, spec.CPUs)
	if found, _, ok := known.Expect(site, on.Machine, spec.CPUs); ok {
		spec.PredictedRunTime = max(1, found.Time)
		spec.Intensity, spec.Computing = found.Intensity, found.Computing
	} else if d := j.Estimate(shape); d > 0 {
		spec.PredictedRunTime = max(1, on.Rescale(d, spec.MHz, spec.Mflops))
	}
	if past := h.components[ComponentOf(j)]; past != nil {
		past.correct(spec, on)
	}
}

// correct raises what is expected of a run to the lower bound of the component's censored runs,
// and, since that is a prediction and not the user's estimate, at most to the time limit, at which
// the run is ended.
func (e *executions) correct(spec *protocol.Spec, on *protocol.Capacity) {
	if expected := max(spec.PredictedRunTime, e.atLeast(spec.CPUs, on)); expected > 0 {
		spec.PredictedRunTime = max(1, min(expected, spec.ScaledRequest(on).WallTime))
	}
}

// knowledge is what is known of the component that a job is.
func (h *History) knowledge(j *row.Job) *gamma.Knowledge {
	var stated protocol.Behavior
	if j.Component != nil {
		stated = j.Component.Behavior
	}
	past := h.components[ComponentOf(j)]
	if past == nil {
		known := gamma.Learn(stated, nil)
		return &known
	}
	return past.knowledge(stated)
}

// maxKnown bounds the statements that knowledge is kept for.
const maxKnown = 64

// knowledge is what the executions teach about a run with a stated behavior. The jobs of one
// component that state the same share it until it has run again.
func (e *executions) knowledge(stated protocol.Behavior) *gamma.Knowledge {
	if known := e.known[stated]; known != nil {
		return known
	}
	if e.known == nil || len(e.known) >= maxKnown {
		e.known = map[protocol.Behavior]*gamma.Knowledge{}
	}
	known := gamma.Learn(stated, e.all())
	e.known[stated] = &known
	return &known
}

// all are the executions at all sites, by site, without the censored ones.
func (e *executions) all() (out []gamma.Execution) {
	for _, site := range slices.Sorted(maps.Keys(e.sites)) {
		for i := range e.sites[site] {
			if !e.sites[site][i].Censored {
				out = append(out, e.sites[site][i].Execution)
			}
		}
	}
	return out
}
