package peer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// An array with aftercorr may name one of another origin. It is asked about as other jobs are (see outcomes.go), with one message for
// many elements (ElementsQuery): those of which it is not known yet how they have ended. The origin answers for those that have ended,
// after it has looked them up in its archive, and says of the others when they end (ElementsOutcome). What it says is kept in the row of
// the array that waits, or of an element of it that has become a job before it was known.

const (
	// maxElementLookups is how many elements are looked up in the archive at once. Further ones of a query follow.
	maxElementLookups = 10_000
	// elementsPerToken is how many elements a partner may ask about for one token of those for queries.
	elementsPerToken = 1000
)

// askElements asks the origin of an array about the elements for which a row waits by a term.
func (p *Peer) askElements(to protocol.SiteName, j *row.Job, t protocol.DependencyTerm) {
	open := protocol.IndexesOf(j.Element.Index)
	if a := p.rows.Arrays[j.Spec.Job]; a != nil {
		open = a.Asked.Indexes.Without(t.MetFor).Without(t.NeverFor)
	}
	for runs := range slices.Chunk(open, protocol.MaxElementRuns) {
		p.send(to, protocol.ElementsQuery{Array: t.Job, User: j.Spec.User, Elements: runs})
	}
}

// handleElementsOutcome takes the word of the origin of an array for whose elements others wait here.
func (p *Peer) handleElementsOutcome(one *partner.Partner, m protocol.ElementsOutcome) {
	if p.partners.HolderOf(m.Array.Origin()) != one {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Job: m.Array, Text: "says what has become of elements of an array that was not submitted there"})
		return
	}
	never := ""
	switch {
	case m.Unknown:
		never = noRecord(one.Site, m.Array, m.User)
	case m.NoArray:
		never = noArray(m.Array)
	}
	for _, id := range p.dependentsFor(m.Array, m.User) {
		p.settleTerms(id, func(t protocol.DependencyTerm) protocol.DependencyTerm {
			switch a := p.rows.Arrays[id]; {
			case t.Kind != protocol.AfterCorr || t.Job != m.Array:
				return t
			case a != nil && never != "":
				return t.NoCounterparts(a.Asked.Indexes, never, p.now)
			case a != nil:
				own := a.Asked.Indexes // which this site has bounded: to go through what the partner sends may take much longer
				t = t.CounterpartsEnded(own.And(m.Completed), protocol.Completed)
				return t.CounterpartsEnded(own.And(m.Others), protocol.Failed).AllKnown(own, p.now)
			default:
				return settleCounterpart(t, p.dependent(id).Element.Index, &m, never, p.now)
			}
		})
	}
}

// settleCounterpart is what the term of an element that is a job becomes by what the origin of the array has said, or by why nothing
// corresponds to it.
func settleCounterpart(t protocol.DependencyTerm, index int, m *protocol.ElementsOutcome, never string, now protocol.Instant) protocol.DependencyTerm {
	switch {
	case never != "" && t.Open():
		t.Never = never
	case m.Completed.Has(index), m.Others.Has(index):
		return t.CounterpartEnded(index, m.Completed.Has(index), now)
	}
	return t
}

// handleElementsQuery answers a partner of which an array waits for elements of one of this site, as [Peer.handleOutcomeQuery]
// does for a job.
func (p *Peer) handleElementsQuery(one *partner.Partner, m protocol.ElementsQuery) {
	query := lookUpFor{watcher{site: one.Site}, m.User, m.Array, true}
	if m.Array.Origin() != p.cfg.Number || !one.Outcomes.Try(p.now, 1+int64((m.Elements.Len()+p.keptElements(query))/elementsPerToken)) {
		return
	}
	if p.site.StopReason() != "" { // the rows may be older than what has become of the elements
		p.deferQuery(query, m.Elements)
		return
	}
	p.answerElements(query, m.Elements)
}

// keptElements is how many elements are kept for the query's partner that it has asked about before: more are put to these.
func (p *Peer) keptElements(query lookUpFor) int {
	n := p.deferred[query].Len()
	if of := p.lookups[query.to.site]; of != nil {
		n += of.kept[p.asShown(query)].Len()
	}
	return n
}

// asShown is the query with the user for whom it is answered, where users see only their own jobs.
func (p *Peer) asShown(query lookUpFor) lookUpFor {
	if p.cfg.PrivateJobs {
		query.to.user = query.user
	}
	return query
}

// answerElements answers a query about elements of an array that the partner may send.
func (p *Peer) answerElements(query lookUpFor, asked protocol.Indexes) {
	query = p.asShown(query)
	a, j := p.rows.Arrays[query.job], p.dependent(query.job)
	_, _, isElement := p.rows.ElementOf(query.job)
	switch {
	case p.hidesFrom(query.to.site, query.user, p.userOf(query.job, event.Ended{})), j == nil && !isElement && !p.site.IssuedHere(query.job):
		p.sendElements(query.to, protocol.ElementsOutcome{Array: query.job, Unknown: true})
	case a != nil:
		open := asked.And(openOf(a))
		p.watchElements(query.to, query.job, open)
		none := asked.Without(a.Asked.Indexes).Or(asked.And(a.Cancelled))
		p.sendElements(query.to, protocol.ElementsOutcome{Array: query.job, Others: none})
		if asked.Without(open).Len() > none.Len() {
			p.lookUp(query, asked)
		}
	case j != nil || isElement:
		p.sendElements(query.to, protocol.ElementsOutcome{Array: query.job, NoArray: true})
	default:
		p.lookUp(query, asked)
	}
}

// openOf are the elements of an array that have not ended.
func openOf(a *tables.Array) protocol.Indexes {
	var jobs []int
	for _, j := range a.JobsOf(a.Asked.Indexes) {
		jobs = append(jobs, j.Element.Index)
	}
	return a.Pending.Or(protocol.IndexesOf(jobs...))
}

// watchElements notes who hears of elements that have not ended.
func (p *Peer) watchElements(to watcher, array protocol.JobID, open protocol.Indexes) {
	if open.IsZero() {
		return
	}
	of := p.elementWatchers[array]
	if of == nil {
		of = map[watcher]protocol.Indexes{}
		p.elementWatchers[array] = of
	}
	if _, there := of[to]; there || len(of) < maxWatchers {
		of[to] = of[to].Or(open)
	}
}

// reportElements reports to the partners with arrays that wait for elements that these have ended.
func (p *Peer) reportElements(d *deed) {
	of := p.elementWatchers[d.array]
	for _, to := range slices.SortedFunc(maps.Keys(of), watcher.compare) {
		out := protocol.ElementsOutcome{Array: d.array}
		if d.state == protocol.Completed {
			out.Completed = d.elements.And(of[to])
		} else {
			out.Others = d.elements.And(of[to])
		}
		p.sendElements(to, out)
	}
}

// sendElements sends what has become of elements to a partner, in as many messages as it takes; none if there is nothing to say.
func (p *Peer) sendElements(to watcher, out protocol.ElementsOutcome) {
	out.User = to.user
	if out.Unknown || out.NoArray {
		p.send(to.site, out)
		return
	}
	for completed, others := out.Completed, out.Others; len(completed)+len(others) > 0; {
		n, m := min(len(completed), protocol.MaxElementRuns), min(len(others), protocol.MaxElementRuns)
		out.Completed, out.Others = completed[:n:n], others[:m:m]
		p.send(to.site, out)
		completed, others = completed[n:], others[m:]
	}
}

// lookUpElements asks the archive about elements of an array for a partner, some at a time: of those that it asked about the ones that
// have ended by now. Of an array that has ended, the archive is asked first which elements it had.
func (p *Peer) lookUpElements(c lookUpFor, asked protocol.Indexes) {
	a := p.rows.Arrays[c.job]
	if a == nil {
		p.call(event.ArchiveOp{Jobs: []protocol.JobID{c.job}}, endedArray{archived{c, p.reopenings}, asked})
		return
	}
	p.lookUpEnded(c, asked.And(a.Asked.Indexes).Without(openOf(a)).Without(a.Cancelled))
}

// lookUpEnded asks the archive about elements that have ended.
func (p *Peer) lookUpEnded(c lookUpFor, elements protocol.Indexes) {
	next, rest := elements.Split(maxElementLookups)
	if next.IsZero() {
		p.lookedUp(c.to.site)
		return
	}
	var jobs []protocol.JobID
	for index := range next.All() {
		jobs = append(jobs, protocol.Element{Array: c.job, Index: index}.ID())
	}
	p.call(event.ArchiveOp{Jobs: jobs}, endedElements{archived{c, p.reopenings}, next, rest})
}

// endedArray asks the archive which elements an array had that has ended.
type endedArray struct {
	archived

	asked protocol.Indexes // of these, as far as the partner wants to know
}

func (c endedArray) answered(p *Peer, result event.Result, err error) {
	found, err := step.ResultAs[event.ArchiveResult](result, err)
	if err != nil {
		p.lookedUp(c.to.site)
		return // it is asked again
	}
	if p.rows.Arrays[c.job] != nil || p.reopenedSince(c.job, c.reopenings) { // elements have been requeued since it was asked about
		p.lookedUp(c.to.site)
		p.answerElements(c.lookUpFor, c.asked)
		return
	}
	for _, e := range found.Ended {
		if e.Job != c.job || !e.State.Terminal() || p.hidesFrom(c.to.site, c.user, e.User) {
			continue
		}
		if e.Elements.IsZero() {
			p.sendElements(c.to, protocol.ElementsOutcome{Array: c.job, NoArray: true})
			p.lookedUp(c.to.site)
			return
		}
		p.sendElements(c.to, protocol.ElementsOutcome{Array: c.job, Others: c.asked.Without(e.Elements).Or(e.NeverJobs.And(c.asked))})
		p.lookUpEnded(c.lookUpFor, e.Elements.And(c.asked).Without(e.NeverJobs))
		return
	}
	p.sendElements(c.to, protocol.ElementsOutcome{Array: c.job, Unknown: true})
	p.lookedUp(c.to.site)
}

// endedElements asks the archive how elements have ended.
type endedElements struct {
	archived

	elements, rest protocol.Indexes // those of the call, and those of the next ones
}

func (c endedElements) answered(p *Peer, result event.Result, err error) {
	found, err := step.ResultAs[event.ArchiveResult](result, err)
	if err != nil {
		p.lookedUp(c.to.site)
		return // it is asked again
	}
	again := p.reopenedElements(c)
	if a := p.rows.Arrays[c.job]; a != nil {
		again = again.Or(c.elements.And(openOf(a)))
	}
	if !again.IsZero() { // they have been requeued since they were asked about
		c.elements = c.elements.Without(again)
		p.answerElements(c.lookUpFor, again)
	}
	var completed []int
	for _, e := range found.Ended {
		if e.State == protocol.Completed {
			completed = append(completed, int(e.Job-c.job-1)) //nolint:gosec // it is an element of the array
		}
	}
	out := protocol.ElementsOutcome{Array: c.job, Completed: protocol.IndexesOf(completed...).And(c.elements)}
	out.Others = c.elements.Without(out.Completed) // also those whose records have been deleted
	p.sendElements(c.to, out)
	p.lookUpEnded(c.lookUpFor, c.rest)
}

// reopenedElements are those of a lookup that have been requeued after their ends since it began.
func (p *Peer) reopenedElements(c endedElements) protocol.Indexes {
	var indexes []int
	for id, at := range p.reopened {
		if index := int(id - c.job - 1); at > c.reopenings && c.elements.Has(index) { //nolint:gosec // what is no index is not in it
			indexes = append(indexes, index)
		}
	}
	slices.Sort(indexes)
	return protocol.IndexesOf(indexes...)
}

// compare orders those who have asked.
func (w watcher) compare(other watcher) int {
	return cmp.Or(cmp.Compare(w.site, other.site), cmp.Compare(w.user, other.user))
}
