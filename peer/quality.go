package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	// A job is late when it has not started after lateFactor times the wait that was quoted
	// and lateMargin: quotes are forecasts, and an honest one may be wrong by its own length.
	lateFactor = 3
	lateMargin = 10 * protocol.Minute
	// A job failed at once when it ran less than quickRun, and asked for at least longRun.
	quickRun = 5 * protocol.Second
	longRun  = 10 * protocol.Minute

	// What was seen weighs 15/16 of itself after the next job, so that some twenty jobs are
	// judged. A partner is doubtful when at least half of eight or more did not go as it said.
	weightOne    = 1000
	fadeBy       = 16
	enoughWeight = 6 * weightOne // of eight jobs, faded
	manyFailures = 16
)

// keepQuality is how often the row of a partner is written, at most, for what was seen of it
// alone. A crash forgets less than that.
const keepQuality = protocol.Minute

// judge counts one job of this site at a partner, or at least quoted by it.
func (p *Peer) judge(one *partner, what row.Conduct) {
	if !p.cfg.Doubts || one == nil {
		return
	}
	q := &one.row.Quality
	for i := range q.Weights {
		q.Weights[i] -= q.Weights[i] / fadeBy
	}
	q.Weights[what] += weightOne
	all := q.Total()
	p.keepQuality(one)
	doubtful := all >= enoughWeight && 2*(all-q.Weights[row.Kept]) >= all
	if doubtful == q.Doubtful {
		return
	}
	q.Doubtful, q.Probe = doubtful, p.now.Add(p.cfg.Sigma)
	p.savePartner(one)
	text := "it keeps its quotes again"
	if doubtful {
		text = q.String()
	}
	p.fact(event.Fact{Kind: event.PartnerQuality, Site: one.Site, Text: text})
}

// keepQuality has what was seen of a partner outlive the peer.
func (p *Peer) keepQuality(one *partner) {
	if p.now.Sub(one.judged) >= keepQuality {
		one.judged = p.now
		p.savePartner(one)
	}
}

// watchStart sets the time by which a job that was handed over has to have started.
func (p *Peer) watchStart(j *job) {
	if !p.cfg.Doubts || j.Hold != 0 || j.QuotedAWT < 0 {
		return
	}
	p.after(lateFactor*j.QuotedAWT+lateMargin, timer{kind: startTimer, job: j.Spec.Job, epoch: j.Epoch})
}

// startDue looks whether a job has started that should have. A partner that cannot be reached
// cannot say so, and one whose job is wanted back need not start it.
func (p *Peer) startDue(tag protocol.Tag) {
	j := p.jobs[tag.Job]
	if j == nil || j.Epoch != tag.Epoch || j.Phase != row.JobHandedOff || j.Started != 0 || j.Cancelling {
		return
	}
	if one := p.byName[j.Site]; one != nil && one.linked && !one.silent {
		p.judge(one, row.Late)
	}
}

// startedAt counts a job whose start became known, unless it counted as late already.
func (p *Peer) startedAt(j *job) {
	t := timer{kind: startTimer, job: j.Spec.Job, epoch: j.Epoch}
	if p.timers.Has(t) {
		p.timers.Stop(t)
		p.judge(p.byName[j.Site], row.Kept)
	}
}

// endedThere counts a job that failed as soon as it ran. The jobs of one user with one name may
// all have the same fault, so they count once for as long as that is remembered.
func (p *Peer) endedThere(j *job, outcome *protocol.Outcome) {
	one := p.byName[j.Site]
	failed := outcome.State == protocol.Failed || outcome.State == protocol.NodeFail
	if one == nil || !failed || outcome.Ran >= quickRun || j.Spec.WallTime < longRun {
		return
	}
	q := &one.row.Quality
	if slices.Contains(q.Failures, j.Spec.Like) {
		return
	}
	if q.Failures = append(q.Failures, j.Spec.Like); len(q.Failures) > manyFailures {
		q.Failures = q.Failures[1:]
	}
	p.judge(one, row.FailedAtOnce)
}

// avoids says whether a job of a round is not for a doubtful partner: another one, or this
// site, could run it. From time to time it gets one job all the same, to show that it has
// changed. People who ask see its quotes as ever.
func (p *Peer) avoids(r *round, i int, one *partner) bool {
	if !one.row.Quality.Doubtful || r.asked != 0 || !p.elsewhere(r, i, one) {
		return false
	}
	return one.jobsThere > 0 || p.now < one.row.Quality.Probe
}

// elsewhere says whether a job could run here, or at a partner that is not in doubt.
func (p *Peer) elsewhere(r *round, i int, but *partner) bool {
	spec, j := &r.specs[i], r.job(p, i)
	if j == nil {
		return false
	}
	if p.homeRefuses(j, *spec) == "" {
		return true
	}
	for _, one := range p.partners {
		if one != but && one.usable() && !one.row.Quality.Doubtful && one.eligible(spec, j.Together()) && !j.shuns(one.Site, p.now) {
			return true
		}
	}
	return false
}

// probed bounds what a doubtful partner is asked about to one job that others could run.
func (p *Peer) probed(r *round, i int, one *partner, asked int) bool {
	if !one.row.Quality.Doubtful || r.asked != 0 || !p.elsewhere(r, i, one) {
		return true
	}
	return asked == 0
}
