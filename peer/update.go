package peer

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that has not started can be changed. In the grid queue it is at once, and has another round. In a local queue it runs by the
// offer or the submission with which it came there: so what its site must know of a change waits in its row, and the job is recalled;
// where it comes back to it is changed, and placed again. If it starts first it runs as it was.

// updated is what an update changes.
type updated struct {
	row   *row.Job // that stands for all of it
	runs  *protocol.Payload
	jobs  []*tables.Job    // those of them that are jobs
	array *tables.Array    // of elements that are no jobs yet; nil: there are none
	which protocol.Indexes // of these
	whole bool             // all elements of the array are changed
}

// elements are those of an array that are changed; nil: a job that is an element of none is.
func (u *updated) elements() *protocol.Array {
	switch {
	case u.whole:
		return &u.array.Asked
	case u.array != nil:
		return &protocol.Array{Indexes: u.which}
	case u.row != nil && u.row.Element.Array != 0:
		return &protocol.Array{Indexes: protocol.IndexesOf(u.row.Element.Index)}
	}
	return nil
}

// update changes a job, an array, or an element of one.
func (p *Peer) update(ev event.Update) { p.updateKnowing(ev, nil) }

// updateKnowing is update when the archive has been asked about jobs on which the changed one is to depend.
func (p *Peer) updateKnowing(ev event.Update, known ended) {
	asked := ev
	u, refusal, refused := p.toUpdate(&ev)
	if !refused {
		r := resolver{p: p, user: ev.User, ownOnly: ev.OwnOnly, known: known, asks: map[protocol.JobID]bool{}, array: u.elements()}
		if refusal, refused = r.resolveAll(&ev.Change.Dependency); !refused && len(r.missing) > 0 {
			p.call(event.ArchiveOp{Jobs: r.missing}, lookUp{ev.Asked, func(p *Peer, known ended) { p.updateKnowing(asked, known) }, known, r.missing})
			return
		}
	}
	if !refused {
		refusal, refused = p.refuseUpdate(&u, &ev)
	}
	if refused {
		p.answer(ev.Asked, refusal)
		return
	}
	p.answer(ev.Asked, view.Done{})
	p.carryOutUpdate(&u, &ev)
}

// toUpdate finds what an update changes, or says why that cannot be changed now.
func (p *Peer) toUpdate(ev *event.Update) (u updated, refusal view.Refusal, refused bool) {
	if why := p.site.StopReason(); why != "" {
		return u, view.Refusal{Code: view.Unavailable, Reason: why}, true
	}
	a, index, pending := p.rows.ElementOf(ev.Job)
	whole := p.rows.Arrays[ev.Job]
	switch {
	case whole != nil:
		u = updated{row: &whole.Job, runs: whole.Payload(), array: whole, which: whole.Pending, whole: true}
	case pending && a.Pending.Has(index):
		one := a.Element(index)
		u = updated{row: &one, runs: a.Payload(), array: a, which: protocol.IndexesOf(index)}
	default:
		j, denied := p.answers().MayChange(ev.Job, ev.User, ev.Admin, "update")
		if j == nil {
			return u, denied, true
		}
		refusal, refused = p.refuseUpdateOf(j)
		return updated{row: &j.Job, runs: j.Payload(), jobs: []*tables.Job{j}}, refusal, refused
	}
	if refusal, refused = p.answers().RefuseChange(u.row, ev.User, ev.Admin, "update"); refused || whole == nil {
		return u, refusal, refused
	}
	for _, j := range whole.JobsOf(whole.Asked.Indexes) {
		if _, refused := p.refuseUpdateOf(j); !refused { // what has started stays as it is
			u.jobs = append(u.jobs, j)
		}
	}
	if len(u.jobs) == 0 && u.which.IsZero() && ev.Change.Throttle == nil {
		return u, view.Refusal{Code: view.Conflict, Reason: fmt.Sprintf("all elements of array %v have started or ended", ev.Job)}, true
	}
	return u, view.Refusal{}, false
}

// refuseUpdateOf is why a job cannot be changed at all; false: it can be.
func (p *Peer) refuseUpdateOf(j *tables.Job) (view.Refusal, bool) {
	return p.refuseUnlessPending(j, "update", "updated")
}

// refuseUpdate says why a change must not be, or cannot be carried out.
func (p *Peer) refuseUpdate(u *updated, ev *event.Update) (view.Refusal, bool) {
	bad := func(format string, args ...any) (view.Refusal, bool) {
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(format, args...)}, true
	}
	c, next := &ev.Change, u.row.Changed(ev.Change.After(u.row.Change))
	switch {
	case c.Throttle != nil && !u.whole:
		return bad("job %v is no array, of which alone a throttle can be changed", ev.Job)
	case c.WallTime != nil && len(u.row.Shapes()) > 0:
		return bad("job %v may run in several shapes, each with its own time limit: cancel it and submit it again", ev.Job)
	case p.waitsFor(c.Dependency, u.row.Spec.Job):
		return bad("job %v would wait for itself", ev.Job)
	}
	if !ev.Admin {
		rows := []*row.Job{u.row}
		for _, j := range u.jobs {
			rows = append(rows, &j.Job)
		}
		for _, j := range rows {
			now := j.Changed(j.Change)
			if refusal, refused := admission.RefuseRaise(&now, c, p.rows.Fair.Priority(&now, p.now)); refused {
				return refusal, true
			}
		}
	}
	if refusal, refused := p.refuseAccount(u, &next); refused {
		return refusal, true
	}
	return p.admission().RefuseChanged(next, u.runs)
}

// refuseAccount says why the limits of the account that a job is to be charged to do not let it have the job.
func (p *Peer) refuseAccount(u *updated, next *row.Job) (view.Refusal, bool) {
	if strings.EqualFold(next.Spec.Account, u.row.Spec.Account) {
		return view.Refusal{}, false
	}
	count := max(1, len(u.jobs)+u.which.Len())
	jobs := []protocol.Job{{Spec: next.Spec, Array: &protocol.Array{Indexes: protocol.Indexes{{First: 0, Last: count - 1, Step: 1}}}}}
	return p.rows.Fair.RefuseSubmission(next.Spec.User, jobs, p.rows.JobsOf(next.Spec.User)-count)
}

// carryOutUpdate changes what an update is about.
func (p *Peer) carryOutUpdate(u *updated, ev *event.Update) {
	p.logEvent(event.LogEvent{Kind: event.LogJobUpdated, Job: ev.Job, Text: clip("by " + ev.User + ": " + ev.Change.String())})
	for _, j := range u.jobs {
		p.changeJob(j, changeOf(j, &ev.Change))
	}
	switch {
	case u.whole:
		p.changeArray(u.array, &ev.Change)
	case u.array != nil:
		for index := range u.which.All() {
			j := p.rows.Draw(u.array, index)
			p.changeRow(j, changeOf(j, &ev.Change))
			p.admitElements(j)
		}
	}
}

// changeOf is what a change of several elements is for one that is a job.
func changeOf(j *tables.Job, c *protocol.Change) *protocol.Change {
	if !c.Dependency.Corresponds() {
		return c
	}
	one := *c
	one.Dependency = c.Dependency.OfElement(j.Element)
	return &one
}

// changeJob changes a job, of one in a local queue what its site must know once it is back. What it depends on changes at once,
// because those jobs may start and end before it is back.
func (p *Peer) changeJob(j *tables.Job, c *protocol.Change) {
	if j.Phase == row.JobInGridQueue {
		p.applyChange(j, c)
		return
	}
	here, there := c.Parts()
	if ordered := j.Phase == row.JobCommittedLocal && p.rows.Fair.Prioritizes(); ordered { // its place in the local queue is this peer's to say
		here.Nice, there.Nice = there.Nice, nil
	}
	p.applyChange(j, &here)
	waits := c.Dependency != nil && !c.Dependency.MetAt(p.now)
	if !there.None() {
		j.Change = there.After(j.Change)
		p.rows.SaveJob(j.Spec.Job)
	} else if !waits {
		return
	}
	p.recallJob(j, "its user changes it")
}

// applyChange changes a job. In the grid queue it has another round by what is known of it now.
func (p *Peer) applyChange(j *tables.Job, c *protocol.Change) {
	p.changeRow(j, c)
	switch {
	case p.inQueue(j):
		j.NoEligibleSite = p.admission().Unknown(&j.Job)
		p.queue.Remove(j.Spec.Job)
		p.enqueue(j)
		if p.mayPlace(j) && p.staysLocal(j) {
			p.commitLocalJobs([]protocol.JobID{j.Spec.Job}, staysLocalReason)
		}
	case j.Phase == row.JobCommittedLocal && p.rows.Fair.Prioritizes():
		p.setPriorities([]protocol.Tag{j.Tag()})
	}
}

// changeRow changes a job, durably. What was found out about sites that do not take it holds no more.
func (p *Peer) changeRow(j *tables.Job, c *protocol.Change) {
	name := j.Spec.Name
	p.rows.ChangeJob(j, c)
	if j.Phase == row.JobInGridQueue {
		j.Change, j.Excluded, j.NotHere = nil, rounds.Exclusions{}, ""
		j.Spec.PowerClass = protocol.PowerClassOf(p.cfg.Site, j.Spec.User, j.Spec.Name)
	}
	p.setHoldTimer(j)
	p.settleChanged(&j.Job, name)
}

// changeArray changes what the pending elements of an array have alike.
func (p *Peer) changeArray(a *tables.Array, c *protocol.Change) {
	name := a.Job.Spec.Name
	p.rows.ChangeArray(a, c)
	a.Job.Spec.PowerClass = protocol.PowerClassOf(p.cfg.Site, a.Job.Spec.User, a.Job.Spec.Name)
	p.setArrayTimer(a)
	p.settleChanged(&a.Job, name)
}

// settleChanged goes on with those that wait for a job or an array that had a name, and with what that waits for.
func (p *Peer) settleChanged(j *row.Job, name string) {
	if j.Spec.Name != name {
		p.settleSingleton(p.rows.FirstNamed(j.Spec.User, name))
	}
	p.settleSingleton(j.Spec.Job)
	p.askOutcomes(j.Spec.Job)
}

// waitsFor says whether a dependency waits for a job or an array, directly or by way of other jobs of this site.
func (p *Peer) waitsFor(d *protocol.Dependency, id protocol.JobID) bool {
	seen, open := map[protocol.JobID]bool{}, []*protocol.Dependency{d}
	array, with := p.arrayOf(id), map[protocol.JobID]bool{id: true}
	for _, j := range p.startWith(id) {
		with[j.Spec.Job] = true
	}
	for len(open) > 0 {
		d, open = open[len(open)-1], open[:len(open)-1]
		if d == nil {
			continue
		}
		for _, t := range d.Terms {
			if t.Job == 0 || !t.Open() || seen[t.Job] {
				continue
			}
			if with[t.Job] || p.arrayOf(t.Job) == id || array != 0 && t.Job == array {
				return true
			}
			seen[t.Job] = true
			for _, j := range p.startWith(t.Job) {
				open = append(open, j.Wants().Dependency)
			}
		}
	}
	return false
}

// startWith are the rows whose conditions keep a job or an array from ending: its own, those of the elements that are jobs, those of
// the others that start together with it, and that of the array of an element that is no job yet.
func (p *Peer) startWith(id protocol.JobID) (rows []*row.Job) {
	if a := p.rows.Arrays[id]; a != nil {
		rows = append(rows, &a.Job)
		for _, j := range a.JobsOf(a.Asked.Indexes) {
			rows = append(rows, &j.Job)
		}
		return rows
	}
	if j := p.rows.Jobs[id]; j != nil && j.Together() {
		_, group := p.rows.Group(j)
		return group.Members
	} else if j != nil {
		return []*row.Job{&j.Job}
	}
	if a := p.rows.Arrays[p.arrayOf(id)]; a != nil {
		return []*row.Job{&a.Job}
	}
	return nil
}

// arrayOf is the array that a job is an element of, or was to be; 0: it is of none.
func (p *Peer) arrayOf(id protocol.JobID) protocol.JobID {
	if a, _, ok := p.rows.ElementOf(id); ok {
		return a.ID()
	}
	return 0
}
