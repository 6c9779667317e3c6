package peer

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// listed is a job that the filter wants, before it is shown.
type listed struct {
	id    protocol.JobID
	guest bool
}

func byListing(a, b listed) int { return cmp.Compare(a.id, b.id) }

// queueView answers [AskQueue]. There may be very many jobs: only those of the page are shown.
func (p *Peer) queueView(f view.QueueFilter) view.Queue {
	page := p.listedBy(&f)
	slices.SortFunc(page, byListing)
	out := view.Queue{}
	if f.Limit > 0 && len(page) > f.Limit {
		page = page[:f.Limit]
		out.Next = page[f.Limit-1].id
	}
	spent := spending{}
	for _, one := range page {
		if one.guest {
			out.Jobs = append(out.Jobs, p.guestView(p.guests[one.id]))
		} else {
			out.Jobs = append(out.Jobs, p.jobView(p.jobs[one.id], spent))
		}
	}
	return out
}

// page collects the jobs that a filter wants, in no order: those of the page, and at least one
// more if there are more.
type page struct {
	*view.QueueFilter

	jobs []listed
	last protocol.JobID // those after it are on later pages
}

func (c *page) add(l *view.Traits) {
	if l.ID <= c.After || !c.Wants(l) {
		return
	}
	c.jobs = append(c.jobs, listed{l.ID, l.Guest})
	if c.Limit > 0 && len(c.jobs) > 2*c.Limit+1024 {
		slices.SortFunc(c.jobs, byListing)
		c.jobs = c.jobs[:c.Limit+1]
		c.last = c.jobs[c.Limit].id
	}
}

func (c *page) addJob(j *job) {
	c.add(&view.Traits{
		ID: j.Spec.Job, User: j.Spec.User, Name: j.Spec.Name, Site: j.shownSite(), State: j.State, Application: j.Application,
	})
}

func (c *page) addGuest(v view.Job) {
	c.add(view.TraitsOf(&v))
}

// listedBy lists the jobs of the filter's page, and at least one more if there are more.
func (p *Peer) listedBy(f *view.QueueFilter) []listed {
	c := page{QueueFilter: f, last: math.MaxInt64}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(f.Jobs))) {
		if j := p.jobs[id]; j != nil {
			c.addJob(j)
		}
		if g := p.guests[id]; g.shown() {
			c.addGuest(p.guestView(g))
		}
	}
	if len(f.Jobs) > 0 {
		return c.jobs
	}
	for id, j := range p.jobs {
		if id > f.After && id <= c.last {
			c.addJob(j)
		}
	}
	for _, g := range p.guests {
		if g.shown() {
			c.addGuest(p.guestView(g))
		}
	}
	return c.jobs
}

// shown says whether there is a guest that people see.
func (g *guest) shown() bool {
	return g != nil && (g.Phase == row.GuestAccepted || g.Phase == row.GuestPrepared)
}

// shownSite is where a job is placed; while a site has only been asked for room, none.
func (j *job) shownSite() protocol.SiteName {
	if j.Phase == row.JobOffered || j.Phase == row.JobReserving {
		return ""
	}
	return j.Site
}
