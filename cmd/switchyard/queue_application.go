package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// applicationView is an application as one: what is told of its components that have not ended,
// together.
type applicationView struct {
	ID         protocol.JobID      `json:"id"` // of its first component
	Name       string              `json:"name"`
	User       string              `json:"user"`
	Components int                 `json:"components"`
	Pending    int                 `json:"pending"`
	Running    int                 `json:"running"`
	Ended      int                 `json:"ended"`
	Spent      protocol.Micro      `json:"spent_micro"` // foreseen, of what is placed or has ended
	Currency   string              `json:"spent_currency,omitempty"`
	Together   *peer.StartView     `json:"together,omitempty"` // of components that start together; nil: none do
	Sites      []protocol.SiteName `json:"sites"`
	Reasons    []string            `json:"reasons"` // of those that wait, each once
}

// applicationsOf lists the applications of jobs, by their ids.
func applicationsOf(jobs []peer.JobView) []*applicationView {
	known := map[protocol.JobID]*applicationView{}
	all := []*applicationView{}
	for i := range jobs {
		job := &jobs[i]
		if job.Application == 0 || job.State.Terminal() {
			continue
		}
		a := known[job.Application]
		if a == nil {
			a = &applicationView{ID: job.Application, User: job.User, Sites: []protocol.SiteName{}, Reasons: []string{}}
			known[a.ID], all = a, append(all, a)
		}
		a.add(job)
	}
	for _, a := range all {
		a.Components = max(a.Components, a.Pending+a.Running)
		a.Ended = a.Components - a.Pending - a.Running
		slices.Sort(a.Sites)
		a.Sites = slices.Compact(a.Sites)
	}
	slices.SortFunc(all, func(x, y *applicationView) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

func (a *applicationView) add(job *peer.JobView) {
	if w := job.Wishes; w != nil {
		a.Name, a.Components, a.Spent, a.Currency = w.Name, w.Components, w.Spent, w.SpentCurrency
	}
	a.Together = cmp.Or(job.Together, a.Together)
	if job.State == protocol.Running {
		a.Running++
	} else {
		a.Pending++
		if job.Reason != "" && !slices.Contains(a.Reasons, job.Reason) {
			a.Reasons = append(a.Reasons, job.Reason)
		}
	}
	if job.Site != "" {
		a.Sites = append(a.Sites, job.Site)
	}
}

func (a *app) applicationTable(all []*applicationView) *console.Table {
	t := console.NewTable(" APPLICATION", "NAME", "USER", " COMPONENTS", " PENDING", " RUNNING", " ENDED", " COST", "SITES", "REASON")
	for _, one := range all {
		sites := make([]string, len(one.Sites))
		for i, site := range one.Sites {
			sites[i] = string(site)
		}
		t.Add(one.ID.String(), console.OrDash(one.Name), console.Plain(one.User), strconv.Itoa(one.Components), strconv.Itoa(one.Pending),
			strconv.Itoa(one.Running), strconv.Itoa(one.Ended), console.Amount(one.Spent, one.Currency), console.OrDash(strings.Join(sites, ",")),
			console.Plain(strings.Join(one.Reasons, "; ")))
	}
	return t
}

// listApplications prints the applications of the jobs that were asked for, each as one.
func (a *app) listApplications(jobs []peer.JobView) error {
	all := applicationsOf(jobs)
	if a.json {
		return a.printJSON(map[string]any{"applications": all})
	}
	return a.applicationTable(all).Write(a.stdout, "", !a.noHeader)
}

// components are the jobs of an application that have not ended. The id may be that of any of
// its components.
func (a *app) components(ctx context.Context, id protocol.JobID) ([]protocol.JobID, error) {
	job, err := a.client().Job(ctx, id)
	if err != nil {
		return nil, err
	}
	if job.Application == 0 {
		return nil, &exitError{exitNotFound, fmt.Errorf("job %v is not part of an application; cancel it without --application", id)}
	}
	queue, err := a.client().Queue(ctx, api.Listing{QueueFilter: peer.QueueFilter{Application: job.Application, Guests: peer.WithoutGuests}})
	if err != nil {
		return nil, err
	}
	var open []protocol.JobID
	for i := range queue.Jobs {
		open = append(open, queue.Jobs[i].ID)
	}
	if len(open) == 0 {
		return nil, fmt.Errorf("all components of the application of job %v have ended already", job.Application)
	}
	return open, nil
}
