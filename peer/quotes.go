package peer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// promise is room that was promised and is not in the local queue yet.
type promise struct {
	since   protocol.Instant
	request protocol.Request
}

func (p *Peer) promise(tag protocol.Tag, since protocol.Instant, request protocol.Request) {
	p.promised[tag] = promise{since: since, request: request}
}

func (p *Peer) keepPromise(tag protocol.Tag) { delete(p.promised, tag) }

// promises are the promised jobs, oldest first. Quotes answer as if they were in
// the local queue.
func (p *Peer) promises() []localsched.Promise {
	out := make([]localsched.Promise, 0, len(p.promised))
	for tag, one := range p.promised {
		out = append(out, localsched.Promise{Tag: tag, Request: one.request})
	}
	slices.SortFunc(out, func(a, b localsched.Promise) int {
		return cmp.Or(cmp.Compare(p.promised[a.Tag].since, p.promised[b.Tag].since), compareTags(a.Tag, b.Tag))
	})
	return out
}

// free is how many CPUs neither run a job nor are promised to one.
func (p *Peer) free() int {
	free := p.load.Free()
	for _, one := range p.promised {
		free -= one.request.CPUs
	}
	return max(0, free)
}

// quoteRequest answers a partner's question; without jobs it is a probe.
func (p *Peer) quoteRequest(one *partner.Partner, m protocol.QuoteRequest) {
	if len(m.Jobs) == 0 {
		p.send(one.Site, protocol.QuoteReply{Round: m.Round, Load: p.load, Free: p.free()})
		return
	}
	if one.Questions.Answering >= mostQuestions {
		p.putOff(one, m)
		return
	}
	p.answerRequest(one, m, p.replyUntil(m))
}

// answerRequest has the local scheduler quote the jobs that the site would take. A quote that
// is not there by the instant is not asked for any more.
func (p *Peer) answerRequest(one *partner.Partner, m protocol.QuoteRequest, until protocol.Instant) {
	reply := protocol.QuoteReply{
		Round: m.Round, Quotes: make([]protocol.Quote, len(m.Jobs)),
		Accept: max(0, min(one.MaxJobs-one.JobsHere, p.intakeLeft())), Valid: p.cfg.Sigma,
		MostCPUs: p.cpusLeft(one),
	}
	query := localsched.Query{Ahead: p.promises(), Guard: p.guard()}
	guarded := p.guarding()
	var places []int
	for i, spec := range m.Jobs {
		why := p.declines(one, spec, false)
		if why == "" && !guarded.holds(spec.On(&p.cfg.Capacity)) {
			why = "asked about too many jobs at once while [protect] delay is on"
		}
		reply.Quotes[i] = protocol.Quote{Job: spec.Job, Declined: why}
		if reply.Quotes[i].Declined == "" {
			query.Jobs, places = append(query.Jobs, spec.On(&p.cfg.Capacity)), append(places, i)
		}
	}
	if len(places) == 0 {
		reply.Load, reply.Free = p.load, p.free()
		p.send(one.Site, fitting(reply))
		return
	}
	one.Questions.Answering++
	p.call(event.QuoteOp{Query: query, Until: until}, quotePartner{
		from: one.ID(), request: m, reply: reply, places: places,
		growUntil: p.now.Add(cmp.Or(m.Deadline, p.cfg.Deadline) / 2),
	})
}

// quotePartner asks for quotes for a partner, and then how the waits grow, for one of its requests
// at a time.
type quotePartner struct {
	from      partner.ID
	request   protocol.QuoteRequest
	reply     protocol.QuoteReply // as far as it is known
	places    []int               // in the reply, of the jobs that the local scheduler is asked about
	growUntil protocol.Instant
}

func (c quotePartner) answered(p *Peer, result event.Result, err error) {
	quoted, err := resultAs[event.QuoteResult](result, err)
	if err == nil && len(quoted.Quotes) != len(c.places) {
		err = fmt.Errorf("%d quotes for %d jobs", len(quoted.Quotes), len(c.places))
	}
	if err == nil {
		p.setLoad(quoted.Load)
	}
	one := p.partners.At(c.from)
	if one == nil {
		return
	}
	for k, i := range c.places {
		if err != nil {
			c.reply.Quotes[i].Declined = clip("the local scheduler does not answer: " + err.Error())
			continue
		}
		c.reply.Quotes[i] = p.guestQuote(quoted.Quotes[k], &c.request.Jobs[i], c.request.Reckon)
	}
	if one.Questions.Marginal {
		c.send(p, one, nil)
		return
	}
	one.Questions.Marginal = true
	p.growth(growWait{quotes: c, jobs: c.request.Extra, until: c.growUntil}, c.request.Jobs, c.reply.Quotes)
}

func (c quotePartner) grown(p *Peer, extra []protocol.Duration) {
	if one := p.partners.At(c.from); one != nil {
		one.Questions.Marginal = false
		c.send(p, one, extra)
	}
}

// send answers the partner, and gives the request's place to the next one.
func (c quotePartner) send(p *Peer, one *partner.Partner, extra []protocol.Duration) {
	c.reply.Load, c.reply.Free, c.reply.Extra = p.load, p.free(), extra
	p.send(one.Site, fitting(c.reply))
	p.questionAnswered(one)
}

// guard is the site whose waiting jobs the local scheduler shall look after; 0: none.
func (p *Peer) guard() protocol.SiteNumber {
	if p.cfg.Protect.Delay == 0 {
		return 0
	}
	return p.cfg.Number
}

// mostGuarded bounds the shapes of jobs in a guarded question: the local scheduler plans
// its whole queue again for each of them.
const mostGuarded = 256

// guarded are the shapes of the jobs in a guarded question; nil: it is not guarded.
type guarded map[protocol.Request]bool

// guarding is empty while no job waits here, since then none can be delayed.
func (p *Peer) guarding() guarded {
	if p.guard() == 0 || p.load.QueuedJobs == 0 {
		return nil
	}
	return guarded{}
}

// holds says whether the question has a place for the job, and gives it that.
func (g guarded) holds(r protocol.Request) bool {
	r.Job = 0
	switch {
	case g == nil || g[r]:
		return true
	case len(g) == mostGuarded:
		return false
	}
	g[r] = true
	return true
}

// delaysOwn says why a quoted job would delay an own user's by too much; empty: it
// would not.
func (p *Peer) delaysOwn(q *protocol.Quote) string {
	limit := p.cfg.Protect.Delay
	if limit == 0 || q.Declined != "" || q.Delay <= limit {
		return ""
	}
	return fmt.Sprintf("would delay a waiting job of this site by %s, it allows %s", q.Delay.Text(), limit.Text())
}

// mostNote bounds what people may read in a note, in bytes: the wire takes 256, and the
// mark of the cut needs three.
const mostNote = 240

// A reply to a question about many jobs has short reasons and no notes, and fits into the
// 4 MiB of the wire.
const (
	fewJobs        = 64
	shortReason    = 160 // bytes; 16384 of them, with all the rest of a quote, are about 3 MB
	mostReplyBytes = 7 << 19
)

// noteOf is what people may read of a quote's wait. One that is declined has a reason
// instead.
func noteOf(q *protocol.Quote) string {
	if q.Declined != "" {
		return ""
	}
	return view.ClipTo(mostNote, q.Note)
}

// fitting is the reply in what a message holds: quotes beyond that are declined.
func fitting(reply protocol.QuoteReply) protocol.QuoteReply {
	bytes := 0
	for i := range reply.Quotes {
		q := &reply.Quotes[i]
		if q.Declined = clip(q.Declined); len(reply.Quotes) > fewJobs {
			q.Declined, q.Note = view.ClipTo(shortReason, q.Declined), ""
		}
		n := quoteBytes(q)
		if left := (len(reply.Quotes) - i - 1) * emptyQuote; bytes+n+left > mostReplyBytes {
			*q = protocol.Quote{Job: q.Job, Declined: "too many jobs for one reply"}
			n = quoteBytes(q)
		}
		bytes += n
	}
	return reply
}

// emptyQuote is the most bytes of a declined quote with a reason of up to 30 bytes.
const emptyQuote = 64

// quoteBytes is the most that a quote can have in a reply.
func quoteBytes(q *protocol.Quote) int {
	n := 20 + len(q.Declined)
	if q.Declined == "" {
		n += 60 + len(q.Currency) + len(q.Note) // five durations
	}
	for _, term := range q.Terms {
		n += 20 + len(term.Name)
	}
	return n
}

// guestQuote is what a partner is told of the local scheduler's quote for its job.
func (p *Peer) guestQuote(q protocol.Quote, spec *protocol.Spec, by protocol.Reckoning) protocol.Quote {
	if why := p.delaysOwn(&q); why != "" {
		q = protocol.Quote{Declined: why}
	}
	if q.Declined != "" {
		return protocol.Quote{Job: spec.Job, Declined: q.Declined}
	}
	q.Job, q.Delay, q.Note = spec.Job, 0, noteOf(&q)
	p.charge(&q, spec, by)
	return q
}

// guestShare says why a guest of so many CPUs would be one too many; empty: it would
// not.
func (p *Peer) guestShare(cpus int) string {
	limit := p.cfg.Protect.Share
	if limit == 0 {
		return ""
	}
	cpus += p.partners.CPUsHere()
	if share := int64(cpus) * protocol.PPM / int64(max(1, p.cfg.Capacity.CPUs)); share > int64(limit) {
		return fmt.Sprintf("guests would have %.1f %% of the CPUs, the site allows %.1f %%", float64(share)/1e4, float64(limit)/1e4)
	}
	return ""
}

// mostJobs is how many jobs of a partner are here at once at most.
func (p *Peer) mostJobs(one *partner.Partner) int {
	return atMost(one.MaxJobs, p.cfg.MaxQ)
}

// mostCPUs is how many CPUs the jobs of a partner have here together at most, also when no other
// guest is here; 0: any number.
func (p *Peer) mostCPUs(one *partner.Partner) int {
	if limit := p.cfg.Protect.Share; limit > 0 {
		return atMost(one.MaxCPUs, max(1, p.shared()))
	}
	return one.MaxCPUs
}

// shared is how many CPUs [rules.Protection.Share] gives to guests, as guestShare reckons it.
func (p *Peer) shared() int {
	return int(((int64(p.cfg.Protect.Share)+1)*int64(max(1, p.cfg.Capacity.CPUs)) - 1) / protocol.PPM)
}

// cpusLeft is how many CPUs more the jobs of a partner may have here now; 0: any number, or none
// at all, so that every job is declined.
func (p *Peer) cpusLeft(one *partner.Partner) int {
	left := 0
	if one.MaxCPUs > 0 {
		left = max(0, one.MaxCPUs-one.CPUsHere)
	}
	if p.cfg.Protect.Share == 0 {
		return left
	}
	return atMost(left, max(0, p.shared()-p.partners.CPUsHere()))
}

// atMost is the smaller of two limits, of which 0 is none.
func atMost(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// declines says why a partner's job would not be taken; empty: it would.
func (p *Peer) declines(one *partner.Partner, spec protocol.Spec, together bool) string {
	switch {
	case p.site.StopReason() != "":
		return p.site.StopReason()
	case one.Barred != "":
		return fmt.Sprintf("%s %s", one.Site, one.Barred)
	case one.MaxJobs <= one.JobsHere:
		return fmt.Sprintf("%s has %s here, and max_jobs of its [[partner]] is %d", one.Site, protocol.Count(one.JobsHere, "job"), one.MaxJobs)
	case one.MaxCPUs > 0 && one.CPUsHere+spec.CPUs > one.MaxCPUs:
		return fmt.Sprintf("jobs of %s have %s here, this one asks for %d more, and max_cpus of its [[partner]] is %d",
			one.Site, protocol.Count(one.CPUsHere, "CPU"), spec.CPUs, one.MaxCPUs)
	}
	if err := spec.CheckRequest(); err != nil {
		return err.Error()
	}
	here := p.here()
	if why := here.Why(&spec, together); why != "" {
		return why
	}
	if _, err := p.cfg.Accounts.Guest(one.Site, spec.User); err != nil {
		return clip(err.Error())
	}
	if why := p.desk().Unsold(&spec); why != "" {
		return why
	}
	return p.guestShare(spec.CPUs)
}
