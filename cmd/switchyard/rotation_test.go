package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// linkHas waits until the link to a partner is up and it shows a key.
func linkHas(t *testing.T, site *testbed.Site, partner protocol.SiteName, public string) {
	t.Helper()
	client, ctx := site.Client(), patience(t)
	defer client.Close()
	for {
		sites, err := client.Sites(ctx)
		is := func(s view.Site) bool { return s.Site == partner && s.Link == "up" && s.PublicKey == public }
		if err == nil && slices.ContainsFunc(sites.Sites, is) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("at %s the key of %s never became %s: %+v, %v", site.Name, partner, public, sites.Sites, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// One of three sites replaces its key while jobs run, wait and move. All run once, no peer is started again, and
// after a start with the new key the site goes on without an operator.
func TestAKeyIsReplacedWhileJobsMove(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 2}, testbed.Machine{Name: "charon", CPUs: 2})
	aurora, borealis, charon := g.Sites[0], g.Sites[1], g.Sites[2]
	others := []*testbed.Site{aurora, charon}
	for _, site := range g.Sites {
		if err := site.Start(); err != nil {
			t.Fatal(err)
		}
	}
	linkIs(t, aurora, "borealis", "up", "")
	linkIs(t, charon, "borealis", "up", "")
	pids := []int{aurora.Pid(), borealis.Pid(), charon.Pid()}
	ran, door := filepath.Join(g.work, "ran"), filepath.Join(g.work, "door")
	script := "#!/bin/sh\necho $SWITCHYARD_JOB_ID >> " + ran + "\n"
	long := g.submit(t, aurora, script+"while [ ! -e "+door+" ]; do sleep 0.05; done\n", "--sites=borealis")
	back := g.submit(t, borealis, script+"while [ ! -e "+door+" ]; do sleep 0.05; done\n", "--sites=charon")
	g.until(t, aurora, long, running)
	g.until(t, borealis, back, running)
	jobs := map[*testbed.Site][]protocol.JobID{aurora: {long}, borealis: {back}}
	more := func(n int) {
		for range n {
			jobs[aurora] = append(jobs[aurora], g.submit(t, aurora, script, "--sites=borealis,charon"))
			jobs[borealis] = append(jobs[borealis], g.submit(t, borealis, script, "--sites=aurora,charon"))
		}
	}

	old, key, formerKey := filepath.Join(borealis.Dir, "site.key"), filepath.Join(borealis.Dir, "next.key"), publicKeyOf(t, borealis)
	wantWords(t, g.at(t, borealis, "", "keygen", "--out", key), 0)
	text, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	public := strings.TrimSpace(string(text))
	next := fmt.Sprintf("next_public_key = %q\n", public)
	former := map[*testbed.Site]string{}
	more(4)
	for _, site := range others {
		former[site] = regexp.MustCompile(`public_key = "\w+"\n`).FindString(partnerTables(t, site)["borealis"])
		edit(t, site, former[site], former[site]+next)
		wantWords(t, g.at(t, site, "", "reload"), 0, "changed        partner[borealis].next_public_key:")
	}
	more(4)
	for _, site := range others {
		linkIs(t, site, "borealis", "up", "uses public_key, and may use next_public_key")
	}
	edit(t, borealis, old, key+".none")
	wantWords(t, g.at(t, borealis, "", "reload"), 1, "key file "+key+".none does not exist", "the configuration was not changed")
	edit(t, borealis, key+".none", key)
	more(1)
	reloaded := g.at(t, borealis, "", "reload")
	wantWords(t, reloaded, 0, fmt.Sprintf("changed        site.key: %q (%s) → %q (%s)\n", old, formerKey, key, public))
	if lines := strings.Count(reloaded.stdout, "site.key:"); lines != 1 {
		t.Errorf("%d lines are about the key:\n%s", lines, reloaded.stdout)
	}
	more(4)
	for _, site := range others {
		linkHas(t, site, "borealis", public)
		linkHas(t, borealis, site.Name, publicKeyOf(t, site))
		wantWords(t, g.at(t, site, "", "sites"), 0, `uses next_public_key: write public_key = "`+public+`"`)
		if got, line := g.at(t, site, "", "doctor", "--config", site.Config), `write public_key = "`+public+`" in its [[partner]]`; !strings.Contains(got.stdout, line) {
			t.Errorf("%q is missing in %+v", line, got)
		}
		edit(t, site, former[site]+next, fmt.Sprintf("public_key = %q\n", public))
		wantWords(t, g.at(t, site, "", "reload"), 0, "changed        partner[borealis].public_key:")
	}
	more(2)
	writeText(t, door, "")
	all := 0
	for site, ids := range jobs {
		for _, id := range ids {
			all++
			if job := g.until(t, site, id, ended); job.State != protocol.Completed {
				t.Errorf("job %s of %s: %+v", id, site.Name, job)
			}
		}
	}
	text, err = os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Fields(string(text)); len(lines) != all || len(slices.Compact(slices.Sorted(slices.Values(lines)))) != all {
		t.Errorf("%d jobs have run as %v", all, lines)
	}
	if now := []int{aurora.Pid(), borealis.Pid(), charon.Pid()}; !slices.Equal(now, pids) {
		t.Errorf("the processes were %v and are %v", pids, now)
	}

	// It goes back to the former key, which counts no more, and once more to the new one.
	edit(t, borealis, key, old)
	wantWords(t, g.at(t, borealis, "", "reload"), 0, "changed        site.key:")
	linkIs(t, aurora, "borealis", "down", "its key is refused here")
	edit(t, borealis, old, key)
	wantWords(t, g.at(t, borealis, "", "reload"), 0, "changed        site.key:")
	linkHas(t, aurora, "borealis", public)

	if err = borealis.Stop(stopPatience); err == nil {
		err = borealis.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready(t, borealis)
	if job := g.until(t, borealis, g.submit(t, borealis, script), ended); job.State != protocol.Completed {
		t.Errorf("after a start with the new key: %+v", job)
	}
}

// publicKeyOf reads the public key of a site beside its key.
func publicKeyOf(t *testing.T, site *testbed.Site) string {
	t.Helper()
	client, ctx := site.Client(), patience(t)
	defer client.Close()
	sites, err := client.Sites(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return sites.Sites[0].PublicKey
}
