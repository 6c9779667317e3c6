package dashboard_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is a tab of chromium. What the browser complains of fails the test, and so does a request to a server that the test does not name.
type tab struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // it is the tab, as chromedp has it

	mu    sync.Mutex
	hosts []string        // with their ports, that of the pages first
	pages map[string]bool // by their addresses: the test looks at them itself, also at an error
	said  []string        // by the browser, of what is wrong
	sent  network.Headers // of the last request of the script for a page
}

// openTab starts a browser that may ask the servers at these addresses, until the test ends. Where there is no chromium the test is skipped,
// but not in CI.
func openTab(t testing.TB, at ...string) *tab {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("there is no chromium on this machine, though .ci/run installs it")
	default:
		t.Skip("there is no chromium on this machine; install it to see the pages in a browser")
	}
	limited, stop := context.WithTimeout(context.Background(), 10*time.Minute) // a browser that hangs holds up other tests of the machine
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(limited, chromedp.WithErrorf(t.Logf), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true),
	))
	t.Cleanup(closeTab)
	one := &tab{t: t, ctx: ctx, pages: map[string]bool{}}
	for _, server := range at {
		where, unreadable := url.Parse(server)
		if unreadable != nil {
			t.Fatal(unreadable)
		}
		one.hosts = append(one.hosts, where.Host)
	}
	if err = chromedp.Listen(ctx, one.listen); err != nil {
		t.Fatal(err)
	}
	one.do(command(log.Enable, cdp.Empty{}), command(network.Enable, network.EnableParams{}), command(runtime.Enable, cdp.Empty{}))
	t.Cleanup(func() {
		for _, line := range one.complaints() {
			t.Error(line)
		}
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
	})
	return one
}

// listen notes what is wrong.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch what := event.(type) {
	case *log.EventEntryAdded: // what the policy of the pages forbids, and what could not be loaded
		where, err := url.Parse(what.Entry.URL)
		if !b.pages[what.Entry.URL] && (err != nil || where.Host == "" || where.Host == b.hosts[0]) {
			b.said = append(b.said, fmt.Sprintf("%s: %s %s", what.Entry.Level, what.Entry.Text, what.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, what.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprintf("the script writes to the console: %s", what.Type))
	case *network.EventRequestWillBeSent:
		switch what.Type { //nolint:exhaustive // others are of no page
		case network.ResourceTypeDocument:
			b.pages[what.Request.URL] = true
		case network.ResourceTypeFetch:
			b.sent = what.Request.Headers
		}
		if where, err := url.Parse(what.Request.URL); err != nil || !slices.Contains(b.hosts, where.Host) && where.Scheme != "data" {
			b.said = append(b.said, "a request to another server: "+what.Request.URL)
		}
	}
}

// sentHeader is that of the last request of the script for a page.
func (b *tab) sentHeader(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprint(b.sent[name])
}

// complaints are those since the last call.
func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

// command is a command of the protocol, of which only an error matters.
func command[P, R any](what cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, what, params)
		return err
	})
}

// do does one thing after the other.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// evaluate is the value of an expression of JavaScript in the page.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// until waits until an expression is true in the page, also if another page comes meanwhile.
func (b *tab) until(expression string) {
	b.t.Helper()
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(0), chromedp.WithPollingInterval(20*time.Millisecond)))
		if err == nil {
			return
		}
		if b.ctx.Err() != nil {
			b.t.Fatalf("it never came to be that %s: %v", expression, err)
		}
	}
}

// resize has the window be as wide, and the reader prefer a scheme of colours.
func (b *tab) resize(width int, scheme string) {
	b.t.Helper()
	b.do(
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: 1000, DeviceScaleFactor: 1}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
	)
}

// picture draws the whole page.
func (b *tab) picture() []byte {
	b.t.Helper()
	drawn, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	return drawn
}

// open loads a page.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// press presses keys where the focus is.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// text is what a reader sees of the element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Text(selector))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// signIn pastes the secret of a token into the page to sign in, which the tab shows.
func (b *tab) signIn(secret string) {
	b.t.Helper()
	b.do(chromedp.Focus("#token"))
	b.press(secret + kb.Enter)
	b.until("document.querySelector('.who span') !== null")
}
