package peer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A dependency is a hold at the origin of the job that waits. What becomes of a job of the same origin is written into the
// rows of those that wait for it in the step in which it starts or ends, so that a crash parts neither from the other, and
// a job for which none waits leaves nothing behind. Of a job that has ended before the one that depends on it was
// submitted, the archive knows: the submission waits for its answer, and is repeated by its user after a crash.

// deed is that a job has started or ended, of which those that wait for it have not heard.
type deed struct {
	job   protocol.JobID
	state protocol.State // terminal: it has ended; else it has started
	at    protocol.Instant

	started    protocol.Instant // of a job that has ended; 0: it never did
	user, name string

	array    protocol.JobID   // of which elements have ended; 0: of none
	elements protocol.Indexes // the elements
}

// noteStart has the jobs that wait for another one hear that it has started.
func (p *Peer) noteStart(j *tables.Job) {
	p.deeds = append(p.deeds, deed{job: j.Spec.Job, state: protocol.Running, at: j.Started})
}

// noteEnd has them hear that it has ended, and the first one of its name that it is the first.
func (p *Peer) noteEnd(j *row.Job, state protocol.State, at protocol.Instant) {
	d := deed{job: j.Spec.Job, state: state, at: at, started: j.Started, user: j.Spec.User, name: j.Spec.Name}
	if d.array = j.Element.Array; d.array != 0 {
		d.elements = protocol.IndexesOf(j.Element.Index)
	}
	p.deeds = append(p.deeds, d)
}

// noteElementsEnd has them hear that elements of an array have ended that were no jobs.
func (p *Peer) noteElementsEnd(a *tables.Array, which protocol.Indexes) {
	if p.rows.IsAwaited(a.ID()) || p.elementWatchers[a.ID()] != nil {
		p.deeds = append(p.deeds, deed{state: protocol.Cancelled, at: p.now, array: a.ID(), elements: which})
	}
	for index := range which.All() {
		if id := (protocol.Element{Array: a.ID(), Index: index}).ID(); p.rows.IsAwaited(id) || p.watchers[id] != nil {
			p.deeds = append(p.deeds, deed{job: id, state: protocol.Cancelled, at: p.now})
		}
	}
}

// settleDependents carries out what jobs that have started and ended in this step mean for those that wait for them. It
// reports whether there was anything to carry out.
func (p *Peer) settleDependents() (some bool) {
	for len(p.deeds) > 0 {
		d := p.deeds[0]
		p.deeds = p.deeds[1:]
		p.reportToWatchers(&d)
		some = p.settleDependentsOf(d.job, d.settle) || some
		if d.array != 0 && d.state.Terminal() {
			p.reportElements(&d)
			some = p.settleDependentsOf(d.array, func(t protocol.DependencyTerm) protocol.DependencyTerm {
				return t.CounterpartsEnded(d.elements, d.state)
			}) || some
		}
		if d.state.Terminal() {
			some = p.settleSingleton(p.rows.FirstNamed(d.user, d.name)) || some
		}
	}
	p.deeds = nil
	return some
}

// settle is what a term becomes by the deed.
func (d *deed) settle(t protocol.DependencyTerm) protocol.DependencyTerm {
	if d.state.Terminal() {
		return t.Ended(d.state, d.at)
	}
	return t.Started(d.at)
}

// settleDependentsOf changes the terms about a job in all that wait for it.
func (p *Peer) settleDependentsOf(job protocol.JobID, settle func(protocol.DependencyTerm) protocol.DependencyTerm) (some bool) {
	return p.settleTermsAbout(job, p.rows.Dependents(job), settle)
}

// settleTermsAbout changes the terms about a job in those that wait for it.
func (p *Peer) settleTermsAbout(job protocol.JobID, dependents []protocol.JobID, settle func(protocol.DependencyTerm) protocol.DependencyTerm) (some bool) {
	for _, id := range dependents {
		about := func(t protocol.DependencyTerm) protocol.DependencyTerm {
			if t.Job == job {
				return settle(t)
			}
			return t
		}
		some = p.settleTerms(id, about) || some
	}
	return some
}

// settleSingleton lets a job or an array start that is the oldest of its user and name, if it waits for that. The elements that
// are jobs start with their array, which stands in their place where names matter.
func (p *Peer) settleSingleton(id protocol.JobID) (some bool) {
	j := p.dependent(id)
	if j == nil {
		return false
	}
	named, first := id, j
	if j.Element.Array != 0 {
		named, first = j.Element.Array, p.dependent(j.Element.Array)
	}
	if p.rows.FirstNamed(first.Spec.User, first.Spec.Name) != named {
		return false
	}
	for _, one := range append(p.rows.Singletons(id), id) {
		some = p.settleTerms(one, func(t protocol.DependencyTerm) protocol.DependencyTerm {
			if t.Kind == protocol.Singleton && t.Open() {
				t.Met = max(1, p.now)
			}
			return t
		}) || some
	}
	return some
}

// dependent is the row of a job or an array; nil: there is none.
func (p *Peer) dependent(id protocol.JobID) *row.Job {
	if a := p.rows.Arrays[id]; a != nil {
		return &a.Job
	}
	return p.rows.JobRow(id)
}

// settleTerms changes the terms of a job or an array, durably, and goes on with it. It reports whether any is another one
// now.
func (p *Peer) settleTerms(id protocol.JobID, settle func(protocol.DependencyTerm) protocol.DependencyTerm) bool {
	j := p.dependent(id)
	before := j.Wants().Dependency
	if before == nil {
		return false
	}
	after := *before
	after.Terms = make([]protocol.DependencyTerm, len(before.Terms))
	for i, t := range before.Terms {
		after.Terms[i] = settle(t)
	}
	if slices.EqualFunc(after.Terms, before.Terms, protocol.DependencyTerm.Equal) {
		return false
	}
	p.rows.SetDependency(j, &after)
	if a := p.rows.Arrays[id]; a != nil {
		p.rows.SaveArray(a)
		p.setArrayTimer(a)
		return true
	}
	p.rows.SaveJob(id)
	p.setHoldTimer(p.rows.Jobs[id])
	if p.queue.IsHeld(id) {
		p.enqueue(p.rows.Jobs[id])
	}
	return true
}

// resumeDependency looks after a restart at jobs that are waited for: one that is gone without a word in the rows was lost
// with another store.
func (p *Peer) resumeDependency(id protocol.JobID) {
	p.settleTerms(id, func(t protocol.DependencyTerm) protocol.DependencyTerm {
		if t.Open() && t.Job.Origin() == p.cfg.Number && !p.rows.Stands(t.Job) {
			t.Never = unknownJob(t.Job)
		}
		return t
	})
	p.settleSingleton(id)
	p.askOutcomes(id)
}

func unknownJob(id protocol.JobID) string {
	return fmt.Sprintf("job %v, on which it depends, is not known here", id)
}

// ended is what is known of jobs that have ended: how, or that the archive does not have them.
type ended map[protocol.JobID]event.Ended

// resolve finds out what the jobs of a submission depend on, as far as that is known, and changes their conditions. It
// returns the jobs that only the archive can know.
func (p *Peer) resolve(ev *event.Submit, known ended) (missing []protocol.JobID, refusal view.Refusal, refused bool) {
	r := resolver{p: p, user: ev.User, ownOnly: ev.OwnOnly, known: known, asks: map[protocol.JobID]bool{}}
	for i := range ev.Jobs {
		r.array = ev.Jobs[i].Array
		if refusal, refused = r.resolveAll(&ev.Jobs[i].Conditions.Dependency); refused {
			return nil, refusal, true
		}
	}
	return r.missing, view.Refusal{}, false
}

// resolver finds out what the jobs of a submission, or a job that is changed, depend on.
type resolver struct {
	p       *Peer
	user    string // who wants to depend on them
	ownOnly bool   // as in [event.Submit]
	known   ended
	array   *protocol.Array         // the elements whose terms are resolved; nil: those of a job on its own are
	missing []protocol.JobID        // jobs that only the archive can know
	asks    map[protocol.JobID]bool // the same
}

// resolveAll replaces a dependency by what is known of its jobs, or says why nothing can depend on one of them. Nil is none.
func (r *resolver) resolveAll(d **protocol.Dependency) (refusal view.Refusal, refused bool) {
	if *d == nil {
		return view.Refusal{}, false
	}
	resolved := **d
	resolved.Terms = slices.Clone(resolved.Terms)
	for k := range resolved.Terms {
		t := &resolved.Terms[k]
		if why := r.resolve(t); why != "" {
			return view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("%s%s: %s", view.OfDependency, t.Kind, why)}, true
		}
	}
	*d = &resolved
	return view.Refusal{}, false
}

// resolve changes a term by what is known of its job. It returns why nothing can depend on that; empty: it can.
func (r *resolver) resolve(t *protocol.DependencyTerm) (why string) {
	p := r.p
	is, found := p.endOf(t.Job, r.known)
	switch {
	case t.Kind == protocol.Singleton:
	case t.Kind == protocol.AfterCorr:
		return r.correspond(t, is, found)
	case t.Job.Origin() != p.cfg.Number:
		return p.unreachableJob(t.Job)
	case r.hides(t.Job, is):
		return neverWas(t.Job)
	case p.rows.Stands(t.Job):
		if p.rows.Arrays[t.Job] != nil && t.Kind == protocol.After {
			return fmt.Sprintf("%v is an array; name the elements whose start is waited for, or use afterany", t.Job)
		}
		if j := p.rows.JobRow(t.Job); j != nil && j.Started != 0 {
			*t = t.Started(j.Started)
		}
	case found && is.State != 0:
		*t = settleEnded(*t, is)
	case found || !p.site.IssuedHere(t.Job):
		return neverWas(t.Job)
	default:
		r.lookUp(t.Job)
	}
	return ""
}

// lookUp has the archive asked about a job.
func (r *resolver) lookUp(id protocol.JobID) {
	if !r.asks[id] {
		r.asks[id] = true
		r.missing = append(r.missing, id)
	}
}

// hides says whether the user must not see a job, which is another one's. It is answered for as one that
// never was.
func (r *resolver) hides(id protocol.JobID, is event.Ended) bool {
	user := r.p.userOf(id, is)
	return r.ownOnly && user != "" && user != r.user
}

// userOf is whose a job of this site is; empty: that is not known without the archive.
func (p *Peer) userOf(id protocol.JobID, is event.Ended) string {
	if j := p.dependent(id); j != nil {
		return j.Spec.User
	}
	if a, _, ok := p.rows.ElementOf(id); ok {
		return a.Job.Spec.User
	}
	return is.User
}

func neverWas(id protocol.JobID) string {
	return unknownJob(id) + "; it never was, or its record has been deleted"
}

// endOf is how a job has ended, as far as it is known without the archive.
func (p *Peer) endOf(id protocol.JobID, known ended) (event.Ended, bool) {
	if a, index, ok := p.rows.ElementOf(id); ok && a.Cancelled.Has(index) { // it never was a job, which the archive would have
		return event.Ended{Job: id, State: protocol.Cancelled, Ended: p.now}, true
	}
	is, found := known[id]
	return is, found
}

// settleEnded is what a term becomes by a job that has ended.
func settleEnded(t protocol.DependencyTerm, e event.Ended) protocol.DependencyTerm {
	if e.Started != 0 {
		t = t.Started(e.Started)
	}
	return t.Ended(e.State, e.Ended)
}

// unreachableJob is why nothing can be found out about a job of another origin; empty: its origin is a partner.
func (p *Peer) unreachableJob(id protocol.JobID) string {
	if p.partners.HolderOf(id.Origin()) == nil {
		return fmt.Sprintf("job %v is of a site with the number %d, which is not a partner of this site", id, id.Origin())
	}
	return ""
}

// lookUp asks the archive what became of jobs that a submission, or a job that is changed, depends on.
type lookUp struct {
	asked   event.AskID
	goOn    func(p *Peer, known ended) // with what the archive says
	known   ended
	missing []protocol.JobID
}

func (c lookUp) answered(p *Peer, result event.Result, err error) {
	found, err := step.ResultAs[event.ArchiveResult](result, err)
	if err != nil {
		p.answer(c.asked, view.Refusal{Code: view.Unavailable, Reason: clip("the jobs on which it depends cannot be looked up: " + err.Error())})
		return
	}
	known := maps.Clone(c.known)
	if known == nil {
		known = ended{}
	}
	for _, id := range c.missing {
		known[id] = event.Ended{Job: id}
	}
	for _, e := range found.Ended {
		if e.State.Terminal() {
			known[e.Job] = e
		}
	}
	c.goOn(p, known)
}

// dependencyDetail is what is to be said of a job that never starts.
func dependencyDetail(j *row.Job, reason string) string {
	if reason != view.ReasonDependencyNever {
		return ""
	}
	return j.Wants().Dependency.NeverReason()
}

// diesOf says whether a job is to be cancelled since what it depends on never comes.
func (p *Peer) diesOf(j *row.Job) bool {
	d := j.Wants().Dependency
	return p.site.StopReason() == "" && d != nil && d.KillInvalid && d.NeverReason() != "" && j.Phase == row.JobInGridQueue
}

// dyingElements are the elements of an array that are no jobs yet and are to be cancelled for the same reason, once this site
// may end jobs.
func dyingElements(a *tables.Array) protocol.Indexes {
	if d := a.Job.Wants().Dependency; d == nil || !d.KillInvalid {
		return nil
	}
	return a.Doomed()
}
