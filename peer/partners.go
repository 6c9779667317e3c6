package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// connected begins a session with a partner, whose card the links have checked against the key of the session. A card by a key that has been
// removed since then comes from a session that is about to end.
func (p *Peer) connected(card protocol.Card) {
	one := p.partners.Of(card.Site)
	if one == nil || one.Departed || !one.Accepts(card.PublicKey) {
		return
	}
	renewed, overlapped := one.Connect(card)
	p.handleLife(one, card.Life(), card.Stopped)
	p.judgeCards(one)
	p.handleSeenLife(one, card.Seen)
	p.advanceJobSeq(one, card.SeenSeq)
	p.sendMark(one, overlapped)
	if card.Boot == 0 { // of a version without watermarks
		p.markSpoken(one, false)
	}
	p.logEvent(event.LogEvent{Kind: event.LogPartnerUp, Site: card.Site, Text: one.Barred})
	p.markResponsive(one)
	if p.host().Draining(one) != "" {
		p.tellDraining(one)
	}
	for _, j := range p.rows.Jobs {
		j.Excluded.Allow(card.Site)
	}
	p.queue.ResumeAll()
	p.resend(card.Site)
	if renewed {
		p.requestOwnershipCheck(one)
	}
}

// advanceJobSeq keeps job ids above those that a partner has seen of this site.
func (p *Peer) advanceJobSeq(one *partner.Partner, seq uint64) {
	one.Highest = max(one.Highest, seq)
	changed, unexpected := p.site.SkipSeen(p.now, seq)
	if changed {
		p.rows.SaveSite()
	}
	if unexpected != "" {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Text: unexpected})
	}
}

// resend repeats at once what a partner that is back has not answered.
func (p *Peer) resend(site protocol.SiteName) {
	p.fireSoon(func(t due.Timer) bool {
		job, guest := t.Resent()
		j, g := p.rows.Jobs[t.Job], p.rows.Guests[t.Job]
		return t.Kind == due.DependencyTimer || job && j != nil && j.AwaitsAnswerOf(site) || guest && g != nil && g.Origin == site
	})
}

// fireSoon fires timers now.
func (p *Peer) fireSoon(which func(due.Timer) bool) {
	for t := range p.timers.Keys() {
		if which(t) {
			p.resendSoon = append(p.resendSoon, t)
		}
	}
	slices.SortFunc(p.resendSoon, due.Timer.Compare)
	for _, t := range p.resendSoon {
		p.timers.Set(t, p.now)
	}
	p.resendSoon = p.resendSoon[:0]
}

func (p *Peer) disconnected(ev event.Disconnected) {
	one := p.partners.Of(ev.Site)
	if one == nil {
		return
	}
	why := view.Clip(ev.Reason)
	if one.Disconnect(p.now, why) {
		p.logEvent(event.LogEvent{Kind: event.LogPartnerDown, Site: ev.Site})
		p.stopWaitingFor(one)
	}
	if why != "" {
		p.logEvent(event.LogEvent{Kind: event.LogKeyRefused, Site: ev.Site, Text: why})
	}
}

// markResponsive notes that the partner is alive; it is asked again.
func (p *Peer) markResponsive(one *partner.Partner) {
	if one.Hear(p.now) {
		p.timers.Stop(due.OfSite(due.ProbeTimer, one.Site))
		p.queue.ResumeAll()
	}
}

// markUnresponsive leaves a partner that missed a deadline out until it is heard again,
// and probes it every σ.
func (p *Peer) markUnresponsive(one *partner.Partner) {
	if one.MissDeadline() {
		p.logEvent(event.LogEvent{Kind: event.LogPartnerUnresponsive, Site: one.Site})
		p.after(p.dice.Jitter(p.cfg.CheckInterval), due.OfSite(due.ProbeTimer, one.Site))
	}
}

func (p *Peer) probe(site protocol.SiteName) {
	one := p.partners.Of(site)
	if one == nil || !one.Unresponsive {
		return
	}
	if one.Linked {
		p.send(site, protocol.QuoteRequest{Deadline: p.cfg.QuoteTimeout})
	}
	p.after(p.dice.Jitter(p.cfg.CheckInterval), due.OfSite(due.ProbeTimer, site))
}

func (p *Peer) digestSeen(ev event.DigestSeen) {
	if one := p.partners.Of(ev.Digest.Site); one != nil {
		one.HearDigest(ev.Digest.Seq, ev.Digest.Load, p.now-protocol.Instant(ev.Age))
	}
}

// logEventAbout makes a fact that a partner's message brings about, at the pace of its kind. Without
// another site it is about the partner.
func (p *Peer) logEventAbout(one *partner.Partner, f event.LogEvent) {
	f.Site = cmp.Or(f.Site, one.Site)
	made, end := one.Pace(string(f.Kind), p.now)
	if made {
		p.logEvent(f)
		return
	}
	if t := due.OfSite(due.PaceTimer, one.Site); !p.timers.Has(t) {
		p.timers.Set(t, end)
	}
}

// endPeriod says how many facts about a partner were not made in the periods that are over.
func (p *Peer) endPeriod(one *partner.Partner) {
	over, next := one.EndPeriod(p.now)
	if next != 0 {
		p.timers.Set(due.OfSite(due.PaceTimer, one.Site), next)
	}
	for _, f := range over {
		p.logEvent(event.LogEvent{Kind: event.LogKind(f.Kind), Site: one.Site, OmittedQuotes: f.Others, Text: f.Text})
	}
}

// hintPause is the time between two hints, however many sites are seen.
const hintPause = protocol.Hour

// memberSeen warns the operator of another site that says it has this one's name or number.
func (p *Peer) memberSeen(m event.MemberSeen) {
	conflict := partner.ConflictReason(&p.cfg, m.Site, m.Number, m.PublicKey)
	if conflict == "" || p.hinted != 0 && p.now.Sub(p.hinted) < hintPause {
		return
	}
	p.hinted = p.now
	p.logEvent(event.LogEvent{Kind: event.LogMemberConflict, Site: m.Site, Text: conflict})
}

// judgeCards reports the partners with which no jobs can be exchanged by the cards. First is a partner whose
// card is new; nil: none is.
func (p *Peer) judgeCards(first *partner.Partner) {
	claimed, barred := p.partners.JudgeCards(first, p.cfg.Number)
	for _, one := range claimed {
		p.rows.SavePartner(one.Site)
	}
	for _, one := range barred {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogSiteIDConflict, Text: one.Barred})
	}
}

// recordConduct counts one job of this site at a partner, or at least quoted by it.
func (p *Peer) recordConduct(one *partner.Partner, what row.Conduct) {
	if !p.cfg.AskUnreliableLast || one == nil {
		return
	}
	changed, save := one.Judge(what, p.now, p.cfg.CheckInterval)
	if save {
		p.rows.SavePartner(one.Site)
	}
	if changed {
		p.logEvent(event.LogEvent{Kind: event.LogPartnerQuality, Site: one.Site, Text: one.QualityText()})
	}
}

// watchStart sets the time by which a job that was handed over has to have started.
func (p *Peer) watchStart(j *tables.Job) {
	if !p.cfg.AskUnreliableLast || j.ReserveFrom != 0 || j.QuotedAWT == nil {
		return
	}
	p.after(partner.LateAfter(*j.QuotedAWT), due.OfTag(due.StartTimer, j.Tag()))
}

// startDue looks whether a job has started that should have. A partner that cannot be reached
// cannot say so, and one whose job is recalled need not start it.
func (p *Peer) startDue(tag protocol.Tag) {
	j := p.rows.Jobs[tag.Job]
	if j == nil || j.Epoch != tag.Epoch || j.Phase != row.JobHandedOff || j.Started != 0 || j.Cancelling {
		return
	}
	if one := p.partners.Of(j.Site); one != nil && one.Reached() {
		p.recordConduct(one, row.Late)
	}
}

// recordStart counts a job whose start became known, unless it counted as late already.
func (p *Peer) recordStart(j *tables.Job) {
	t := due.OfTag(due.StartTimer, j.Tag())
	if p.timers.Has(t) {
		p.timers.Stop(t)
		p.recordConduct(p.partners.Of(j.Site), row.Kept)
	}
}

// recordEnd counts a job that failed as soon as it ran. That it ran longer than it was there is not believed.
func (p *Peer) recordEnd(j *tables.Job, outcome *protocol.Outcome) {
	if one := p.partners.Of(j.Site); one != nil && one.FailedAtOnce(&j.Spec, outcome.State, min(outcome.Ran, j.HeldFor(p.now))) {
		p.recordConduct(one, row.FailedAtOnce)
	}
}
