package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Application is one that a user submits beside the workload [IS 1]. Peers whose policy
// does not know applications get its components as plain jobs, in the first of their shapes.
type Application struct {
	At         protocol.Instant // since the workload's beginning
	Origin     int              // index of Config.Sites
	User       string
	Objectives protocol.Application
	Components []Component
}

// Component is what the user says of a part of an application, and what it really does.
type Component struct {
	Spec     protocol.Spec // in the first of its shapes
	Stated   protocol.Component
	True     protocol.Behavior
	Noise    int // bound of the error of the run time and of each number that is measured, in parts per million of them; drawn from the seed
	Overlap  int // share of the shorter of computing and communicating that is hidden behind the longer, in parts per million
	Measured Measured
}

// Measured is what sites measure of a run, besides how long it takes.
type Measured struct {
	CPU, Energy, Operations, Accesses, Traffic bool
}

// parts are the components of all applications, as jobs after those of the workload.
type parts struct {
	first  int // index of the first among the jobs
	places []part
}

// part is a component and what became of it.
type part struct {
	application, component int

	run     *componentRun // nil: it has not started
	cpus    int
	view    view.Job // in the archive, else as it waits at the end; zero: neither
	refused string
}

func newParts(cfg Config, first int) parts {
	all := parts{first: first}
	for a := range cfg.Applications {
		for c := range cfg.Applications[a].Components {
			all.places = append(all.places, part{application: a, component: c})
		}
	}
	return all
}

// at is the component of a job; nil: it is one of the workload.
func (p *parts) at(index int32) *part {
	if i := int(index) - p.first; i >= 0 {
		return &p.places[i]
	}
	return nil
}

func (p *parts) refuse(index int32, reason string) {
	if one := p.at(index); one != nil {
		one.refused = reason
	}
}

// seen notes what people see of a component.
func (p *parts) seen(index int32, view view.Job) {
	if one := p.at(index); one != nil {
		one.view = view
	}
}

// begins notes where a component runs, on how many CPUs.
func (p *parts) begins(w *workload.Job, job *batchJob) {
	one := p.at(job.Detail.index)
	one.run, one.cpus = job.Detail.run, job.Detail.run.spec.CPUs
	w.CPUs = one.cpus
}

// withComponents are the jobs with those that the components are. What does not change
// stays where it is.
func (c Config) withComponents(jobs []workload.Job) []workload.Job {
	if len(c.Applications) == 0 {
		return jobs
	}
	all := append([]workload.Job(nil), jobs...)
	for i := range c.Applications {
		a := &c.Applications[i]
		for k := range a.Components {
			spec := &a.Components[k].Spec
			all = append(all, workload.Job{Origin: a.Origin, Submit: a.At, CPUs: spec.CPUs, Run: 1, Estimate: spec.WallTime})
		}
	}
	return all
}

// staged says whether data travel with any job.
func (c Config) staged() bool {
	withData := func(one *protocol.Spec) bool { return one != nil && one.Data > 0 }
	if c.Stage.some() || c.Stage.Links != nil && slices.ContainsFunc(c.Requests, withData) {
		return true
	}
	for i := range c.Applications {
		for k := range c.Applications[i].Components {
			if c.Applications[i].Components[k].Spec.Data > 0 {
				return true
			}
		}
	}
	return false
}

// charges tells the site's peer what it charges, and whether its batch system holds room.
func (s *site) charges(from *Site) {
	s.cfg.Reserves = s.batch.CanReserve()
	s.cfg.Tariff = from.Tariff
	if from.Costs != nil {
		s.cfg.Costs, s.cfg.Power = from.Costs, from.Electricity.Milliwatts
		s.cfg.Associations.Priced = from.QOS
	}
}

// setMoney gives the site's peer its weights of money. The portal uses those of the first site.
func (s *site) setMoney(from *Site) {
	s.cfg.Currency, s.cfg.Exchange = from.Currency, s.grid.cfg.Exchange
	s.cfg.WaitingCosts, s.cfg.DefaultWeights = from.WaitingCosts, from.DefaultWeights
}

// component is the component that a job is; nil: it is one of the workload.
func (g *grid) component(index int32) *Component {
	one := g.parts.at(index)
	if one == nil {
		return nil
	}
	return &g.cfg.Applications[one.application].Components[one.component]
}

// indices are the jobs of a submission.
func (g *grid) indices(one submission) []int32 {
	if one.application == 0 {
		return []int32{one.job}
	}
	first := int32(g.parts.first) //nolint:gosec // a workload has fewer jobs
	for i := range g.cfg.Applications[:one.application-1] {
		first += int32(len(g.cfg.Applications[i].Components)) //nolint:gosec // as above
	}
	indices := make([]int32, len(g.cfg.Applications[one.application-1].Components))
	for k := range indices {
		indices[k] = first + int32(k)
	}
	return indices
}

func (g *grid) expectApplication() {
	if g.asking < len(g.cfg.Applications) {
		g.heap.push(g.zero.Add(protocol.Duration(g.cfg.Applications[g.asking].At)), applies, 0, 0)
	}
}

// apply submits the next application.
func (g *grid) apply() {
	s := g.sites[g.cfg.Applications[g.asking].Origin]
	if g.cfg.Scheme == Central {
		s = g.sites[len(g.sites)-1]
	}
	g.asking++
	g.submitOrWait(s, submission{application: int32(g.asking)}) //nolint:gosec // there are fewer
	g.expectApplication()
}

// asked is the submission of an application.
func (g *grid) asked(index int) event.Submit {
	a := &g.cfg.Applications[index]
	ev := event.Submit{User: a.User, Jobs: make([]protocol.Job, len(a.Components))}
	whole := g.cfg.Tuning.Policy.DecidesApplications()
	if whole {
		ev.Application = &a.Objectives
	}
	for k := range a.Components {
		c := &a.Components[k]
		ev.Jobs[k] = protocol.Job{Spec: c.Spec, Payload: &g.payload}
		if whole {
			ev.Jobs[k].Component = c.Stated
		}
	}
	return ev
}

// called is how a job is called in errors.
func (g *grid) called(index int32) string {
	if one := g.parts.at(index); one != nil {
		return fmt.Sprintf("component %d of application %d", one.component+1, one.application+1)
	}
	return fmt.Sprintf("job %d of the workload", index)
}

// endsAs says whether a job that runs may be archived so.
func (g *grid) endsAs(index int32, state protocol.State) bool {
	if one := g.parts.at(index); one != nil && one.run != nil {
		return state == one.run.state
	}
	return state == protocol.Completed
}

// checkApplications says what is wrong with the applications.
func (c Config) checkApplications() (problems []error) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.Applications) == 0 {
		return nil
	}
	if c.Scheme == Ideal {
		problem("the scheme %s has no applications, whose components run by the machine; use another one", Ideal)
	}
	for i := range c.Sites {
		if !c.Sites[i].Gamma.Stated() {
			problem("site %s states no machine of the Γ model, by which components run", c.Sites[i].Name)
		}
	}
	last := protocol.Instant(0)
	for i := range c.Applications {
		a := &c.Applications[i]
		switch {
		case a.At < last:
			problem("application %d is submitted before its predecessor; sort them", i+1)
		case a.Origin < 0 || a.Origin >= len(c.Sites):
			problem("application %d comes from site %d of %d", i+1, a.Origin, len(c.Sites))
		case len(a.Components) == 0:
			problem("application %d has no component", i+1)
		}
		last = a.At
		for k := range a.Components {
			if err := a.Components[k].check(); err != nil {
				problem("component %d of application %d: %w", k+1, i+1, err)
			}
		}
	}
	return problems
}

func (c *Component) check() error {
	switch {
	case c.Spec.CPUs < 1 || c.Spec.WallTime < 1:
		return fmt.Errorf("%d CPUs for %v; give positive numbers", c.Spec.CPUs, c.Spec.WallTime)
	case !c.True.Stated():
		return errors.New("what it does is not stated")
	case c.Noise < 0 || c.Noise >= protocol.PPM:
		return fmt.Errorf("a noise of %d parts per million; use 0 to below %d", c.Noise, protocol.PPM)
	case c.Overlap < 0 || c.Overlap > protocol.PPM:
		return fmt.Errorf("an overlap of %d parts per million; use 0 to %d", c.Overlap, protocol.PPM)
	}
	return nil
}
