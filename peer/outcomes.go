package peer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job may depend on jobs of other origins. Its own origin keeps in the job's row what it waits for, and asks theirs
// (OutcomeQuery) until it knows: now and then, and whenever a session begins. An origin that is asked answers at once
// (JobOutcome), and again when the job starts and ends, as long as it lives. After a start it answers once its rows are known to
// be the latest; until then answers are not taken either. An answer that is lost comes with the next query, and one that comes
// again changes nothing.

// How many jobs are looked up in the archive at once for a partner, and how many queries of one are kept that wait for that, or
// until this site may answer. Others are dropped: they come again.
const (
	maxOutcomeLookups  = 16
	maxDeferredQueries = 4096
)

// lookups are those of a partner.
type lookups struct {
	open    int
	waiting []lookUpFor                    // in the order in which they came
	kept    map[lookUpFor]protocol.Indexes // those that wait, and the elements that they are about
}

// maxWatchers is how many hear of a job by themselves. Others get its outcome when they ask again.
const maxWatchers = 1000

// watcher is who has asked for the outcome of a job of this site.
type watcher struct {
	site protocol.SiteName
	user string // whose jobs depend on it there, where this site shows it not to all; empty: anybody's
}

// askOutcomes asks the origins of jobs that a job or an array of this site waits for, and sets the time to ask again.
func (p *Peer) askOutcomes(id protocol.JobID) {
	j := p.dependent(id)
	if j == nil || j.Wants().Dependency == nil {
		return
	}
	type query struct {
		job      protocol.JobID
		elements bool
	}
	asked := map[query]bool{}
	for _, t := range j.Wants().Dependency.Terms {
		q := query{t.Job, t.Kind == protocol.AfterCorr}
		if t.Job == 0 || !t.Open() || t.Job.Origin() == p.cfg.Number || asked[q] {
			continue
		}
		asked[q] = true
		if one := p.partners.HolderOf(t.Job.Origin()); one != nil && q.elements {
			p.askElements(one.Site, j, t)
		} else if one != nil {
			p.send(one.Site, protocol.OutcomeQuery{Job: t.Job, User: j.Spec.User})
		}
	}
	if len(asked) > 0 {
		p.after(p.cfg.CheckInterval, due.OfJob(due.DependencyTimer, id))
	}
}

// handleJobOutcome takes the word of the origin of a job on which others depend here.
func (p *Peer) handleJobOutcome(one *partner.Partner, m protocol.JobOutcome) {
	if p.partners.HolderOf(m.Job.Origin()) != one {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Job: m.Job, Text: "says what has become of a job that was not submitted there"})
		return
	}
	never := noRecord(one.Site, m.Job, m.User)
	p.settleTermsAbout(m.Job, p.dependentsFor(m.Job, m.User), func(t protocol.DependencyTerm) protocol.DependencyTerm {
		if t.Kind == protocol.AfterCorr { // which hears of elements
			return t
		}
		if m.State == 0 && t.Open() {
			t.Never = never
		}
		if m.State != 0 && m.Started != protocol.Never {
			t = t.Started(p.now.Add(-m.Started))
		}
		if m.State.Terminal() {
			t = t.Ended(m.State, p.now.Add(-m.Ended))
		}
		return t
	})
}

// dependentsFor are the jobs and arrays that wait for one of a partner: those of a user there, if the answer is for one alone.
func (p *Peer) dependentsFor(job protocol.JobID, user string) []protocol.JobID {
	return slices.DeleteFunc(p.rows.Dependents(job), func(id protocol.JobID) bool { return user != "" && p.userOf(id, event.Ended{}) != user })
}

// noRecord is why nothing can depend on a job of a partner that has said so, for one of its users alone if it names one.
func noRecord(site protocol.SiteName, job protocol.JobID, user string) string {
	text := string(site) + " has no record of job " + job.String() + ", on which it depends"
	if user != "" {
		text += ", or does not show it to " + user
	}
	return text
}

// handleOutcomeQuery answers a partner of which a job depends on one of this site, and notes who hears of it later. A job that
// the partner's user would not see here is answered for as one that is not known, and nothing is said of it later.
func (p *Peer) handleOutcomeQuery(one *partner.Partner, m protocol.OutcomeQuery) {
	if m.Job.Origin() != p.cfg.Number || !one.Outcomes.Try(p.now, 1) {
		return
	}
	if m.User == "" && p.cfg.PrivateJobs {
		return // of a version that does not say for whom it asks: what it hears of a job cannot be undone there
	}
	query := lookUpFor{watcher{site: one.Site}, m.User, m.Job, false}
	if p.site.StopReason() != "" { // the rows may be older than what has become of the job
		p.deferQuery(query, nil)
		return
	}
	p.answerQuery(query)
}

// deferQuery keeps a query until this site may answer, with those about further elements of the same array.
func (p *Peer) deferQuery(query lookUpFor, elements protocol.Indexes) {
	before, there := p.deferred[query]
	if !there && p.queued[query.to.site] >= maxDeferredQueries {
		return
	}
	if !there {
		p.queued[query.to.site]++
	}
	p.deferred[query] = withMore(before, elements)
}

// withMore are elements that are kept for a partner, with more of them, unless these would be too many runs: the partner asks again.
func withMore(kept, more protocol.Indexes) protocol.Indexes {
	if all := kept.Or(more); len(all) <= protocol.MaxElementRuns {
		return all
	}
	return kept
}

// answerQuery answers a query that the partner may send.
func (p *Peer) answerQuery(query lookUpFor) {
	is, ended := p.endOf(query.job, nil)
	query = p.asShown(query)
	switch {
	case p.hidesFrom(query.to.site, query.user, p.userOf(query.job, is)):
		p.sendOutcome(query.to, protocol.JobOutcome{Job: query.job, Started: protocol.Never})
	case p.rows.Stands(query.job):
		p.answerAndWatch(query.to, query.job)
	case ended:
		p.sendOutcome(query.to, p.outcomeOf(is))
	case !p.site.IssuedHere(query.job):
		p.sendOutcome(query.to, protocol.JobOutcome{Job: query.job, Started: protocol.Never})
	default:
		p.lookUp(query, nil)
	}
}

// lookUp asks the archive for a partner, at once or after its other lookups: about a job, or about elements of an array.
func (p *Peer) lookUp(c lookUpFor, elements protocol.Indexes) {
	of := p.lookups[c.to.site]
	if of == nil {
		of = &lookups{kept: map[lookUpFor]protocol.Indexes{}}
		p.lookups[c.to.site] = of
	}
	before, there := of.kept[c]
	switch {
	case there:
		of.kept[c] = withMore(before, elements)
	case of.open >= maxOutcomeLookups && len(of.waiting) < maxDeferredQueries:
		of.waiting, of.kept[c] = append(of.waiting, c), elements
	case of.open >= maxOutcomeLookups:
	case c.elements:
		of.open++
		p.lookUpElements(c, elements)
	default:
		of.open++
		p.call(event.ArchiveOp{Jobs: []protocol.JobID{c.job}}, archived{c, p.reopenings})
	}
}

// noteReopened notes that a job or an array is requeued after its end. A lookup that is under way may read the archive after it has
// left that, and before it has ended again.
func (p *Peer) noteReopened(id protocol.JobID) {
	p.reopenings++
	if len(p.lookups) > 0 {
		p.reopened[id] = p.reopenings
	}
}

// reopenedSince says whether a job or an array has been requeued after its end since a lookup began.
func (p *Peer) reopenedSince(id protocol.JobID, reopenings uint64) bool {
	return p.reopened[id] > reopenings
}

// lookedUp ends a lookup, and begins the next one of the partner.
func (p *Peer) lookedUp(site protocol.SiteName) {
	of := p.lookups[site]
	of.open--
	for len(of.waiting) > 0 && of.open < maxOutcomeLookups {
		next := of.waiting[0]
		of.waiting = of.waiting[1:]
		elements := of.kept[next]
		delete(of.kept, next)
		if !next.elements && p.rows.Stands(next.job) { // it has been requeued meanwhile
			p.answerQuery(next)
			continue
		}
		p.lookUp(next, elements)
	}
	if of.open == 0 {
		delete(p.lookups, site)
	}
	if len(p.lookups) == 0 {
		clear(p.reopened)
	}
}

// answerAndWatch answers a query about a job that has not ended, and notes who hears of it later.
func (p *Peer) answerAndWatch(to watcher, job protocol.JobID) {
	if p.watchers[job] == nil {
		p.watchers[job] = map[watcher]bool{}
	}
	if len(p.watchers[job]) < maxWatchers {
		p.watchers[job][to] = true
	}
	out := protocol.JobOutcome{Job: job, State: protocol.Pending, Started: protocol.Never}
	if j := p.rows.JobRow(job); j != nil && j.Started != 0 {
		out.State, out.Started = protocol.Running, max(0, p.now.Sub(j.Started))
	}
	p.sendOutcome(to, out)
}

// resumeOutcomes answers the queries that came while this site might not, and asks again what partners may have answered meanwhile:
// their answers were not taken.
func (p *Peer) resumeOutcomes() {
	deferred := p.deferred
	p.deferred = map[lookUpFor]protocol.Indexes{}
	clear(p.queued)
	for _, q := range slices.SortedFunc(maps.Keys(deferred), lookUpFor.compare) {
		switch {
		case p.partners.Of(q.to.site) == nil:
		case q.elements:
			p.answerElements(q, deferred[q])
		default:
			p.answerQuery(q)
		}
	}
	p.fireSoon(func(t due.Timer) bool { return t.Kind == due.DependencyTimer })
}

// hidesFrom says whether a site does not show a job of one of its users to a partner's user, who would be another one here; the
// user of a job may not be known yet.
func (p *Peer) hidesFrom(site protocol.SiteName, asking, user string) bool {
	if !p.cfg.PrivateJobs || user == "" {
		return false
	}
	account, err := p.cfg.Accounts.Guest(site, asking)
	return err != nil || account != user
}

// sendOutcome sends what has become of a job to a partner, for the jobs there that it is for.
func (p *Peer) sendOutcome(to watcher, out protocol.JobOutcome) {
	out.User = to.user
	p.send(to.site, out)
}

// lookUpFor asks the archive what became of a job on which one of a partner depends.
type lookUpFor struct {
	to       watcher
	user     string // as the query names the user
	job      protocol.JobID
	elements bool // the job is an array, and what became of elements of it is asked
}

func (c lookUpFor) compare(other lookUpFor) int {
	order := cmp.Or(cmp.Compare(c.job, other.job), c.to.compare(other.to), cmp.Compare(c.user, other.user))
	switch {
	case order != 0 || c.elements == other.elements:
		return order
	case c.elements:
		return 1
	}
	return -1
}

// archived is a lookup in the archive that is under way.
type archived struct {
	lookUpFor

	reopenings uint64 // of [Peer.reopenings] when it began
}

func (c archived) answered(p *Peer, result event.Result, err error) {
	again := p.rows.Stands(c.job) || p.reopenedSince(c.job, c.reopenings) // then it may have ended again, and the archive have been read before
	p.lookedUp(c.to.site)
	found, err := step.ResultAs[event.ArchiveResult](result, err)
	if err != nil {
		return // it is asked again
	}
	if again {
		p.answerQuery(c.lookUpFor)
		return
	}
	out := protocol.JobOutcome{Job: c.job, Started: protocol.Never}
	for _, e := range found.Ended {
		if e.Job == c.job && e.State.Terminal() && !p.hidesFrom(c.to.site, c.user, e.User) {
			out = p.outcomeOf(e)
		}
	}
	p.sendOutcome(c.to, out)
}

// outcomeOf is what partners hear of a job that has ended.
func (p *Peer) outcomeOf(e event.Ended) protocol.JobOutcome {
	out := protocol.JobOutcome{Job: e.Job, State: e.State, Started: protocol.Never, Ended: max(0, p.now.Sub(e.Ended))}
	if e.Started != 0 {
		out.Started = max(0, p.now.Sub(e.Started))
	}
	return out
}

// reportToWatchers reports to the partners with jobs that wait for one that it has started or ended.
func (p *Peer) reportToWatchers(d *deed) {
	for _, to := range slices.SortedFunc(maps.Keys(p.watchers[d.job]), watcher.compare) {
		if d.state.Terminal() {
			p.sendOutcome(to, p.outcomeOf(event.Ended{Job: d.job, State: d.state, Started: d.started, Ended: d.at}))
		} else {
			p.sendOutcome(to, protocol.JobOutcome{Job: d.job, State: protocol.Running, Started: max(0, p.now.Sub(d.at))})
		}
	}
	if d.state.Terminal() {
		delete(p.watchers, d.job)
		delete(p.elementWatchers, d.job)
	}
}
