package display

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Application is an application as one: the sums over its components that have not ended.
type Application struct {
	ID         protocol.JobID      `json:"id"` // of its first component
	Name       string              `json:"name"`
	User       string              `json:"user"`
	Components int                 `json:"components"`
	Pending    int                 `json:"pending"`
	Running    int                 `json:"running"`
	Ended      int                 `json:"ended"`
	Spent      protocol.Micro      `json:"spent_micro"` // predicted, of components that are placed or have ended
	Currency   string              `json:"spent_currency,omitempty"`
	Together   *view.Start         `json:"together,omitempty"` // of components that start together; nil: none do
	Sites      []protocol.SiteName `json:"sites"`
	Reasons    []string            `json:"reasons"` // of those that wait, each once
}

// Applications lists the applications of jobs, by their ids.
func Applications(jobs []view.Job) []*Application {
	known := map[protocol.JobID]*Application{}
	all := []*Application{}
	for i := range jobs {
		job := &jobs[i]
		if job.Application == 0 || job.State.Terminal() {
			continue
		}
		a := known[job.Application]
		if a == nil {
			a = &Application{ID: job.Application, User: job.User, Sites: []protocol.SiteName{}, Reasons: []string{}}
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
	slices.SortFunc(all, func(x, y *Application) int { return cmp.Compare(x.ID, y.ID) })
	return all
}

func (a *Application) add(job *view.Job) {
	if w := job.Objectives; w != nil {
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

// ApplicationTable has a row for each application.
func ApplicationTable(all []*Application) *console.Table {
	t := console.NewTable(" APPLICATION", "NAME", "USER", " COMPONENTS", " PENDING", " RUNNING", " ENDED", " COST", "SITES", "REASON")
	for _, one := range all {
		t.Add(one.ID.String(), console.OrDash(one.Name), console.Plain(one.User), strconv.Itoa(one.Components), strconv.Itoa(one.Pending),
			strconv.Itoa(one.Running), strconv.Itoa(one.Ended), console.Amount(one.Spent, one.Currency), cmp.Or(strings.Join(console.Names(one.Sites), ","), "-"),
			console.Plain(strings.Join(one.Reasons, "; ")))
	}
	return t
}
