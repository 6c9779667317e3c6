package hosting

import (
	"cmp"
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
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
	Fair     *fairness.Book
	Files    *tables.Files
	Now      protocol.Instant
}

// Request is what the local scheduler is asked for a job of an origin, with its priority in the local queue. The account is
// that of the job here.
func (h Host) Request(origin protocol.SiteName, spec *protocol.Spec, account string) protocol.Request {
	request := spec.ScaledRequest(&h.Config.Capacity)
	job := fairness.Local{Origin: origin, Account: account, Spec: spec, Since: h.Now}
	if origin == h.Config.Site {
		job.Account, job.Since = spec.Account, cmp.Or(spec.Submitted, h.Now)
	}
	request.Priority = h.Fair.LocalPriority(job, h.Now)
	return request
}

// RequestOf is [Host.Request] of the jobs of an origin, by the account that they get here.
func (h Host) RequestOf(origin protocol.SiteName) func(*protocol.Spec) protocol.Request {
	return func(spec *protocol.Spec) protocol.Request {
		mapped, _ := h.Associate(origin, spec)
		return h.Request(origin, spec, mapped.Account)
	}
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
	if h.Site.Drain.StopsStarts() {
		return h.Site.Drain.Draining()
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

// Draining is why no job of a partner is taken, as an operator says; empty: they are.
func (h Host) Draining(one *partner.Partner) string {
	if why := one.UntakenReason(); why != "" {
		return why // an isolated partner learns nothing of the site
	}
	if h.Site.Drain.StopsGuests() {
		return h.Site.Drain.Draining()
	}
	return ""
}

// DeclineGuest says why a partner's job would not be taken; empty: it would.
func (h Host) DeclineGuest(one *partner.Partner, spec *protocol.Spec, together bool) string {
	switch {
	case h.Site.StopReason() != "":
		return h.Site.StopReason()
	case one.Barred != "":
		return fmt.Sprintf("%s %s", one.Site, one.Barred)
	case h.Draining(one) != "":
		return h.Draining(one)
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
	case spec.InPlace && len(one.Shared) == 0:
		return "shares no files with " + string(one.Site)
	case spec.InPlace && h.Config.NoGuestFiles:
		return "runs no jobs of other sites in directories that it shares with them: its local scheduler is a plugin, or has a power budget"
	case !spec.Stages():
	case h.Config.NoGuestFiles:
		return "takes no files with jobs: its local scheduler is a plugin, or has a power budget"
	case most == 0:
		return "takes no files with jobs ([staging] max_bytes is 0)"
	case spec.StageIn > most:
		return fmt.Sprintf("the job's files have %d MB, and this site takes %d MB with a job (%s)", megabytes(spec.StageIn), most/mega, key)
	}
	return h.userFilesReason(tables.Owner{Origin: one.Site, User: spec.User}, spec)
}

// userFilesReason says why the files of a partner's job may not come beside those of its user that lie here or are under way;
// empty: they may.
func (h Host) userFilesReason(user tables.Owner, spec *protocol.Spec) string {
	most, has := h.Config.MaxUserStaging, h.Files.Beside(spec.Job, user)
	switch {
	case most == 0 || spec.StageIn <= most && has <= most-spec.StageIn:
		return ""
	case spec.StageIn > most:
		return fmt.Sprintf("the job's files have %d MB, and this site takes %d MB of a user at once ([staging] max_user_bytes)", megabytes(spec.StageIn), most/mega)
	}
	return fmt.Sprintf("the job's files have %d MB, and %d MB of %s's files are here or on their way: this site takes %d MB of a user at once ([staging] max_user_bytes)",
		megabytes(spec.StageIn), megabytes(has), user.User, most/mega)
}

const mega = 1_000_000

// megabytes is a size in bytes as MB, rounded up.
func megabytes(bytes int64) int64 { return (bytes + mega - 1) / mega }

// MisstatedFiles says how the files of an offered job are not those that its description announces, or not where the
// sites share them; empty: they are.
func MisstatedFiles(one *partner.Partner, m *protocol.Offer) string {
	if m.Spec.InPlace && (m.Payload == nil || !m.Payload.SharedBy(one.SharedThere(), one.Shared)) {
		return fmt.Sprintf("the job's files are not in directories that this site shares with %s ([[partner]] shared)", one.Site)
	}
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
		mapped, _ := h.Associate(one.Site, spec) // DeclineGuest has asked
		request := h.Request(one.Site, spec, mapped.Account)
		if !guarded.Reserve(request) {
			a.Reply.Quotes[i].Declined = quoting.GuardedReason
			continue
		}
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
	draining := ""
	if one := h.Partners.Of(a.From); one != nil {
		draining = h.Draining(one) // since the question came
	}
	for k, i := range a.places {
		switch {
		case failed != nil:
			a.Reply.Quotes[i].Declined = NoAnswer(failed)
			continue
		case draining != "":
			a.Reply.Quotes[i].Declined = draining
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

// Complete adds to a reply to a partner what is free at the end and whether its jobs are taken, and cuts it to the size of a
// message. An isolated partner gets no load.
func (h Host) Complete(one *partner.Partner, reply protocol.QuoteReply) protocol.QuoteReply {
	reply.Draining = h.Draining(one)
	if !one.Row.Drain.Isolates() {
		reply.Load, reply.Free = h.Load, h.Free()
	}
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
		card.Associations, card.Shared = h.Config.Associations.For(to), one.Shared
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
