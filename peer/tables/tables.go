package tables

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tables are the rows of one peer.
type Tables struct {
	Jobs         map[protocol.JobID]*Job
	Guests       map[protocol.JobID]*Guest
	Runs         map[protocol.Tag]*localrun.Run
	Dedup        map[string]row.Dedup // by user and key
	Applications map[protocol.JobID]*Application
	Arrays       map[protocol.JobID]*Array
	History      broker.History
	Fair         fairness.Book
	Files        Files

	site     *lives.Store
	partners *partner.Set
	queue    *gridqueue.Queue

	ofUser  map[string]int // jobs
	pending int            // elements of arrays that are no jobs yet
	waiting dependents
	alike   compact.Store

	requeueable requeueable

	arrayIDs      []protocol.JobID        // of Arrays, in order
	changedArrays map[protocol.JobID]bool // whose next elements may have to become jobs
	changed       step.Rows               // by this step
}

// New are the tables of a new peer. The rows of its site and its partners are those of the store and
// the set; a job in the grid queue is in the queue.
func New(site *lives.Store, partners *partner.Set, queue *gridqueue.Queue) Tables {
	return Tables{
		Jobs:         map[protocol.JobID]*Job{},
		Guests:       map[protocol.JobID]*Guest{},
		Runs:         map[protocol.Tag]*localrun.Run{},
		Dedup:        map[string]row.Dedup{},
		Applications: map[protocol.JobID]*Application{},
		Arrays:       map[protocol.JobID]*Array{},
		site:         site, partners: partners, queue: queue,
		ofUser: map[string]int{}, Fair: fairness.New(&rules.Config{}), changedArrays: map[protocol.JobID]bool{},
		requeueable: newRequeueable(),
	}
}

// JobIDs are the jobs of this origin, in order.
func (t *Tables) JobIDs() []protocol.JobID { return slices.Sorted(maps.Keys(t.Jobs)) }

// GuestIDs are the guests, in order.
func (t *Tables) GuestIDs() []protocol.JobID { return slices.Sorted(maps.Keys(t.Guests)) }

// RunTags are the runs, in order.
func (t *Tables) RunTags() []protocol.Tag {
	return slices.SortedFunc(maps.Keys(t.Runs), row.CompareTags)
}

// JobsOf counts the open jobs of a user, as [Tables.Open] counts those of all.
func (t *Tables) JobsOf(user string) int { return t.ofUser[user] }

// Share is an equal text that is kept once for all jobs that have it.
func (t *Tables) Share(text string) string { return t.alike.Text(text) }

// AddJob takes a new job in, with what it runs.
func (t *Tables) AddJob(j *Job, payload *protocol.Payload) {
	t.alike.Row(&j.Job)
	j.packed = t.alike.Pack(j.Spec.User, &j.Job, payload)
	t.addJob(j)
	t.SavePayload(j.Spec.Job)
}

func (t *Tables) addJob(j *Job) {
	t.Jobs[j.Spec.Job] = j
	t.countOpen(&j.Spec, +1)
	t.waiting.add(&j.Job, j.Array != nil)
	t.SaveJob(j.Spec.Job)
}

// RemoveJob takes a job out that has ended.
func (t *Tables) RemoveJob(j *Job) {
	t.leave(j)
	if j.Array == nil {
		t.SavePayload(j.Spec.Job)
	}
}

// leave takes a job off the open ones. What it runs stays.
func (t *Tables) leave(j *Job) {
	id := j.Spec.Job
	delete(t.Jobs, id)
	t.Files.Note(id, Owner{}, 0)
	t.countOpen(&j.Spec, -1)
	t.waiting.remove(&j.Job, j.Array != nil, t.isNamed)
	t.SaveJob(id)
	a := j.Array
	if a == nil {
		return
	}
	delete(a.jobs, j.Element.Index)
	t.countElement(j)
	a.Ended.Add(j.State, 1)
	if j.Outcome != nil {
		a.ExitCode = max(a.ExitCode, j.Outcome.ExitCode)
	}
	if len(j.Undelivered) > 0 {
		a.Undelivered++
	}
	t.SaveArray(a)
}

// RemoveGuest forgets a guest, without a tombstone.
func (t *Tables) RemoveGuest(id protocol.JobID) {
	delete(t.Guests, id)
	t.SaveGuest(id)
	t.SavePayload(id)
}

// JobRow is the row of a job of this origin; nil: there is none.
func (t *Tables) JobRow(id protocol.JobID) *row.Job { return t.Jobs[id].Row() }

// GuestRow is the row of a guest; nil: there is none.
func (t *Tables) GuestRow(id protocol.JobID) *row.Guest { return t.Guests[id].Row() }

// At is the job that a message of a site is about; nil: the message is about an epoch that is over, or
// the site is not the job's.
func (t *Tables) At(site protocol.SiteName, tag protocol.Tag) *Job {
	j := t.Jobs[tag.Job]
	if j == nil || j.Epoch != tag.Epoch || j.Site != site || j.Phase == row.JobEnding {
		return nil
	}
	return j
}

// FencedAt is the index in a job's list of the placement at a site that was given up. It returns false
// if there is none.
func (t *Tables) FencedAt(site protocol.SiteName, tag protocol.Tag) (at int, ok bool) {
	if j := t.Jobs[tag.Job]; j != nil {
		return j.FencedAt(site, tag.Epoch)
	}
	return 0, false
}

// SpecOf is what a placement here is to run; nil: no row says it.
func (t *Tables) SpecOf(tag protocol.Tag) *protocol.Spec {
	if j := t.Jobs[tag.Job]; j != nil {
		return &j.Spec
	}
	if g := t.Guests[tag.Job]; g != nil {
		return &g.Spec
	}
	return nil
}

// TariffOf is the tariff that applies to a placement here; nil: it costs nothing.
func (t *Tables) TariffOf(tag protocol.Tag) *protocol.Tariff {
	if j := t.Jobs[tag.Job]; j != nil && j.Tag() == tag {
		return j.Tariff
	}
	if g := t.Guests[tag.Job]; g != nil && g.Tag() == tag {
		return g.Tariff
	}
	return nil
}

// HasReservation says whether the local scheduler has a reservation for a placement.
func (t *Tables) HasReservation(tag protocol.Tag) bool {
	if j := t.Jobs[tag.Job]; j != nil {
		return j.ReservedAt != 0 && j.Tag() == tag
	}
	g := t.Guests[tag.Job]
	return g != nil && g.ReservedAt != 0 && g.Tag() == tag
}

// ClosedHere says whether this store itself has closed a placement, so that the local scheduler may
// forget it. Of any other it is not known what became of it: the rows may have been lost, or be older
// than the placement.
func (t *Tables) ClosedHere(tag protocol.Tag) bool {
	if j := t.Jobs[tag.Job]; j != nil {
		return j.ClosedAt(tag.Epoch)
	}
	if g := t.Guests[tag.Job]; g != nil {
		return g.ClosedAt(tag.Epoch)
	}
	if ended := t.requeueable.jobs[tag.Job]; ended != nil {
		return tag.Epoch <= ended.Epoch
	}
	return t.site.IssuedHere(tag.Job)
}

// PartnerJobs counts the open jobs that concern each partner.
func (t *Tables) PartnerJobs() row.PartnerCount {
	all := row.PartnerCount{}
	for _, j := range t.Jobs {
		all.Add(j.Job)
	}
	for _, g := range t.Guests {
		all.Add(g.Guest)
	}
	return all
}

// Concerned are the sites that open jobs and guests name.
func (t *Tables) Concerned() map[protocol.SiteName]bool {
	sites := map[protocol.SiteName]bool{}
	for site := range t.PartnerJobs() {
		sites[site] = true
	}
	for _, g := range t.Guests {
		if g.ReturnUnacked {
			sites[g.Origin] = true
		}
	}
	return sites
}

// HighestSeq is the highest sequence number among a site's jobs here.
func (t *Tables) HighestSeq(origin protocol.SiteName) (seq uint64) {
	for id, g := range t.Guests {
		if g.Origin == origin {
			seq = max(seq, id.Seq())
		}
	}
	return seq
}

// Committed counts the jobs of this origin that are in the local queue.
func (t *Tables) Committed() (jobs int) {
	for _, j := range t.Jobs {
		if j.Phase == row.JobCommittedLocal {
			jobs++
		}
	}
	return jobs
}

// Prune deletes what no request can refer to any more: tombstones and keys of submissions from before an
// instant, and components that no user has run for long.
func (t *Tables) Prune(before protocol.Instant) {
	for _, id := range t.GuestIDs() {
		if g := t.Guests[id]; !g.Phase.Open() && g.Since < before && !g.ReturnUnacked {
			delete(t.Guests, id)
			t.SaveGuest(id)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Dedup)) {
		if t.Dedup[key].At < before {
			delete(t.Dedup, key)
			t.SaveDedup(key)
		}
	}
	for _, key := range t.History.Prune() {
		t.SaveExecutions(key)
	}
}

// CountPrepared has the guests that were prepared since an instant count in an intake.
func (t *Tables) CountPrepared(since protocol.Instant, in intake.Number) {
	for _, g := range t.Guests {
		if g.Phase == row.GuestPrepared && g.Since >= since {
			g.Intake = in
		}
	}
}
