package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// placement is where a member of a group goes, and when it could start by its quote.
type placement struct {
	job  *job
	site protocol.SiteName
	wait protocol.Duration
}

func (j *job) groupKey() broker.GroupKey {
	return broker.GroupKey{Application: j.Application, Number: j.Component.Together}
}

// holdTries is how often the members of a group are asked to hold room from a later instant
// on before it is given up for a while.
const holdTries = 8

// mostHold is how far ahead room may be held. A site that names a later instant has none.
const mostHold = 366 * protocol.Day

// holdGroups has room held for the groups of a round.
func (p *Peer) holdGroups(placed []placement) {
	for len(placed) > 0 {
		key := placed[0].job.groupKey()
		var members, rest []placement
		for _, one := range placed {
			if one.job.groupKey() == key {
				members = append(members, one)
			} else {
				rest = append(rest, one)
			}
		}
		p.holdGroup(key, members)
		placed = rest
	}
}

func (p *Peer) holdGroup(key broker.GroupKey, members []placement) {
	if p.awaitTurn(key, members) {
		return
	}
	latest := p.cfg.Margin // which is in the waits that the policy has seen
	for _, one := range members {
		latest = max(latest, one.wait)
	}
	start := p.now.Add(latest)
	if why := p.group(members[0].job).PastLimit(rowsOf(members), start); why != "" {
		p.endTurn(key)
		for _, one := range members {
			one.job.Unplace()
			p.fact(event.Fact{Kind: event.JobWaits, Job: one.job.Spec.Job, Text: detailed(view.ReasonInfeasible, why)})
			p.hold(one.job, p.jitter(min(p.cfg.Sigma, p.cfg.RetryMax)), view.ReasonInfeasible, why)
		}
		return
	}
	delete(p.rehelds, key)
	why := "as soon as its group can start by the quotes"
	for _, one := range members {
		p.queue.Remove(one.job.Spec.Job)
		one.job.QuotedAWT, one.job.Reason, one.job.asked = latest, view.ReasonGroup, p.now
		one.job.Site = one.site
		if one.wait == latest && latest > p.cfg.Margin {
			why = fmt.Sprintf("when job %v can start at %s by its quote", one.job.Spec.Job, one.site)
		}
	}
	p.holdAt(jobsOf(members), start, why)
}

func rowsOf(placed []placement) (rows []*row.Job) {
	for _, one := range placed {
		rows = append(rows, &one.job.Job)
	}
	return rows
}

func jobsOf(placed []placement) (jobs []*job) {
	for _, one := range placed {
		jobs = append(jobs, one.job)
	}
	return jobs
}

// holdAt has the members' sites hold room from an instant on, in new epochs. All are noted
// before the first is asked, since that may break the group up at once.
func (p *Peer) holdAt(members []*job, start protocol.Instant, why string) {
	for _, j := range members {
		p.noteHold(j, start, why)
	}
	for _, j := range members {
		if j.SeeksRoom() {
			p.repeatJob(j.Spec.Job)
		}
	}
}

func (p *Peer) noteHold(j *job, start protocol.Instant, why string) {
	j.NextEpoch()
	if f := j.Foreseen; f != nil && f.End < start.Add(f.Run).Add(f.Back) { // it waits for the others, and TMAX is told so
		j.Foreseen = &row.Prediction{Cost: f.Cost, Run: f.Run, Back: f.Back, End: start.Add(f.Run).Add(f.Back)}
	}
	if j.Site == p.cfg.Site {
		p.moveJob(j, row.JobReserving)
	} else {
		p.moveJob(j, row.JobOffered)
	}
	j.Hold, j.Held = start, 0
	p.saveJob(j.Spec.Job)
	p.fact(event.Fact{Kind: event.JobOffered, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip("to hold room from " + start.Text() + " on, " + why)})
}

// holdHere has the own batch system hold room for a member.
func (p *Peer) holdHere(j *job) {
	account, err := p.cfg.Accounts.Local(j.Spec.User)
	if err != nil {
		p.breakUp(j, err.Error())
		return
	}
	hold := localsched.Hold{Tag: j.tag(), Request: j.Spec.On(&p.cfg.Capacity), Start: j.Hold, Account: account}
	p.call(event.ReserveOp{Hold: hold}, reserveHome{j.tag()})
}

// reserveHome has room held for a member, in one epoch of it.
type reserveHome struct{ tag protocol.Tag }

func (c reserveHome) answered(p *Peer, result event.Result, err error) {
	tag, j := c.tag, p.jobs[c.tag.Job]
	done, err := resultAs[event.ReserveResult](result, err)
	switch {
	case j == nil || j.tag() != tag || j.Phase != row.JobReserving:
		p.releaseLate(tag)
	case err != nil:
		p.fact(event.Fact{Kind: event.CallFailed, Job: tag.Job, Site: p.cfg.Site, Epoch: tag.Epoch, Text: clip("reserve: " + err.Error())})
	case done.Refused != "":
		p.doubtSite(j)
		p.breakUp(j, "the local scheduler holds no room: "+done.Refused)
	case j.Held != 0 && j.Held != done.Start:
		p.breakUp(j, "the local scheduler"+movedRoom(j.Held, done.Start))
	case j.Held == 0:
		if why := p.takeTariff(j, protocol.Prepared{Tag: tag, Start: done.Start, Tariff: p.desk().TariffOf(&j.Spec, p.now)}); why != "" {
			p.doubtSite(j)
			p.restGroup(j, why)
			return
		}
		p.nowHeld(j, done.Start)
	}
}

// nowHeld notes that a member has its room.
func (p *Peer) nowHeld(j *job, start protocol.Instant) {
	j.Held, j.tries = start, 0
	text := "from " + start.Text() + " on"
	if start > j.Hold {
		text += fmt.Sprintf(", %s later than it was asked for", start.Sub(j.Hold).Text())
	}
	p.fact(event.Fact{Kind: event.RoomHeld, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: text, Price: pricing.HeldPrice(&j.Job)})
	p.timers.Stop(timer{kind: jobTimer, job: j.Spec.Job})
	p.saveJob(j.Spec.Job)
	p.gather(j)
}

// group is that of a member; nil: the job starts on its own.
func (p *Peer) group(j *job) *broker.Group {
	if j.application == nil || !j.Together() {
		return nil
	}
	g := &broker.Group{App: &j.application.Application, Number: j.Component.Together}
	for _, id := range j.application.jobs {
		if other := p.jobs[id]; other.Together() && other.Component.Together == g.Number && other.Phase != row.JobEnding {
			g.Members = append(g.Members, &other.Job)
		}
	}
	return g
}

// jobsOfRows are the jobs of rows.
func (p *Peer) jobsOfRows(rows []*row.Job) []*job {
	jobs := make([]*job, len(rows))
	for i, one := range rows {
		jobs[i] = p.jobs[one.Spec.Job]
	}
	return jobs
}

// waiting are the members of a job's group for which room is sought or held.
func (p *Peer) waiting(j *job) []*job {
	if g := p.group(j); g != nil {
		return p.jobsOfRows(g.Seeking())
	}
	return nil
}

// others are the members of a job's group beside itself.
func (p *Peer) others(j *job) []*job {
	if g := p.group(j); g != nil {
		return p.jobsOfRows(g.Others(&j.Job))
	}
	return nil
}

// gather grants all members once each has its room from the same instant on.
func (p *Peer) gather(j *job) {
	if p.site.StopReason() != "" { // goes on when jobs may start
		p.after(p.cfg.RetryMax, timer{kind: jobTimer, job: j.Spec.Job})
		return
	}
	g := p.group(j)
	seeking := g.Seeking()
	members, agreed := p.jobsOfRows(seeking), g.Agree(seeking, p.now, p.cfg.Margin)
	if !agreed.Answered {
		return
	}
	if past := g.PastLimit(seeking, agreed.Start); past != "" {
		p.doubtLate(members)
		p.dissolve(members, past, false)
		return
	}
	if agreed.Agreed {
		p.grantTogether(members)
		return
	}
	p.holdLater(members, agreed.Start, agreed.Why)
}

// doubtLate leaves the sites out for a while that hold room only later than they were asked for.
func (p *Peer) doubtLate(members []*job) {
	for _, one := range members {
		if one.Held > one.Hold {
			p.doubtSite(one)
		}
	}
}

// holdLater asks those members to hold room again that do not from the new instant on.
func (p *Peer) holdLater(members []*job, start protocol.Instant, why string) {
	key := members[0].groupKey()
	if p.rehelds[key]++; p.rehelds[key] > holdTries {
		delete(p.rehelds, key)
		p.doubtLate(members)
		p.dissolve(members, fmt.Sprintf("its sites found no common instant to start in %d tries", holdTries), false)
		return
	}
	start = max(start, p.now.Add(p.cfg.Margin))
	late := slices.DeleteFunc(members, func(one *job) bool { return one.Held == start })
	for _, one := range late {
		p.giveHoldUp(one)
	}
	p.holdAt(late, start, why)
}

// giveHoldUp tells the member's site that this epoch is over.
func (p *Peer) giveHoldUp(j *job) {
	p.timers.Stop(timer{kind: jobTimer, job: j.Spec.Job})
	if j.Phase == row.JobReserving {
		p.release(j.tag())
		return
	}
	p.send(j.Site, protocol.Abort{Tag: j.tag()})
}

// grantTogether gives all members away, or none: one step, and so one transaction.
func (p *Peer) grantTogether(members []*job) {
	for _, j := range members {
		if why := p.cannotGrant(j); why != "" {
			p.breakUp(j, why)
			return
		}
	}
	delete(p.rehelds, members[0].groupKey())
	p.endTurn(members[0].groupKey())
	for _, j := range members {
		if j.Phase == row.JobOffered {
			p.grant(j, p.partners.Of(j.Site))
			continue
		}
		account, _ := p.cfg.Accounts.Local(j.Spec.User) // cannotGrant has asked
		p.moveJob(j, row.JobCommittedLocal)
		j.Placed = p.now
		p.saveJob(j.Spec.Job)
		p.fact(event.Fact{Kind: event.JobCommitted, Job: j.Spec.Job, Site: p.cfg.Site, Epoch: j.Epoch, Text: agreed(j)})
		p.startRun(j.tag(), account, j.Spec)
	}
}

// agreed tells the instant at which a member of a group starts with the others.
func agreed(j *job) string {
	if j.Hold == 0 {
		return ""
	}
	return fmt.Sprintf("all sites of its group hold room from %s on", j.Held.Text())
}

// cannotGrant says what has changed for a member since its room was held; empty: nothing
// that matters.
func (p *Peer) cannotGrant(j *job) string {
	if j.Phase == row.JobOffered {
		if one := p.partners.Of(j.Site); one == nil || one.Departed {
			return string(j.Site) + " is no partner any more"
		}
		return ""
	}
	if _, err := p.cfg.Accounts.Local(j.Spec.User); err != nil {
		return err.Error()
	}
	return ""
}

// breakUp gives up what is held for a group, because of one member.
func (p *Peer) breakUp(j *job, why string) {
	p.dissolve(p.waiting(j), fmt.Sprintf("job %v: %s", j.Spec.Job, why), true)
}

// restGroup gives up what is held for a group, because of one member for which nothing will be
// otherwise soon.
func (p *Peer) restGroup(j *job, why string) {
	p.dissolve(p.waiting(j), fmt.Sprintf("job %v: %s", j.Spec.Job, why), false)
}

// dissolve brings members back to the grid queue. Unless something has changed for them they
// rest there.
func (p *Peer) dissolve(members []*job, why string, changed bool) {
	for _, one := range members {
		delete(p.rehelds, one.groupKey())
		p.endTurn(one.groupKey())
		p.giveHoldUp(one)
	}
	for _, one := range members {
		p.backToQueue(one, event.JobReturned, "not all that start together have room: "+why)
		if p.inQueue(one) && !changed {
			p.hold(one, p.jitter(min(p.cfg.Sigma, p.cfg.RetryMax)), one.Reason, "")
		}
	}
}

// partFrom is called when a member leaves its group before the grant or comes back after it.
// The others do not start without it, if they have not. It says whether some that were
// granted are on their way back.
func (p *Peer) partFrom(j *job, why string) (coming bool) {
	others := p.others(j)
	seeking := slices.DeleteFunc(p.waiting(j), func(other *job) bool { return other == j })
	p.dissolve(seeking, cmp.Or(why, fmt.Sprintf("job %v has left the group", j.Spec.Job)), true)
	for _, other := range others {
		if other.Hold == 0 || other.State == protocol.Running {
			continue
		}
		switch other.Phase {
		case row.JobGranted, row.JobHandedOff:
			coming = true
			p.recall(other)
		case row.JobCommittedLocal:
			coming = true
			p.takeBack(p.runs[other.tag()], false)
		case row.JobRecalling:
			coming = coming || !other.Cancelling
		case row.JobInGridQueue, row.JobReserving, row.JobOffered, row.JobStagingOut, row.JobEnding:
		}
	}
	return coming
}

// releaseLate gives up room that came too late. The batch system may have been asked twice;
// room that the job has by the first answer stays.
func (p *Peer) releaseLate(tag protocol.Tag) {
	if p.runs[tag] != nil {
		delete(p.unreleased, tag)
		return
	}
	p.release(tag)
}

// releaseTries is how often the local scheduler is asked to give room up: for about ten minutes.
const releaseTries = 20

// release gives up room that the own batch system holds. It is asked again while that fails;
// what it never hears of ends by itself with the time that was asked for.
func (p *Peer) release(tag protocol.Tag) { p.call(event.ReleaseOp{Tag: tag}, releaseRoom{tag}) }

// releaseRoom gives up room that is held.
type releaseRoom struct{ tag protocol.Tag }

func (c releaseRoom) answered(p *Peer, _ event.Result, err error) {
	tag := c.tag
	if err == nil {
		delete(p.unreleased, tag)
		return
	}
	p.unreleased[tag]++
	tries, next := p.unreleased[tag], "asked again"
	if tries >= releaseTries {
		delete(p.unreleased, tag)
		next = "given up; the room ends with the time that was asked for"
	} else {
		p.after(p.backoff(tries-1), timer{kind: releaseTimer, job: tag.Job, epoch: tag.Epoch})
	}
	if tries == 1 || tries >= releaseTries {
		text := fmt.Sprintf("release: %v; %s", err, next)
		p.fact(event.Fact{Kind: event.CallFailed, Job: tag.Job, Site: p.cfg.Site, Epoch: tag.Epoch, Text: clip(text)})
	}
}

// holdGuest has the own batch system hold room for a guest, and tells its origin.
func (p *Peer) holdGuest(g *guest) {
	hold := localsched.Hold{Tag: g.tag(), Request: g.Spec.On(&p.cfg.Capacity), Start: g.Hold, Account: g.Account}
	p.call(event.ReserveOp{Hold: hold}, reserveGuest{g.tag(), g.instance})
}

// reserveGuest has room held for a guest. When that is refused the guest is forgotten, and its tag
// may be offered again: the answer to a second call for the first one is not about the second.
type reserveGuest struct {
	tag      protocol.Tag
	instance instance
}

func (c reserveGuest) answered(p *Peer, result event.Result, err error) {
	tag, g := c.tag, p.guests[c.tag.Job]
	done, err := resultAs[event.ReserveResult](result, err)
	switch {
	case g == nil || g.instance != c.instance || g.Phase != row.GuestPrepared:
		p.releaseLate(tag)
	case err != nil:
		p.fact(event.Fact{Kind: event.CallFailed, Job: tag.Job, Site: g.Origin, Epoch: tag.Epoch, Text: clip("reserve: " + err.Error())})
	case done.Refused != "":
		p.forgetGuest(g)
		p.refuseFor(p.partners.Of(g.Origin), protocol.Refused{Tag: tag, Reason: clip("no room can be held: " + done.Refused)})
	case g.Held != 0 && g.Held != done.Start: // the origin may know the other instant
		p.fact(event.Fact{Kind: event.CallFailed, Job: tag.Job, Site: g.Origin, Epoch: tag.Epoch, Text: "reserve: it" + movedRoom(g.Held, done.Start)})
		p.bury(g, row.GuestAborted)
		p.send(g.Origin, protocol.Aborted{Tag: tag})
	default:
		g.Held, g.tries = done.Start, 0
		p.saveGuest(tag.Job)
		p.send(g.Origin, g.preparedMessage())
		p.after(p.backoff(0), timer{kind: guestTimer, job: tag.Job})
	}
}

// movedRoom says that a batch system which was asked twice for the same room now holds other
// room. No member starts by it, since the others would start at the first instant.
func movedRoom(from, to protocol.Instant) string {
	return fmt.Sprintf(" has moved the room that it held from %s on to %s", from.Text(), to.Text())
}

// leftOut are the partners that a round does not ask about a component since they hold no
// room, as people see them.
func (p *Peer) leftOut(r *round, i int) (out []view.Quote) {
	j := r.job(p, i)
	if j == nil || !j.Together() || p.cfg.Policy.KeepsAll() {
		return nil
	}
	for _, one := range p.partners.All() {
		asked := r.AskOf(one) != nil
		site := one.AsSite()
		if asked || !one.Usable() || site.Judge(&r.Specs[i], true) != eligible.HoldsNoRoom {
			continue
		}
		q := protocol.Quote{Declined: site.Why(&r.Specs[i], true)}
		out = append(out, p.told(r, i, nil, view.Quoted(one.Site, q, one.Load, one.LoadAge(p.now))))
	}
	return out
}
