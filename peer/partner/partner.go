package partner

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/tokens"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Partner is a configured site and what is known of it now.
type Partner struct {
	rules.Partner

	Place    uint64         // among those that the site has had, see [ID]
	Departed bool           // not configured, but rows name it
	Row      row.Partner    // durable; zero: its card has never come
	Card     *protocol.Card // nil: not known since the start
	Barred   string         // why no jobs are exchanged with it; empty: they are

	Linked       bool
	Unlinked     string           // why it is not, if that is known
	Unresponsive bool             // missed a deadline and has not been heard since
	Heard        protocol.Instant // 0: never
	Spoken       bool             // it has said, in this life of this peer, what it knows of this site

	Voice    lives.Voice   // which lives of its store speak for it
	OfHere   protocol.Life // the most that it has said of this site
	Highest  uint64        // the highest sequence number of a job of this site that it says it has seen
	SeenSeq  uint64        // the highest sequence number of its jobs seen here
	marked   protocol.Instant
	Rechecks Rechecks

	Load      protocol.Load
	LoadAt    protocol.Instant // when it was true; 0: never known
	digestSeq uint64           // of the latest digest

	Volunteer  Volunteering
	Questions  Questions
	noticed    notice
	judged     protocol.Instant // when its row was last written for its quality
	paces      paces
	Refusals   tokens.Bucket // refused offers of it that have a fact each
	Undone     tokens.Bucket // offers of it that may be taken back
	UseReports tokens.Bucket // reports of use that it may send
	Outcomes   tokens.Bucket // queries about the outcomes of jobs that it may send

	Draining string // why it takes no jobs of this site, as it said last; empty: it takes them

	UseRefused string // why its last report of use does not count; empty: it does

	JobsHere, CPUsHere int // its open guests
	JobsThere          int // jobs of this origin granted to it
}

// ID names a partner to the calls for it, for as long as it has its place: a site that left and
// came back has another.
type ID struct {
	Site  protocol.SiteName
	Place uint64
}

// Bounds of what a partner may make this site do. Reports of use that are more than useReportsRate are passed over, and so are queries
// about outcomes that are more than outcomesRate: as many jobs as outcomesBurst may depend on those of this site when a session begins. Each offer that is taken back leaves a
// tombstone for days: 16,384 may be taken back in a burst, and then one in five seconds. The log
// events of refused offers are bounded by refusalsRate.
const (
	UndoneCost      = 10 // of an offer that is taken back
	undoneRate      = 2  // a second
	undoneBurst     = 16384 * UndoneCost
	refusalsRate    = 10 // a second
	refusalsBurst   = 1000
	useReportsRate  = 1 // a second
	useReportsBurst = 64
	outcomesRate    = 100 // a second
	outcomesBurst   = 10_000
)

// New is a site of which nothing has been heard.
func New(cfg rules.Partner) *Partner {
	return &Partner{Partner: cfg, Refusals: tokens.New(refusalsRate, refusalsBurst), Undone: tokens.New(undoneRate, undoneBurst), UseReports: tokens.New(useReportsRate, useReportsBurst), Outcomes: tokens.New(outcomesRate, outcomesBurst)}
}

// ID names the partner.
func (p *Partner) ID() ID { return ID{p.Site, p.Place} }

// Available says whether jobs can be exchanged with the partner now, as far as it and its session are concerned.
func (p *Partner) Available() bool {
	return p.Linked && p.Card != nil && p.Barred == "" && !p.Unresponsive
}

// Usable says whether the partner may be asked now.
func (p *Partner) Usable() bool { return p.Available() && !p.Row.Drain.StopsSending() }

// UntakenReason is why no jobs of the partner are taken, as an operator of the local site says, in the words for the partner;
// empty: they are. An isolated partner does not learn the reason.
func (p *Partner) UntakenReason() string {
	switch {
	case p.Row.Drain.Isolates():
		return "takes no jobs of " + string(p.Site)
	case p.Row.Drain.StopsReceiving():
		return fmt.Sprintf("takes no jobs of %s: %s", p.Site, p.Row.Drain.Reason)
	}
	return ""
}

// KeyInUse is the public key that the partner shows; before its first card, the one that is configured.
func (p *Partner) KeyInUse() string {
	if p.Card != nil {
		return p.Card.PublicKey
	}
	return p.PublicKey
}

// Reached says whether it is connected and answers.
func (p *Partner) Reached() bool { return p.Linked && !p.Unresponsive }

// AsSite is the partner by its card.
func (p *Partner) AsSite() eligible.Site {
	s := eligible.Site{Name: p.Site, Barred: p.Barred}
	if p.Card != nil {
		s.Capacity, s.Reserves = &p.Card.Capacity, p.Card.Reserves
	}
	return s
}

// Resources are those of all its nodes and of the whole site, by its card, sorted.
func (p *Partner) Resources() []protocol.Resource {
	if p.Card == nil {
		return nil
	}
	return p.Card.Capacity.Totals()
}

// Eligible says whether the partner may run a job.
func (p *Partner) Eligible(spec *protocol.Spec, together bool) bool {
	s := p.AsSite()
	return s.Judge(spec, together) == eligible.Eligible
}

// Incarnation is that of the partner's store, as it says; 0: not known.
func (p *Partner) Incarnation() uint64 {
	switch {
	case p.Voice.Present.Boot != 0:
		return p.Voice.Present.Incarnation
	case p.Card != nil:
		return p.Card.Incarnation
	}
	return 0
}

// DistrustReason is why nothing that the partner says of jobs is believed now; empty: it is.
func (p *Partner) DistrustReason() string { return p.Voice.DistrustReason(p.Site) }

// Connect begins a session with the card that opened it. Renewed says that the card is of
// another store than before, overlapped that another life of the partner had not been seen to
// end its session.
func (p *Partner) Connect(card protocol.Card) (renewed, overlapped bool) {
	renewed = p.Card == nil || p.Card.Incarnation != card.Incarnation
	overlapped = p.Linked && p.Voice.OtherThan(card.Life())
	p.Card, p.Linked, p.Unlinked = &card, true, ""
	p.noticed = notice{} // it may be another card
	return renewed, overlapped
}

// Disconnect ends a session, if there is one, and says whether there was.
func (p *Partner) Disconnect(now protocol.Instant, why string) bool {
	p.Unlinked = why
	if !p.Linked {
		return false
	}
	p.Linked, p.Heard = false, now               // until now it could have been heard
	p.Volunteer, p.Draining = Volunteering{}, "" // a site that is drained says so again when it connects
	return true
}

// Hear notes that the partner is alive, and says whether it had been unresponsive.
func (p *Partner) Hear(now protocol.Instant) (back bool) {
	back = p.Unresponsive
	p.Heard, p.Unresponsive = now, false
	return back
}

// MissDeadline has the partner left out until it is heard again, and says whether it was not
// before.
func (p *Partner) MissDeadline() bool {
	if p.Unresponsive {
		return false
	}
	p.Unresponsive, p.Volunteer = true, Volunteering{}
	return true
}

// HearLife takes which life of the partner's store speaks. TwoPeers is what is to be said of two
// that run as one site; empty: nothing. Changed says that the row of the partner has to be
// written: at another life at once, else every pause at most.
func (p *Partner) HearLife(life protocol.Life, stopped bool, now protocol.Instant, pause protocol.Duration) (twoPeers string, changed bool) {
	twoPeers = p.Voice.Hear(p.Site, life, p.Row.Life, stopped)
	if stopped || !life.Follows(p.Row.Life) {
		return twoPeers, false
	}
	if life.Same(p.Row.Life) && (life.Generation <= p.Row.Life.Generation || now.Sub(p.marked) < pause) {
		return twoPeers, false
	}
	p.Row.Life, p.marked = life, now
	return twoPeers, true
}

// HearLoad takes the partner's own word on its load.
func (p *Partner) HearLoad(load protocol.Load, now protocol.Instant) { p.Load, p.LoadAt = load, now }

// HearDigest takes a load that came in a digest of gossip, with a number that rises and the age
// that it has.
func (p *Partner) HearDigest(seq uint64, load protocol.Load, at protocol.Instant) {
	if seq <= p.digestSeq && p.digestSeq != 0 {
		return
	}
	p.digestSeq = seq
	if at >= p.LoadAt {
		p.Load, p.LoadAt = load, at
	}
}

// LoadAge is the age of the partner's last load. It is nil if no load is known.
func (p *Partner) LoadAge(now protocol.Instant) *protocol.Duration {
	if p.LoadAt == 0 {
		return nil
	}
	return new(now.Sub(p.LoadAt))
}

// CPUs is how many its card states; 0: it is not known.
func (p *Partner) CPUs() int {
	if p.Card == nil {
		return 0
	}
	return p.Card.Capacity.CPUs
}

// HearLimits keeps what the card says no lower than the jobs and CPUs that the partner takes
// now: its configuration may have changed since. 0 CPUs: it does not say.
func (p *Partner) HearLimits(jobs, cpus int) {
	if p.Card == nil {
		return
	}
	if p.Card.MaxJobs > 0 {
		p.Card.MaxJobs = max(p.Card.MaxJobs, jobs)
	}
	if p.Card.MaxCPUs > 0 && cpus > 0 {
		p.Card.MaxCPUs = max(p.Card.MaxCPUs, cpus)
	}
}

// Shares says whether a job of this site can run in place at the partner, by what both say they share.
func (p *Partner) Shares(files *protocol.Payload) bool {
	return files.SharedBy(p.Shared, p.SharedThere())
}

// SharedThere are the directories that the partner says it shares with this site, by its card.
func (p *Partner) SharedThere() []string {
	if p.Card == nil {
		return nil
	}
	return p.Card.Shared
}

// Transfer is how long a job's data travel to the partner; 0 where its link is not stated.
func (p *Partner) Transfer(spec *protocol.Spec) protocol.Duration {
	if spec.Data <= 0 || p.Bandwidth <= 0 {
		return 0
	}
	return protocol.Transfer(spec.Data, p.Latency, p.Bandwidth)
}

// LinkCost is what the way of a job's data to the partner and back costs this site: so much for
// each GB and for each hour of the link.
func (p *Partner) LinkCost(spec *protocol.Spec) protocol.Micro {
	if spec.Data == 0 && spec.DataOut == 0 {
		return 0
	}
	busy := p.Transfer(spec)
	if spec.DataOut > 0 && p.Bandwidth > 0 {
		busy = busy.Plus(protocol.Transfer(spec.DataOut, p.Latency, p.Bandwidth))
	}
	return cost.Link{PerGB: p.PerGB, PerHour: p.PerHour}.Cost(spec.Data, spec.DataOut, busy)
}

// Admit counts an open guest of cpus CPUs, or with by = -1 takes it off.
func (p *Partner) Admit(cpus, by int) {
	p.JobsHere += by
	p.CPUsHere += by * cpus
}

// notice is what [Partner.Notice] has seen.
type notice struct{ usable, known bool }

// Notice says whether it has changed since the last call that the partner can be asked, or that
// its card is known.
func (p *Partner) Notice() (changed bool) {
	before := p.noticed
	p.noticed = notice{usable: p.Usable(), known: p.Card != nil}
	return p.noticed != before
}

// Again is the partner as one of which nothing has been heard in this life of the peer, with what
// the rows say of it and its jobs, and what the local scheduler is asked for it.
func (p *Partner) Again() {
	again := New(p.Partner)
	again.Place, again.Departed, again.Row, again.SeenSeq, again.Heard = p.Place, p.Departed, p.Row, p.SeenSeq, p.Heard
	again.JobsHere, again.CPUsHere, again.JobsThere = p.JobsHere, p.CPUsHere, p.JobsThere
	again.Questions.Answering, again.Questions.Marginal = p.Questions.Answering, p.Questions.Marginal
	*p = *again
}

// PutOff moves, by as much as the clock was set forward, the instants at which something came
// about or is over: the time has not gone by for anybody.
func (p *Partner) PutOff(by protocol.Duration) {
	for _, at := range []*protocol.Instant{
		&p.Heard, &p.marked, &p.LoadAt, &p.Volunteer.Heard, &p.Volunteer.Until, &p.Row.Quality.Probe, &p.judged, &p.Rechecks.last,
	} {
		if *at != 0 { // else it has not come about
			*at = at.Add(by)
		}
	}
	if next := p.Questions.Waiting; next != nil {
		next.Until = next.Until.Add(by)
	}
}

// Rechecks are the times when a partner, whose store may be another one than before, was asked
// whether it still has what was handed to it.
type Rechecks struct {
	last protocol.Instant // 0: never
}

// Next says when the partner may be asked again, a pause after the last time; not after now: at
// once, and that counts.
func (r *Rechecks) Next(now protocol.Instant, pause protocol.Duration) protocol.Instant {
	if next := r.last.Add(pause); r.last != 0 && now < next {
		return next
	}
	r.last = now
	return now
}

// UndoneReason says why no offer of the partner is prepared for a while; empty: offers are.
func (p *Partner) UndoneReason(now protocol.Instant) string {
	if p.Undone.Wait(now) == 0 {
		return ""
	}
	return fmt.Sprintf("too many jobs of %s were taken back here before they started; it takes no more for a while", p.Site)
}

// Silence is how long the partner has not been heard; 0 during a session.
func (p *Partner) Silence(now protocol.Instant) protocol.Duration {
	if p.Linked {
		return 0
	}
	return now.Sub(p.Heard)
}
