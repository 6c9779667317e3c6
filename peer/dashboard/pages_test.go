package dashboard_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/loadhistory"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// signedIn serves the pages of a peer to a browser that has signed in.
func signedIn(t *testing.T, node api.Node, scopes ...accesstokens.Scope) *pages {
	t.Helper()
	p := open(t, node, nil)
	secret, _ := p.token(t, scopes...)
	if status, text := p.post(t, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	return p
}

// all are the elements of a page.
func all(t *testing.T, text string) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var elements []*html.Node
	for node := range root.Descendants() {
		if node.Type == html.ElementNode {
			elements = append(elements, node)
		}
	}
	return elements
}

func attribute(node *html.Node, name string) string {
	for _, one := range node.Attr {
		if one.Key == name {
			return one.Val
		}
	}
	return ""
}

func textOf(node *html.Node) string {
	var text strings.Builder
	for one := range node.Descendants() {
		if one.Type == html.TextNode {
			text.WriteString(one.Data)
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	p := signedIn(t, smallGrid(), accesstokens.All()...)
	for _, path := range []string{"/", "/jobs", "/schedule", "/site", "/quotes", "/applications", "/reference", "/sites/south/drain", "/sites/north/drain", "/sites/south/resume", "/reload", "/schedule?hours=24", "/jobs/1000000000001", "/jobs/1000000000002", "/jobs/1000000000002/hold", "/sign-in", "/nothing"} {
		checkPage(t, p, path)
	}
}

// checkPage checks what a page needs for those who cannot see it.
func checkPage(t *testing.T, p *pages, path string) {
	t.Helper()
	_, header, text := p.get(t, path)
	if kind := header.Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Errorf("%s: %s", path, kind)
	}
	count, ids := map[string]int{}, map[string]bool{}
	elements := all(t, text)
	for _, e := range elements {
		if e.Namespace == "" { // a picture has a title, too
			count[e.Data]++
		}
		if id := attribute(e, "id"); id != "" && ids[id] {
			t.Errorf("%s: two elements have the id %s", path, id)
		} else {
			ids[id] = true
		}
	}
	for _, once := range []string{"h1", "main", "title"} {
		if count[once] != 1 {
			t.Errorf("%s: %d elements %s", path, count[once], once)
		}
	}
	for _, e := range elements {
		checkElement(t, path, e, elements, ids)
	}
}

// checkElement checks what an element needs for those who cannot see it, and that all is from this server.
func checkElement(t *testing.T, path string, e *html.Node, elements []*html.Node, ids map[string]bool) {
	t.Helper()
	for _, one := range e.Attr {
		switch one.Key {
		case "style":
			t.Errorf("%s: <%s> has a style of its own, which the policy forbids", path, e.Data)
		case "href", "src", "action":
			if !strings.HasPrefix(one.Val, "/") && !strings.HasPrefix(one.Val, "#") || strings.HasPrefix(one.Val, "//") {
				t.Errorf("%s: <%s %s=%q> leads elsewhere", path, e.Data, one.Key, one.Val)
			}
		case "aria-labelledby", "aria-describedby", "for":
			if !ids[one.Val] {
				t.Errorf("%s: <%s %s=%q>: there is no such element", path, e.Data, one.Key, one.Val)
			}
		}
		if strings.HasPrefix(one.Key, "on") {
			t.Errorf("%s: <%s> has a script in %s", path, e.Data, one.Key)
		}
	}
	switch e.Data {
	case "th":
		if scope := attribute(e, "scope"); scope != "col" && scope != "row" {
			t.Errorf("%s: a th without scope: %s", path, textOf(e))
		}
	case "svg":
		if attribute(e, "aria-hidden") != "true" && (attribute(e, "role") != "img" || attribute(e, "aria-label") == "") {
			t.Errorf("%s: a picture without a text", path)
		}
	case "input", "select":
		labelled := attribute(e, "type") == "hidden" || slices.ContainsFunc(elements, func(l *html.Node) bool {
			return l.Data == "label" && attribute(l, "for") == attribute(e, "id")
		})
		if !labelled {
			t.Errorf("%s: an input without a label", path)
		}
	case "nav", "section":
		if attribute(e, "aria-label") == "" && attribute(e, "aria-labelledby") == "" {
			t.Errorf("%s: a %s without a name", path, e.Data)
		}
	case "script":
		if attribute(e, "src") == "" {
			t.Errorf("%s: a script in the page: %s", path, textOf(e))
		}
	case "html":
		if attribute(e, "lang") != "en" {
			t.Errorf("%s: the language is not stated", path)
		}
	}
}

// rowsOf are the texts of the rows of a page's tables.
func rowsOf(t *testing.T, text string) (rows []string) {
	t.Helper()
	for _, e := range all(t, text) {
		if e.Data != "tr" {
			continue
		}
		var cells []string
		for c := range e.ChildNodes() {
			cells = append(cells, textOf(c))
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

func TestJobsByFilters(t *testing.T) {
	t.Parallel()
	p := signedIn(t, smallGrid(), accesstokens.Read)
	for query, want := range map[string][]string{
		"":                       {"<script>alert(1)</script>", "secret-plan", "old"},
		"?state=running":         {"<script>alert(1)</script>"},
		"?state=failed":          {"old"},
		"?user=bob&state=":       {"secret-plan"},
		"?site=-":                {"secret-plan"},
		"?site=south":            {"old"},
		"?origin=south":          nil,
		"?origin=north&user=ann": {"<script>alert(1)</script>", "old"},
	} {
		status, _, text := p.get(t, "/jobs"+query)
		var names []string
		for _, row := range rowsOf(t, text) {
			if cells := strings.Split(row, "|"); cells[1] != "Name" {
				names = append(names, cells[1])
			}
		}
		if status != http.StatusOK || !slices.Equal(names, want) {
			t.Errorf("%s: %d %q, want %q", query, status, names, want)
		}
	}
	for _, query := range []string{"?state=asleep", "?site=No+Site", "?colour=red", "?live=x"} {
		if status, _, text := p.get(t, "/jobs"+query); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

func TestStoryHasEveryQuote(t *testing.T) {
	t.Parallel()
	p := signedIn(t, smallGrid(), accesstokens.Read)
	_, _, text := p.get(t, "/jobs/1000000000001")
	want := []string{
		"Chosen|Site|Wait|P10|P50|P90|Run|Total|Cost|CPU|Energy|RUS|Note",
		"yes|south|0:01:00|0:00:01|0:01:00|1:00:00|1:00:00|1:01:00|3.50 EUR|3.00|0.50|0 %|",
		"|north|-|-|-|-|-|-|-|-|-|0 %|declines: no <room>",
		"|east|-|-|-|-|-|-|-|-|-|-|did not answer in time",
	}
	if rows := rowsOf(t, text); !slices.Equal(rows, want) {
		t.Errorf("rows %q", rows)
	}
	if !strings.Contains(text, "2 further quotes not shown") || !strings.Contains(text, "submitted: &lt;b&gt;bold&lt;/b&gt;") {
		t.Error(text)
	}
	if status, _, _ := p.get(t, "/jobs/1000000000099"); status != http.StatusNotFound {
		t.Errorf("an unknown job: %d", status)
	}
}

func TestPublicPagesOfPrivateSitesHaveNoJobs(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), func(c *api.Config) { c.Private, c.Network.Public = true, true })
	for _, path := range []string{"/jobs", "/jobs/1000000000002", "/jobs?user=bob"} {
		if status, _, text := p.get(t, path); status != http.StatusUnauthorized || strings.Contains(text, "secret-plan") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	p = open(t, smallGrid(), func(c *api.Config) { c.Network.Public = true })
	if status, _, text := p.get(t, "/jobs/1000000000002"); status != http.StatusOK || !strings.Contains(text, "secret-plan") {
		t.Errorf("a site that is not private: %d %s", status, text)
	}
}

func TestScheduleHasWhatRanAndWhatIsPlanned(t *testing.T) {
	t.Parallel()
	grid, now := smallGrid(), protocol.InstantOf(time.Now())
	grid.jobs[0].Started, grid.jobs[0].WallTime = now.Add(-10*protocol.Minute), protocol.Hour
	grid.jobs[1].Site, grid.jobs[1].Planned = "south", &view.PlannedStart{Start: now.Add(protocol.Minute), Stated: now}
	grid.jobs[1].WallTime = protocol.Minute
	grid.ended[0].Started, grid.ended[0].Ended = now.Add(-20*protocol.Minute), now.Add(-5*protocol.Minute)
	p := signedIn(t, grid, accesstokens.Read)
	status, _, text := p.get(t, "/schedule")
	if status != http.StatusOK || !strings.Contains(text, "1 job ended within 1 hour; 1 running now, 1 planned to start.") {
		t.Errorf("%d %s", status, text)
	}
	drawn := map[string]int{} // with the legend
	for _, e := range all(t, text) {
		if e.Data == "path" {
			drawn[attribute(e, "class")]++
		}
	}
	if drawn["s0"] != 2 || drawn["s0 planned"] != 1 {
		t.Errorf("shapes %v", drawn)
	}
	if rows := rowsOf(t, text); len(rows) != 4 || !strings.HasPrefix(rows[1], "north|8|1|0|") || !strings.HasPrefix(rows[2], "south|16|2|2|") {
		t.Errorf("rows %q", rows)
	}
	if status, _, text = p.get(t, "/schedule?hours=5"); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, text)
	}
}

func TestQuotesAreComparedWithWhatCameOfThem(t *testing.T) {
	t.Parallel()
	grid, now := smallGrid(), protocol.InstantOf(time.Now())
	grid.ended = nil
	for i, waited := range []protocol.Duration{0, 30 * protocol.Second, 50 * protocol.Second, 10 * protocol.Minute} {
		quoted := now.Add(-protocol.Hour)
		grid.ended = append(grid.ended, view.Job{
			ID: protocol.JobID(1_000_000_000_100 + i), State: protocol.Completed, Origin: "north", Site: "south", CPUs: 1 + i, Started: quoted.Add(waited),
			Ended: now, Ran: protocol.Minute, Waits: &view.QuotedWaits{
				At: quoted, AWT: protocol.Minute, Low: 10 * protocol.Second, Median: 40 * protocol.Second, High: 2 * protocol.Minute, ERT: 2 * protocol.Minute,
			},
		})
	}
	grid.ended = append(grid.ended, view.Job{ID: 1_000_000_000_200, State: protocol.Cancelled, Origin: "north", Ended: now})
	p := signedIn(t, grid, accesstokens.Read)
	_, _, text := p.get(t, "/quotes")
	want := []string{
		"Site|Shape|Jobs|Quoted wait|Wait|Apart|By P10|By P50|By P90|P10 to P90|Run time",
		"south|all|4|0:01:00|0:00:30|0:00:30|25.0 %|50.0 %|75.0 %|50.0 %|50.0 %",
		"south|1 CPU|1|0:01:00|0:00:00|0:01:00|100.0 %|100.0 %|100.0 %|0.0 %|50.0 %",
		"south|2–8 CPUs|3|0:01:00|0:00:50|0:00:30|0.0 %|33.3 %|66.7 %|66.7 %|50.0 %",
	}
	if rows := rowsOf(t, text); !slices.Equal(rows, want) {
		t.Errorf("rows %q", rows)
	}
	if !strings.Contains(text, "4 jobs of this site started by a quote") || !strings.Contains(text, "Quoted probabilities and observed parts") {
		t.Error(text)
	}
}

func TestApplicationsWithTheirComponents(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	for i := range grid.jobs {
		job := &grid.jobs[i]
		job.Application, job.Component = grid.jobs[0].ID, []string{"<mesh>", "solve"}[i]
		job.Objectives = &view.Objectives{
			Application: protocol.Application{Name: "wing", MaxCost: 5_000_000, MaxTime: protocol.Never, Currency: "EUR"}, Components: 3,
			Broken: "it has cost 6 EUR", Spent: 6_000_000, SpentCurrency: "EUR",
		}
	}
	p := signedIn(t, grid, accesstokens.Read)
	_, _, text := p.get(t, "/applications")
	for _, want := range []string{"1 application of this site", "1 pending, 1 running and 1 ended of 3 components", "6.00 EUR", "cost at most 5.00 EUR", "it has cost 6 EUR", "&lt;mesh&gt;"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "time at most") {
		t.Error("there is a limit that the user did not give")
	}
}

func TestFollowingEndsWithTheSession(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	p := signedIn(t, grid, accesstokens.Read)
	lines, hear := p.hear(t)
	hear()
	for _, token := range p.book.List("", 0) {
		if err := p.book.Revoke(token.ID, "", protocol.InstantOf(time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	last := ""
	for lines.Scan() { // the stream of a session ends with its token
		grid.change(func() { grid.busier(0) })
		if name, isEvent := strings.CutPrefix(lines.Text(), "event: "); isEvent {
			last = name
		}
	}
	if last != "end" {
		t.Errorf("the last event is %q", last)
	}
	if status, _, text := p.get(t, "/changes"); status != http.StatusUnauthorized || !strings.Contains(text, "Your session has ended") {
		t.Errorf("following again: %d %s", status, text)
	}
}

// hear follows the changes, and waits for one.
func (p *pages) hear(t *testing.T) (lines *bufio.Scanner, hear func()) {
	t.Helper()
	_, kind, lines := p.follow(t)
	if kind != "text/event-stream" {
		t.Fatal(kind)
	}
	return lines, func() {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == "event: changed" {
				return
			}
		}
		t.Fatal("the stream has ended")
	}
}

// TestChangesAreHeardAtOnce: what happens first is not held up by the interval between changes.
func TestChangesAreHeardAtOnce(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	p := openDrawn(t, grid, dashboard.Config{Interval: time.Hour}, func(c *api.Config) { c.Network.Public = true })
	_, hear := p.hear(t)
	hear()
	grid.change(func() { grid.busier(0) })
	hear()
}

func TestActsNeedScopeAndConfirmation(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	reader := signedIn(t, grid, accesstokens.Read)
	for _, path := range []string{"/jobs/1000000000001/cancel", "/jobs/1000000000002/hold"} {
		if status, text := reader.post(t, path, url.Values{}); status != http.StatusForbidden || !strings.Contains(text, "the token has no scope submit") {
			t.Errorf("%s without the scope: %d %s", path, status, text)
		}
	}
	if _, _, text := reader.get(t, "/jobs/1000000000001"); strings.Contains(text, "/cancel") {
		t.Error("a reader is offered to cancel")
	}
	p := signedIn(t, grid, accesstokens.Read, accesstokens.Submit)
	_, _, text := p.get(t, "/jobs/1000000000001")
	if !strings.Contains(text, "/jobs/1000000000001/cancel") || strings.Contains(text, "/hold") {
		t.Errorf("a job that runs: %s", text)
	}
	if _, _, text = p.get(t, "/jobs/1000000000001/cancel"); !strings.Contains(text, "Cancel this job?") || len(grid.changes) != 0 {
		t.Errorf("%s, after which %v", text, grid.changes)
	}
	if status, _, _ := p.do(t, http.MethodPost, "/jobs/1000000000001/cancel", url.Values{}, http.Header{"Sec-Fetch-Site": {"cross-site"}}); status != http.StatusForbidden || len(grid.changes) != 0 {
		t.Errorf("from another page: %d, %v", status, grid.changes)
	}
	if status, text := p.post(t, "/jobs/1000000000001/cancel", url.Values{}); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if status, text := p.post(t, "/jobs/1000000000002/hold", url.Values{}); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	want := []event.Event{
		event.Cancel{Asked: 1, Job: 1_000_000_000_001, User: "ann"}, event.SetHold{Asked: 1, Job: 1_000_000_000_002, Hold: true, User: "ann"},
	}
	if !reflect.DeepEqual(grid.changes, want) {
		t.Errorf("asked for %+v", grid.changes)
	}
	public := open(t, grid, func(c *api.Config) { c.Network.Public = true })
	if status, text := public.post(t, "/jobs/1000000000001/cancel", url.Values{}); status != http.StatusUnauthorized || len(grid.changes) != 2 {
		t.Errorf("without signing in: %d %s", status, text)
	}
}

func TestLoadsThatAreNotKnownHaveNoLine(t *testing.T) {
	t.Parallel()
	grid, known := smallGrid(), smallGrid().sites
	for i := range grid.sites {
		grid.sites[i].Age = nil // the peer itself adds no loads
	}
	p := open(t, grid, func(c *api.Config) {
		c.Network.Public = true
		drawn, ok := c.Network.Pages.(*dashboard.Dashboard)
		if !ok {
			t.Fatalf("%T", c.Network.Pages)
		}
		for _, slots := range []protocol.Duration{12, 11, 10, 6, 5, 2} {
			drawn.AddLoads(protocol.InstantOf(time.Now()).Add(-slots*loadhistory.Slot), known)
		}
	})
	_, _, text := p.get(t, "/")
	lines := 0
	for _, e := range all(t, text) {
		if attribute(e, "class") == "curve dash0 s0" {
			lines++
		}
	}
	if lines != 3+1 { // and that of the legend
		t.Errorf("%d lines: %s", lines, text)
	}
}

func TestOnlyPendingJobsCountAsPending(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	grid.jobs = append(grid.jobs,
		view.Job{ID: 1_000_000_000_003, User: "cem", State: protocol.Pending, Reason: "quota of /home/cem: exceeded", Origin: "north", CPUs: 4},
		view.Job{ID: 2_000_000_000_001, User: "cem", State: protocol.Completed, Reason: "StagingOut", Origin: "south", Site: "north", CPUs: 2, Guest: true},
	)
	p := open(t, grid, func(c *api.Config) { c.Network.Public = true })
	_, _, text := p.get(t, "/")
	rows := rowsOf(t, text)
	for _, want := range []string{"north|grid queue|2|0|0|0", "north|north|0|1|4|0", "south|north|0|0|0|1", "AllSitesDeclined|1|2", "Other|1|4"} {
		if !slices.Contains(rows, want) {
			t.Errorf("there is no row %q in %q", want, rows)
		}
	}
	if !strings.Contains(text, "4 jobs of this site and its guests: 1 running, 2 pending, 1 ended and not delivered yet.") ||
		strings.Contains(text, "StagingOut") || strings.Contains(text, "/home/cem") {
		t.Error(text)
	}
}

// TestPricesFromNowOn: the page says when electricity is cheapest among the hours that are not over, and which prices are forecast.
func TestPricesFromNowOn(t *testing.T) {
	t.Parallel()
	p := signedIn(t, smallGrid(), accesstokens.Read)
	_, _, text := p.get(t, "/site")
	for _, words := range []string{"Electricity is cheapest from ", ", at 20.00 EUR a MWh.", "Prices that are published until ", "forecast", `aria-labelledby="prices-title"`} {
		if !strings.Contains(text, words) {
			t.Errorf("the page lacks %q: %s", words, text)
		}
	}
	without := open(t, smallGrid(), func(c *api.Config) { c.Network.Public, c.Prices = true, nil })
	if status, _, text := without.get(t, "/site"); status != http.StatusOK || strings.Contains(text, "prices-title") {
		t.Errorf("a site without prices: %d %s", status, text)
	}
}

// Rows that were drawn before are those of their jobs, also if there are more than are kept.
func TestListsOfManyJobsHaveTheirRows(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	template := grid.jobs[0]
	grid.jobs = nil
	for i := range 2500 {
		job := template
		job.ID, job.Name = protocol.JobID(1_000_000_000_001+i), fmt.Sprintf("<job> %d.", i)
		grid.jobs = append(grid.jobs, job)
	}
	p := signedIn(t, grid, accesstokens.Read)
	for range 2 {
		for page := range 25 {
			_, _, text := p.get(t, fmt.Sprintf("/jobs?live=%d", 1_000_000_000_000+100*page))
			if n := strings.Count(text, "&lt;job&gt; "); n != 100 {
				t.Fatalf("page %d has %d jobs", page, n)
			}
			for i := 100 * page; i < 100*(page+1); i++ {
				if want := fmt.Sprintf(`<a href="/jobs/%d">%[1]d</a></th><td class="text">&lt;job&gt; %d.</td>`, 1_000_000_000_001+i, i); !strings.Contains(text, want) {
					t.Fatalf("page %d lacks %s", page, want)
				}
			}
		}
	}
	grid.change(func() {
		grid.jobs = slices.Clone(grid.jobs)
		grid.jobs[0].State, grid.jobs[0].Reason = protocol.Pending, view.ReasonAllDeclined
	})
	if _, _, text := p.get(t, "/jobs"); strings.Count(text, view.ReasonAllDeclined) != 1 {
		t.Errorf("the list does not have the change: %s", text)
	}
}
