package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (p *Peer) connected(card protocol.Card) {
	one := p.partners.Of(card.Site)
	if one == nil || one.Departed {
		return
	}
	renewed, overlapped := one.Connect(card)
	p.handleLife(one, card.Life(), card.Stopped)
	p.claimNumber(one)
	p.judgeCards()
	p.handleSeenLife(one, card.Seen)
	p.advanceJobSeq(one, card.SeenSeq)
	p.sendMark(one, overlapped)
	if card.Boot == 0 { // of a version without watermarks
		p.markSpoken(one, false)
	}
	p.logEvent(event.LogEvent{Kind: event.LogPartnerUp, Site: card.Site, Text: one.Barred})
	p.markResponsive(one)
	for _, j := range p.rows.Jobs {
		j.Excluded.Allow(card.Site)
	}
	p.queue.ReleaseAll()
	p.resend(card.Site)
	if renewed {
		p.requestOwnershipCheck(one)
	}
}

// advanceJobSeq keeps job ids above those that a partner has seen of this site.
func (p *Peer) advanceJobSeq(one *partner.Partner, seq uint64) {
	one.Highest = max(one.Highest, seq)
	changed, odd := p.site.SkipSeen(p.now, seq)
	if changed {
		p.rows.SaveSite()
	}
	if odd != "" {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Text: odd})
	}
}

// resend repeats at once what a partner that is back has not answered.
func (p *Peer) resend(site protocol.SiteName) {
	p.fireSoon(func(t timer) bool { return p.concerns(t, site) })
}

// fireSoon fires timers now.
func (p *Peer) fireSoon(which func(timer) bool) {
	for t := range p.timers.Keys() {
		if which(t) {
			p.resendSoon = append(p.resendSoon, t)
		}
	}
	slices.SortFunc(p.resendSoon, func(a, b timer) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.job, b.job), cmp.Compare(a.epoch, b.epoch))
	})
	for _, t := range p.resendSoon {
		p.timers.Set(t, p.now)
	}
	p.resendSoon = p.resendSoon[:0]
}

func (p *Peer) concerns(t timer, site protocol.SiteName) bool {
	switch t.kind {
	case jobTimer, collectTimer:
		j := p.rows.Jobs[t.job]
		return j != nil && (j.Site == site || j.Phase == row.JobEnding && slices.Contains(row.PartnersWith(&j.Job), site))
	case guestTimer, reportTimer:
		g := p.rows.Guests[t.job]
		return g != nil && g.Origin == site
	case runTimer, reclaimTimer, roundTimer, probeTimer, watchTimer, pruneTimer, loadCheckTimer, cycleTimer, priceTimer, startTimer,
		listenTimer, markTimer, ownershipTimer, paceTimer, queueTimer, limitTimer, releaseTimer, releaseWaitTimer, startByTimer:
	}
	return false
}

func (p *Peer) disconnected(ev event.Disconnected) {
	one := p.partners.Of(ev.Site)
	if one == nil {
		return
	}
	why := view.Clip(ev.Why)
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
		p.timers.Stop(timer{kind: probeTimer, site: one.Site})
		p.queue.ReleaseAll()
	}
}

// markUnresponsive leaves a partner that missed a deadline out until it is heard again,
// and probes it every σ.
func (p *Peer) markUnresponsive(one *partner.Partner) {
	if one.MissDeadline() {
		p.logEvent(event.LogEvent{Kind: event.LogPartnerUnresponsive, Site: one.Site})
		p.after(p.dice.Jitter(p.cfg.CheckInterval), timer{kind: probeTimer, site: one.Site})
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
	p.after(p.dice.Jitter(p.cfg.CheckInterval), timer{kind: probeTimer, site: site})
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
	if t := (timer{kind: paceTimer, site: one.Site}); !p.timers.Has(t) {
		p.timers.Set(t, end)
	}
}

// endPeriod says how many facts about a partner were not made in the periods that are over.
func (p *Peer) endPeriod(one *partner.Partner) {
	over, next := one.EndPeriod(p.now)
	if next != 0 {
		p.timers.Set(timer{kind: paceTimer, site: one.Site}, next)
	}
	for _, f := range over {
		p.logEvent(event.LogEvent{Kind: event.LogKind(f.Kind), Site: one.Site, OmittedQuotes: f.Others, Text: f.Text})
	}
}
