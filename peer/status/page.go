package status

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Listed is a job that a filter wants, before it is shown.
type Listed struct {
	ID    protocol.JobID
	Guest bool

	Several bool // pending elements of an array, of which this is the ID of their entry
}

func byID(a, b Listed) int { return cmp.Compare(a.ID, b.ID) }

// Page collects the jobs that a filter wants. There may be very many: it keeps those of the page,
// and at least one more if there are more.
type Page struct {
	filter view.QueueFilter        // without Jobs
	named  map[protocol.JobID]bool // which are these; empty: all are wanted
	jobs   []Listed
	last   protocol.JobID // those after it are on later pages
}

// NewPage is an empty page of the jobs that a filter wants.
func NewPage(filter *view.QueueFilter) Page {
	p := Page{filter: *filter, last: math.MaxInt64, named: make(map[protocol.JobID]bool, len(filter.Jobs))}
	p.filter.Jobs = nil
	for _, id := range filter.Jobs { // there may be thousands
		p.named[id] = true
	}
	return p
}

// Reaches says whether a job, or a guest, of the ID may be on the page.
func (p *Page) Reaches(id protocol.JobID) bool { return id > p.filter.After && id <= p.last }

// Add lists a job if the filter wants it.
func (p *Page) Add(l *view.Traits) {
	named := len(p.named) == 0 || p.named[l.ID] || l.Array != 0 && p.named[l.Array]
	if l.ID <= p.filter.After || !named || !p.filter.Wants(l) {
		return
	}
	p.jobs = append(p.jobs, Listed{ID: l.ID, Guest: l.Guest, Several: l.Several})
	if limit := p.filter.Limit; limit > 0 && len(p.jobs) > 2*limit+1024 {
		slices.SortFunc(p.jobs, byID)
		p.jobs = p.jobs[:limit+1]
		p.last = p.jobs[limit].ID
	}
}

// Jobs are those of the page, in order. Next is the last of them, after which the next page
// begins; 0: there is none.
func (p *Page) Jobs() (jobs []Listed, next protocol.JobID) {
	slices.SortFunc(p.jobs, byID)
	if limit := p.filter.Limit; limit > 0 && len(p.jobs) > limit {
		return p.jobs[:limit], p.jobs[limit-1].ID
	}
	return p.jobs, 0
}
