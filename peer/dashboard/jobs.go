package dashboard

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// How many jobs a page lists, of those that have not ended and of those that have, and how many
// are looked at for them.
const (
	listed  = 100
	maxRead = 10_000
)

// states are those that jobs may be filtered by.
func states() []protocol.State {
	return []protocol.State{
		protocol.Pending, protocol.Running, protocol.Completed, protocol.Failed, protocol.Cancelled, protocol.Timeout, protocol.NodeFail,
	}
}

// wanted says which jobs a list has.
type wanted struct {
	State        protocol.State // 0: any
	User         string
	Site, Origin protocol.SiteName
	Grid         bool           // only jobs without a site
	Live         protocol.JobID // of jobs that have not ended those after this one
	Ended        string         // of jobs that have ended those from here on
}

// gridQueue stands for no site in the parameters of a page.
const gridQueue = "-"

// readWanted reads the parameters of a page. Others are errors.
func readWanted(query url.Values) (w wanted, err error) {
	for name := range query {
		value := query.Get(name)
		switch name {
		case "state":
			if value != "" {
				w.State, err = protocol.ParseState(strings.ToUpper(value))
			}
		case "user":
			w.User = strings.TrimSpace(value)
		case "site":
			if w.Grid = value == gridQueue; !w.Grid {
				w.Site = protocol.SiteName(value)
			}
		case "origin":
			w.Origin = protocol.SiteName(value)
		case "live":
			w.Live, err = protocol.ParseJobID(value)
		case "ended":
			w.Ended = value
		default:
			err = errors.New("there is no such filter")
		}
		if err != nil {
			return w, badRequest("%s: %v.", name, err)
		}
	}
	for _, site := range []protocol.SiteName{w.Site, w.Origin} {
		if site != "" && site.Validate() != nil {
			return w, badRequest("%q is no name of a site.", site)
		}
	}
	return w, nil
}

// query is the filter as parameters of a page.
func (w *wanted) query() url.Values {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	if w.State != 0 {
		set("state", strings.ToLower(w.State.String()))
	}
	set("user", w.User)
	set("site", string(w.Site))
	if w.Grid {
		set("site", gridQueue)
	}
	set("origin", string(w.Origin))
	return query
}

// jobsPage is a list of jobs.
type jobsPage struct {
	Wanted                wanted
	States                []protocol.State
	Sites                 []protocol.SiteName
	Answer                string
	Live                  []jobRow
	Ended                 []jobRow
	LiveUp                string // where the list goes on; empty: it does not
	EndedUp               string
	ShowsLive, ShowsEnded bool
}

// jobRow is a job in a list: all that a row has of it.
type jobRow struct {
	ID                                 protocol.JobID
	Path, Label, Component, Name, User string
	State                              protocol.State
	Class                              string // of its state
	Ending                             string // how the job ended, if it did
	CPUs                               int
	Origin, Site                       protocol.SiteName
	Submitted, Started, Ended          protocol.Instant
	Start                              protocol.Instant // when it is expected to start; 0: it has, or that is not known
	RunTime                            protocol.Duration
	Reason                             string
}

func rowOf(job *view.Job, now protocol.Instant) jobRow {
	row := jobRow{
		ID: job.ID, Path: "/jobs/" + url.PathEscape(job.ID.String()), Label: job.Label(), Component: job.Component, Name: job.Name, User: job.User,
		State: job.State, Class: classOf(job.State), Ending: display.Ending(*job), CPUs: job.CPUs, Origin: job.Origin, Site: job.Site,
		Submitted: job.Submitted, Started: job.Started, Ended: job.Ended, RunTime: job.RunTime(), Reason: job.Reason,
	}
	if start, known := job.ExpectedStart(now); known {
		row.Start = start.Median
	}
	return row
}

// maxDrawnRows bounds the rows that are kept twice: at least that many of the last ones are.
const maxDrawnRows = 1000

// drawnRows are rows as they were drawn. Most jobs of a list are the same when it is drawn again, and to execute the template for each row
// took most of the time of the page. A row depends on nothing else, and so may be in the page of any visitor who sees its job.
type drawnRows struct {
	mu            sync.Mutex
	recent, older map[jobRow]template.HTML
}

func (d *drawnRows) find(row jobRow) (drawn template.HTML, found bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if drawn, found = d.recent[row]; found {
		return drawn, true
	}
	if drawn, found = d.older[row]; found {
		d.put(row, drawn)
	}
	return drawn, found
}

func (d *drawnRows) keep(row jobRow, drawn template.HTML) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(row, drawn)
}

// put makes a row one of the recent ones. The caller holds mu.
func (d *drawnRows) put(row jobRow, drawn template.HTML) {
	if d.recent == nil || len(d.recent) >= maxDrawnRows {
		d.recent, d.older = make(map[jobRow]template.HTML), d.recent
	}
	d.recent[row] = drawn
}

// drawRow draws the row of a job in a list, as the page of jobs has it.
func (d *Dashboard) drawRow(row jobRow) (template.HTML, error) {
	if drawn, found := d.rows.find(row); found {
		return drawn, nil
	}
	var out strings.Builder
	if err := d.pages["jobs"].ExecuteTemplate(&out, "row", row); err != nil {
		return "", err
	}
	drawn := template.HTML(out.String()) //nolint:gosec // the template has escaped it
	d.rows.keep(row, drawn)
	return drawn, nil
}

// classOf is how a state looks.
func classOf(state protocol.State) string {
	switch state {
	case protocol.Pending:
		return "soft"
	case protocol.Running:
		return "busy"
	case protocol.Completed:
		return "good"
	case protocol.Cancelled:
		return "weak"
	case protocol.Failed, protocol.Timeout, protocol.NodeFail:
	}
	return "bad"
}

func (d *Dashboard) showJobs(r *request) error {
	w, err := readWanted(r.URL.Query())
	if err != nil {
		return err
	}
	sites, err := r.sites()
	if err != nil {
		return err
	}
	page := jobsPage{Wanted: w, States: states()}
	self := protocol.SiteName("")
	for _, site := range sites.Sites {
		page.Sites = append(page.Sites, site.Site)
		if site.Self {
			self = site.Site
		}
	}
	slices.Sort(page.Sites)
	page.ShowsLive, page.ShowsEnded = w.Ended == "" && !w.State.Terminal(), w.Live == 0 && (w.State == 0 || w.State.Terminal())
	if page.ShowsLive {
		if err = page.addLive(r.Context(), r.visitor.Peer, self); err != nil {
			return err
		}
	}
	if page.ShowsEnded {
		if err = page.addEnded(r.Context(), r.visitor.Peer); err != nil {
			return err
		}
	}
	page.Answer = page.answer()
	return d.show(r, http.StatusOK, "jobs", frame{Title: "Jobs", Path: "/jobs", Live: true, Body: &page})
}

// listing asks for jobs that have not ended. The origin of guests is not among what a queue is asked by.
func (w *wanted) listing(self protocol.SiteName) api.Listing {
	from := api.Listing{QueueFilter: view.QueueFilter{After: w.Live, Limit: listed + 1}}
	if w.State != 0 {
		from.States = []protocol.State{w.State}
	}
	if w.User != "" {
		from.Users = []string{w.User}
	}
	if w.Site != "" || w.Grid {
		from.Sites = []protocol.SiteName{w.Site}
	}
	switch w.Origin {
	case "":
	case self:
		from.Guests = view.WithoutGuests
	default:
		from.Guests, from.Limit = view.OnlyGuests, 10*listed
	}
	return from
}

// addLive adds jobs that have not ended.
func (p *jobsPage) addLive(ctx context.Context, peer *api.Client, self protocol.SiteName) error {
	w, from := &p.Wanted, p.Wanted.listing(self)
	now := protocol.InstantOf(time.Now())
	for read := 0; ; {
		queue, err := peer.Queue(ctx, from)
		if err != nil {
			return err
		}
		for i := range queue.Jobs {
			job := &queue.Jobs[i]
			if w.Origin != "" && job.Origin != w.Origin {
				continue
			}
			if len(p.Live) == listed {
				p.LiveUp = p.more("live", p.Live[listed-1].ID.String())
				return nil
			}
			p.Live = append(p.Live, rowOf(job, now))
		}
		read += len(queue.Jobs)
		if from.After = queue.Next; queue.Next == 0 {
			return nil
		}
		if read >= maxRead {
			p.LiveUp = p.more("live", queue.Next.String())
			return nil
		}
	}
}

// addEnded adds jobs that have ended, the last one first.
func (p *jobsPage) addEnded(ctx context.Context, peer *api.Client) error {
	w := &p.Wanted
	past := api.Past{After: w.Ended, Limit: listed}
	if w.State != 0 {
		past.States = []protocol.State{w.State}
	}
	if w.User != "" {
		past.Users = []string{w.User}
	}
	if w.Site != "" || w.Grid {
		past.Sites = []protocol.SiteName{w.Site}
	}
	if w.Origin != "" {
		past.Origins = []protocol.SiteName{w.Origin}
	}
	history, err := peer.History(ctx, past)
	if err != nil {
		return err
	}
	for i := range history.Jobs {
		p.Ended = append(p.Ended, rowOf(&history.Jobs[i], 0))
	}
	if history.Next != "" {
		p.EndedUp = p.more("ended", history.Next)
	}
	return nil
}

// more is the page on which a list goes on.
func (p *jobsPage) more(name, from string) string {
	query := p.Wanted.query()
	query.Set(name, from)
	return "/jobs?" + query.Encode()
}

// answer says in a sentence what is listed.
func (p *jobsPage) answer() string {
	var parts []string
	count := func(n int, more bool, what string) {
		text := protocol.Count(n, "job") + " " + what
		if more {
			text = "The first " + text
		}
		parts = append(parts, text)
	}
	if p.ShowsLive {
		count(len(p.Live), p.LiveUp != "", "not ended")
	}
	if p.ShowsEnded {
		count(len(p.Ended), p.EndedUp != "", "ended")
	}
	return strings.Join(parts, "; ") + "."
}

// jobPage is a job and its story.
type jobPage struct {
	Job    view.Job
	Answer string
	Class  string
	Lines  [][2]string
	Story  []chapter
	Path   string
	Acts   []act // that the visitor may try
}

// chapter is a fact of the story of a job.
type chapter struct {
	At     protocol.Instant
	Since  string
	Text   string
	Quotes *sheet // of a round; nil: it is about something else
	Left   int    // quotes that are not there
}

func (d *Dashboard) showJob(r *request) error {
	name, err := protocol.ParseJobName(r.PathValue("job"))
	if err != nil {
		return notFound("%q is no job: %v.", r.PathValue("job"), err)
	}
	job, err := r.visitor.Peer.Job(r.Context(), name)
	if err != nil {
		return err
	}
	facts, err := r.visitor.Peer.Explain(r.Context(), name)
	if err != nil {
		return err
	}
	page := jobPage{
		Job: job, Answer: answerOf(&job), Class: classOf(job.State), Lines: display.JobLines(job, time.Now()),
		Path: "/jobs/" + url.PathEscape(name.String()),
	}
	if mayAct(r.visitor) {
		page.Acts = fitting(&job)
	}
	for _, fact := range facts {
		page.Story = append(page.Story, chapterOf(fact, job.Submitted))
	}
	return d.show(r, http.StatusOK, "job", frame{Title: "Job " + job.Label(), Path: "/jobs", Live: true, Body: &page})
}

// answerOf says in a sentence how a job is.
func answerOf(job *view.Job) string {
	text := fmt.Sprintf("%q of %s: %s", job.Name, job.User, display.State(*job))
	switch {
	case job.Site == "":
		return text + ". It has no site yet."
	case job.State == protocol.Pending:
		return text + ", in the queue of " + string(job.Site) + "."
	}
	return text + ", at " + string(job.Site) + "."
}

// chapterOf tells a fact.
func chapterOf(fact event.LogEvent, submitted protocol.Instant) chapter {
	one := chapter{At: fact.At, Since: "+" + console.Span(max(0, fact.At.Sub(submitted))), Text: display.Sentence(fact)}
	if len(fact.Quotes) > 0 {
		one.Quotes, one.Left = sheetOf(fmt.Sprintf("Quotes of round %d", fact.Round), display.Round(fact)), fact.OmittedQuotes
	}
	return one
}
