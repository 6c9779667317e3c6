package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// partnerTables are the tables of partners in a site's configuration, by name.
func partnerTables(t *testing.T, site *testbed.Site) map[string]string {
	t.Helper()
	text, err := os.ReadFile(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	for _, table := range strings.SplitAfter(string(text), "\n[[partner]]\n")[1:] {
		table = strings.TrimSuffix(table, "\n[[partner]]\n")
		tables[regexp.MustCompile(`name *= "(\w+)"`).FindStringSubmatch(table)[1]] = "\n[[partner]]\n" + table
	}
	return tables
}

// linkIs waits until the link to a partner is in a state, for a reason with these words.
func linkIs(t *testing.T, site *testbed.Site, partner protocol.SiteName, link, why string) {
	t.Helper()
	seen(t, site, fmt.Sprintf("%s with link %s (%s)", partner, link, why), func(s view.Site) bool {
		return s.Site == partner && s.Link == link && strings.Contains(s.Reason, why)
	})
}

// seen waits until a site knows a site like that.
func seen(t *testing.T, site *testbed.Site, what string, is func(view.Site) bool) {
	t.Helper()
	client, ctx := site.Client(), patience(t)
	defer client.Close()
	for {
		sites, err := client.Sites(ctx)
		if err == nil && slices.ContainsFunc(sites.Sites, is) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s never knew %s: %+v, %v", site.Name, what, sites.Sites, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A third site joins two that run, gets a job, leaves while it has another one, and gets none any
// more nor a connection. It comes back, also with another key. No peer but the one with the other
// key is started again.
func TestPartnersAreReloaded(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1}, testbed.Machine{Name: "charon", CPUs: 1})
	aurora, borealis, charon := g.Sites[0], g.Sites[1], g.Sites[2]
	atAurora, atBorealis, atCharon := partnerTables(t, aurora), partnerTables(t, borealis), partnerTables(t, charon)
	edit(t, aurora, atAurora["charon"], "")
	edit(t, borealis, atBorealis["charon"], "")
	edit(t, charon, atCharon["aurora"], "", atCharon["borealis"], "\n")
	for _, site := range g.Sites {
		if err := site.Start(); err != nil {
			t.Fatal(err)
		}
	}
	linkIs(t, aurora, "borealis", "up", "")
	pid := aurora.Pid()
	reload := func(site *testbed.Site, words ...string) {
		t.Helper()
		wantWords(t, g.at(t, site, "", "reload"), 0, words...)
	}

	ready(t, charon) // it has read its configuration
	edit(t, charon, "\n[policy]\n", atCharon["aurora"]+atCharon["borealis"]+"\n[policy]\n")
	reload(charon, "added          partner aurora\nadded          partner borealis\nActive")
	edit(t, aurora, "\n[policy]\n", atAurora["charon"]+"\n[policy]\n")
	reload(aurora, "added          partner charon\nActive")
	edit(t, borealis, "\n[policy]\n", atBorealis["charon"]+"\n[policy]\n")
	reload(borealis, "added          partner charon\nActive")
	for _, site := range []*testbed.Site{aurora, borealis} {
		linkIs(t, site, "charon", "up", "")
		linkIs(t, charon, site.Name, "up", "")
	}
	if job := g.until(t, aurora, g.submit(t, aurora, "#!/bin/sh\n", "--sites=charon"), ended); job.State != protocol.Completed || job.Site != "charon" {
		t.Errorf("the job: %+v", job)
	}

	// It leaves with a job.
	door := filepath.Join(g.work, "door")
	there := g.submit(t, aurora, "#!/bin/sh\nwhile [ ! -e "+door+" ]; do sleep 0.05; done\n", "--sites=charon")
	g.until(t, aurora, there, running)
	edit(t, aurora, atAurora["charon"], "")
	reload(aurora, "removed        partner charon\nActive", `warning: partner "charon": not configured, but it has 1 open job of this site`)
	linkIs(t, aurora, "charon", "missing", "it has 1 open job")
	linkIs(t, charon, "aurora", "down", "it refuses this site's key")
	linkIs(t, aurora, "borealis", "up", "")
	wantWords(t, g.at(t, aurora, "#!/bin/sh\n", "submit", "--sites=charon"), 2, `site "charon" is neither this site nor a partner of it`)

	// It comes back, and its job with it.
	edit(t, aurora, "\n[policy]\n", atAurora["charon"]+"\n[policy]\n")
	got := g.at(t, aurora, "", "reload", "--json")
	var done api.Reloaded
	if err := json.Unmarshal([]byte(got.stdout), &done); err != nil || !slices.Equal(done.Added, []protocol.SiteName{"charon"}) ||
		len(done.Removed)+len(done.Changed)+len(done.Restart) > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	linkIs(t, aurora, "charon", "up", "")
	writeText(t, door, "")
	if job := g.until(t, aurora, there, ended); job.State != protocol.Completed {
		t.Errorf("the job that was there: %+v", job)
	}
	newKey(t, g, aurora, charon, reload)
	if aurora.Pid() != pid {
		t.Error("aurora was started again")
	}
}

// ready waits until a peer answers.
func ready(t *testing.T, site *testbed.Site) {
	t.Helper()
	linkIs(t, site, site.Name, "self", "")
}

// newKey gives charon another key, of which aurora learns by a reload.
func newKey(t *testing.T, g *grid, aurora, charon *testbed.Site, reload func(*testbed.Site, ...string)) {
	t.Helper()
	old, key := filepath.Join(charon.Dir, "site.key"), filepath.Join(charon.Dir, "other.key")
	wantWords(t, g.at(t, charon, "", "keygen", "--out", key), 0)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	before := regexp.MustCompile(`public_key = "\w+"`).FindString(partnerTables(t, aurora)["charon"])
	after := fmt.Sprintf("public_key = %q", strings.TrimSpace(string(public)))

	// A mistake beside it: nothing changes.
	edit(t, aurora, before, after, `initiation = "sender"`, `initiation = "symetric"`)
	wantWords(t, g.at(t, aurora, "", "reload"), 1, `did you mean "symmetric"`, "the configuration was not changed")
	linkIs(t, aurora, "charon", "up", "")
	edit(t, aurora, `initiation = "symetric"`, `initiation = "sender"`)
	reload(aurora, "changed        partner[charon].public_key:")
	linkIs(t, aurora, "charon", "down", "its key is refused here")

	if err := charon.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	edit(t, charon, old, key)
	if err := charon.Start(); err != nil {
		t.Fatal(err)
	}
	linkIs(t, aurora, "charon", "up", "")
	if job := g.until(t, aurora, g.submit(t, aurora, "#!/bin/sh\n", "--sites=charon"), ended); job.State != protocol.Completed {
		t.Errorf("the job: %+v", job)
	}
}
