package batchscript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Part is a component of an application that a file of its own describes.
type Part struct {
	Name     string
	Place    problems.Place // where it is described
	Script   Script
	Unread   bool      // the script could not be read, which is said
	Together bool      // it is to start together with others
	Settings []Setting // what the file and the command line say of it, the weakest first
}

// Join makes an application of components that a file describes. What the file says beats
// the directives of their scripts. The results are those of [Read].
func Join(name string, parts []Part, from Origin) (batch Batch, notices []string, err error) {
	var r report
	options := newCatalog()
	p := plan{name: name}
	for _, part := range parts {
		d := draft{
			component: part.Name, place: part.Place, script: part.Script, unread: part.Unread || !checkScript(part.Script, &r), together: part.Together,
			options: jobOptions{spots: map[string]spot{}, now: from.Now, whole: "in [application] of the application's file"},
		}
		if !d.unread {
			sections := collect(part.Script, &r)
			options.followAll(sections[0], from.Env, &d.options, &r)
			for _, s := range sections[1:] {
				r.wrong(s.place, "the application's file names the components; leave them out here, or submit this script without that file")
			}
		}
		d.options.whole, d.options.spec.Name = "", part.Name
		options.override(part.Settings, &d.options, &r)
		p.drafts = append(p.drafts, d)
	}
	batch = p.batch(from, &r)
	return batch.unless(r)
}

// draft is a job before the conclusions are drawn.
type draft struct {
	component string         // its name; empty: the job is none
	place     problems.Place // where the component is described
	script    Script
	unread    bool // what the script says is not known
	together  bool // it is to start together with others
	options   jobOptions
}

// plan is a batch before the conclusions are drawn.
type plan struct {
	name   string // of the application; empty: there is none
	drafts []draft
}

// plan makes a draft of each of a script's components. The name that is said for all is
// the application's.
func (c catalog) plan(all draft, sections []section, settings []Setting, r *report) plan {
	naming := func(s Setting) bool { return s.Long == "job-name" }
	c.override(slices.DeleteFunc(slices.Clone(settings), func(s Setting) bool { return !naming(s) }), &all.options, r)
	settings = slices.DeleteFunc(slices.Clone(settings), naming)
	p := plan{name: cmp.Or(all.options.spec.Name, defaultName(all.script))}
	for i := range sections {
		s := &sections[i]
		d := draft{component: s.name, place: s.place, script: all.script, options: all.options.clone()}
		d.options.spec.Name, d.options.scope = s.name, ofComponent
		d.options.whole = "before the first component"
		c.follow(s.directives(), &d.options, r)
		d.options.whole = ""
		c.override(settings, &d.options, r)
		p.drafts = append(p.drafts, d)
	}
	return p
}

// batch draws the conclusions.
func (p plan) batch(from Origin, r *report) Batch {
	b := Batch{Name: p.name}
	p.distinct(r)
	p.checkStarts(r)
	parent := traceparent(from.Env, r)
	weighed := slices.ContainsFunc(p.drafts, func(d draft) bool { _, ok := d.options.weighing.weights(); return ok })
	for i := range p.drafts {
		d := &p.drafts[i]
		d.options.judge(r)
		if d.unread {
			continue // it may say what the conclusions would be drawn from
		}
		job := d.options.job(d.script, from, r)
		job.Spec.Traceparent = parent
		if d.component != "" {
			job.Component.Name = d.component
			job.Payload.Env = withComponent(job.Payload.Env, d.component)
		}
		if weighed {
			d.weigh(&job.Component, r)
		}
		d.checkTime(&job, r)
		b.Jobs = append(b.Jobs, job)
	}
	first := &p.drafts[0].options
	if p.name != "" || weighed || first.maxCost != nil || first.maxTime > 0 || first.waiting != "" {
		b.Application = first.application(p.name, weighed)
	}
	return b
}

// distinct checks that no two components have one name.
func (p plan) distinct(r *report) {
	seen := map[string]problems.Place{}
	for _, d := range p.drafts {
		if other, twice := seen[d.component]; twice && d.component != "" {
			r.wrong(d.place, "the component %s is at %s already; give each a name of its own", d.component, other)
			continue
		}
		seen[d.component] = d.place
	}
}

// checkStarts reports options about a common start where no components start together.
func (p plan) checkStarts(r *report) {
	if slices.ContainsFunc(p.drafts, func(d draft) bool { return d.together }) {
		return
	}
	for i := range p.drafts {
		w := &p.drafts[i].options
		for _, long := range []string{"start-tolerance", "start-missed"} {
			if _, said := w.spots[long]; said && !w.wrong(long) {
				w.fault(r, p.drafts[i].script, long,
					"means nothing where no components start together; leave it out, or name those that do with together in an application's file")
			}
		}
	}
}

// weigh sets the weights of the component. Where weights are named for other components
// only, those of this one are 1.
func (d *draft) weigh(c *protocol.Component, r *report) {
	w, _ := d.options.weighing.weights()
	if w == (cost.Weights{}) {
		d.options.fault(r, d.script, d.options.weighing.lastWeight(),
			"all weights are 0; set one of them above 0")
	}
	c.Alpha, c.Gamma, c.Delta = w.Alpha, w.Gamma, w.Delta
}

// checkTime looks for a component that by its own estimates cannot end in time.
func (d *draft) checkTime(job *Job, r *report) {
	most := d.options.maxTime
	if most == 0 || job.Component.Estimate == 0 {
		return
	}
	shortest := job.Component.Estimate
	for _, s := range job.Component.Shapes {
		shortest = min(shortest, s.Estimate)
	}
	if shortest > most {
		d.options.fault(r, d.script, "max-time", "%s is less than the shortest estimate of the run time of %s, %s",
			most.Text(), cmp.Or(d.component, job.Spec.Name), shortest.Text())
	}
}

// application is what is wanted of the jobs together. Weights that are all 0 stand for the
// site's.
func (w *jobOptions) application(name string, weighed bool) *protocol.Application {
	a := &protocol.Application{Name: name, MaxCost: protocol.Unlimited, MaxTime: protocol.Never, Waiting: w.waiting}
	if weighed {
		weights, _ := w.weighing.weights()
		a.Beta = weights.Beta
	}
	if w.maxCost != nil {
		a.MaxCost, a.Currency = w.maxCost.Amount, w.maxCost.Currency
	}
	if w.maxTime > 0 {
		a.MaxTime = w.maxTime
	}
	a.StartTolerance, a.StartMissed = w.startTolerance, w.startMissed
	return a
}

// componentVariable tells a component's script which one it is.
const componentVariable = "SWITCHYARD_COMPONENT"

// withComponent is an environment with the component's name, sorted.
func withComponent(env []string, name string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, componentVariable+"=") })
	env = append(env, componentVariable+"="+name)
	slices.SortFunc(env, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, "=")
		nameB, _, _ := strings.Cut(b, "=")
		return strings.Compare(nameA, nameB)
	})
	return env
}
