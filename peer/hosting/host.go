package hosting

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Host is the local site as it takes jobs at one instant.
type Host struct {
	Config   *rules.Config
	Site     *lives.Store
	Partners *partner.Set
	Desk     pricing.Desk
	Claims   quoting.Claims // tentative allocations
	Load     protocol.Load
	Now      protocol.Instant
}

// Here is the local site as it judges itself.
func Here(c *rules.Config) eligible.Site {
	return eligible.Site{Name: c.Site, Capacity: &c.Capacity, Reserves: c.Reserves}
}

// Free is how many CPUs neither run a job nor are claimed by one.
func (h Host) Free() int { return h.Claims.Free(h.Load.Free()) }

// DeclineOwn says why the site would not run a job of a local user, as described; empty: it would. The
// job may be nil: it has ended meanwhile.
func (h Host) DeclineOwn(j *tables.Job, spec *protocol.Spec) string {
	here := Here(h.Config)
	if why := here.IneligibleReason(spec, j != nil && j.Together()); why != "" {
		return why
	}
	if j != nil && j.Excluded.Excludes(h.Config.Site, h.Now) {
		return cmp.Or(j.NotHere, rounds.TriedInVain)
	}
	if _, err := h.Associate(h.Config.Site, spec); err != nil {
		return view.Clip(err.Error())
	}
	if _, err := h.Config.Accounts.Local(spec.User); err != nil {
		return err.Error()
	}
	return ""
}

// Associate is the account, the partition and the QOS that a job of an origin gets here, or why it gets none.
func (h Host) Associate(origin protocol.SiteName, spec *protocol.Spec) (association.Mapped, error) {
	return h.Config.Associations.Map(origin, spec.User, spec.Association)
}

// Mapped is the association that jobs of an origin get here, none for one that is refused.
func (h Host) Mapped(origin protocol.SiteName) func(*protocol.Spec) protocol.Association {
	return func(spec *protocol.Spec) protocol.Association {
		mapped, _ := h.Associate(origin, spec)
		return mapped.Association
	}
}

// priced is a job as the site prices it.
func priced(spec *protocol.Spec, mapped *association.Mapped) *protocol.Spec {
	by := mapped.Price(spec.Association)
	if by == spec.Association {
		return spec
	}
	here := *spec
	here.Association = by
	return &here
}

// TariffOf is what the site charges for a job of an origin, whenever that runs; nil: nothing.
func (h Host) TariffOf(origin protocol.SiteName, spec *protocol.Spec) *protocol.Tariff {
	mapped, _ := h.Associate(origin, spec) // one that is refused now got what its row says before
	return h.Desk.TariffOf(priced(spec, &mapped), h.Now)
}

// QuoteOwn is the local scheduler's quote for a job of a local user, which got the error instead:
// with its price, or declined if the site must not run the job.
func (h Host) QuoteOwn(j *tables.Job, spec *protocol.Spec, q protocol.Quote, failed error, by protocol.EnergyPricing) protocol.Quote {
	if failed != nil {
		return protocol.Quote{Job: spec.Job, Declined: NoAnswer(failed)}
	}
	if why := h.DeclineOwn(j, spec); why != "" {
		return protocol.Quote{Job: spec.Job, Declined: why}
	}
	q.Job, q.Note = spec.Job, quoting.Note(&q)
	h.charge(&q, h.Config.Site, spec, by)
	return q
}

// NoAnswer is why a job is declined about which the local scheduler could not be asked.
func NoAnswer(err error) string {
	return view.Clip("the local scheduler does not answer: " + err.Error())
}

// charge adds to a quote what the work costs here, or declines what is not sold.
func (h Host) charge(q *protocol.Quote, origin protocol.SiteName, spec *protocol.Spec, by protocol.EnergyPricing) {
	if q.Declined != "" {
		return
	}
	mapped, err := h.Associate(origin, spec)
	if err != nil { // the table is another one than when the question came
		*q = protocol.Quote{Job: q.Job, Declined: view.Clip(err.Error())}
		return
	}
	switch {
	case mapped.Note != "" && q.Note != "":
		q.Note = mapped.Note + "; " + q.Note
	case mapped.Note != "":
		q.Note = mapped.Note
	}
	h.Desk.Charge(q, priced(spec, &mapped), by, h.Now)
	q.Declined, q.Note = view.Clip(q.Declined), view.ClipTo(quoting.MaxNote, q.Note)
}

// Limits is what the jobs of a partner may have here, and what guests have now.
func (h Host) Limits(one *partner.Partner) quoting.Limits {
	l := quoting.Limits{
		MaxJobs: one.MaxJobs, MaxCPUs: one.MaxCPUs, MaxQ: h.Config.MaxJobsPerCycle, Jobs: one.JobsHere, CPUs: one.CPUsHere,
		Share: h.Config.Protect.Share, Site: h.Config.Capacity.CPUs,
	}
	if l.Share != 0 {
		l.Guests = h.Partners.CPUsHere()
	}
	return l
}

// DeclineGuest says why a partner's job would not be taken; empty: it would.
func (h Host) DeclineGuest(one *partner.Partner, spec *protocol.Spec, together bool) string {
	switch {
	case h.Site.StopReason() != "":
		return h.Site.StopReason()
	case one.Barred != "":
		return fmt.Sprintf("%s %s", one.Site, one.Barred)
	}
	limits := h.Limits(one)
	if why := limits.Reason(one.Site, spec.CPUs); why != "" {
		return why
	}
	if err := spec.CheckRequest(); err != nil {
		return err.Error()
	}
	here := Here(h.Config)
	if why := here.IneligibleReason(spec, together); why != "" {
		return why
	}
	if _, err := h.Config.Accounts.Guest(one.Site, spec.User); err != nil {
		return view.Clip(err.Error())
	}
	if _, err := h.Associate(one.Site, spec); err != nil {
		return view.Clip(err.Error())
	}
	if why := h.filesReason(one, spec); why != "" {
		return why
	}
	return limits.ShareReason(spec.CPUs)
}

// filesReason says why the files of a partner's job may not come with it, or go back; empty: they may.
func (h Host) filesReason(one *partner.Partner, spec *protocol.Spec) string {
	most, key := h.Config.MaxStaging, "[staging] max_bytes"
	if one.MaxStaging > 0 && one.MaxStaging < most {
		most, key = one.MaxStaging, "max_staging of the partner"
	}
	switch {
	case !spec.Stages():
	case most == 0 || h.Config.NoGuestFiles:
		return "takes no files with jobs"
	case spec.StageIn > most:
		return fmt.Sprintf("the job's files have %d MB, and this site takes %d MB with a job (%s)", (spec.StageIn+mega-1)/mega, most/mega, key)
	}
	return ""
}

const mega = 1_000_000

// MisstatedFiles says how the files of an offered job are not those that its description announces; empty:
// they are.
func MisstatedFiles(m *protocol.Offer) string {
	var files *protocol.Staging
	if m.Payload != nil {
		files = m.Payload.Staging
	}
	if files.BytesOf() != m.Spec.StageIn || files.ComesBack() != m.Spec.StageOut {
		return "the files of the job are not those that it announces"
	}
	return ""
}

// Protects says whether guests must not delay the pending jobs of local users.
func (h Host) Protects() bool { return h.Config.Protect.Delay != 0 }

// Query asks the local scheduler about jobs of partners.
func (h Host) Query() localsched.Query {
	query := localsched.Query{Ahead: h.Claims.Ahead()}
	if h.Protects() {
		query.ProtectSite = new(h.Config.Number)
	}
	return query
}

// Answer is the answer to a partner's request as far as it is known.
type Answer struct {
	From    protocol.SiteName
	Request protocol.QuoteRequest
	Reply   protocol.QuoteReply
	places  []int // in the reply, of the jobs that the local scheduler is asked about
}

// Answer declines the jobs of a partner's request that the site would not take. left is the number of jobs
// that it still takes in this period. The query asks the local scheduler about the others; if there are none,
// the answer is complete.
func (h Host) Answer(one *partner.Partner, m protocol.QuoteRequest, left int) (Answer, localsched.Query) {
	limits := h.Limits(one)
	a := Answer{From: one.Site, Request: m, Reply: protocol.QuoteReply{
		Round: m.Round, Quotes: make([]protocol.Quote, len(m.Jobs)),
		MaxJobs: limits.Accept(left), Valid: h.Config.CheckInterval, MaxCPUs: limits.CPUsLeft(),
	}}
	query, guarded := h.Query(), h.guarded()
	for i := range m.Jobs {
		spec := &m.Jobs[i]
		a.Reply.Quotes[i] = protocol.Quote{Job: spec.Job, Declined: h.DeclineGuest(one, spec, false)}
		if a.Reply.Quotes[i].Declined != "" {
			continue
		}
		request := spec.ScaledRequest(&h.Config.Capacity)
		if !guarded.Reserve(request) {
			a.Reply.Quotes[i].Declined = quoting.GuardedReason
			continue
		}
		mapped, _ := h.Associate(one.Site, spec) // DeclineGuest has asked
		query.Add(request, mapped.Association)
		a.places = append(a.places, i)
	}
	return a, query
}

// guarded has no bound while no job is pending here, since then none can be delayed.
func (h Host) guarded() *quoting.Guarded {
	if !h.Protects() || h.Load.QueuedJobs == 0 {
		return nil
	}
	return &quoting.Guarded{}
}

// Asked counts the jobs that the local scheduler is asked about.
func (a *Answer) Asked() int { return len(a.places) }

// Fill takes the local scheduler's quotes for the jobs that it was asked about, or that it did not answer.
func (h Host) Fill(a *Answer, quoted *event.QuoteResult, failed error) {
	for k, i := range a.places {
		if failed != nil {
			a.Reply.Quotes[i].Declined = NoAnswer(failed)
			continue
		}
		a.Reply.Quotes[i] = h.quoteGuest(quoted.Quotes[k], a.From, &a.Request.Jobs[i], a.Request.EnergyPricing)
	}
}

// quoteGuest is what a partner gets of the local scheduler's quote for its job.
func (h Host) quoteGuest(q protocol.Quote, from protocol.SiteName, spec *protocol.Spec, by protocol.EnergyPricing) protocol.Quote {
	if why := quoting.DelayReason(&q, h.Config.Protect.Delay); why != "" {
		q = protocol.Quote{Declined: why}
	}
	if q.Declined != "" {
		return protocol.Quote{Job: spec.Job, Declined: q.Declined}
	}
	q.Job, q.Delay, q.Note = spec.Job, 0, quoting.Note(&q)
	h.charge(&q, from, spec, by)
	return q
}

// Complete adds to a reply what is free at the end, and cuts it to the size of a message.
func (h Host) Complete(reply protocol.QuoteReply) protocol.QuoteReply {
	reply.Load, reply.Free = h.Load, h.Free()
	return quoting.Truncated(reply)
}

// Card is this site's card for a partner.
func (h Host) Card(to protocol.SiteName) protocol.Card {
	life := h.Site.Life()
	card := protocol.Card{
		Site: h.Config.Site, Number: h.Config.Number, PublicKey: h.Config.PublicKey,
		FirstStart: h.Site.FirstStart, Incarnation: h.Site.Incarnation,
		Boot: life.Boot, Begun: life.Begun, Generation: life.Generation,
		Software: h.Config.Software, Protocol: protocol.ProtocolVersion,
		Capacity: h.Config.Capacity, Reserves: h.Config.Reserves,
	}
	if one := h.Partners.Of(to); one != nil {
		card.SeenSeq, card.Seen, card.Stopped = one.SeenSeq, one.Row.Life, h.Site.Recovery != ""
		limits := h.Limits(one)
		card.MaxJobs, card.MaxCPUs = limits.MostJobs(), limits.MostCPUs()
		card.Associations = h.Config.Associations.For(to)
	}
	return card
}

// Submission is what the local scheduler gets of a run; false: no row says what it runs.
func (h Host) Submission(rows *tables.Tables, r *localrun.Run) (localsched.Submission, bool) {
	s := localsched.Submission{Tag: r.Tag, Account: r.Account, Origin: h.Config.Site}
	s.StartBy, _ = rows.StartBy(r.Tag)
	switch j, g := rows.Jobs[r.Tag.Job], rows.Guests[r.Tag.Job]; {
	case j != nil:
		s.Spec, s.Payload = j.Spec, j.Payload()
	case g != nil:
		s.Spec, s.Payload, s.Origin, s.Guest = g.Spec, g.Payload, g.Origin, true
	default:
		return s, false
	}
	// Its speed is that of its price, which is by what it got, even if that is nothing of what it asked for.
	if mapped, err := h.Associate(s.Origin, &s.Spec); err != nil || mapped.ByRule || r.Association != (protocol.Association{}) {
		s.Spec.Association = r.Association
	} else {
		s.Spec.Association = mapped.Price(s.Spec.Association)
	}
	s.Payload = h.Desk.AtSpeed(&s, h.Now)
	s.Spec.Request, s.Spec.Association = r.Request, r.Association
	return s, true
}
