package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
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
	waiting []lookUpFor        // in the order in which they came
	kept    map[lookUpFor]bool // those that wait
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
	asked := map[protocol.JobID]bool{}
	for _, t := range j.Wants().Dependency.Terms {
		if t.Job == 0 || !t.Open() || t.Job.Origin() == p.cfg.Number || asked[t.Job] {
			continue
		}
		asked[t.Job] = true
		if one := p.partners.HolderOf(t.Job.Origin()); one != nil {
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
	dependents := p.rows.Dependents(m.Job)
	never := string(one.Site) + " has no record of job " + m.Job.String() + ", on which it depends"
	if m.User != "" {
		dependents = slices.DeleteFunc(dependents, func(id protocol.JobID) bool { return p.userOf(id, event.Ended{}) != m.User })
		never += ", or does not show it to " + m.User
	}
	p.settleTermsAbout(m.Job, dependents, func(t protocol.DependencyTerm) protocol.DependencyTerm {
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
	to   watcher
	user string // as the query names the user
	job  protocol.JobID
}

// outcomeOf is what partners hear of a job that has ended.
func (p *Peer) outcomeOf(e event.Ended) protocol.JobOutcome {
	out := protocol.JobOutcome{Job: e.Job, State: e.State, Started: protocol.Never, Ended: max(0, p.now.Sub(e.Ended))}
	if e.Started != 0 {
		out.Started = max(0, p.now.Sub(e.Started))
	}
	return out
}
