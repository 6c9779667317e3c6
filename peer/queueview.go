package peer

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// QueueFilter says which jobs of the queue are wanted: those that meet every condition. An
// empty one excludes nothing.
type QueueFilter struct {
	Jobs        []protocol.JobID
	Users       []string
	Names       []string
	Sites       []protocol.SiteName // where jobs are placed; "" is the grid queue
	States      []protocol.State
	Application protocol.JobID // of its first component; 0: any, and none
	Guests      GuestFilter
	Viewer      string // only jobs that this user submitted here; empty: everybody's

	After protocol.JobID // only jobs with a greater id
	Limit int            // the most jobs of an answer, those with the least ids; 0: all
}

// GuestFilter says whether guests are wanted.
type GuestFilter uint8

// The values of GuestFilter.
const (
	WithGuests GuestFilter = iota
	WithoutGuests
	OnlyGuests
)

// Matches says whether a job is wanted, whatever the page.
func (f *QueueFilter) Matches(v *JobView) bool {
	return f.wants(&looks{v.ID, v.User, v.Name, v.Site, v.State, v.Application, v.Guest})
}

// looks are what conditions look at.
type looks struct {
	id          protocol.JobID
	user, name  string
	site        protocol.SiteName
	state       protocol.State
	application protocol.JobID
	guest       bool
}

func (f *QueueFilter) wants(l *looks) bool {
	switch {
	case f.Guests == WithoutGuests && l.guest, f.Guests == OnlyGuests && !l.guest:
		return false
	case f.Viewer != "" && (l.guest || l.user != f.Viewer):
		return false
	case f.Application != 0 && l.application != f.Application:
		return false
	}
	return oneOf(f.Jobs, l.id) && oneOf(f.Users, l.user) && oneOf(f.Names, l.name) && oneOf(f.Sites, l.site) &&
		oneOf(f.States, l.state)
}

// oneOf says whether a value is among those that are wanted; of none, every value is.
func oneOf[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// listed is a job that the filter wants, before it is shown.
type listed struct {
	id    protocol.JobID
	guest bool
}

func byListing(a, b listed) int { return cmp.Compare(a.id, b.id) }

// queueView answers [AskQueue]. There may be very many jobs: only those of the page are shown.
func (p *Peer) queueView(f QueueFilter) Queue {
	page := p.listedBy(&f)
	slices.SortFunc(page, byListing)
	out := Queue{}
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
	*QueueFilter

	jobs []listed
	last protocol.JobID // those after it are on later pages
}

func (c *page) add(l *looks) {
	if l.id <= c.After || !c.wants(l) {
		return
	}
	c.jobs = append(c.jobs, listed{l.id, l.guest})
	if c.Limit > 0 && len(c.jobs) > 2*c.Limit+1024 {
		slices.SortFunc(c.jobs, byListing)
		c.jobs = c.jobs[:c.Limit+1]
		c.last = c.jobs[c.Limit].id
	}
}

func (c *page) addJob(j *job) {
	c.add(&looks{j.Spec.Job, j.Spec.User, j.Spec.Name, j.shownSite(), j.State, j.Application, false})
}

func (c *page) addGuest(v JobView) {
	c.add(&looks{v.ID, v.User, v.Name, v.Site, v.State, v.Application, true})
}

// listedBy lists the jobs of the filter's page, and at least one more if there are more.
func (p *Peer) listedBy(f *QueueFilter) []listed {
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
	return g != nil && (g.Phase == GuestIsOwned || g.Phase == GuestIsPrepared)
}

// shownSite is where a job is placed; while a site has only been asked for room, none.
func (j *job) shownSite() protocol.SiteName {
	if j.Phase == Offered || j.Phase == Holding {
		return ""
	}
	return j.Site
}
