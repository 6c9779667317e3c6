package dashboard

import (
	"net/http"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// applicationsPage shows the applications that have not ended.
type applicationsPage struct {
	Answer string
	All    []applicationPart
}

// applicationPart is an application with its components.
type applicationPart struct {
	Of         *display.Application
	Title      string
	Spent      string
	Limits     []string
	Broken     string // which limit was broken; empty: none
	Components []jobRow
}

func (d *Dashboard) showApplications(r *request) error {
	queue, err := r.visitor.Peer.WholeQueue(r.Context(), api.Listing{QueueFilter: view.QueueFilter{Guests: view.WithoutGuests, Components: true, Limit: maxRead}})
	if err != nil {
		return err
	}
	page, now := applicationsPage{}, protocol.InstantOf(time.Now())
	at := map[protocol.JobID]int{}
	for _, one := range display.Applications(queue.Jobs) {
		at[one.ID] = len(page.All)
		page.All = append(page.All, applicationPart{Of: one, Title: one.Name, Spent: console.Amount(one.Spent, one.Currency)})
	}
	for i := range queue.Jobs {
		job := &queue.Jobs[i]
		part, of := at[job.Application]
		if job.Application == 0 || !of {
			continue
		}
		one := &page.All[part]
		one.Components = append(one.Components, rowOf(job, now))
		if w := job.Objectives; w != nil && one.Limits == nil {
			one.Limits, one.Broken = limitsOf(w), w.Broken
		}
	}
	page.Answer = protocol.Count(len(page.All), "application") + " of this site with components that are pending or running."
	return d.show(r, http.StatusOK, "applications", frame{Title: "Applications", Path: "/applications", Live: true, Body: &page})
}

// limitsOf are the limits that the user gave.
func limitsOf(w *view.Objectives) []string {
	limits := []string{}
	if w.MaxCost != protocol.Unlimited {
		limits = append(limits, "cost at most "+console.Amount(w.MaxCost, w.Currency))
	}
	if w.MaxTime != protocol.Never {
		limits = append(limits, "time at most "+console.Span(w.MaxTime))
	}
	return limits
}
