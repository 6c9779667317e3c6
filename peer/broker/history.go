package broker

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Component names a component in the run history.
type Component struct{ User, Name string }

// ComponentOf names the component that a job is.
func ComponentOf(j *row.Job) Component { return Component{j.Spec.User, j.ComponentName()} }

func compareComponents(a, b Component) int {
	return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Name, b.Name))
}

// Key is the key of the row of a component's executions at a site.
func (c Component) Key(site protocol.SiteName) string {
	return c.User + "\x00" + c.Name + "\x00" + string(site)
}

// splitKey reads what [Component.Key] makes.
func splitKey(key string) (Component, protocol.SiteName) {
	user, rest, _ := strings.Cut(key, "\x00")
	last := strings.LastIndexByte(rest, 0)
	return Component{user, rest[:last]}, protocol.SiteName(rest[last+1:])
}

// History is how components ran: on which machine, how long, and what was measured of them
// [IS 4.3]. It is what [IS 4.1] calls the DataWarehouse. Its rows are written in the transaction that
// ends a job, so that every run is counted exactly once. The zero History is empty.
type History struct{ components map[Component]*executions }

// executions are those of one component, by site.
type executions struct {
	sites map[protocol.SiteName][]row.Execution
	known map[protocol.Behavior]*gamma.Knowledge // the fit to them, by what a job states
}

// of are the executions of a component, none at first.
func (h *History) of(c Component) *executions {
	e := h.components[c]
	if e == nil {
		if h.components == nil {
			h.components = map[Component]*executions{}
		}
		e = &executions{sites: map[protocol.SiteName][]row.Execution{}}
		h.components[c] = e
	}
	return e
}

// Restore takes a row in.
func (h *History) Restore(stored row.Executions) {
	h.of(Component{stored.User, stored.Component}).sites[stored.Site] = stored.Runs
}

// Row is the row of a key; nil when there is none.
func (h *History) Row(key string) row.Row {
	c, site := splitKey(key)
	e := h.components[c]
	if e == nil || len(e.sites[site]) == 0 {
		return nil
	}
	return row.Executions{User: c.User, Component: c.Name, Site: site, Runs: e.sites[site]}
}

// Learn keeps the execution of a component that has ended well, or at its time limit, on a machine.
// Others say nothing of how long it runs. It says whether the row of the component at its site has
// changed.
func (h *History) Learn(j *row.Job, on *protocol.Capacity, at protocol.Instant) bool {
	if j.Outcome == nil || j.Outcome.Ran <= 0 || on == nil || (j.State != protocol.Completed && j.State != protocol.Timeout) {
		return false
	}
	run := row.Execution{Censored: j.State == protocol.Timeout, Execution: believed(gamma.Execution{
		Site: j.Site, Machine: on.Machine, MHz: on.MHz, CPUs: j.Spec.CPUs,
		Ran: j.Outcome.Ran, Usage: j.Outcome.Usage, At: at,
	}, j.Spec.ScaledRequest(on).WallTime)}
	if j.Component != nil {
		run.Stated = j.Component.Behavior
	}
	if j.Prediction != nil {
		run.Predicted = j.Prediction.Run
	}
	e := h.of(ComponentOf(j))
	runs := withoutCensored(append(slices.Clone(e.sites[run.Site]), run)) // rows that were given out stay as they are
	e.sites[run.Site] = runs[max(0, len(runs)-gamma.Keep):]
	e.known = nil
	return true
}

// maxComponents bounds the components of the history. Without it every job with a name of its own
// would stay for ever.
const maxComponents = 10_000

// Prune forgets the components that have not run for the longest time, if there are too many, and
// lists the keys of their rows.
func (h *History) Prune() (keys []string) {
	tooMany := len(h.components) - maxComponents
	if tooMany <= 0 {
		return nil
	}
	last := make(map[Component]protocol.Instant, len(h.components))
	for c, e := range h.components {
		last[c] = e.last()
	}
	oldest := slices.SortedFunc(maps.Keys(last), func(a, b Component) int {
		return cmp.Or(cmp.Compare(last[a], last[b]), compareComponents(a, b))
	})
	for _, c := range oldest[:tooMany] {
		for _, site := range slices.Sorted(maps.Keys(h.components[c].sites)) {
			keys = append(keys, c.Key(site))
		}
		delete(h.components, c)
	}
	return keys
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

// View is the run history of the components of a user, or of all users if it is empty; of one
// component by its name, or of all. The fit to all runs of a component is included only if one is
// asked for by its name: it takes a millisecond, in which the peer does nothing else, and there may
// be thousands of components.
func (h *History) View(user, component string) view.RunHistory {
	out := view.RunHistory{Components: []view.ComponentHistory{}} // a list, also in JSON
	for _, c := range slices.SortedFunc(maps.Keys(h.components), compareComponents) {
		if user != "" && user != c.User || component != "" && component != c.Name {
			continue
		}
		e := h.components[c]
		known := e.view(c)
		if component != "" {
			known.Behavior = e.knowledge(protocol.Behavior{}).Behavior()
		}
		out.Components = append(out.Components, known)
	}
	return out
}

func (e *executions) view(c Component) view.ComponentHistory {
	out := view.ComponentHistory{User: c.User, Name: c.Name, Sites: []view.SiteHistory{}}
	for _, site := range slices.Sorted(maps.Keys(e.sites)) {
		at := view.SiteHistory{Site: site}
		for i := range e.sites[site] {
			at.Runs = append(at.Runs, pastRun(&e.sites[site][i]))
		}
		out.Sites = append(out.Sites, at)
	}
	return out
}

// pastRun is an execution with what the Γ model makes of it.
func pastRun(run *row.Execution) view.PastRun {
	if run.Censored {
		return view.PastRun{At: run.At, CPUs: run.CPUs, Ran: run.Ran, PredictedRunTime: run.Predicted, Usage: run.Usage, Censored: true}
	}
	seen := gamma.Measure(run.Stated, run.Execution)
	out := view.PastRun{
		At: run.At, CPUs: run.CPUs, Ran: run.Ran, PredictedRunTime: run.Predicted, Usage: run.Usage,
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
