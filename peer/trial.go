package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/lineup"
	"github.com/switchyard-hpc/switchyard/peer/moves"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that waits in a local queue has a trial from time to time, see package moves. If another site would end it
// sooner, it is withdrawn or recalled, as one that is held: the batch system alone knows whether it has started meanwhile, and then it
// stays. Once it is proven not to have started it is in the grid queue, with its age, and the next round places it
// by new quotes: where the trial has said, or where it is better by now. It costs nothing of this that the peer crashes: what is
// recalled, and why, is in the rows, and it comes back as ever.

// beginTrials sets the time of the first trial.
func (p *Peer) beginTrials() {
	if p.trial != nil {
		p.closeRound(p.trial)
	}
	if p.cfg.Moves.Interval == 0 {
		p.timers.Stop(due.Once(due.TrialTimer))
		return
	}
	p.after(p.dice.Jitter(p.cfg.Moves.Interval), due.Once(due.TrialTimer))
}

// trialDue begins the next trial, unless one is under way.
func (p *Peer) trialDue(at protocol.Instant) {
	p.every(p.cfg.Moves.Interval, at, due.Once(due.TrialTimer))
	if p.trial != nil || p.site.StopReason() != "" || p.cfg.Policy.LocalOnly() {
		return
	}
	if site, jobs := moves.Next(p.cfg.Moves, &p.rows, p.recalls, p.now); len(jobs) > 0 {
		p.openTrial(site, jobs)
	}
}

// recalls says whether a site can be asked now for the jobs that wait there.
func (p *Peer) recalls(site protocol.SiteName) bool {
	one := p.partners.Of(site)
	return site == p.cfg.Site || one != nil && one.Available()
}

// openTrial asks the other sites about jobs that wait at one.
func (p *Peer) openTrial(site protocol.SiteName, jobs []*tables.Job) {
	r := p.newRound(nil)
	r.waitAt, r.tests, p.trial = site, map[protocol.JobID]*tables.Job{}, r
	stay, inPlace := p.addTrialRows(r, jobs)
	r.Reach = make([]rounds.Reach, len(r.Specs)) // all partners
	if site == p.cfg.Site {
		r.Home, r.HomeDone = stay, true
	} else {
		r.Asks = append(r.Asks, p.stayAnswer(r, stay, inPlace))
		p.quoteLocal(r)
	}
	p.askPartners(r)
}

// addTrialRows adds jobs to a trial as far as one message holds them, and returns what holds of each row where it waits, and
// which rows are in place there.
func (p *Peer) addTrialRows(r *round, jobs []*tables.Job) (stay []protocol.Quote, inPlace []int) {
	request := quoting.Request{}
	for _, j := range jobs {
		unplaced := moves.Unplaced(j)
		rows := unplaced.InShapes(lineup.Rows(&p.cfg.Policy, unplaced))
		if !request.Fits(rows, p.cfg.Policy.DecidesApplications()) {
			continue
		}
		j.Tried = p.now
		r.tests[j.Spec.Job] = unplaced
		for i := range rows {
			if j.Spec.InPlace {
				inPlace = append(inPlace, len(r.Specs))
			}
			stay = append(stay, moves.Stay(j, &rows[i], p.now))
			r.Specs = append(r.Specs, rows[i])
		}
	}
	return stay, inPlace
}

// stayAnswer is the answer of the partner where the jobs of a trial wait, by what it has said of them before.
func (p *Peer) stayAnswer(r *round, stay []protocol.Quote, inPlace []int) *rounds.Ask {
	one := p.partners.Of(r.waitAt)
	a := &rounds.Ask{Partner: one, InPlace: inPlace, Arrived: true, Reply: &protocol.QuoteReply{Round: r.ID, Quotes: stay, Load: one.Load}}
	for i := range r.Specs {
		a.Jobs = append(a.Jobs, i)
	}
	a.Reply.MaxJobs, a.Reply.Free = r.seats()
	return a
}

// seats are how many jobs and CPUs the site of a trial has for its jobs: it has all of them already, so that none makes
// another wait longer.
func (r *round) seats() (jobs, cpus int) {
	for i := 0; i < len(r.Specs); i = r.End(i) {
		jobs++
		for k := i; k < r.End(i); k++ {
			cpus += r.Specs[k].CPUs
		}
	}
	return jobs, cpus
}

// moveJobs recalls the jobs of a trial that are worth a move by the decisions of the policy.
func (p *Peer) moveJobs(r *round, decisions []policy.Decision) {
	if r.reconfigured != p.reconfigured {
		return
	}
	in, sent := &r.fitting.In, map[int]int{} // CPUs, by site
	at := slices.IndexFunc(in.Sites, func(s policy.Site) bool { return s.Name == r.waitAt })
	for _, d := range decisions {
		gain, worth := moves.Gain(p.cfg.Moves, in, at, d, p.placingDelay())
		j := p.rows.Jobs[in.Jobs[d.Job].ID]
		if !worth || j == nil || j.Tag() != r.tests[j.Spec.Job].Tag() || !moves.May(p.cfg.Moves, &p.rows, j, p.now) {
			continue
		}
		if before := sent[d.Site]; before > 0 && before+in.Jobs[d.Job].CPUs > in.Sites[d.Site].Free {
			continue // the quote is for this job alone
		}
		sent[d.Site] += in.Jobs[d.Job].CPUs
		to := in.Sites[d.Site].Name
		p.logRound(r, d.Job, event.LogMoveBegun, to, d.Reason)
		why := clip(fmt.Sprintf("%s would end it %s sooner than %s", to, gain.Text(), r.waitAt))
		p.recallJob(j, why)
		j.Moving = why
		p.rows.SaveJob(j.Spec.Job)
	}
}

// placingDelay is how long a job that comes back may wait for a round.
func (p *Peer) placingDelay() protocol.Duration {
	if p.cfg.Initiation == policy.Cycle {
		return p.cfg.CycleInterval
	}
	return 0
}
