package dashboard_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/servercert"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestMain: this test binary is also the browsers of [BenchmarkViewers].
func TestMain(m *testing.M) {
	if order := os.Getenv(viewersOrder); order != "" {
		if err := beViewers(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// gridOf is a peer with the answers that a test gives.
type gridOf struct {
	api.Node

	sites []view.Site
	jobs  []view.Job
	fault error // of every question about the queue
	ended []view.Job
	facts []event.LogEvent

	events *eventstream.Stream // by which the peer says so; nil: it does not

	queues func(context.Context) // called before each answer about the queue; nil: it is not

	mu      sync.Mutex    // over changes
	changes []event.Event // that were asked for
}

// busier changes how busy a site is. Answers that were given stay as they are.
func (g *gridOf) busier(site int) {
	g.sites = slices.Clone(g.sites)
	g.sites[site].Busy = (g.sites[site].Busy + 1) % g.sites[site].CPUs
}

// change changes what the peer answers, and has it say that something has happened.
func (g *gridOf) change(what func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	what()
	if g.events != nil {
		g.events.Happened()
	}
}

func (g *gridOf) Job(_ context.Context, id protocol.JobID) (view.Job, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, jobs := range [][]view.Job{g.jobs, g.ended} {
		if i := slices.IndexFunc(jobs, func(job view.Job) bool { return job.ID == id }); i >= 0 {
			return jobs[i], nil
		}
	}
	return view.Job{}, unknownJobError{}
}

// unknownJobError refuses what is asked about a job that there is not.
type unknownJobError struct{}

func (unknownJobError) Error() string { return "there is no such job" }
func (unknownJobError) Refusal() view.Refusal {
	return view.Refusal{Code: view.NotFound, Reason: "there is no such job"}
}

func (g *gridOf) Explain(protocol.JobID) ([]event.LogEvent, error) { return g.facts, nil }

func (g *gridOf) History(_ context.Context, wanted *view.HistoryFilter, _ string, limit int) (view.History, error) {
	var page view.History
	for i := range g.ended {
		if wanted.Matches(&g.ended[i]) && len(page.Jobs) < limit {
			page.Jobs = append(page.Jobs, g.ended[i])
		}
	}
	return page, nil
}

func (g *gridOf) Ask(ctx context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	what := question(1)
	if _, queue := what.(event.AskQueue); queue && g.queues != nil {
		g.queues(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch asked := what.(type) { //nolint:gochecksumtype // others change something
	case event.AskSites:
		return view.Sites{Sites: g.sites}, nil // as they are: pages change nothing in them
	case event.AskQueue:
		if g.fault != nil {
			return nil, g.fault
		}
		var page view.Queue
		for i := range g.jobs {
			switch job := &g.jobs[i]; {
			case job.ID <= asked.Filter.After || !asked.Filter.Matches(job):
			case asked.Filter.Limit > 0 && len(page.Jobs) == asked.Filter.Limit:
				page.Next = page.Jobs[len(page.Jobs)-1].ID
				return page, nil
			default:
				page.Jobs = append(page.Jobs, *job)
			}
		}
		return page, nil
	}
	g.changes = append(g.changes, what)
	return view.Done{}, nil
}

// pages are those of a peer, for a browser.
type pages struct {
	at        string
	authority string // the file of the certificate by which browsers know the peer
	book      *accesstokens.Book
	browser   *http.Client
}

// open serves the pages of a peer until the test ends.
func open(t testing.TB, node api.Node, change func(*api.Config)) *pages {
	t.Helper()
	return openDrawn(t, node, dashboard.Config{}, change)
}

// openDrawn does, for pages with a configuration.
func openDrawn(t testing.TB, node api.Node, config dashboard.Config, change func(*api.Config)) *pages {
	t.Helper()
	dir, err := os.MkdirTemp("", "dash") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	files, err := servercert.Made(filepath.Join(dir, "api"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	encryption, err := files.TLS()
	if err != nil {
		t.Fatal(err)
	}
	p := &pages{authority: files.Authority()}
	if p.book, err = accesstokens.Open(filepath.Join(dir, "tokens.json")); err != nil {
		t.Fatal(err)
	}
	config.Interval = cmp.Or(config.Interval, time.Millisecond)
	if grid, ok := node.(*gridOf); ok {
		config.Events = grid.events
	}
	drawn, err := dashboard.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	cfg := api.Config{
		Socket: filepath.Join(dir, "s"), Node: node, Site: "north", Number: 1, Version: "test", Log: slog.New(slog.DiscardHandler),
		Rules: func() api.Rules { return api.Rules{Initiation: "sender", Policy: "tc", LocalPolicy: "easy"} },
		Changes: func() ([]api.SettingsChange, error) {
			return []api.SettingsChange{{At: 1_800_000_000_000, By: "ops", Changed: []api.Change{
				{Key: "policy.name", From: `"tc"`, To: `"mcmf"`}, {Key: "partner[south].users", From: "{}", To: `{ carol = "guest" }`},
			}}}, nil
		},
		Prices: twoDays,
		Alarms: func() []string { return []string{"the disk of <the> peer is full"} },
		Ready:  func() { close(ready) },
		Network: &api.Network{
			Listen: "127.0.0.1:0", TLS: encryption, Tokens: p.book, Rate: 1000, Pages: drawn,
			User: func(_ context.Context, name string) (passwd.Entry, error) {
				return passwd.Entry{Name: name, UID: 60001, Home: "/home/" + name, Shell: "/bin/sh"}, nil
			},
			Ready: func(address net.Addr) { p.at = "https://" + address.String() },
		},
	}
	if change != nil {
		change(&cfg)
	}
	go func() { ended <- api.Serve(ctx, cfg) }()
	select {
	case <-ready:
	case err = <-ended:
		t.Fatal(err)
	}
	p.browser = p.newBrowser(t)
	t.Cleanup(func() {
		p.browser.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// twoDays are prices from two hours ago on: a day that is published, and a forecast of another.
func twoDays() *price.Forecast {
	hour := protocol.Instant(protocol.Hour)
	first := protocol.InstantOf(time.Now())/hour*hour - 2*hour
	known := &price.Forecast{Currency: "EUR", PublishedUntil: first + 24*hour}
	for i := range protocol.Instant(48) {
		known.Prices.Slots = append(known.Prices.Slots, price.Slot{Start: first + i*hour, Length: protocol.Hour, Price: protocol.Micro(20+(i+17)%24*4) * protocol.Unit})
	}
	known.Prices.Slots[0].Price = -protocol.Unit // it is over
	return known
}

func (p *pages) newBrowser(t testing.TB) *http.Client {
	t.Helper()
	trust, err := trusting(p.authority)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: trust}
}

// trusting makes connections to servers that an authority vouches for, of whose certificate it is given the file.
func trusting(authority string) (*http.Transport, error) {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	trust := &tls.Config{RootCAs: x509.NewCertPool()}
	trust.RootCAs.AppendCertsFromPEM(pem)
	return &http.Transport{TLSClientConfig: trust}, nil
}

// token makes a token of ann, and returns its secret and its ID.
func (p *pages) token(t testing.TB, scopes ...accesstokens.Scope) (secret, id string) {
	t.Helper()
	return p.tokenOf(t, "ann", scopes...)
}

// tokenOf makes a token of a user.
func (p *pages) tokenOf(t testing.TB, user string, scopes ...accesstokens.Scope) (secret, id string) {
	t.Helper()
	now := protocol.InstantOf(time.Now())
	secret, made, err := p.book.Create(accesstokens.Token{User: user, UID: 60001, Scopes: scopes, Maker: user, Expires: now.Add(protocol.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	return secret, made.ID
}

// get loads a page.
func (p *pages) get(t testing.TB, path string) (status int, header http.Header, text string) {
	t.Helper()
	return p.do(t, http.MethodGet, path, nil, nil)
}

// post sends a form.
func (p *pages) post(t testing.TB, path string, form url.Values) (status int, text string) {
	t.Helper()
	status, _, text = p.do(t, http.MethodPost, path, form, nil)
	return status, text
}

func (p *pages) do(t testing.TB, method, path string, form url.Values, header http.Header) (status int, got http.Header, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(request.Header, header)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := p.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(data)
}

func smallGrid() *gridOf {
	age, old := protocol.Second, protocol.Hour
	return &gridOf{
		events: eventstream.New(1, 1, 0),
		sites: []view.Site{
			{Site: "north", Number: 1, Self: true, Link: "self", CPUs: 8, Busy: 6, Queued: 2, Age: &age},
			{Site: "south", Number: 2, Link: "up", CPUs: 16, Busy: 4, Age: &age},
			{Site: "west", Number: 3, Link: "down", Reason: "no <route>", CPUs: 4, Age: &old, LastSeen: 1_800_000_000_000},
		},
		ended: []view.Job{{
			ID: 1_000_000_000_000, Name: "old", User: "ann", State: protocol.Failed, ExitCode: 3, Origin: "north", Site: "south", CPUs: 1,
			Started: 1_800_000_000_000, Ended: 1_800_000_060_000,
		}},
		facts: story(),
		jobs: []view.Job{
			{ID: 1_000_000_000_001, Name: "<script>alert(1)</script>", User: "ann", State: protocol.Running, Origin: "north", Site: "north", CPUs: 4},
			{ID: 1_000_000_000_002, Name: "secret-plan", User: "bob", State: protocol.Pending, Reason: view.ReasonAllDeclined, Origin: "north", CPUs: 2},
		},
	}
}

func TestWithoutSignInThereIsNothing(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), nil)
	for _, path := range []string{
		"/", "/changes", "/jobs", "/jobs/1000000000002", "/jobs/1000000000002/hold", "/schedule", "/site", "/quotes", "/applications", "/reference", "/studies", "/studies/light/", "/sites/other/drain", "/sites/other/resume", "/reload",
	} {
		status, _, text := p.get(t, path)
		if status != http.StatusUnauthorized || strings.Contains(text, "south") || strings.Contains(text, "secret-plan") || !strings.Contains(text, `action="/sign-in"`) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := p.post(t, "/jobs/1000000000002/hold", url.Values{}); status != http.StatusUnauthorized || strings.Contains(text, "secret-plan") {
		t.Errorf("hold: %d %s", status, text)
	}
}

func TestSignInAndRevoke(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), nil)
	secret, id := p.token(t, accesstokens.Read)
	if status, text := p.post(t, "/sign-in", url.Values{"token": {"sy_00_wrong"}}); status != http.StatusUnauthorized || !strings.Contains(text, "You are not signed in") {
		t.Errorf("a wrong token: %d %s", status, text)
	}
	status, text := p.post(t, "/sign-in", url.Values{"token": {secret}, "next": {"//elsewhere.example"}})
	if status != http.StatusOK || !strings.Contains(text, "2 of 3 sites up; 10 of 28 CPUs busy. 2 jobs of this site and its guests: 1 running, 1 pending.") {
		t.Fatalf("signed in: %d %s", status, text)
	}
	if strings.Contains(text, secret) || !strings.Contains(text, "the disk of &lt;the&gt; peer is full") || !strings.Contains(text, "no &lt;route&gt;") {
		t.Errorf("the page: %s", text)
	}
	at, err := url.Parse(p.at)
	if err != nil {
		t.Fatal(err)
	}
	if cookies := p.browser.Jar.Cookies(at); len(cookies) != 1 || strings.Contains(cookies[0].Value, id) || strings.Contains(secret, cookies[0].Value) {
		t.Errorf("cookies %v: a session is not its token", cookies)
	}
	if err = p.book.Revoke(id, "", protocol.InstantOf(time.Now())); err != nil {
		t.Fatal(err)
	}
	if status, _, text = p.get(t, "/"); status != http.StatusUnauthorized || !strings.Contains(text, "Your session has ended") {
		t.Errorf("revoked: %d %s", status, text)
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	p := signedIn(t, smallGrid(), accesstokens.Read)
	at, err := url.Parse(p.at)
	if err != nil {
		t.Fatal(err)
	}
	session := p.browser.Jar.Cookies(at)
	if _, _, text := p.get(t, "/"); len(session) != 1 || !strings.Contains(text, `action="/sign-out"`) {
		t.Fatalf("cookies %v: %s", session, text)
	}
	if status, _, text := p.do(t, http.MethodPost, "/sign-out", url.Values{}, http.Header{"Sec-Fetch-Site": {"cross-site"}}); status != http.StatusForbidden {
		t.Errorf("from another page: %d %s", status, text)
	}
	if status, text := p.post(t, "/sign-out", url.Values{}); status != http.StatusUnauthorized || strings.Contains(text, "south") {
		t.Errorf("%d %s", status, text)
	}
	if left := p.browser.Jar.Cookies(at); len(left) != 0 {
		t.Errorf("the browser keeps %v", left)
	}
	p.browser.Jar.SetCookies(at, []*http.Cookie{{Name: session[0].Name, Value: session[0].Value, Path: "/", Secure: true}})
	if status, _, text := p.get(t, "/"); status != http.StatusUnauthorized || !strings.Contains(text, "Your session has ended") {
		t.Errorf("with the cookie of before: %d %s", status, text)
	}
}

// TestPublicPagesLeaveOutReasons: what partners, plugins and the store say is for the users of the site and its operators.
func TestPublicPagesLeaveOutReasons(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	grid.sites[0].Prices = "/etc/switchyard/prices.csv: line 3"
	grid.sites[1].AskedLastReason, grid.sites[1].Draining = "two jobs missed", "their disk is full"
	grid.sites[1].Drain = &view.Drain{Scope: "send", Reason: "ticket 17", By: "root"}
	plugins := []api.Plugin{{Name: "tariff", State: "down", Path: "/opt/plugins/tariff", Failure: "exit status 3"}}
	p := open(t, grid, func(c *api.Config) {
		c.Network.Public, c.Plugins = true, func() []api.Plugin { return plugins }
	})
	secrets := []string{"no &lt;route&gt;", "prices.csv", "two jobs missed", "their disk is full", "ticket 17"}
	failing := "open /var/lib/switchyard/store: no such file"
	look := func(seen bool) {
		t.Helper()
		_, _, text := p.get(t, "/")
		for _, secret := range secrets {
			if strings.Contains(text, secret) != seen {
				t.Errorf("%q is on the page, which should be %t: %s", secret, seen, text)
			}
		}
		_, _, text = p.get(t, "/site")
		for _, secret := range []string{"/opt/plugins/tariff", "exit status 3", "&#34;mcmf&#34;"} {
			if strings.Contains(text, "carol") {
				t.Error("a user sees what only administrators may")
			}
			if !strings.Contains(text, "tariff") || strings.Contains(text, secret) != seen {
				t.Errorf("%q is on the page of the site, which should be %t: %s", secret, seen, text)
			}
		}
		grid.change(func() { grid.fault = errors.New(failing) })
		defer grid.change(func() { grid.fault = nil })
		if status, _, text := p.get(t, "/jobs"); status != http.StatusServiceUnavailable || strings.Contains(text, failing) != seen {
			t.Errorf("an error: %d %s", status, text)
		}
	}
	look(false)
	secret, _ := p.token(t, accesstokens.Read)
	if status, text := p.post(t, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	look(true)
}

// TestWithoutPages: with `[api] dashboard = "off"` the API has no pages.
func TestWithoutPages(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), func(c *api.Config) { c.Network.Pages, c.Network.Public = nil, true })
	for _, path := range []string{"/", "/sign-in", "/changes", "/assets/live.js", "/jobs"} {
		status, header, text := p.get(t, path)
		if status < 400 || header.Get("Content-Type") != "application/json" || strings.Contains(text, "south") {
			t.Errorf("%s: %d %v %s", path, status, header, text)
		}
	}
}

func TestPublicPagesOfPrivateSitesNameNoUser(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		p := open(t, smallGrid(), func(c *api.Config) { c.Private, c.Network.Public = private, true })
		status, header, text := p.get(t, "/")
		if status != http.StatusOK || !strings.Contains(text, "1 running, 1 pending") || strings.Contains(text, "the disk of") {
			t.Errorf("private %t: %d %s", private, status, text)
		}
		for _, hidden := range []string{"secret-plan", "bob"} {
			if strings.Contains(text, hidden) {
				t.Errorf("private %t: the page has %q", private, hidden)
			}
		}
		if policy := header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self'") {
			t.Errorf("policy %q", policy)
		}
	}
}

func TestOtherPagesCannotPost(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), nil)
	secret, _ := p.token(t, accesstokens.Read)
	for _, from := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://elsewhere.example"}}} {
		if status, _, text := p.do(t, http.MethodPost, "/sign-in", url.Values{"token": {secret}}, from); status != http.StatusForbidden {
			t.Errorf("%v: %d %s", from, status, text)
		}
	}
}

// story is what happened to a job: a round with a quote, a decline and a silent site.
func story() []event.LogEvent {
	return []event.LogEvent{
		{At: 1_800_000_000_000, Kind: event.LogJobSubmitted, Text: "<b>bold</b>"},
		{
			At: 1_800_000_001_000, Kind: event.LogRoundDecided, Site: "south", Round: 4, Text: "least turnaround", Silent: []string{"east"}, OmittedQuotes: 2,
			Quotes: []view.Quote{
				{Site: "north", Declined: "no <room>"},
				{
					Site: "south", AWT: protocol.Minute, AWTLow: protocol.Second, Median: protocol.Minute, AWTHigh: protocol.Hour, ERT: protocol.Hour,
					Cost: 3_500_000, Currency: "EUR", Terms: []view.PriceTerm{{Name: "cpu", Amount: 3_000_000}, {Name: "energy", Amount: 500_000}},
				},
			},
		},
	}
}

// TestLostSettingsChanges: the page of the site says why it has no changes of settings, and has all else.
func TestLostSettingsChanges(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), func(c *api.Config) {
		c.Changes = func() ([]api.SettingsChange, error) { return nil, errors.New("settings.json: it is a directory") }
	})
	secret, _ := p.token(t, accesstokens.Read)
	p.post(t, "/sign-in", url.Values{"token": {secret}})
	if status, _, text := p.get(t, "/site"); status != http.StatusOK || !strings.Contains(text, "settings.json: it is a directory") || !strings.Contains(text, "Jobs are placed by these rules") {
		t.Errorf("%d %s", status, text)
	}
}
