package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// TestWrongPartnerKey: where one site has another key of its partner than the partner has, both
// sites say which key that is, in `sites`, in its JSON and in the log; and the link comes up
// once it is put right.
func TestWrongPartnerKey(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	aurora, borealis := g.Sites[0], g.Sites[1]
	_, wrong, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	right := ownKey(t, borealis)
	replaceIn(t, aurora.Config, right, wrong)
	for _, site := range g.Sites {
		if err = site.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []struct {
		at, of *testbed.Site
		says   []string
	}{
		{aurora, borealis, []string{"its key is refused here", right, wrong, "[[partner]] borealis"}},
		{borealis, aurora, []string{"it refuses this site's key", right, "[[partner]] borealis there"}},
	} {
		why := g.whyDown(t, end.at, string(end.of.Name), end.says[0])
		table := g.at(t, end.at, "", "sites")
		log, unread := os.ReadFile(end.at.Log)
		if unread != nil {
			t.Fatal(unread)
		}
		for _, part := range end.says {
			if !strings.Contains(why, part) || !strings.Contains(table.stdout, part) {
				t.Errorf("%s: %q is missing in %q or\n%s", end.at.Name, part, why, table.stdout)
			}
		}
		if !strings.Contains(string(log), `"kind":"key-refused"`) && !strings.Contains(string(log), "kind=key-refused") {
			t.Errorf("the log of %s says nothing:\n%s", end.at.Name, log)
		}
	}
	if err = aurora.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	replaceIn(t, aurora.Config, wrong, right)
	if err = aurora.Start(); err != nil {
		t.Fatal(err)
	}
	for _, site := range g.Sites {
		g.linkUp(t, site)
	}
}

// ownKey is the public key that a site shows.
func ownKey(t *testing.T, site *testbed.Site) string {
	t.Helper()
	key, err := identity.LoadKey(site.Dir + "/site.key")
	if err != nil {
		t.Fatal(err)
	}
	return key.Public()
}

func replaceIn(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q: %v", path, from, err)
	}
	if err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// partner is how a site sees its only partner; an empty view while its peer does not answer.
func (g *grid) partner(t *testing.T, site *testbed.Site) (shown view.Site) {
	t.Helper()
	got := g.at(t, site, "", "sites", "--json")
	if got.code == exitUnreachable {
		return shown
	}
	var sites view.Sites
	if err := json.Unmarshal([]byte(got.stdout), &sites); err != nil || len(sites.Sites) != 2 {
		t.Fatalf("sites --json: %+v, %v", got, err)
	}
	return sites.Sites[1]
}

// whyDown waits until a site says why its partner is down, in such words.
func (g *grid) whyDown(t *testing.T, site *testbed.Site, of, words string) string {
	t.Helper()
	var view view.Site
	for ctx := patience(t); ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		view = g.partner(t, site)
		if string(view.Site) == of && view.Link == "down" && strings.Contains(view.Reason, words) {
			return view.Reason
		}
	}
	t.Fatalf("%s says of its partner: %+v", site.Name, view)
	return ""
}

func (g *grid) linkUp(t *testing.T, site *testbed.Site) {
	t.Helper()
	var view view.Site
	for ctx := patience(t); ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if view = g.partner(t, site); view.Link == "up" && view.Reason == "" {
			return
		}
	}
	t.Fatalf("%s sees its partner: %+v", site.Name, view)
}
