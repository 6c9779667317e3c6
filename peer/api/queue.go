package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The most finished jobs that one request lists, and how many if it does not say; the most jobs
// of a page, and the most values of a filter.
const (
	maxListed     = 10_000
	defaultListed = 1000
	maxValues     = 10_000
)

// Listing says which jobs a client wants to see. With a Limit the live jobs come in pages: the
// next one is that After the Next of the answer, and the finished jobs come with the last page.
type Listing struct {
	view.QueueFilter

	Named    []protocol.JobName // jobs, arrays and elements, as people name them, besides Jobs
	Finished int                // how many finished jobs to list too, the latest ones; zero for none
}

// query is the listing as parameters of a request.
func (l *Listing) query() url.Values {
	q := url.Values{}
	texts := func(name string, values []string) {
		if len(values) > 0 {
			q[name] = values
		}
	}
	texts("user", l.Users)
	texts("name", l.Names)
	texts("job", jobTexts(l.Jobs, l.Named))
	for _, site := range l.Sites {
		q.Add("site", string(site))
	}
	for _, state := range l.States {
		q.Add("state", state.String())
	}
	if l.Application != 0 {
		q.Set("application", l.Application.String())
	}
	setGuests(q, l.Guests)
	if l.Components {
		q.Set("components", "true")
	}
	if l.Elements {
		q.Set("elements", "true")
	}
	if l.After != 0 {
		q.Set("after", l.After.String())
	}
	if l.Limit != 0 {
		q.Set("page", strconv.Itoa(l.Limit))
	}
	if l.Finished != 0 {
		q.Set("all", "true")
		q.Set("limit", strconv.Itoa(l.Finished))
	}
	return q
}

// setGuests adds the parameter that says whether guests are wanted.
func setGuests(q url.Values, guests view.GuestFilter) {
	switch guests {
	case view.WithoutGuests:
		q.Set("guests", "none")
	case view.OnlyGuests:
		q.Set("guests", "only")
	case view.WithGuests:
	}
}

// parseListing reads the parameters of a request.
func parseListing(q url.Values) (l Listing, err error) {
	var all bool
	finished := defaultListed
	known := map[string]func([]string) error{
		"user":        into(&l.Users, itself),
		"name":        into(&l.Names, itself),
		"job":         into(&l.Named, protocol.ParseJobName),
		"site":        into(&l.Sites, parseSite),
		"state":       into(&l.States, parseState),
		"application": once(&l.Application, protocol.ParseJobID),
		"guests":      once(&l.Guests, parseGuests),
		"components":  once(&l.Components, parseBool),
		"elements":    once(&l.Elements, parseBool),
		"after":       once(&l.After, protocol.ParseJobID),
		"page":        once(&l.Limit, parseCount),
		"limit":       once(&finished, parseCount),
		"all":         once(&all, parseBool),
	}
	if err = parse(q, known); err != nil {
		return Listing{}, err
	}
	if all {
		l.Finished = finished
	}
	return l, nil
}

func (s *server) queue(w http.ResponseWriter, r *http.Request, who caller) error {
	wanted, err := parseListing(r.URL.Query())
	if err != nil {
		return err
	}
	if wanted.Jobs, err = s.jobIDs(r.Context(), who, wanted.Named); err != nil {
		return err
	}
	if s.Private && !s.manages(who) {
		wanted.Viewer = who.user
	}
	answer, err := s.Node.Ask(r.Context(), func(asked event.AskID) event.Event {
		return event.AskQueue{Asked: asked, Filter: wanted.QueueFilter}
	})
	if err != nil {
		return err
	}
	queue, ok := answer.(view.Queue)
	if !ok {
		return refuse(view.Unavailable, "the peer answered with %T", answer)
	}
	queue.Jobs = s.seen(who, queue.Jobs)
	if wanted.Finished > 0 && queue.Next == 0 {
		finished, archiveErr := s.archived(r.Context(), &wanted, queue.Jobs)
		if archiveErr != nil {
			return archiveErr
		}
		queue.Jobs = append(finished, queue.Jobs...)
	}
	if queue.Jobs == nil {
		queue.Jobs = []view.Job{}
	}
	return reply(w, http.StatusOK, queue)
}

// archived lists the finished jobs that are wanted, the youngest ones, without those that were
// live a moment ago.
func (s *server) archived(ctx context.Context, wanted *Listing, live []view.Job) ([]view.Job, error) {
	known := make(map[protocol.JobID]bool, len(live))
	for i := range live {
		known[live[i].ID] = true
	}
	matches := func(job *view.Job) bool { return wanted.Matches(job) && !known[job.ID] }
	if len(wanted.Jobs) == 0 {
		return s.Node.ArchivedJobs(ctx, wanted.Finished, matches)
	}
	var jobs []view.Job
	past := view.HistoryFilter{Jobs: wanted.Jobs, Guests: view.WithoutGuests} // also the elements of arrays
	for from := ""; ; {
		page, err := s.Node.History(ctx, &past, from, maxListed)
		if err != nil {
			return nil, err
		}
		for i := range page.Jobs {
			if len(jobs) < wanted.Finished && matches(&page.Jobs[i]) {
				jobs = append(jobs, page.Jobs[i])
			}
		}
		if from = page.Next; from == "" || len(jobs) == wanted.Finished {
			return jobs, nil
		}
	}
}
