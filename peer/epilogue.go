package peer

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The Epilogue [IS 4.3] keeps how a component ran: on which machine, how long, and what was
// measured of it. These rows are the DataWarehouse. They are written in the transaction that
// ends the job, so that every run is learnt from exactly once, and simulated peers learn as
// live ones do.

// componentKey names a component in the DataWarehouse.
type componentKey struct{ user, name string }

// compareComponents orders components by user and name.
func compareComponents(a, b componentKey) int {
	return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.name, b.name))
}

func (j *job) componentKey() componentKey {
	return componentKey{j.Spec.User, j.componentName()}
}

// executions are those of one component, by site.
type executions struct {
	sites map[protocol.SiteName][]Execution
	known map[protocol.Behaviour]*gamma.Knowledge // what was learnt from them, by what a job states
}

// mostKnown bounds the statements that knowledge is kept for.
const mostKnown = 64

// knowledge is what the executions teach about a run with a stated behaviour.
func (e *executions) knowledge(stated protocol.Behaviour) *gamma.Knowledge {
	if known := e.known[stated]; known != nil {
		return known
	}
	if e.known == nil || len(e.known) >= mostKnown {
		e.known = map[protocol.Behaviour]*gamma.Knowledge{}
	}
	known := gamma.Learn(stated, e.all())
	e.known[stated] = &known
	return &known
}

// all are the executions at all sites, by site.
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

// epilogue keeps the execution of a component that has ended well, or at its time limit. Others say
// nothing of how long the component runs.
func (p *Peer) epilogue(j *job) {
	if !p.cfg.Policy.DecidesApplications() || !j.isComponent() || j.Outcome == nil || j.Outcome.Ran <= 0 ||
		(j.State != protocol.Completed && j.State != protocol.Timeout) {
		return
	}
	capacity := p.capacityOf(j.Site)
	if capacity == nil {
		return
	}
	run := Execution{Censored: j.State == protocol.Timeout, Execution: believed(gamma.Execution{
		Site: j.Site, Machine: capacity.Machine, MHz: capacity.MHz, CPUs: j.Spec.CPUs,
		Ran: j.Outcome.Ran, Usage: j.Outcome.Usage, At: p.now,
	}, j.Spec.On(capacity).WallTime)}
	if j.Component != nil {
		run.Stated = j.Component.Behaviour
	}
	if j.Foreseen != nil {
		run.Foreseen = j.Foreseen.Run
	}
	p.keepExecution(j.componentKey(), run)
}

// executionsOf are those of a component, none at first.
func (p *Peer) executionsOf(key componentKey) *executions {
	e := p.executions[key]
	if e == nil {
		e = &executions{sites: map[protocol.SiteName][]Execution{}}
		p.executions[key] = e
	}
	return e
}

func (p *Peer) keepExecution(key componentKey, run Execution) {
	e := p.executionsOf(key)
	runs := withoutCensored(append(slices.Clone(e.sites[run.Site]), run)) // rows that were given out stay as they are
	e.sites[run.Site] = runs[max(0, len(runs)-gamma.Keep):]
	e.known = nil
	p.saveExecutions(key, run.Site)
}

// mostComponents bounds the components of the DataWarehouse. Without it every job with a
// name of its own would stay for ever.
const mostComponents = 10_000

// pruneExecutions forgets the components that have not run for the longest time, if there
// are too many.
func (p *Peer) pruneExecutions() {
	tooMany := len(p.executions) - mostComponents
	if tooMany <= 0 {
		return
	}
	last := make(map[componentKey]protocol.Instant, len(p.executions))
	for key, e := range p.executions {
		last[key] = e.last()
	}
	keys := slices.SortedFunc(maps.Keys(last), func(a, b componentKey) int {
		return cmp.Or(cmp.Compare(last[a], last[b]), compareComponents(a, b))
	})
	for _, key := range keys[:tooMany] {
		sites := slices.Sorted(maps.Keys(p.executions[key].sites))
		delete(p.executions, key)
		for _, site := range sites {
			p.saveExecutions(key, site)
		}
	}
}

// last is when the component ended last.
func (e *executions) last() (at protocol.Instant) {
	for _, runs := range e.sites {
		for i := range runs {
			at = max(at, runs[i].At)
		}
	}
	return at
}

// executionKey is the key of a row: user, component and site.
func executionKey(key componentKey, site protocol.SiteName) string {
	return key.user + "\x00" + key.name + "\x00" + string(site)
}

// executionRow is the row of a key; nil when there is none.
func (p *Peer) executionRow(key string) Row {
	user, rest, _ := strings.Cut(key, "\x00")
	last := strings.LastIndexByte(rest, 0)
	name, site := rest[:last], protocol.SiteName(rest[last+1:])
	e := p.executions[componentKey{user, name}]
	if e == nil || len(e.sites[site]) == 0 {
		return nil
	}
	return ExecutionRow{User: user, Component: name, Site: site, Runs: e.sites[site]}
}

func (p *Peer) restoreExecutions(row ExecutionRow) {
	p.executionsOf(componentKey{row.User, row.Component}).sites[row.Site] = row.Runs
}

// warehouseView tells what has been learnt. What all runs of a component say together is only
// told of one that is asked for by its name: to fit it takes a millisecond, in which the peer
// does nothing else, and there may be thousands.
func (p *Peer) warehouseView(ev AskWarehouse) Warehouse {
	keys := slices.SortedFunc(maps.Keys(p.executions), compareComponents)
	var out Warehouse
	for _, key := range keys {
		if ev.User != "" && ev.User != key.user || ev.Component != "" && ev.Component != key.name {
			continue
		}
		known := p.knownComponent(key)
		if ev.Component != "" {
			known.Behaviour = p.executions[key].knowledge(protocol.Behaviour{}).Behaviour()
		}
		out.Components = append(out.Components, known)
	}
	return out
}

func (p *Peer) knownComponent(key componentKey) KnownComponent {
	past := p.executions[key]
	out := KnownComponent{User: key.user, Name: key.name}
	for _, site := range slices.Sorted(maps.Keys(past.sites)) {
		at := KnownSite{Site: site}
		for i := range past.sites[site] {
			at.Runs = append(at.Runs, knownRun(&past.sites[site][i]))
		}
		out.Sites = append(out.Sites, at)
	}
	return out
}

// knownRun is an execution with what the Γ model makes of it.
func knownRun(run *Execution) KnownRun {
	if run.Censored {
		return KnownRun{At: run.At, CPUs: run.CPUs, Ran: run.Ran, Foreseen: run.Foreseen, Usage: run.Usage, Censored: true}
	}
	seen := gamma.Measure(run.Stated, run.Execution)
	out := KnownRun{
		At: run.At, CPUs: run.CPUs, Ran: run.Ran, Foreseen: run.Foreseen, Usage: run.Usage,
		Rate: wholeNumber(seen.Ra), Bandwidth: wholeNumber(seen.B),
	}
	if !math.IsInf(seen.Gamma, 0) && !math.IsNaN(seen.Gamma) {
		out.Gamma = seen.Gamma
	}
	return out
}

// wholeNumber is a rate without its fraction; 0 for one that is not known.
func wholeNumber(rate float64) int64 {
	if !(rate > 0) || rate >= math.MaxInt64 {
		return 0
	}
	return int64(rate)
}

// capacityOf is what a site's machine offers; nil: no card of it is known.
func (p *Peer) capacityOf(site protocol.SiteName) *protocol.Capacity {
	if site == p.cfg.Site {
		return &p.cfg.Capacity
	}
	if one := p.byName[site]; one != nil && one.card != nil {
		return &one.card.Capacity
	}
	return nil
}
