package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// decide hands the round to the policy.
func (p *Peer) decide(r *round) {
	r.fitting, r.reconfigured = broker.Fit(p.snapshot(r), r.Specs, p.rows.KeyOf), p.reconfigured
	p.askPolicy(r)
}

// askPolicy asks the policy about a round, again while its groups do not fit.
func (p *Peer) askPolicy(r *round) {
	p.call(event.DecideOp{Snapshot: r.fitting.Narrowed()}, decideRound{r.ID})
}

// decideRound asks the policy.
type decideRound struct{ round protocol.RoundID }

func (c decideRound) answered(p *Peer, result event.Result, err error) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	decided, err := step.ResultAs[event.DecideResult](result, err)
	switch {
	case err != nil && p.cfg.Fallback != "" && r.waitAt == "":
		p.askFallback(r, err)
	case err != nil:
		p.undecided(r, err)
	case p.review(r, decided.Decisions):
		p.askPolicy(r)
	case r.waitAt != "":
		p.closeRound(r)
		p.moveJobs(r, r.fitting.Settled(decided.Decisions))
	default:
		p.closeRound(r)
		if r.reconfigured == p.reconfigured {
			p.hint = decided.Hint
			p.outcomes.Delivered(r.outcomes)
		}
		p.carryOut(r, r.fitting.Settled(decided.Decisions), false)
	}
}

// askFallback asks the fallback policy about a round in which the policy failed: jobs do not wait until that
// works again.
func (p *Peer) askFallback(r *round, because error) {
	in := r.fitting.Narrowed()
	in.Hint, in.Outcomes = nil, nil // they are the other policy's
	p.call(event.DecideOp{Snapshot: in, Fallback: true}, decideFallback{r.ID, because.Error()})
}

// decideFallback asks the fallback, because the policy has failed.
type decideFallback struct {
	round   protocol.RoundID
	because string
}

func (c decideFallback) answered(p *Peer, result event.Result, err error) {
	r := p.rounds[c.round]
	if r == nil {
		return
	}
	decided, err := step.ResultAs[event.DecideResult](result, err)
	if err != nil {
		p.undecided(r, fmt.Errorf("%s; fallback policy: %w", c.because, err))
		return
	}
	p.closeRound(r)
	why := clip(fmt.Sprintf("fallback policy %s decided: %s", p.cfg.Fallback, c.because))
	p.logEvent(event.LogEvent{Kind: event.LogPolicyFailed, Site: p.cfg.Site, Round: r.ID, Text: why})
	p.carryOut(r, r.fitting.Settled(p.rows.WithoutBound(&r.fitting.In, rounds.Explained(decided.Decisions, why))), true)
}

// undecided ends a round without decisions. Its jobs get another one.
func (p *Peer) undecided(r *round, err error) {
	p.closeRound(r)
	p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Site: p.cfg.Site, Round: r.ID, Text: clip("policy: " + err.Error())})
	p.requeueAllAfter(r, p.cfg.RetryInitial, "the policy failed", err.Error())
}

// snapshot turns the round into the policy's columns.
func (p *Peer) snapshot(r *round) policy.Snapshot {
	own := p.own()
	if own.Accept = len(r.Specs); p.cfg.Initiation == policy.Cycle { // it takes no more jobs of its own than of others (MaxQ)
		own.Accept = min(own.Accept, p.intake.Left(p.now))
	}
	if r.waitAt == p.cfg.Site {
		own.Accept, own.Free = r.seats()
	}
	in := r.Snapshot(own, p.now)
	in.Hint = p.hint
	if r.waitAt == "" {
		in.Outcomes, r.outcomes = p.outcomes.Pending()
	}
	for i := range in.Jobs {
		// A submission without an account is refused. If the tables have changed since, it is empty.
		in.Jobs[i].Account, _ = p.cfg.Accounts.Local(in.Jobs[i].User)
	}
	if p.cfg.Policy.DecidesApplications() {
		p.addObjectives(&in, r, r.Answers(p.cfg.Site))
	}
	return in
}

// own is this site as rounds see it.
func (p *Peer) own() rounds.Own {
	return rounds.Own{Site: p.cfg.Site, Load: p.load, Free: p.host().Free(), Resources: p.cfg.Capacity.Totals()}
}

// carryOut places what the policy or the fallback policy decided, and holds the rest.
func (p *Peer) carryOut(r *round, decisions []policy.Decision, stead bool) {
	in := &r.fitting.In
	chosen := make(map[protocol.JobID]policy.Decision, len(decisions))
	for _, d := range decisions {
		chosen[in.Jobs[d.Job].ID] = d
	}
	c := decisionRun{p: p, r: r, in: in, desk: p.admissionOnce(), stead: stead, roomless: r.fitting.Roomless()}
	for i := 0; i < len(r.Specs); i = r.End(i) {
		j := p.rows.Jobs[r.Specs[i].Job]
		if !p.mayPlaceByRound(j) { // cancelled, held or changed while the policy thought
			if j != nil && p.inQueue(j) && broker.StartsWithOthers(in, &j.Job) {
				c.groups.Part(&j.Job, fmt.Sprintf("job %v of its group is held, or was changed", j.Spec.Job))
			}
			continue
		}
		j.NoteLocalQuote(&r.Home[i])
		if d, ok := chosen[j.Spec.Job]; ok && d.Site != policy.NoSite {
			c.place(i, j, d)
		} else {
			c.leave(i, j, d.Reason)
		}
	}
	groups, left := c.groups.Groups()
	for _, one := range left {
		one.Job.Unplace()
		p.requeueUnplaced(r, p.rows.Jobs[one.Job.Spec.Job], one.Reason, "")
	}
	for _, members := range groups {
		p.beginGroup(p.rows.Jobs[members[0].Job.Spec.Job], members)
	}
}

// decisionRun is the carrying out of one round's decisions.
type decisionRun struct {
	p     *Peer
	r     *round
	in    *policy.Snapshot
	stead bool // another policy decided

	desk     func() *admission.Desk
	roomless map[protocol.JobID]string // members of groups that have no room together, and why
	groups   broker.Placements         // of jobs that start together
}

// leave keeps a job in the grid queue. The policy may have said why.
func (c *decisionRun) leave(i int, j *tables.Job, because string) {
	c.noteBestQuote(i, j)
	if c.r.Reach[i] == rounds.Volunteers {
		c.p.logRound(c.r, i, event.LogJobDeferred, "", "no volunteer is better than the own site")
		c.p.rejectVolunteers(c.r, i, j)
		return
	}
	u := rounds.Unplaced{
		Takers: c.r.Takers(i), NoRoom: c.roomless[j.Spec.Job], Because: because, Fallback: c.stead,
		Unknown: func() bool { j.NoEligibleSite = c.desk().Unknown(&j.Job); return j.NoEligibleSite },
		Declines: func() string {
			if c.p.cfg.DisableLogEvents {
				return ""
			}
			return rounds.Declines(c.p.reportOf(c.r).Job(i))
		},
	}
	why, detail := u.Reason()
	c.p.logRound(c.r, i, event.LogJobDeferred, "", view.Detailed(why, detail))
	c.p.requeueUnplaced(c.r, j, why, detail)
}

// noteBestQuote keeps when a job that stays in the grid queue could have started.
func (c *decisionRun) noteBestQuote(i int, j *tables.Job) {
	if best, site, ok := c.r.Best(i, c.p.cfg.Site); ok {
		j.NoteBestQuote(&best, site, c.p.now)
	}
}

// place carries out a decision for a site.
func (c *decisionRun) place(i int, j *tables.Job, d policy.Decision) {
	p, home := c.p, d.Site == c.in.Self
	if home && c.staysQueued(i, j) {
		return
	}
	site, together, e := c.in.Sites[d.Site].Name, broker.StartsWithOthers(c.in, &j.Job), c.r.entry(p, d.Job)
	j.Spec = j.Shaped(e.shape)
	if !together && !p.withinLimits(j) { // others of its user have been placed since it was taken
		return
	}
	p.logRound(c.r, i, event.LogRoundDecided, site, d.Reason)
	if facts := p.out.LogEvents; len(j.Shapes()) > 0 && len(facts) > 0 {
		facts[len(facts)-1].CPUs = c.r.Specs[d.Job].CPUs
	}
	p.predict(e, &j.Spec, site, p.ledger().Capacity(site)) // the site that runs it chooses its frequency by that
	quoted := c.r.QuoteOf(d.Job, site)
	j.Prediction, j.Quoted = broker.Predicted(c.in, d, p.now), pricing.QuotedPrice(&quoted)
	j.NoteWaits(&quoted, p.now)
	if !c.stead {
		j.Decided = row.Decided{Policy: p.cfg.Policy.Name, At: p.now, AWT: c.in.AWT[c.in.At(d.Job, d.Site)]}
	}
	if home {
		if p.cfg.Initiation == policy.Cycle { // only cycles count local jobs
			p.countIntake()
		}
	} else if own := &c.r.Home[d.Job]; own.Declined == "" && own.AWT != protocol.Never {
		j.Home = pricing.QuotedPrice(own)
	}
	switch {
	case together:
		c.groups.Place(broker.Place{Job: &j.Job, Site: site, Wait: c.in.Start(d.Job, d.Site, d.Wait)})
	case home:
		p.commitLocal(j, &d.Wait)
	default:
		p.offer(j, site, d.Wait)
	}
}

// staysQueued keeps a job in the grid queue that its policy has placed at this site, if the volunteers
// that it was offered to have lost, or if this site takes no more jobs in the cycle.
func (c *decisionRun) staysQueued(i int, j *tables.Job) bool {
	p := c.p
	if p.cfg.Policy.SkipsRoundBelowThreshold() && c.r.Reach[i] == rounds.Volunteers {
		c.leave(i, j, "")
		return true
	}
	full := p.intake.FullReason(p.now) // guests may have come while the policy decided
	if full == "" || p.cfg.Initiation != policy.Cycle {
		return false
	}
	if broker.StartsWithOthers(c.in, &j.Job) {
		c.groups.Part(&j.Job, full)
	}
	c.noteBestQuote(i, j)
	p.logRound(c.r, i, event.LogJobDeferred, "", full)
	p.requeueUnplaced(c.r, j, full, "")
	return true
}

// logRound says what a round brought one of its jobs.
func (p *Peer) logRound(r *round, i int, kind event.LogKind, site protocol.SiteName, why string) {
	if p.cfg.DisableLogEvents {
		return
	}
	quotes, others := p.reportOf(r).Job(i)
	asked, silent := r.Replies(i)
	p.logEvent(event.LogEvent{
		Kind: kind, Job: r.Specs[i].Job, Site: site, Round: r.ID, Text: clip(why),
		Quotes: quotes, OmittedQuotes: others, Asked: asked, Answered: asked - len(silent), Silent: silent, Duration: p.now.Sub(r.Opened),
	})
}

// requeueUnplaced lets a job that no site was chosen for wait for another round: if no site that may be
// asked could run it, until one can be; in cycles the next one, else one after a while. After a cycle that had no place for all jobs, those
// that it had sit the next one out, so that the others get theirs.
func (p *Peer) requeueUnplaced(r *round, j *tables.Job, why, detail string) {
	switch {
	case p.lineup().AwaitsSite(j):
		p.explain(j, why, detail)
		p.queue.Block(j.Spec.Job)
	case p.cfg.Initiation != policy.Cycle:
		p.requeueLater(j, why, detail)
	case r.crowded:
		p.requeueAfter(j, p.cfg.CycleInterval+1, why, detail)
	default:
		p.explain(j, why, detail)
		p.queue.Put(j.Spec.Job)
	}
}

// explain keeps why a job waits in the grid queue. The detail changes from round to
// round and is not durable: rounds write no records.
func (p *Peer) explain(j *tables.Job, why, detail string) {
	j.Detail = p.rows.Share(clip(detail))
	if why = clip(why); j.Reason != why {
		j.Reason = p.rows.Share(why)
		p.rows.SaveJob(j.Spec.Job)
	}
}

// requeueAfter keeps a job in the grid queue until it is worth asking again.
func (p *Peer) requeueAfter(j *tables.Job, d protocol.Duration, why, detail string) {
	p.explain(j, why, detail)
	p.queue.Defer(j.Spec.Job, p.now.Add(d))
}

// requeueLater keeps a job in the grid queue for a while: another round at once would end as the last one did.
func (p *Peer) requeueLater(j *tables.Job, why, detail string) {
	p.requeueAfter(j, p.dice.Jitter(min(p.cfg.CheckInterval, p.cfg.RetryMax)), why, detail)
}

func (p *Peer) requeueAllAfter(r *round, d protocol.Duration, why, detail string) {
	for _, spec := range r.Specs {
		if j := p.rows.Jobs[spec.Job]; p.mayPlaceByRound(j) {
			p.requeueAfter(j, p.dice.Jitter(d), why, detail)
		}
	}
}
