package peer

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// listenFor is how long a start listens, at most, to what its partners know of this site,
// before anything is started; and how long it waits for an earlier life to show up whose
// session a partner had not seen end.
const listenFor = 3 * protocol.Second

// beginLife raises the number of starts, and looks whether the rows are what they were.
func (p *Peer) beginLife(fresh bool) {
	if !p.site.TracksLives() {
		return
	}
	if p.site.Begin(p.now, fresh) {
		p.stopStarts()
	}
	if !fresh {
		p.listen()
	}
	p.rows.SaveSite()
}

// listen lets nothing start until the partners have said what they know of this site.
func (p *Peer) listen() {
	if len(p.cfg.Partners) == 0 {
		return
	}
	p.site.Listening = true
	p.after(listenFor, due.Once(due.ListenTimer))
}

// markSpoken notes that a partner has said what it knows. The last one ends the listening, unless
// an earlier life may still show up.
func (p *Peer) markSpoken(one *partner.Partner, overlapped bool) {
	one.Spoken = true
	switch {
	case !p.site.Listening:
	case overlapped && !p.overlapped: // once: no partner may delay a start for ever
		p.overlapped = true
		p.after(listenFor, due.Once(due.ListenTimer))
	case !p.overlapped && p.partners.AllSpoke():
		p.endListening()
	}
}

func (p *Peer) endListening() {
	if !p.site.Listening {
		return
	}
	p.site.Listening = false
	p.timers.Stop(due.Once(due.ListenTimer))
	early := p.early
	p.early = nil
	for _, ev := range early {
		p.submit(ev)
	}
	p.resumeStarts()
}

// resumeStarts takes up again what waited while nothing might start.
func (p *Peer) resumeStarts() {
	if p.site.StopReason() != "" {
		return
	}
	p.fireSoon(func(t due.Timer) bool {
		return t.Kind == due.HoldTimer || t.Kind == due.JobTimer || t.Kind == due.CollectTimer || t.Kind == due.GuestTimer || t.Kind == due.ReportTimer
	})
	p.takeHeldEnds()
	p.resumeOutcomes()
	p.carryOutDrains()
	for _, tag := range p.rows.RunTags() {
		if r := p.rows.Runs[tag]; r.Waits {
			r.Waits = false
			p.after(0, due.OfTag(due.RunTimer, tag))
		}
	}
}

// allowStarts lets the local scheduler start jobs, or keeps it from that.
func (p *Peer) allowStarts() {
	may := p.site.StopReason() == ""
	if !p.site.TracksLives() || (p.allows != nil && *p.allows == may) {
		return
	}
	if may && p.queueCheckPending() {
		return // until what waits in the local queue has been taken out, it must not start
	}
	p.allows, p.out.Starts = &may, &may
}

// handleTwin stops all starts, durably: another peer runs as this site.
func (p *Peer) handleTwin(one *partner.Partner, twin protocol.Life) {
	if !p.site.TwinSeen(twin) {
		return
	}
	p.rows.SaveSite()
	p.logEventAbout(one, event.LogEvent{Kind: event.LogTwoPeers, Site: p.cfg.Site, Text: fmt.Sprintf("%s, says %s", p.site.TwinText(), one.Site)})
	p.refuseEarly()
	p.dropRound()
}

// handleSeenLife takes what a partner durably knows of this site.
func (p *Peer) handleSeenLife(one *partner.Partner, seen protocol.Life) {
	if !p.site.TracksLives() || seen.Boot == 0 {
		return
	}
	one.OfHere = lives.Latest(one.OfHere, seen)
	stops, changed := p.site.SeenBy(one.Site, seen)
	if changed {
		p.rows.SaveSite()
	}
	if stops {
		p.stopStarts()
	}
}

// handleLife takes which life of a partner speaks.
func (p *Peer) handleLife(one *partner.Partner, life protocol.Life, stopped bool) {
	if !p.site.TracksLives() || life.Boot == 0 {
		return
	}
	twoPeers, changed := one.HearLife(life, stopped, p.now, p.cfg.Watermark/2)
	if twoPeers != "" {
		p.logEventAbout(one, event.LogEvent{Kind: event.LogTwoPeers, Text: twoPeers})
	}
	if changed {
		p.rows.SavePartner(one.Site)
	}
}

// handleWatermark takes what a partner says of its store and of this one.
func (p *Peer) handleWatermark(one *partner.Partner, m protocol.Watermark) {
	if !p.site.TracksLives() {
		return
	}
	before := one.Voice.Present
	if one.Voice.Late(m.Life) {
		return
	}
	p.handleLife(one, m.Life, m.Stopped)
	if m.Life.Incarnation != before.Incarnation && before.Boot != 0 {
		p.requestOwnershipCheck(one)
	}
	p.judgeCards(nil)
	p.handleSeenLife(one, m.Seen)
	p.advanceJobSeq(one, m.SeenSeq)
	p.handleTwin(one, m.Twin)
	p.markSpoken(one, m.Overlapped)
}

// sendMark sends a partner how far this store has come and what is known of its own.
func (p *Peer) sendMark(one *partner.Partner, overlapped bool) {
	if !p.site.TracksLives() || !one.Linked {
		return
	}
	p.send(one.Site, protocol.Watermark{
		Life: p.site.Life(), Seen: one.Row.Life, SeenSeq: one.SeenSeq, Twin: one.Voice.Twin(), Overlapped: overlapped,
		Stopped: p.site.Recovery != "",
	})
}

// markAll does so for every partner.
func (p *Peer) markAll() {
	for _, one := range p.partners.All() {
		p.sendMark(one, false)
	}
}

// raiseGeneration counts a step that changes rows. What is noted of partners is not news itself: two peers
// would go on for ever.
func (p *Peer) raiseGeneration() {
	if !p.site.TracksLives() || len(p.out.Records) == 0 {
		return
	}
	p.site.Generation++
	news := slices.ContainsFunc(p.out.Records, func(rec row.Record) bool { return rec.Table != row.PartnerTable })
	p.out.Records = append(p.out.Records, row.Record{
		Table: row.GenerationTable, Key: string(row.GenerationTable), Row: row.Generation{Generation: p.site.Generation},
	})
	if news && !p.timers.Has(due.Once(due.MarkTimer)) {
		p.after(p.dice.Jitter(p.cfg.Watermark), due.Once(due.MarkTimer))
	}
}
