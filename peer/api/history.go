package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Past says which of the jobs that have ended a client wants to see. They come in pages, the job that
// ended last first: the next page is that After the Next of the answer.
type Past struct {
	view.HistoryFilter

	Named []protocol.JobName // jobs, arrays and elements, as people name them, besides Jobs
	After string
	Limit int // the most jobs of a page; 0: 1000
}

// query is what is wanted as parameters of a request.
func (p *Past) query() url.Values {
	q := url.Values{}
	for name, values := range map[string][]string{
		"user": p.Users, "account": p.Accounts, "name": p.Names, "job": jobTexts(p.Jobs, p.Named),
		"site": texts(p.Sites, siteText), "origin": texts(p.Origins, siteText), "state": texts(p.States, protocol.State.String),
	} {
		if len(values) > 0 {
			q[name] = values
		}
	}
	for name, at := range map[string]protocol.Instant{"since": p.Since, "until": p.Until} {
		if at != 0 {
			q.Set(name, strconv.FormatInt(int64(at), 10))
		}
	}
	setGuests(q, p.Guests)
	if p.Earlier {
		q.Set("earlier", "true")
	}
	if p.After != "" {
		q.Set("after", p.After)
	}
	if p.Limit != 0 {
		q.Set("page", strconv.Itoa(p.Limit))
	}
	return q
}

func texts[T any](values []T, text func(T) string) (out []string) {
	for _, value := range values {
		out = append(out, text(value))
	}
	return out
}

// jobTexts are the jobs of a list by their IDs and their names.
func jobTexts(ids []protocol.JobID, names []protocol.JobName) []string {
	return append(texts(ids, protocol.JobID.String), texts(names, protocol.JobName.String)...)
}

func siteText(name protocol.SiteName) string { return string(name) }

// parsers read the parameters of a request that say which jobs are wanted.
func (p *Past) parsers() map[string]func([]string) error {
	return map[string]func([]string) error{
		"user":    into(&p.Users, itself),
		"account": into(&p.Accounts, itself),
		"name":    into(&p.Names, itself),
		"job":     into(&p.Named, protocol.ParseJobName),
		"site":    into(&p.Sites, parseSite),
		"origin":  into(&p.Origins, parseSite),
		"state":   into(&p.States, parseState),
		"since":   once(&p.Since, parseInstant),
		"until":   once(&p.Until, parseInstant),
		"guests":  once(&p.Guests, parseGuests),
	}
}

// history lists jobs that have ended.
func (s *server) history(w http.ResponseWriter, r *http.Request, who caller) error {
	wanted := Past{Limit: defaultListed}
	known := wanted.parsers()
	known["earlier"] = once(&wanted.Earlier, parseBool)
	known["after"] = once(&wanted.After, itself)
	known["page"] = once(&wanted.Limit, parseCount)
	if err := parse(r.URL.Query(), known); err != nil {
		return err
	}
	filter, err := s.filter(r.Context(), who, &wanted)
	if err != nil {
		return err
	}
	page, err := s.Node.History(r.Context(), filter, wanted.After, wanted.Limit)
	if err != nil {
		return err
	}
	if page.Jobs == nil {
		page.Jobs = []view.Job{}
	}
	return reply(w, http.StatusOK, page)
}

// usage adds up jobs that have ended, and the runs after which jobs were requeued.
func (s *server) usage(w http.ResponseWriter, r *http.Request, who caller) error {
	var wanted Past
	by := []string{} // which the answer repeats, as a list also if it is empty
	known := wanted.parsers()
	known["by"] = into(&by, itself)
	if err := parse(r.URL.Query(), known); err != nil {
		return err
	}
	sums, err := accounting.NewSums(by)
	if err != nil {
		return refuse(view.BadRequest, "by: %v", err)
	}
	wanted.Earlier = true
	filter, err := s.filter(r.Context(), who, &wanted)
	if err != nil {
		return err
	}
	pruned := protocol.Instant(0)
	for after := ""; ; {
		page, err := s.Node.History(r.Context(), filter, after, maxListed)
		if err != nil {
			return err
		}
		pruned = max(pruned, page.Pruned)
		for i := range page.Jobs {
			sums.Add(&page.Jobs[i])
		}
		if after = page.Next; after == "" {
			usage := sums.Usage()
			usage.Pruned = pruned
			return reply(w, http.StatusOK, usage)
		}
	}
}

// filter is the filter for those of the wanted jobs that the caller may see.
func (s *server) filter(ctx context.Context, who caller, wanted *Past) (_ *view.HistoryFilter, err error) {
	if s.Private && !s.manages(who) {
		wanted.Viewer = who.user
	}
	wanted.Jobs, err = s.jobIDs(ctx, who, wanted.Named)
	return &wanted.HistoryFilter, err
}

// History lists a page of the jobs that have ended.
func (c *Client) History(ctx context.Context, wanted Past) (view.History, error) {
	return call[view.History](ctx, c, http.MethodGet, "/v1/history?"+wanted.query().Encode(), nil)
}

// HistoryPages asks for jobs that have ended a page at a time, and has each shown as it comes, up to
// limit jobs (0: all).
func (c *Client) HistoryPages(ctx context.Context, wanted Past, limit int, show func([]view.Job) error) error {
	for left := limit; ; {
		wanted.Limit = QueuePage
		if limit > 0 {
			wanted.Limit = min(QueuePage, left)
		}
		page, err := c.History(ctx, wanted)
		if err == nil && len(page.Jobs) > 0 {
			err = show(page.Jobs)
		}
		left -= len(page.Jobs)
		wanted.After = page.Next
		if err != nil || page.Next == "" || limit > 0 && left <= 0 {
			return err
		}
	}
}

// Usage adds up the jobs that have ended, by properties of theirs.
func (c *Client) Usage(ctx context.Context, wanted Past, by []string) (view.Usage, error) {
	query := wanted.query()
	if len(by) > 0 {
		query["by"] = by
	}
	return call[view.Usage](ctx, c, http.MethodGet, "/v1/usage?"+query.Encode(), nil)
}
