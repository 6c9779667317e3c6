package peer

import (
	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The Prologue [IS 4.1] gathers what the choice of a machine needs: what the user wants of
// an application, in which shapes its components may run, and how long each is expected to
// run on which machine, by what the DataWarehouse knows of it.

// entry is one row of a round: a job in one of its shapes.
type entry struct {
	job   *job
	shape int // index in Component.Shapes; 0 for one that has none
}

// shapes are those that a moldable component may run in; none for a rigid one.
func (j *job) shapes() []protocol.Shape {
	if j.Component == nil {
		return nil
	}
	return j.Component.Shapes
}

// shaped is the job's spec in one of its shapes.
func (j *job) shaped(shape int) protocol.Spec {
	spec := j.Spec
	if shapes := j.shapes(); shape < len(shapes) {
		s := shapes[shape]
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
	}
	return spec
}

// estimate is the user's own word on the run time in a shape; 0: there is none.
func (j *job) estimate(shape int) protocol.Duration {
	if j.Component == nil {
		return 0
	}
	if shapes := j.shapes(); shape < len(shapes) {
		return shapes[shape].Estimate
	}
	return j.Component.Estimate
}

// together says whether the job starts together with others.
func (j *job) together() bool { return j.Component != nil && j.Component.Together > 0 }

// foresee states what is expected of the run on a machine: by the executions of the
// component and the Γ model, else by the user's estimate. Nothing is of a plain job, since others
// with its name may be quite another size.
func (p *Peer) foresee(e entry, spec *protocol.Spec, site protocol.SiteName, on *protocol.Capacity) {
	unforesee(spec)
	if !p.cfg.Policy.DecidesApplications() || e.job == nil || !e.job.isComponent() {
		return
	}
	known := p.knowledge(e.job)
	spec.Draws = known.Draws(site, spec.CPUs)
	if found, _, ok := known.Expect(site, on.Machine, spec.CPUs); ok {
		spec.Expected = max(1, found.Time)
		spec.Intensity, spec.Computing = found.Intensity, found.Computing
	} else if d := e.job.estimate(e.shape); d > 0 {
		spec.Expected = max(1, on.Rescale(d, spec.MHz, spec.Mflops))
	}
	if past := p.executions[e.job.componentKey()]; past != nil {
		past.correct(spec, on)
	}
}

// correct has what is expected of a run be at least what the censored runs of the component say,
// and, since it is learnt and not what the user says, no more than the time limit: later the run
// is ended.
func (e *executions) correct(spec *protocol.Spec, on *protocol.Capacity) {
	if expected := max(spec.Expected, e.atLeast(spec.CPUs, on)); expected > 0 {
		spec.Expected = max(1, min(expected, spec.On(on).WallTime))
	}
}

// unforesee takes that back.
func unforesee(spec *protocol.Spec) {
	spec.Expected, spec.Intensity, spec.Computing, spec.Draws = 0, 0, 0, 0
}

// isComponent says whether a job is one of an application, even if the only one.
func (j *job) isComponent() bool { return j.Component != nil || j.application != nil }

// knowledge is what is known of the component that a job is. The jobs of one component that
// state the same share it until it has run again.
func (p *Peer) knowledge(j *job) *gamma.Knowledge {
	var stated protocol.Behaviour
	if j.Component != nil {
		stated = j.Component.Behaviour
	}
	past := p.executions[j.componentKey()]
	if past == nil {
		known := gamma.Learn(stated, nil)
		return &known
	}
	return past.knowledge(stated)
}

func (j *job) componentName() string {
	if j.Component != nil && j.Component.Name != "" {
		return j.Component.Name
	}
	return j.Spec.Name
}
