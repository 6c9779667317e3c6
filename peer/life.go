package peer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A store may be restored from a backup, and a site's directory may be copied and started
// somewhere else. Neither may run a job again in silence. So each start on a store is a life
// with a number, each change of the rows raises a generation, and three witnesses outside the
// rows remember how far they had come: a small file of the shell, the machine, and the
// partners, which are sent watermarks (docs/decisions/0014). Whoever finds the rows older than
// a witness says stops all starts until an operator decides: recover.go.

// listenFor is how long a start listens, at most, to what its partners know of this site,
// before anything is started; and how long it waits for an earlier life to show up whose
// session a partner had not seen end.
const listenFor = 3 * protocol.Second

// lives says whether lives are distinguished at all.
func (p *Peer) lives() bool { return p.cfg.Watermark > 0 }

// life is the present life, as the rows have it.
func (p *Peer) life() protocol.Life {
	if !p.lives() {
		return protocol.Life{}
	}
	return protocol.Life{
		Incarnation: p.site.Incarnation, Boot: p.site.Boot, Begun: p.site.Begun, Generation: p.generation,
	}
}

// beginLife raises the number of starts, and looks whether the rows are what they were.
func (p *Peer) beginLife(fresh bool) {
	if !p.lives() {
		return
	}
	p.born = p.generation
	if !fresh {
		if why := p.behindWitness(); why != "" {
			p.site.Witnessed = latest(p.site.Witnessed, p.cfg.Witness)
			p.needRecovery(why)
		}
		if why := p.moved(); why != "" {
			p.site.QueueCopied = true
			p.needRecovery(why)
		}
		p.listen()
	}
	p.site.Boot++
	p.site.Begun = p.now
	if p.site.Recovery == "" && p.cfg.Machine != "" {
		p.site.Machine = p.cfg.Machine
	}
	p.saveSite()
}

// behindWitness compares the rows, as they were left, with what the shell's file remembers.
func (p *Peer) behindWitness() string {
	seen := p.cfg.Witness
	if seen.Boot == 0 || seen.Incarnation < p.site.Incarnation {
		return ""
	}
	if left := p.life(); left.Incarnation != seen.Incarnation || left.Generation < seen.Generation || left.Boot < seen.Boot ||
		(left.Boot == seen.Boot && left.Begun != seen.Begun) {
		return fmt.Sprintf("the database is older than the witness file beside it: it was left at %v, the file has seen %v", left, seen)
	}
	return ""
}

// moved compares the machine with the one that the rows were written on.
func (p *Peer) moved() string {
	if p.site.Machine == "" || p.cfg.Machine == "" || p.site.Machine == p.cfg.Machine {
		return ""
	}
	return fmt.Sprintf("the state directory was copied or moved: its database was written on %s, and this is %s",
		p.site.Machine, p.cfg.Machine)
}

// listen lets nothing start until the partners have said what they know of this site.
func (p *Peer) listen() {
	if len(p.cfg.Partners) == 0 {
		return
	}
	p.listening = true
	p.after(listenFor, timer{kind: listenTimer})
}

// spoken notes that a partner has said what it knows. The last one ends the listening, unless
// an earlier life may still show up.
func (p *Peer) spoken(one *partner, overlapped bool) {
	one.spoken = true
	switch {
	case !p.listening:
	case overlapped && !p.overlapped: // once: nobody may put a start off for ever
		p.overlapped = true
		p.after(listenFor, timer{kind: listenTimer})
	case !p.overlapped && p.allSpoke():
		p.endListening()
	}
}

// allSpoke says whether every partner has said what it knows.
func (p *Peer) allSpoke() bool {
	return !slices.ContainsFunc(p.partners, func(one *partner) bool { return !one.spoken && !one.departed })
}

func (p *Peer) endListening() {
	if !p.listening {
		return
	}
	p.listening = false
	p.timers.Stop(timer{kind: listenTimer})
	early := p.early
	p.early = nil
	for _, ev := range early {
		p.submit(ev)
	}
	p.goOn()
}

// goOn takes up again what waited while nothing might start.
func (p *Peer) goOn() {
	if p.stopped() != "" {
		return
	}
	p.hasten(func(t timer) bool {
		return t.kind == jobTimer || t.kind == collectTimer || t.kind == guestTimer || t.kind == reportTimer
	})
	for _, tag := range slices.SortedFunc(maps.Keys(p.runs), compareTags) {
		if r := p.runs[tag]; r.waits {
			r.waits = false
			p.after(0, runTimerOf(tag))
		}
	}
}

// stopped says why nothing may be started; empty: it may.
func (p *Peer) stopped() string {
	switch {
	case p.site.Recovery != "":
		return "nothing is started here until an operator has run `switchyard recover`: " + p.site.Recovery
	case p.site.Twin.Boot != 0:
		return p.twinText()
	case p.listening:
		return "the peer has just started and listens to its partners first"
	}
	return ""
}

// allowStarts lets the local scheduler start jobs, or keeps it from that.
func (p *Peer) allowStarts() {
	may := p.stopped() == ""
	if !p.lives() || (p.allows != nil && *p.allows == may) {
		return
	}
	if may && p.looksThrough() {
		return // until what waits in the local queue has been taken out, it must not start
	}
	p.allows, p.out.Starts = &may, &may
}

// mute says whether nothing may be reported of jobs either, since the rows may be a copy's.
func (p *Peer) mute() bool { return p.site.Recovery != "" || p.listening }

func (p *Peer) twinText() string {
	return fmt.Sprintf("two peers run as %s: this one (%v) and another one (%v); shut one of them down, "+
		"then run `switchyard recover` at the other", p.cfg.Site, p.life(), p.site.Twin)
}

// twinSeen stops all starts, durably: another peer runs as this site. A life that these rows come from
// is no other peer, unless it has gone on after this one began.
func (p *Peer) twinSeen(one *partner, twin protocol.Life) {
	if p.atBegin().Follows(twin) || twin.Same(p.site.Twin) || twin.Incarnation < p.site.Twin.Incarnation {
		return // it has ended, as far as anybody knows, or one is known that matters more
	}
	p.site.Twin = twin
	p.saveSite()
	p.factOf(one, Fact{Kind: TwoPeers, Site: p.cfg.Site, Text: fmt.Sprintf("%s, says %s", p.twinText(), one.Site)})
	p.refuseEarly()
	p.dropRound()
}

// atBegin is the present life as it began: what an earlier one did was in the rows then.
func (p *Peer) atBegin() protocol.Life {
	life := p.life()
	life.Generation = p.born
	return life
}

// seenBy takes what a partner durably knows of this site. Whoever carries the messages has
// checked that this site has said so itself. What the partner says of job ids nobody can
// check: they are skipped only ([Peer.skipSeen]), and nothing stops for them.
func (p *Peer) seenBy(one *partner, seen protocol.Life) {
	if !p.lives() || seen.Boot == 0 {
		return
	}
	one.ofMe = latest(one.ofMe, seen)
	mine := p.atBegin()
	if mine.Follows(seen) {
		return
	}
	p.known = latest(p.known, seen)
	if !p.site.QueueCopied && !p.witnessed(seen) {
		p.site.QueueCopied = true
		p.saveSite()
	}
	p.needRecovery(fmt.Sprintf("%s has seen a later state of this site than its database has: %v, the database began with %v",
		one.Site, seen, mine))
}

// witnessed says whether the witness file, which is beside the rows and the local queue, had
// seen a life as well. If so, the rows alone are older, and the local queue is the newest. If
// not, all of them are as old.
func (p *Peer) witnessed(seen protocol.Life) bool {
	return p.site.Witnessed.Follows(seen) && p.site.Witnessed.Generation >= seen.Generation
}

// latest has the most of both in all that rises.
func latest(a, b protocol.Life) protocol.Life {
	return protocol.Life{
		Incarnation: max(a.Incarnation, b.Incarnation), Boot: max(a.Boot, b.Boot),
		Begun: max(a.Begun, b.Begun), Generation: max(a.Generation, b.Generation),
	}
}

// heardLife takes which life of a partner speaks.
func (p *Peer) heardLife(one *partner, life protocol.Life, stopped bool) {
	if !p.lives() || life.Boot == 0 {
		return
	}
	last := one.life
	one.life = life
	if !life.Same(last) && last.Boot != 0 {
		p.otherLife(one, life, last)
	}
	one.stale = ""
	if stopped { // it has done nothing that another life must know
		one.stale = fmt.Sprintf("it starts nothing until its operator has run `switchyard recover` there (%v)", life)
		return
	}
	if !life.Follows(one.row.Life) {
		one.stale = fmt.Sprintf("its store is older than what it has said of it before: it is at %v, and was at %v; "+
			"its operator must run `switchyard recover` there", life, one.row.Life)
		return
	}
	if !life.Same(one.row.Life) || (life.Generation > one.row.Life.Generation && p.now.Sub(one.marked) >= p.cfg.Watermark/2) {
		one.row.Life, one.marked = life, p.now
		p.savePartner(one)
	}
}

// otherLife takes a change of the life that speaks for a partner. One that was heard before
// another one, and is heard after it, has run all the time, and so do both.
func (p *Peer) otherLife(one *partner, life, last protocol.Life) {
	const mostFormer = 8
	if !slices.ContainsFunc(one.former, life.Same) {
		if one.former = append(one.former, last); len(one.former) > mostFormer {
			one.former = one.former[1:]
		}
		one.twins = nil // it began after both
		return
	}
	if !slices.ContainsFunc(one.former, last.Same) {
		one.former = append(one.former, last)
	}
	if len(one.twins) == 0 {
		p.factOf(one, Fact{Kind: TwoPeers, Text: fmt.Sprintf(
			"two peers run as %s: %v, and %v; no jobs are exchanged with either until one is shut down", one.Site, life, last)})
	}
	one.twins = []protocol.Life{life, last}
}

// twinOf is the other life of a partner that is heard beside the present one; zero: none.
func (one *partner) twinOf() protocol.Life {
	for _, twin := range one.twins {
		if !twin.Same(one.life) {
			return twin
		}
	}
	return protocol.Life{}
}

// doubtful says why nothing that the partner says of jobs is believed now; empty: it is.
func (one *partner) doubtful() string {
	if len(one.twins) > 0 {
		names := make([]string, len(one.twins))
		for i, twin := range one.twins {
			names[i] = twin.String()
		}
		return "two peers run as " + string(one.Site) + ": " + strings.Join(names, " and ") + "; one must be shut down"
	}
	return one.stale
}

// watermark takes what a partner says of its store and of this one.
func (p *Peer) watermark(one *partner, m protocol.Watermark) {
	if !p.lives() {
		return
	}
	before := one.life
	if resumed := m.Life.Incarnation > before.Incarnation || (m.Life.Incarnation == before.Incarnation && m.Life.Boot > before.Boot); !m.Life.Same(before) && !resumed {
		return // late, of a life that ended meanwhile
	}
	p.heardLife(one, m.Life, m.Stopped)
	if m.Life.Incarnation != before.Incarnation && before.Boot != 0 {
		p.doubt(one)
	}
	p.judgeCards()
	p.seenBy(one, m.Seen)
	p.skipSeen(one, m.SeenSeq)
	p.twinSeen(one, m.Twin)
	p.spoken(one, m.Overlapped)
}

// sendMark sends a partner how far this store has come and what is known of its own.
func (p *Peer) sendMark(one *partner, overlapped bool) {
	if !p.lives() || !one.linked {
		return
	}
	p.send(one.Site, protocol.Watermark{
		Life: p.life(), Seen: one.row.Life, SeenSeq: one.seenSeq, Twin: one.twinOf(), Overlapped: overlapped,
		Stopped: p.site.Recovery != "",
	})
}

// markAll does so for every partner.
func (p *Peer) markAll() {
	for _, one := range p.partners {
		p.sendMark(one, false)
	}
}

// raise counts a step that changes rows. What is noted of partners is not news itself: two peers
// would go on for ever.
func (p *Peer) raise() {
	if !p.lives() || len(p.out.Records) == 0 {
		return
	}
	p.generation++
	news := slices.ContainsFunc(p.out.Records, func(rec row.Record) bool { return rec.Table != row.PartnerTable })
	p.out.Records = append(p.out.Records, row.Record{
		Table: row.GenerationTable, Key: string(row.GenerationTable), Row: row.Generation{Generation: p.generation},
	})
	if news && !p.timers.Has(timer{kind: markTimer}) {
		p.after(p.jitter(p.cfg.Watermark), timer{kind: markTimer})
	}
}
