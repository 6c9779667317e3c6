package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/tokens"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// newPartner is a site of which nothing has been heard.
func newPartner(cfg rules.Partner) *partner {
	return &partner{Partner: cfg, refusals: tokens.New(refusalsRate, refusalsBurst), undone: tokens.New(undoneRate, undoneBurst)}
}

// setPartners takes another set of partners. From here on the peer is as one that was started
// with it on the same rows, but that sessions with partners that keep their keys go on.
func (p *Peer) setPartners(ev event.SetPartners) {
	cfg := p.cfg
	cfg.Partners = slices.SortedFunc(slices.Values(ev.Partners), func(a, b rules.Partner) int { return cmp.Compare(a.Site, b.Site) })
	if err := cfg.Validate(); err != nil {
		p.answer(ev.Asked, view.Refusal{Code: view.BadRequest, Reason: err.Error()})
		return
	}
	p.cfg, p.hint = cfg, nil
	p.tunings++
	p.dropRound() // its quotes may be of a site that is gone
	left := map[*partner]bool{}
	for _, one := range p.partners {
		at, stays := slices.BinarySearchFunc(cfg.Partners, one.Site, func(c rules.Partner, site protocol.SiteName) int { return cmp.Compare(c.Site, site) })
		switch {
		case stays:
			p.reconfigure(one, cfg.Partners[at])
		case !one.departed:
			left[one] = true
			p.cutOff(one)
			one.Partner, one.departed = rules.Partner{Site: one.Site}, true
		}
	}
	p.forgetDeparted()
	p.tellDeparted(func(one *partner) bool { return left[one] })
	for _, c := range cfg.Partners {
		if p.byName[c.Site] == nil {
			p.enter(newPartner(c))
		}
	}
	p.judgeCards() // a number may have become free
	if p.site.Listening && !p.overlapped && p.allSpoke() {
		p.endListening()
	}
	p.queue.Unpark(-1, gridqueue.Any)
	p.queue.ReleaseAll()
	p.queue.Unblock(gridqueue.Any)
	p.answer(ev.Asked, view.Done{})
}

// reconfigure gives a partner another configuration. With another key it is heard anew.
func (p *Peer) reconfigure(one *partner, cfg rules.Partner) {
	if one.departed || one.PublicKey != cfg.PublicKey {
		p.cutOff(one)
	}
	one.Partner, one.departed = cfg, false
}

// cutOff ends the session with a partner and forgets what was heard of it in this life. What
// the rows say of it and its jobs stays, and so does what the local scheduler is asked for it.
func (p *Peer) cutOff(one *partner) {
	if one.linked {
		p.disconnected(event.Disconnected{Site: one.Site})
	}
	for _, kind := range []timerKind{probeTimer, paceTimer, doubtTimer} {
		p.timers.Stop(timer{kind: kind, site: one.Site})
	}
	for tag, origin := range p.weighed {
		if origin == one.id() {
			p.stopWeighing(tag)
		}
	}
	again := newPartner(one.Partner)
	again.instance, again.departed, again.row, again.seenSeq, again.heard = one.instance, one.departed, one.row, one.seenSeq, one.heard
	again.jobsHere, again.cpusHere, again.jobsThere = one.jobsHere, one.cpusHere, one.jobsThere
	again.growing, again.questions.answering = one.growing, one.questions.answering
	*one = *again
}
