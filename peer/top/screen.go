package top

import (
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// page is one of the lists that the screen shows.
type page int

const (
	sitesPage page = iota
	jobsPage
	startsPage
	guestsPage
	endedPage
	eventsPage
	pages // how many there are
)

// title is what a page is called on the screen.
func (p page) title() string {
	return [pages]string{"Sites", "Jobs", "Starts", "Guests", "Ended", "Events"}[p]
}

// row is what a row of a page is.
func (p page) row() string {
	switch p {
	case sitesPage:
		return "site"
	case eventsPage:
		return "event"
	case jobsPage, startsPage, guestsPage, endedPage, pages:
	}
	return "job"
}

// listsJobs says whether the rows of a page are jobs.
func (p page) listsJobs() bool { return p.row() == "job" }

// The most jobs that a page lists, and the most events that are kept.
const (
	mostJobs   = 1000
	mostEvents = 500
)

// question is what is asked of the peer: always how the grid is, and what the page or the opened job needs.
type question struct {
	page page
	site protocol.SiteName // only jobs at this site; empty: at all
	job  string            // the opened job; empty: none is
}

// listing returns the jobs that a page lists; false if it lists none.
func (q *question) listing() (wanted api.Listing, ok bool) {
	wanted.Guests, wanted.Limit = view.WithoutGuests, mostJobs
	if q.site != "" {
		wanted.Sites = []protocol.SiteName{q.site}
	}
	switch q.page {
	case jobsPage:
	case startsPage:
		wanted.States = []protocol.State{protocol.Pending}
	case guestsPage:
		wanted.Guests = view.OnlyGuests
	case endedPage:
		wanted.States = slices.DeleteFunc(protocol.States(), func(s protocol.State) bool { return !s.Terminal() })
		wanted.Finished, wanted.Limit = mostJobs, 0
	case sitesPage, eventsPage, pages:
		return wanted, false
	}
	return wanted, true
}

// answer is what the peer says to a question.
type answer struct {
	question

	grid   display.Grid
	self   protocol.SiteName
	counts view.Counts
	jobs   view.Queue
	opened view.Job         // of the job that is opened
	story  []event.LogEvent // of the job that is opened
	at     time.Time
	err    error
}

// place is where the user is in a list.
type place struct {
	key   string // of the selected row; empty: the first one
	row   int    // number of the selected row, which holds if there is no row with the key any more
	first int    // number of the first row that is shown
}

// row is a line of a list.
type row struct {
	key  string // the ID of the job, or the name of the site; empty: nothing can be done with it
	text string
	bad  bool
}

// screen is what is shown, and what the user has chosen.
type screen struct {
	width, height int // of the terminal, in cells

	page   page
	site   protocol.SiteName // jobs at this site alone are listed; empty: at all
	places [pages]place
	left   int    // how many characters of each line are left of the screen
	filter string // rows without this text are not listed
	typing bool   // whether the user types the filter
	help   bool

	opened string // the ID of the job that is shown instead of a list; empty: none
	line   int    // number of the first line of it that is shown

	asked *order // what the user has to confirm
	note  string // what came of the last order

	latest answer // the last one without an error
	failed string // why the last question has no answer; empty: it has
	events []string
	cut    string // why events do not arrive; empty: they do
}

// question is what has to be asked for what is shown now.
func (s *screen) question() question { return question{page: s.page, site: s.site, job: s.opened} }

// take notes an answer. One to an earlier question counts for how the grid is only.
func (s *screen) take(a answer) {
	if a.err != nil {
		s.failed = console.Plain(a.err.Error())
		return
	}
	s.failed = ""
	if a.question != s.question() {
		a.jobs, a.opened, a.story = s.latest.jobs, s.latest.opened, s.latest.story
		a.question = s.latest.question
	}
	s.latest = a
}

// takeEvent notes an event.
func (s *screen) takeEvent(e *api.Event) {
	s.cut = ""
	text := strings.TrimRight(display.Event(e), "\n")
	if text == "" {
		return
	}
	s.events = append(s.events, text)
	if len(s.events) > mostEvents {
		s.events = slices.Delete(s.events, 0, len(s.events)-mostEvents)
	}
}

// table is the list of the page, as of now; nil: it has not been answered yet.
func (s *screen) table(now time.Time) *console.Table {
	if s.page == sitesPage {
		return display.Sites(s.latest.grid)
	}
	if s.latest.question != s.question() {
		return nil
	}
	switch s.page {
	case startsPage:
		return display.Starts(s.latest.jobs.Jobs, now)
	case endedPage:
		jobs := slices.Clone(s.latest.jobs.Jobs)
		slices.SortStableFunc(jobs, func(x, y view.Job) int { return int(min(1, max(-1, y.Ended.Sub(x.Ended)))) })
		return display.Queue(jobs, now, true)
	case sitesPage, jobsPage, guestsPage, eventsPage, pages:
	}
	return display.Queue(s.latest.jobs.Jobs, now, false)
}

// rows lists the page's rows that pass the filter, the line above them, and how many rows there are without the filter. Without
// an answer ok is false.
func (s *screen) rows(now time.Time) (titles string, rows []row, all int, ok bool) {
	if s.page == eventsPage {
		titles, ok = strings.TrimRight(display.EventsHeader(), "\n"), true
		for _, text := range slices.Backward(s.events) {
			rows = append(rows, row{text: text})
		}
	} else {
		table := s.table(now)
		if table == nil {
			return "", nil, 0, false
		}
		titles, rows = rowsOf(table)
		ok = true
	}
	all = len(rows)
	if s.filter != "" {
		wanted := strings.ToLower(s.filter)
		rows = slices.DeleteFunc(rows, func(r row) bool { return !strings.Contains(strings.ToLower(r.text), wanted) })
	}
	return titles, rows, all, ok
}

// rowsOf splits a table. The first cell of a row is its key.
func rowsOf(table *console.Table) (titles string, rows []row) {
	lines := strings.Split(strings.TrimRight(table.Text("", true), "\n"), "\n")
	for i, cells := range table.Rows {
		rows = append(rows, row{key: strings.TrimSpace(cells[0]), text: lines[i+1], bad: needsLook(table, cells)})
	}
	return lines[0], rows
}

// needsLook says whether a row is one that needs a look: a partner without a link, or a job that has failed.
func needsLook(table *console.Table, cells []string) bool {
	for i, title := range table.Titles {
		switch title {
		case "LINK":
			return cells[i] != "up" && cells[i] != "self"
		case "STATE":
			return !slices.Contains([]string{protocol.Pending.String(), protocol.Running.String(), protocol.Completed.String()}, cells[i])
		}
	}
	return false
}

// storyLines are what is known of the opened job; none while it is not answered.
func (s *screen) storyLines(now time.Time) []string {
	if s.latest.question != s.question() {
		return nil
	}
	text := display.JobStatus(s.latest.opened, now) + "\n" + display.Story{Long: true}.Text(s.latest.opened, s.latest.story)
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// selected finds the row that the user has selected: that of the key, or where it was. It is -1 if there are no rows.
func (p *place) selected(rows []row) int {
	if len(rows) == 0 {
		return -1
	}
	if p.key != "" {
		if i := slices.IndexFunc(rows, func(r row) bool { return r.key == p.key }); i >= 0 {
			return i
		}
	}
	return min(p.row, len(rows)-1)
}

// choose selects a row, the nearest that there is.
func (p *place) choose(rows []row, i int) {
	if len(rows) == 0 {
		*p = place{}
		return
	}
	p.row = max(0, min(i, len(rows)-1))
	p.key = rows[p.row].key
}
