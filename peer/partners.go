package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/tokens"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// partner is a configured site and what is known of it now.
type partner struct {
	rules.Partner
	instance instance
	departed bool           // not configured, but rows name it
	row      row.Partner    // durable; zero: its card has never come
	card     *protocol.Card // nil: not known since the start
	linked   bool
	unlinked string // why not, if that is known
	refused  string // why it is not compatible; empty: it is
	silent   bool   // missed a deadline and has not been heard since
	heard    protocol.Instant
	seenSeq  uint64 // highest sequence number of its jobs seen here

	life    protocol.Life    // that speaks for it now; zero: none has
	former  []protocol.Life  // that spoke for it before, in this life of this peer
	twins   []protocol.Life  // two that speak for it by turns; nil: only one does
	stale   string           // why its store is older than what it has said; empty: it is not
	marked  protocol.Instant // when its row was last written
	doubted protocol.Instant // when it was last asked whether it still has all that was handed to it; 0: never
	spoken  bool             // it has said, in this life of this peer, what it knows of this site
	ofMe    protocol.Life    // the most that it has said of this site
	highest uint64           // the highest sequence number of a job of this site that it says it has seen

	load      protocol.Load
	loadAt    protocol.Instant // when it was true; 0: never known
	digestSeq uint64

	volunteer volunteering
	noted     noted

	growing   bool // one of its questions about growing waits is under way
	questions questions
	refusals  tokens.Bucket            // refused offers of it that have a fact each
	paces     map[event.FactKind]*pace // of facts that its messages bring about
	judged    protocol.Instant         // when its row was last written for its quality
	undone    tokens.Bucket            // offers of it that may be taken back

	jobsHere, cpusHere int // its open guests
	jobsThere          int // jobs of this origin granted to it
}

// partnerID names a partner to the calls for it, for as long as it has its place: a site that left
// and came back has another.
type partnerID struct {
	site     protocol.SiteName
	instance instance
}

func (one *partner) id() partnerID { return partnerID{one.Site, one.instance} }

// partnerOf is the partner of the id; nil: it has left.
func (p *Peer) partnerOf(id partnerID) *partner {
	if one := p.byName[id.site]; one != nil && one.instance == id.instance {
		return one
	}
	return nil
}

// usable says whether the partner may be asked now.
func (one *partner) usable() bool {
	return one.linked && one.card != nil && one.refused == "" && !one.silent
}

func (p *Peer) connected(card protocol.Card) {
	one := p.byName[card.Site]
	if one == nil || one.departed {
		return
	}
	renewed := one.card == nil || one.card.Incarnation != card.Incarnation
	overlapped := one.linked && one.life.Boot != 0 && !one.life.Same(card.Life())
	one.card, one.linked, one.unlinked = &card, true, ""
	one.noted = noted{} // it may be another card
	p.heardLife(one, card.Life(), card.Stopped)
	p.claimNumber(one)
	p.judgeCards()
	p.seenBy(one, card.Seen)
	p.skipSeen(one, card.SeenSeq)
	p.sendMark(one, overlapped)
	if card.Boot == 0 { // of a version without watermarks
		p.spoken(one, false)
	}
	p.fact(event.Fact{Kind: event.PartnerUp, Site: card.Site, Text: one.refused})
	p.hear(one)
	for _, j := range p.jobs {
		delete(j.shunned, card.Site)
	}
	p.queue.ReleaseAll()
	p.resend(card.Site)
	if renewed {
		p.doubt(one)
	}
}

// incarnation is that of the partner's store, as it says; 0: not known.
func (one *partner) incarnation() uint64 {
	switch {
	case one.life.Boot != 0:
		return one.life.Incarnation
	case one.card != nil:
		return one.card.Incarnation
	}
	return 0
}

// skipSeen keeps job ids above those that a partner has seen of this site.
func (p *Peer) skipSeen(one *partner, seq uint64) {
	one.highest = max(one.highest, seq)
	changed, odd := p.site.SkipSeen(p.now, seq)
	if changed {
		p.saveSite()
	}
	if odd != "" {
		p.factOf(one, event.Fact{Kind: event.MessageOdd, Text: odd})
	}
}

// highestSeen is the highest sequence number of a job of this site that any partner has seen.
func (p *Peer) highestSeen() (seq uint64) {
	for _, one := range p.partners {
		seq = max(seq, one.highest)
	}
	return seq
}

// resend repeats at once what a partner that is back has not answered.
func (p *Peer) resend(site protocol.SiteName) {
	p.hasten(func(t timer) bool { return p.concerns(t, site) })
}

// hasten fires timers now.
func (p *Peer) hasten(which func(timer) bool) {
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
		j := p.jobs[t.job]
		return j != nil && (j.Site == site || j.Phase == row.JobEnding && slices.Contains(row.PartnersWith(&j.Job), site))
	case guestTimer, reportTimer:
		g := p.guests[t.job]
		return g != nil && g.Origin == site
	case runTimer, reclaimTimer, roundTimer, probeTimer, watchTimer, pruneTimer, sigmaTimer, cycleTimer, priceTimer, startTimer,
		listenTimer, markTimer, doubtTimer, paceTimer, queueTimer, limitTimer, releaseTimer, patienceTimer, startByTimer:
	}
	return false
}

func (p *Peer) disconnected(ev event.Disconnected) {
	one := p.byName[ev.Site]
	if one == nil {
		return
	}
	if one.linked {
		one.linked, one.heard = false, p.now // until now it could have been heard
		one.volunteer = volunteering{}
		p.fact(event.Fact{Kind: event.PartnerDown, Site: ev.Site})
		p.leaveOut(one)
	}
	if ev.Why != "" {
		p.fact(event.Fact{Kind: event.KeyRefused, Site: ev.Site, Text: clip(ev.Why)})
	}
	one.unlinked = clip(ev.Why)
}

// hear notes that the partner is alive; it is asked again.
func (p *Peer) hear(one *partner) {
	one.heard = p.now
	if !one.silent {
		return
	}
	one.silent = false
	p.timers.Stop(timer{kind: probeTimer, site: one.Site})
	p.queue.ReleaseAll()
}

// fallSilent leaves a partner that missed a deadline out until it is heard again,
// and probes it every σ.
func (p *Peer) fallSilent(one *partner) {
	if one.silent {
		return
	}
	one.silent, one.volunteer = true, volunteering{}
	p.fact(event.Fact{Kind: event.PartnerSilent, Site: one.Site})
	p.after(p.jitter(p.cfg.Sigma), timer{kind: probeTimer, site: one.Site})
}

func (p *Peer) probe(site protocol.SiteName) {
	one := p.byName[site]
	if one == nil || !one.silent {
		return
	}
	if one.linked {
		p.send(site, protocol.QuoteRequest{Deadline: p.cfg.Deadline})
	}
	p.after(p.jitter(p.cfg.Sigma), timer{kind: probeTimer, site: site})
}

func (p *Peer) digestSeen(ev event.DigestSeen) {
	one := p.byName[ev.Digest.Site]
	if one == nil || (ev.Digest.Seq <= one.digestSeq && one.digestSeq != 0) {
		return
	}
	one.digestSeq = ev.Digest.Seq
	if at := p.now - protocol.Instant(ev.Age); at >= one.loadAt {
		one.load, one.loadAt = ev.Digest.Load, at
	}
}

// choosePartners picks whom a round asks: of those that could take one of its
// jobs the least utilised, equals in an order drawn from the seed, and last those in doubt.
func (p *Peer) choosePartners(r *round) []*partner {
	if p.cfg.Policy.KeepsAll() {
		return nil
	}
	var out []*partner
	for _, one := range p.partners {
		if one.usable() && p.wanted(r, one) {
			out = append(out, one)
		}
	}
	if len(out) <= p.cfg.Ask {
		return out
	}
	p.rng().Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	slices.SortStableFunc(out, func(a, b *partner) int {
		return cmp.Or(compareBools(a.row.Quality.Doubtful, b.row.Quality.Doubtful), cmp.Compare(a.load.RUS(), b.load.RUS()))
	})
	out = out[:p.cfg.Ask]
	slices.SortFunc(out, func(a, b *partner) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// wanted says whether the partner is to be asked about any job of the round.
func (p *Peer) wanted(r *round, one *partner) bool {
	for i := range r.specs {
		if p.asks(r, i, one) {
			return true
		}
	}
	return false
}

// asks says whether the partner is to be asked about job i of the round: its card
// and the submitter allow it, it has not just refused the job, and it volunteers
// if only volunteers are asked.
func (p *Peer) asks(r *round, i int, one *partner) bool {
	j := r.job(p, i)
	if j == nil || !one.eligible(&r.specs[i], j.Together()) {
		return false
	}
	return !j.shuns(one.Site, p.now) && (r.reach[i] == everybody || p.volunteersFor(j, one)) && !p.avoids(r, i, one)
}

// mayAsk says whether the partner could run the job and has not just refused it.
func (p *Peer) mayAsk(j *job, one *partner) bool {
	return one.eligible(&j.Spec, j.Together()) && !j.shuns(one.Site, p.now)
}

// site is what is known of the partner by its card.
func (one *partner) site() eligible.Site {
	s := eligible.Site{Name: one.Site, Barred: one.refused}
	if one.card != nil {
		s.Capacity, s.Reserves = &one.card.Capacity, one.card.Reserves
	}
	return s
}

// eligible says whether the partner may run a job.
func (one *partner) eligible(spec *protocol.Spec, together bool) bool {
	s := one.site()
	return s.Judge(spec, together) == eligible.Eligible
}

// here is this site as it judges itself.
func (p *Peer) here() eligible.Site {
	return eligible.Site{Name: p.cfg.Site, Capacity: &p.cfg.Capacity, Reserves: p.cfg.Reserves}
}
