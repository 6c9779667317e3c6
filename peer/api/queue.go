package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

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

	Finished int // how many finished jobs to list too, the latest ones; zero for none
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
	for _, id := range l.Jobs {
		q.Add("job", id.String())
	}
	for _, site := range l.Sites {
		q.Add("site", string(site))
	}
	for _, state := range l.States {
		q.Add("state", state.String())
	}
	if l.Application != 0 {
		q.Set("application", l.Application.String())
	}
	switch l.Guests {
	case view.WithoutGuests:
		q.Set("guests", "none")
	case view.OnlyGuests:
		q.Set("guests", "only")
	case view.WithGuests:
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

// parseListing reads the parameters of a request. One that it does not know is an error, so that
// no condition is passed over in silence.
func parseListing(q url.Values) (l Listing, err error) {
	var all bool
	finished := defaultListed
	known := map[string]func([]string) error{
		"user":        into(&l.Users, itself),
		"name":        into(&l.Names, itself),
		"job":         into(&l.Jobs, protocol.ParseJobID),
		"site":        into(&l.Sites, parseSite),
		"state":       into(&l.States, parseState),
		"application": once(&l.Application, protocol.ParseJobID),
		"guests":      once(&l.Guests, parseGuests),
		"after":       once(&l.After, protocol.ParseJobID),
		"page":        once(&l.Limit, parseCount),
		"limit":       once(&finished, parseCount),
		"all":         once(&all, strconv.ParseBool),
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		read, ok := known[name]
		if !ok {
			return Listing{}, refuse(view.BadRequest, "unknown parameter %q; use %s",
				name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err = read(q[name]); err != nil {
			return Listing{}, refuse(view.BadRequest, "%s: %v", name, err)
		}
	}
	if all {
		l.Finished = finished
	}
	return l, nil
}

// into reads every value of a parameter.
func into[T any](to *[]T, parse func(string) (T, error)) func([]string) error {
	return func(values []string) error {
		if len(values) > maxValues {
			return fmt.Errorf("has %d values; at most %d are allowed", len(values), maxValues)
		}
		for _, text := range values {
			value, err := parse(text)
			if err != nil {
				return err
			}
			*to = append(*to, value)
		}
		return nil
	}
}

// once reads a parameter that is there once.
func once[T any](to *T, parse func(string) (T, error)) func([]string) error {
	return func(values []string) (err error) {
		if len(values) != 1 {
			return fmt.Errorf("is given %d times; give it once", len(values))
		}
		*to, err = parse(values[0])
		return err
	}
}

func itself(s string) (string, error) { return s, nil }

func parseSite(name string) (protocol.SiteName, error) {
	if name == "" {
		return "", nil // the grid queue
	}
	return protocol.SiteName(name), protocol.SiteName(name).Validate()
}

func parseState(name string) (protocol.State, error) {
	return protocol.ParseState(strings.ToUpper(name))
}

func parseGuests(s string) (view.GuestFilter, error) {
	switch s {
	case "none":
		return view.WithoutGuests, nil
	case "only":
		return view.OnlyGuests, nil
	}
	return 0, fmt.Errorf("invalid value %q; use none or only", s)
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxListed {
		return 0, fmt.Errorf("invalid number; use 1 to %d", maxListed)
	}
	return n, nil
}

func (s *server) queue(w http.ResponseWriter, r *http.Request, who caller) error {
	wanted, err := parseListing(r.URL.Query())
	if err != nil {
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
	for _, id := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(wanted.Jobs)))) {
		job, err := s.Node.Job(ctx, id)
		if err != nil && refusalOf(err).Code != view.NotFound {
			return nil, err
		}
		if err == nil && !job.Guest && job.State.Terminal() && matches(&job) && len(jobs) < wanted.Finished {
			jobs = append(jobs, job)
		}
	}
	return jobs, nil
}
