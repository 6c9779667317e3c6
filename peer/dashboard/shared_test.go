package dashboard_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// openShared serves pages that are kept for others for as long as a test may take.
func openShared(t *testing.T, grid *gridOf, change func(*api.Config)) *pages {
	t.Helper()
	return openDrawn(t, grid, dashboard.Config{Interval: 10 * time.Hour}, change)
}

// as is the pages in another browser, in which a user signs in; without a user it is a stranger's.
func (p *pages) as(t *testing.T, user string, scopes ...accesstokens.Scope) *pages {
	t.Helper()
	other := *p
	other.browser = p.newBrowser(t)
	t.Cleanup(other.browser.CloseIdleConnections)
	if user == "" {
		return &other
	}
	secret, _ := p.tokenOf(t, user, scopes...)
	if status, text := other.post(t, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	return &other
}

// after loads a page for a change, as its script does.
func (p *pages) after(t *testing.T, change, path string) (status int, text string) {
	t.Helper()
	status, _, text = p.do(t, http.MethodGet, path, nil, http.Header{"Switchyard-Change": {change}})
	return status, text
}

// stream is a stream of changes.
type stream struct{ lines *bufio.Scanner }

// streamed opens one.
func (p *pages) streamed(t *testing.T) *stream {
	t.Helper()
	_, _, lines := p.follow(t)
	return &stream{lines}
}

// changed waits for the next change of a stream, and returns its number.
func (s *stream) changed(t *testing.T) (number string) {
	t.Helper()
	for event := ""; s.lines.Scan(); {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "event":
			event = value
		case name == "id" && event == "changed":
			return value
		}
	}
	t.Fatal("the stream has ended")
	return ""
}

// Pages that follow learn of a change by the same number, and load what was made once for all of them with the same rights.
func TestViewersOfAChangeShareAPage(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	var asked atomic.Int32
	grid.queues = func(context.Context) { asked.Add(1) }
	p := openShared(t, grid, nil)
	one, two := p.as(t, "ann", accesstokens.Read), p.as(t, "ann", accesstokens.Read)
	first, second := one.streamed(t), two.streamed(t)
	first.changed(t)
	second.changed(t)
	grid.change(func() { grid.jobs = slices.Clone(grid.jobs); grid.jobs[1].Name = "changed-plan" })
	number := first.changed(t)
	if other := second.changed(t); other != number {
		t.Errorf("the change has the numbers %s and %s", number, other)
	}
	asked.Store(0)
	_, text := one.after(t, number, "/jobs")
	status, same := two.after(t, number, "/jobs")
	if n := asked.Load(); n != 1 || status != http.StatusOK || same != text || !strings.Contains(text, "changed-plan") {
		t.Errorf("%d, asked %d times: %s", status, n, same)
	}
	if _, other := two.after(t, number, "/jobs?user=bob"); other == text || asked.Load() != 2 {
		t.Error("another page is the same")
	}
	if two.get(t, "/jobs"); asked.Load() != 3 {
		t.Error("a page that a visitor asks for is one that was made before")
	}
}

// A page is never older than the change for which it is loaded, nor than a request that is for none of this peer's changes.
func TestSharedPagesHaveTheirChange(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	p := openShared(t, grid, nil).as(t, "ann", accesstokens.Read)
	follows := p.streamed(t)
	number := follows.changed(t)
	rename := func(name string) {
		grid.change(func() { grid.jobs = slices.Clone(grid.jobs); grid.jobs[1].Name = name })
	}
	if _, text := p.after(t, number, "/jobs"); !strings.Contains(text, "secret-plan") {
		t.Fatal(text)
	}
	rename("second-plan")
	if _, _, text := p.get(t, "/jobs"); !strings.Contains(text, "second-plan") {
		t.Errorf("a page that was asked for is from before: %s", text)
	}
	for _, none := range []string{"1000000", "-1", "x"} {
		if status, text := p.after(t, none, "/jobs"); status != http.StatusOK || !strings.Contains(text, "second-plan") {
			t.Errorf("%s: %d %s", none, status, text)
		}
	}
	next := follows.changed(t)
	before, _ := strconv.Atoi(number)
	if after, err := strconv.Atoi(next); err != nil || after <= before {
		t.Errorf("change %s follows change %s: %v", next, number, err)
	}
	if _, text := p.after(t, next, "/jobs"); !strings.Contains(text, "second-plan") {
		t.Errorf("the page lacks its change: %s", text)
	}
	grid.change(func() { grid.fault = unknownJobError{} })
	if status, text := p.after(t, next, "/jobs/7"); status != http.StatusNotFound {
		t.Errorf("%d %s", status, text)
	}
}

// What was made for one visitor is shown to none with other rights, of another user or with other scopes, whatever change they say to follow.
func TestPagesAreSharedByRightsOnly(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	for i := range grid.jobs {
		grid.jobs[i].Application, grid.jobs[i].Component = grid.jobs[i].ID, "of-"+grid.jobs[i].User
	}
	p := openShared(t, grid, func(c *api.Config) { c.Private, c.Network.Public = true, true })
	ann := p.as(t, "ann", accesstokens.Read)
	number := ann.streamed(t).changed(t)
	job := "/jobs/" + protocol.JobID(1_000_000_000_001).String()
	visitors := map[string]*pages{"ann": ann, "ann again": p.as(t, "ann", accesstokens.Read), "ann who submits": p.as(t, "ann", accesstokens.Read, accesstokens.Submit), "bob": p.as(t, "bob", accesstokens.Read), "": p.as(t, "")}
	order := slices.Sorted(maps.Keys(visitors))
	for range 2 { // what is made for the last is not for the first either
		for _, path := range []string{"/", "/jobs", "/schedule", "/applications", job} {
			for _, name := range order {
				_, text := visitors[name].after(t, number, path)
				user, _, _ := strings.Cut(name, " ")
				checkOwn(t, path, name, text, user)
			}
		}
		slices.Reverse(order)
		number = ann.streamed(t).changed(t)
	}
}

// checkOwn checks that a page is for a visitor of a private site, with a user or none, and has what the visitor may see and do.
func checkOwn(t *testing.T, path, visitor, text, user string) {
	t.Helper()
	for _, other := range []string{"ann", "bob"} {
		if strings.Contains(text, "<span>"+other+"</span>") != (other == user) {
			t.Errorf("%s of %q is for another: %s", path, visitor, text)
		}
	}
	own := map[string]string{"ann": "alert(1)", "bob": "secret-plan"}
	if path == "/applications" {
		own = map[string]string{"ann": "of-ann", "bob": "of-bob"}
	}
	if path == "/jobs" || path == "/applications" {
		for whose, what := range own {
			if strings.Contains(text, what) != (whose == user) {
				t.Errorf("%s of %q: that it has %s is wrong: %s", path, visitor, what, text)
			}
		}
	}
	if acts := strings.Contains(text, "/cancel\">"); strings.HasPrefix(path, "/jobs/") && acts != (visitor == "ann who submits") {
		t.Errorf("%s of %q offers to cancel: %t", path, visitor, acts)
	}
	if reason := strings.Contains(text, "no &lt;route&gt;"); path == "/" && reason != (user != "") {
		t.Errorf("%s of %q has the reasons of partners: %t", path, visitor, reason)
	}
}

// The end of a visitor for whom a page was to be made is not shared.
func TestTheEndOfAVisitorIsNotShared(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	asked := make(chan struct{})
	var blocks atomic.Bool // the next answer waits until its request ends
	grid.queues = func(ctx context.Context) {
		if blocks.CompareAndSwap(true, false) {
			close(asked)
			<-ctx.Done()
		}
	}
	p := openShared(t, grid, nil)
	one, two := p.as(t, "ann", accesstokens.Read), p.as(t, "ann", accesstokens.Read)
	number := one.streamed(t).changed(t)
	blocks.Store(true)
	leaving, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		request, err := http.NewRequestWithContext(leaving, http.MethodGet, p.at+"/jobs", http.NoBody)
		if err == nil {
			request.Header.Set("Switchyard-Change", number)
			var response *http.Response
			if response, err = one.browser.Do(request); err == nil {
				_ = response.Body.Close()
			}
		}
		gone <- err
	}()
	<-asked
	loaded := make(chan string, 1)
	go func() {
		_, text := two.after(t, number, "/jobs")
		loaded <- text
	}()
	leave()
	if text := <-loaded; !strings.Contains(text, "secret-plan") {
		t.Errorf("the page of the second: %s", text)
	}
	if err := <-gone; err == nil {
		t.Error("the first has got a page")
	}
}

// waiting is a context that says when somebody waits for its end.
type waiting struct {
	context.Context //nolint:containedctx // it is one

	once sync.Once
	here chan struct{}
}

func (w *waiting) Done() <-chan struct{} {
	w.once.Do(func() { close(w.here) })
	return w.Context.Done()
}

// makeTogether has a page made for a visitor while another one waits for it, and then for a third. Try is called with its number, and
// the first visitor has gone by then if that one leaves.
func makeTogether(t *testing.T, leaves bool, try func(number int32, w http.ResponseWriter) error) (texts [3]string, errs [3]error, tries int32) {
	t.Helper()
	drawn, err := dashboard.New(dashboard.Config{Interval: 10 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var tried atomic.Int32
	begun, goOn := make(chan struct{}), make(chan struct{})
	show := drawn.Shared(func(w http.ResponseWriter, _ *http.Request) error {
		number := tried.Add(1)
		if number == 1 {
			close(begun)
			<-goOn
		}
		return try(number, w)
	})
	load := func(ctx context.Context, i int) {
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/jobs", http.NoBody)
		request.Header.Set("Switchyard-Change", "0")
		answer := httptest.NewRecorder()
		errs[i] = show(answer, request)
		texts[i] = answer.Body.String()
	}
	var both sync.WaitGroup
	first, leave := context.WithCancel(t.Context())
	defer leave()
	both.Go(func() { load(first, 0) })
	<-begun
	second := &waiting{Context: t.Context(), here: make(chan struct{})}
	both.Go(func() { load(second, 1) })
	<-second.here
	if leaves {
		leave()
	}
	close(goOn)
	both.Wait()
	load(t.Context(), 2)
	return texts, errs, tried.Load()
}

// Those who wait for a page get the error of the one for whom it was to be made, not each one after the other. It is not kept.
func TestErrorsReachThoseWhoWait(t *testing.T) {
	t.Parallel()
	ill := errors.New("the peer is ill")
	texts, errs, tries := makeTogether(t, false, func(number int32, w http.ResponseWriter) error {
		if number == 1 {
			return ill
		}
		_, err := io.WriteString(w, "whole")
		return err
	})
	if errs != [3]error{ill, ill, nil} || texts != [3]string{"", "", "whole"} || tries != 2 {
		t.Errorf("%q, %v, %d tries", texts, errs, tries)
	}
}

// A page on which something is missing since its visitor has gone is for no others.
func TestPagesOfVisitorsWhoHaveGoneAreNotShared(t *testing.T) {
	t.Parallel()
	texts, errs, tries := makeTogether(t, true, func(number int32, w http.ResponseWriter) error {
		text := "whole"
		if number == 1 {
			text = "without a name"
		}
		_, err := io.WriteString(w, text)
		return err
	})
	if !errors.Is(errs[0], context.Canceled) || errs[1] != nil || errs[2] != nil || texts != [3]string{"", "whole", "whole"} || tries != 2 {
		t.Errorf("%q, %v, %d tries", texts, errs, tries)
	}
}

// A handler that panics leaves none who wait.
func TestAPanicIsNotShared(t *testing.T) {
	t.Parallel()
	drawn, err := dashboard.New(dashboard.Config{Interval: 10 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var tries atomic.Int32
	show := drawn.Shared(func(w http.ResponseWriter, _ *http.Request) error {
		if tries.Add(1) == 1 {
			panic("a fault")
		}
		_, err := io.WriteString(w, "whole")
		return err
	})
	load := func() (text string, fault any) {
		defer func() { fault = cmp.Or(recover(), fault) }()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/jobs", http.NoBody)
		request.Header.Set("Switchyard-Change", "0")
		answer := httptest.NewRecorder()
		if err := show(answer, request); err != nil {
			fault = err
		}
		return answer.Body.String(), fault
	}
	if text, fault := load(); fault != "a fault" {
		t.Errorf("%q, %v", text, fault)
	}
	if text, fault := load(); text != "whole" || fault != nil {
		t.Errorf("after it: %q, %v", text, fault)
	}
}
