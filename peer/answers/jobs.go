package answers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/ledger"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Answers answers questions about a peer at one instant.
type Answers struct {
	ledger.Ledger
	Number     protocol.SiteNumber
	Watched    *localrun.Watch
	Objectives *broker.Objectives
}

// AskJob answers about a job of this origin, or a guest.
func (a Answers) AskJob(id protocol.JobID) view.Reply {
	if j := a.Rows.Jobs[id]; j != nil {
		return a.Job(j)
	}
	if g := a.Rows.Guests[id]; g != nil && g.Phase == row.GuestAccepted {
		return a.Guest(g)
	}
	if array := a.Rows.Arrays[id]; array != nil {
		return a.Array(array)
	}
	if array, index, ok := a.Rows.ElementOf(id); ok && (array.Pending.Has(index) || array.Cancelled.Has(index)) {
		return a.pendingElement(array, index)
	}
	return a.noSuchJob(id)
}

func (a Answers) noSuchJob(id protocol.JobID) view.Refusal {
	if array := a.Rows.Arrays[id]; array != nil {
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
			"%v is a job array; name elements of it, as %v", id, protocol.Element{Array: id, Index: array.Asked.Indexes.First()})}
	}
	if g := a.Rows.Guests[id]; g != nil {
		return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf("job %v was submitted at %s; only that site decides about it", id, g.Origin)}
	}
	return view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("job %v is not known here, or has ended", id)}
}

// MayChange is the open job of this origin that a user wants to cancel or requeue; nil: the refusal says
// why the user may not.
func (a Answers) MayChange(id protocol.JobID, user string, admin bool, verb string) (*tables.Job, view.Refusal) {
	j := a.Rows.Jobs[id]
	if j == nil {
		return nil, a.noSuchJob(id)
	}
	if refusal, refused := a.RefuseChange(&j.Job, user, admin, verb); refused {
		return nil, refusal
	}
	return j, view.Refusal{}
}

// RunAs is the run of a job in the local queue, of this site or another one, as an account that has it here; nil: it has ended,
// or is another account's.
func (a Answers) RunAs(account string, id protocol.JobID) *localrun.Run {
	var tag protocol.Tag
	if j, g := a.Rows.Jobs[id], a.Rows.Guests[id]; j != nil {
		tag = j.Tag()
	} else if g != nil && g.Phase == row.GuestAccepted {
		tag = g.Tag()
	}
	if r := a.Rows.Runs[tag]; r != nil && r.Account == account && r.Phase != row.RunEnded {
		return r
	}
	return nil
}

// RefuseChange says why a user may not change a job or an array.
func (Answers) RefuseChange(j *row.Job, user string, admin bool, verb string) (view.Refusal, bool) {
	if user == j.Spec.User || admin {
		return view.Refusal{}, false
	}
	return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf(
		"job %v belongs to %s; only that user and root may %s it", j.Spec.Job, j.Spec.User, verb)}, true
}

// AskOutput says whether a partner may fetch a guest's output. That there is none ends the job at its
// origin, so it is said only while these rows are certainly the newest.
func (a Answers) AskOutput(ev event.AskOutput) view.Reply {
	switch {
	case ev.Inputs && a.hasInputs(ev.From, ev.Tag), !ev.Inputs && a.hasOutput(ev.From, ev.Tag):
		return view.Done{}
	case a.Site.StopReason() != "":
		return view.Refusal{Code: view.Unavailable, Reason: a.Site.StopReason()}
	}
	return view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf("job %v is not here for site %s", ev.Tag, ev.From)}
}

// hasOutput says whether this site has the output of a job for its origin.
func (a Answers) hasOutput(origin protocol.SiteName, tag protocol.Tag) bool {
	if g := a.Rows.Guests[tag.Job]; g != nil {
		return g.Phase == row.GuestAccepted && g.Origin == origin && g.Epoch == tag.Epoch
	}
	return a.OwnsAside(origin, tag)
}

// hasInputs says whether a partner has got a job of this origin, and with it its files.
func (a Answers) hasInputs(partner protocol.SiteName, tag protocol.Tag) bool {
	j := a.Rows.Jobs[tag.Job]
	return j != nil && j.Tag() == tag && j.Site == partner && j.AtPartner() && (j.Spec.StageIn > 0 || j.Spec.InPlace)
}

// OwnsAside says whether a placement that no row knows is of a partner's job.
func (a Answers) OwnsAside(partner protocol.SiteName, tag protocol.Tag) bool {
	one := a.Partners.Of(partner)
	_, aside := a.Watched.Aside(tag)
	return aside && one != nil && one.Card != nil && tag.Job.Origin() == one.Card.Number
}

// Standing is a job as its rows and what is known beside them have it.
func (a Answers) Standing(j *tables.Job) *status.Job {
	s := &status.Job{Job: &j.Job, Detail: j.Detail, NoEligibleSite: j.NoEligibleSite, Application: j.ApplicationRow()}
	if r := a.Rows.Runs[j.Tag()]; r != nil {
		s.Run = &r.Run
		if held, ok := a.Watched.HeldEnd(r.Tag); ok {
			s.Held = held.State
		}
	}
	return s
}

// NeedsOperator says why only an operator can say what becomes of the job; empty: it goes on by itself.
func (a Answers) NeedsOperator(j *tables.Job) string { return a.Standing(j).NeedsOperator(a.link) }

// link is how a site stands to this one.
func (a Answers) link(site protocol.SiteName) status.Link {
	one := a.Partners.Of(site)
	switch {
	case one == nil:
		return status.NoPartner
	case one.Departed:
		return status.Departed
	case !one.Linked || one.Unresponsive:
		return status.Unreached
	}
	return status.Reached
}

// reason says what a job that has not ended waits for.
func (a Answers) reason(s *status.Job) string {
	stopped := ""
	if !a.Site.Listening {
		stopped = a.Site.StopReason()
	}
	return s.Reason(a.link, stopped)
}

// spending is what applications have spent, each calculated once for a view of many jobs.
type spending map[*tables.Application]protocol.Micro

// Job is the view of a job of this origin.
func (a Answers) Job(j *tables.Job) view.Job { return a.job(j, spending{}) }

func (a Answers) job(j *tables.Job, spent spending) view.Job {
	s := a.Standing(j)
	v := s.View(a.Name)
	v.Reason, v.Objectives = a.reason(s), a.objectives(j, spent)
	v.Local = cmp.Or(j.Local, v.Local)
	a.showStart(&v, j)
	a.ShowJob(&v, j)
	return v
}

// showStart shows what is known of the start of a pending job.
func (a Answers) showStart(v *view.Job, j *tables.Job) {
	v.Waits, v.BestQuote = j.Waits, j.BestQuote(a.Now)
	if planned, ok := j.PlannedStart(); ok {
		v.Planned = &planned
	}
}

// expectedStart is the median of a job's expected start; [protocol.Never] if that is not known.
func (a Answers) expectedStart(j *tables.Job) protocol.Instant {
	v := view.Job{State: j.State, ReservedAt: j.ReservedAt}
	a.showStart(&v, j)
	if expected, known := v.ExpectedStart(a.Now); known {
		return expected.Median
	}
	return protocol.Instant(protocol.Never)
}

// objectives are those for a job's application; nil: the job is on its own.
func (a Answers) objectives(j *tables.Job, known spending) *view.Objectives {
	app := j.App
	if app == nil {
		return nil
	}
	spent, ok := known[app]
	if !ok {
		spent = a.Placed(&app.Application).Cost
		known[app] = spent
	}
	w := &view.Objectives{Application: app.Application.Application, Components: app.Count, Spent: spent, SpentCurrency: a.Money.Own, Broken: app.Broken}
	w.Alpha, w.Gamma, w.Delta = a.Objectives.Weights(&j.Job, &app.Application)
	return w
}

// Finished is the view of a job after its end.
func (a Answers) Finished(j *tables.Job) view.Job {
	v := a.Job(j)
	status.ShowOutcome(&v, &j.Job)
	return v
}

// Guest is the view of a guest.
func (a Answers) Guest(g *tables.Guest) view.Job {
	r := a.Rows.Runs[g.Tag()]
	if r == nil {
		return status.Guest(&g.Guest, nil, a.Name)
	}
	v := status.Guest(&g.Guest, &r.Run, a.Name)
	if v.State == protocol.Pending && r.PlannedStart.Start != 0 {
		v.Planned = new(r.PlannedStart)
	}
	a.ShowGuest(&v, g, r)
	return v
}

// Queue answers [event.AskQueue]. There may be very many jobs: only those of the page are shown.
func (a Answers) Queue(f view.QueueFilter) view.Queue {
	page, together := status.NewPage(&f), a.collect(&f)
	a.list(&page, &f, together)
	listed, next := page.Jobs()
	out, spent := view.Queue{Next: next}, spending{}
	for _, one := range listed {
		out.Jobs = append(out.Jobs, a.listed(one, together, spent))
	}
	return out
}

// listed is the view of what the queue lists.
func (a Answers) listed(one status.Listed, together lines, spent spending) view.Job {
	if one.Guest {
		return a.Guest(a.Rows.Guests[one.ID])
	}
	if one.Several {
		return a.line(together[one.ID])
	}
	if j := a.Rows.Jobs[one.ID]; j != nil {
		return a.job(j, spent)
	}
	array, index, _ := a.Rows.ElementOf(one.ID) // nothing else is listed
	return a.pendingElement(array, index)
}

// list lists the jobs that a filter wants, by their IDs where it names them.
func (a Answers) list(page *status.Page, f *view.QueueFilter, together lines) {
	if len(f.Jobs) > 0 {
		a.listNamed(page, f, together)
		return
	}
	for id, j := range a.Rows.Jobs {
		if page.Reaches(id) && j.Array == nil {
			page.Add(status.TraitsOf(&j.Job))
		}
	}
	for _, array := range a.Rows.Arrays {
		a.listArray(page, array, together)
	}
	together.list(page, nil)
	for _, g := range a.Rows.Guests {
		a.listGuest(page, g)
	}
}

// listNamed lists the jobs that a filter names, and the elements of the arrays that it names.
func (a Answers) listNamed(page *status.Page, f *view.QueueFilter, together lines) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(f.Jobs))) {
		if array := a.Rows.Arrays[id]; array != nil {
			a.listArray(page, array, together)
			together.list(page, array)
		} else if j := a.Rows.Jobs[id]; j != nil {
			page.Add(status.TraitsOf(&j.Job))
		} else if array, index, ok := a.Rows.ElementOf(id); ok && array.Pending.Has(index) {
			t := status.TraitsOf(&array.Job)
			t.ID = id
			page.Add(t)
		}
		a.listGuest(page, a.Rows.Guests[id])
	}
}

func (a Answers) listGuest(page *status.Page, g *tables.Guest) {
	if g != nil && status.Shown(&g.Guest) {
		v := a.Guest(g)
		page.Add(view.TraitsOf(&v))
	}
}
