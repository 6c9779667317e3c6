package dashboard_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// legible is an expression that finds what cannot be read on a page.
//
//go:embed testdata/legible.js
var legible string

// checkNames checks that those who hear the page learn what each thing is that they can go to or use, as the browser computes their names.
func (b *tab) checkNames(path string) {
	b.t.Helper()
	needed := []string{"link", "button", "textbox", "combobox", "checkbox", "image", "img", "region", "navigation", "table", "heading", "columnheader", "rowheader"}
	landmarks := map[string]int{}
	err := chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		tree, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, node := range tree.Nodes {
			if node.Ignored || node.Role == nil {
				continue
			}
			role, name := plain(node.Role), ""
			if node.Name != nil {
				name = strings.TrimSpace(plain(node.Name))
			}
			landmarks[role]++
			if name == "" && slices.Contains(needed, role) {
				b.t.Errorf("%s: a %s without a name", path, role)
			}
		}
		return nil
	}))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, once := range []string{"main", "banner", "contentinfo"} {
		if landmarks[once] != 1 {
			b.t.Errorf("%s: %d landmarks %s", path, landmarks[once], once)
		}
	}
}

// plain is a value of the accessibility tree that is a text.
func plain(value *accessibility.Value) string {
	var text string
	_ = json.Unmarshal(value.Value, &text) // what is none is ""
	return text
}

// focused describes the element that has the focus, with its place among those that can have it; "" if none has.
const focused = `(() => {
  const all = [...document.querySelectorAll("a[href],button,input:not([type=hidden],[type=radio]:not(:checked)),select,summary,[tabindex='0']")].filter((e) => e.checkVisibility());
  const e = document.activeElement;
  if (!e || e === document.body) return { Place: -1, Of: all.length };
  const box = e.getBoundingClientRect(), style = getComputedStyle(e);
  return {
    Place: all.indexOf(e), Of: all.length, Text: e.outerHTML.slice(0, 80),
    Seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.left >= 0 && style.outlineStyle !== "none",
  };
})()`

// checkFocus goes through the page by the Tab key: each thing that can be used comes once, in the order of the page, and shows that it has
// the focus.
func (b *tab) checkFocus(path string) {
	b.t.Helper()
	type place struct {
		Place, Of int
		Text      string
		Seen      bool
	}
	last := place{Place: -1}
	for {
		b.press(kb.Tab)
		now := evaluate[place](b, focused)
		if now.Place < 0 {
			break // it is after the last
		}
		if now.Place != last.Place+1 {
			b.t.Errorf("%s: after %d %s the focus goes to %d %s", path, last.Place, last.Text, now.Place, now.Text)
			return
		}
		if !now.Seen {
			b.t.Errorf("%s: it cannot be seen that this has the focus: %s", path, now.Text)
		}
		if last = now; last.Place+1 == last.Of {
			return
		}
	}
	b.t.Errorf("%s: the focus comes to %d of %d elements", path, last.Place+1, last.Of)
}

// TestPagesFollowInBrowser: what changes is shown without loading the page again and where the reader is stays; a peer that does not answer
// is said to be silent until it does; and a session that ends leads to the page to sign in.
func TestPagesFollowInBrowser(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	p := open(t, grid, nil)
	secret, id := p.token(t, accesstokens.Read)
	b := openTab(t, p.at)
	b.open(p.at + "/")
	b.signIn(secret)
	b.until(`document.getElementById("live").textContent === "Up to date."`)
	b.do(chromedp.Evaluate[chromedp.Void](`window.kept = true; document.getElementById("sites").focus(); undefined`))
	grid.change(func() {
		grid.sites[0].Busy, grid.sites[1].Link, grid.sites[1].Reason = 7, "down", "no answer for a minute"
	})
	b.until(`document.getElementById("sites").innerText.includes("7 / 8") && document.getElementById("down").innerText.includes("no answer for a minute")`)
	if !evaluate[bool](b, `window.kept && document.activeElement.id === "sites"`) {
		t.Error("the page was loaded again, or lost the focus")
	}
	if change, err := strconv.Atoi(b.sentHeader("Switchyard-Change")); err != nil || change < 1 {
		t.Errorf("the script asked for the page of change %q", b.sentHeader("Switchyard-Change"))
	}

	offline := func(yes bool) {
		all := &network.Conditions{Offline: yes, DownloadThroughput: -1, UploadThroughput: -1}
		b.do(command(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{all}}))
	}
	if complaints := b.complaints(); len(complaints) > 0 {
		t.Errorf("%q", complaints)
	}
	offline(true)
	grid.changeSites(func(sites []view.Site) { sites[0].Busy = 3 })
	b.until(`document.getElementById("live").textContent.startsWith("The peer does not answer")`)
	offline(false)
	for _, line := range b.complaints() {
		if !strings.Contains(line, "net::ERR_") {
			t.Error(line)
		}
	}
	b.until(`document.getElementById("live").textContent === "Up to date." && document.getElementById("sites").innerText.includes("3 / 8")`)

	if err := p.book.Revoke(id, "", protocol.InstantOf(time.Now())); err != nil {
		t.Fatal(err)
	}
	grid.changeSites(func(sites []view.Site) { sites[0].Busy = 2 })
	b.until(`document.getElementById("token") !== null && document.body.innerText.includes("Your session has ended")`)
	for _, line := range b.complaints() {
		if !strings.Contains(line, "401 () "+p.at+"/changes") {
			t.Error(line)
		}
	}
}

// TestFiltersInBrowser: the filters of the page of jobs work by the keyboard alone.
func TestFiltersInBrowser(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), func(c *api.Config) { c.Network.Public = true })
	b := openTab(t, p.at)
	b.open(p.at + "/jobs")
	if text := b.text("#live-jobs"); !strings.Contains(text, "secret-plan") || !strings.Contains(text, "<script>alert(1)</script>") {
		t.Errorf("without filters:\n%s", text)
	}
	b.do(chromedp.Focus("#state"))
	b.press("P" + kb.Tab + "bob" + kb.Enter)
	b.until(`location.search.includes("user=bob") && location.search.includes("state=PENDING") && document.readyState === "complete"`)
	if text := b.text("#live-jobs"); !strings.Contains(text, "secret-plan") || strings.Contains(text, "alert") {
		t.Errorf("bob's jobs that are pending:\n%s", text)
	}
	b.do(chromedp.Focus("#user"))
	b.press(kb.End + "by" + kb.Enter)
	b.until(`location.search.includes("user=bobby") && document.readyState === "complete"`)
	if text := b.text("#live-jobs"); text != "None." {
		t.Errorf("of a user who has no job:\n%s", text)
	}
}

// TestActsInBrowser: what changes something needs a token and is confirmed, and no page or address has the token.
func TestActsInBrowser(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	p := open(t, grid, nil)
	secret, _ := p.token(t, accesstokens.All()...)
	b := openTab(t, p.at)
	b.open(p.at + "/jobs/1000000000001")
	b.signIn(secret)
	here := func(path string) {
		t.Helper()
		b.until(`location.pathname === "` + path + `" && document.readyState === "complete"`)
		if seen := evaluate[string](b, `location.href + document.documentElement.outerHTML + document.cookie + JSON.stringify({...localStorage, ...sessionStorage})`); strings.Contains(seen, secret) {
			t.Errorf("%s: the page has the token", path)
		}
	}
	follow := func(link string) {
		t.Helper()
		b.do(chromedp.Click(`//main//a[text()="` + link + `"]`))
	}
	here("/jobs/1000000000001")
	follow("Cancel")
	here("/jobs/1000000000001/cancel")
	follow("No, back to the job")
	here("/jobs/1000000000001")
	if len(grid.asked()) > 0 {
		t.Errorf("without a confirmation the peer was asked for %+v", grid.asked())
	}
	follow("Cancel")
	here("/jobs/1000000000001/cancel")
	b.do(chromedp.Focus(".do"))
	b.press(kb.Enter)
	here("/jobs/1000000000001")
	b.open(p.at + "/site")
	b.do(chromedp.Click(`[aria-label="Drain south"]`))
	here("/sites/south/drain")
	b.do(chromedp.Focus("#reason"))
	b.press("its <disks> are replaced" + kb.Enter)
	here("/site")
	want := []event.Event{
		event.Cancel{Asked: 1, Job: 1_000_000_000_001, User: "ann"},
		event.SetDrain{Asked: 1, Site: "south", Scope: view.DrainBoth, Reason: "its <disks> are replaced", User: "ann"},
	}
	if asked := grid.asked(); !reflect.DeepEqual(asked, want) {
		t.Errorf("the peer was asked for %+v", asked)
	}
}

// changeSites changes the sites that the peer answers. Pages may still read those that it has answered.
func (g *gridOf) changeSites(what func(sites []view.Site)) {
	g.change(func() {
		g.sites = slices.Clone(g.sites)
		what(g.sites)
	})
}

// asked is what the peer was asked to change.
func (g *gridOf) asked() []event.Event {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.changes)
}
