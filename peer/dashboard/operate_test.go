package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Sites are drained and resumed by who has the scope for it, once that is confirmed, with a reason.
func TestSitesAreDrainedByOperators(t *testing.T) {
	t.Parallel()
	grid := smallGrid()
	grid.sites[1].Drain = &view.Drain{Scope: view.DrainSending, Reason: "slow <disks>", By: "ops"}
	why := url.Values{"scope": {"both"}, "reason": {"new disks"}}
	reader := signedIn(t, grid, accesstokens.Read, accesstokens.Submit)
	if _, _, text := reader.get(t, "/site"); strings.Contains(text, "/drain") || strings.Contains(text, "/reload") {
		t.Error("a reader is offered to operate")
	}
	for _, path := range []string{"/sites/south/drain", "/sites/south/resume", "/reload"} {
		if status, text := reader.post(t, path, why); status != http.StatusForbidden || !strings.Contains(text, "the token has no scope operate") {
			t.Errorf("%s without the scope: %d %s", path, status, text)
		}
	}
	p := signedIn(t, grid, accesstokens.All()...)
	_, _, text := p.get(t, "/site")
	for _, words := range []string{"/sites/north/drain", "/sites/south/resume", "slow &lt;disks&gt;", "/reload"} {
		if !strings.Contains(text, words) {
			t.Errorf("the page of the site lacks %s", words)
		}
	}
	if strings.Contains(text, "/sites/west/resume") {
		t.Error("a site that is not drained can be resumed")
	}
	_, _, own := p.get(t, "/sites/north/drain")
	_, _, other := p.get(t, "/sites/south/drain")
	if !strings.Contains(own, `value="starts"`) || strings.Contains(own, `value="send"`) || !strings.Contains(other, `value="isolated"`) || strings.Contains(other, `value="guests"`) {
		t.Error("what can be stopped is that of another site")
	}
	for name, form := range map[string]url.Values{
		"no reason": {"scope": {"both"}, "reason": {" "}}, "no scope": {"reason": {"x"}}, "a scope of the local site": {"scope": {"guests"}, "reason": {"x"}},
	} {
		if status, text := p.post(t, "/sites/south/drain", form); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, _ := p.post(t, "/sites/nowhere/drain", why); status != http.StatusNotFound {
		t.Errorf("no such site: %d", status)
	}
	if status, _, _ := p.do(t, http.MethodPost, "/sites/south/drain", why, http.Header{"Sec-Fetch-Site": {"cross-site"}}); status != http.StatusForbidden || len(grid.changes) != 0 {
		t.Errorf("from another page: %d, %v", status, grid.changes)
	}
	for path, form := range map[string]url.Values{"/sites/south/drain": why, "/sites/south/resume": {}} {
		grid.change(func() { grid.changes = nil })
		if status, text := p.post(t, path, form); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
		want := event.SetDrain{Asked: 1, Site: "south", User: "ann"} // the peer refuses her: she is no administrator
		if form.Has("scope") {
			want.Scope, want.Reason = view.DrainBoth, "new disks"
		}
		if !reflect.DeepEqual(grid.changes, []event.Event{want}) {
			t.Errorf("%s asked for %+v", path, grid.changes)
		}
	}
	public := open(t, grid, func(c *api.Config) { c.Network.Public = true })
	for _, path := range []string{"/sites/south/drain", "/sites/south/resume", "/reload"} {
		if status, _ := public.post(t, path, why); status != http.StatusUnauthorized {
			t.Errorf("%s without signing in: %d", path, status)
		}
	}
}

// A reload shows what it has changed, or what is wrong.
func TestReloadOnPages(t *testing.T) {
	t.Parallel()
	answers := []api.Reloaded{
		{Problems: []string{"site.toml:3: <key>: is wrong"}},
		{Changed: []api.Change{{Key: "policy.name", From: `"tc"`, To: `"local"`}}, Restart: []api.Change{{Key: "nats.listen", To: `"x"`}}, Added: []protocol.SiteName{"east"}, Warnings: []string{"beware"}},
		{},
	}
	asked := 0
	p := open(t, smallGrid(), func(c *api.Config) {
		c.Network.User = func(_ context.Context, name string) (passwd.Entry, error) {
			return passwd.Entry{Name: name, UID: uint32(os.Geteuid())}, nil
		}
		c.Reload = func(context.Context, string) (api.Reloaded, error) {
			asked++
			return answers[asked-1], nil
		}
	})
	now := protocol.InstantOf(time.Now())
	secret, _, err := p.book.Create(accesstokens.Token{User: "op", UID: os.Geteuid(), Scopes: accesstokens.All(), Maker: "op", Expires: now.Add(protocol.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := p.post(t, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if status, _, text := p.get(t, "/reload"); status != http.StatusOK || !strings.Contains(text, `action="/reload"`) || asked != 0 {
		t.Errorf("%d %s, asked %d times", status, text, asked)
	}
	for i, want := range [][]string{
		{"was not changed", "site.toml:3: &lt;key&gt;: is wrong"}, {"is active", "policy.name", "&#34;local&#34;", "after a restart", "nats.listen", "east", "beware"}, {"nothing has changed"},
	} {
		status, text := p.post(t, "/reload", url.Values{})
		for _, words := range want {
			if status != http.StatusOK || !strings.Contains(text, words) {
				t.Errorf("reload %d: %d, lacks %q: %s", i, status, words, text)
			}
		}
	}
}
