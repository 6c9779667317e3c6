package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// edit changes a site's configuration file.
func edit(t *testing.T, site *testbed.Site, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(pairs...).Replace(string(text))
	if changed == string(text) {
		t.Fatalf("none of %q is in\n%s", pairs, text)
	}
	if err := os.WriteFile(site.Config, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rulesAre waits until the peer has these rules.
func rulesAre(t *testing.T, site *testbed.Site, want api.Rules) {
	t.Helper()
	client, ctx := site.Client(), patience(t)
	defer client.Close()
	for {
		info, err := client.Info(ctx)
		if err == nil && info.Rules == want {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the rules never became %+v: %+v, %v", want, info.Rules, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A grid that starts under sender goes on under receiver, without a restart: seen
// in what reload says, in sites, in the log, and in the story of a job that only a
// volunteer could take.
func TestReloadChangesTheRules(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 2})
	aurora, pid := g.Sites[0], g.Sites[0].Pid()
	for _, site := range g.Sites {
		edit(t, site, `initiation = "sender"`, `initiation = "receiver"`, `check_interval = "5m0s"`, `check_interval = "1500ms"`,
			`policy  = "easy"`, `policy  = "firstfit"`, `quote_timeout = "20s"`, `quote_timeout = "900ms"`, `announce_interval = "1s"`, `announce_interval = "2s"`)
		got := g.at(t, site, "", "reload")
		for _, want := range []string{
			`changed        rounds.initiation: "sender" → "receiver"`, `changed        localsched.policy: "easy" → "firstfit"`,
			`changed        rounds.quote_timeout: "20s" → "900ms"`, `needs restart  gossip.announce_interval: "1s" → "2s"`, "Active: initiation receiver, policy tc, local queue firstfit.",
		} {
			if got.code != 0 || !strings.Contains(got.stdout, want+"\n") {
				t.Errorf("%q is missing: %+v", want, got)
			}
		}
	}
	if got := g.at(t, aurora, "", "sites"); !strings.Contains(got.stdout, "initiation receiver, policy tc, local queue firstfit") {
		t.Errorf("sites: %+v", got)
	}
	// Both sites are full; then borealis is free again and volunteers.
	behind := func(door string) string {
		return "#!/bin/sh\nwhile [ ! -e " + filepath.Join(g.work, door) + " ]; do sleep 0.05; done\n"
	}
	open := func(door string) {
		if err := os.WriteFile(filepath.Join(g.work, door), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := g.submit(t, aurora, behind("door"), "--sites=aurora")
	g.until(t, aurora, first, running)
	other := g.submit(t, g.Sites[1], behind("gate"), "--sites=borealis", "-n", "2", "-t", "2:00:00")
	g.until(t, g.Sites[1], other, running)
	second := g.submit(t, aurora, "#!/bin/sh\n")
	g.until(t, aurora, second, func(job view.Job) bool { return job.Reason == "WaitingForVolunteer" })
	open("gate")
	if job := g.until(t, aurora, second, ended); job.Site != "borealis" || job.State != protocol.Completed {
		t.Errorf("got %+v", job)
	}
	got := g.at(t, aurora, "", "explain", second.String())
	if !strings.Contains(got.stdout, "borealis volunteers to take jobs") {
		t.Errorf("no volunteer in\n%s", got.stdout)
	}
	log, err := os.ReadFile(aurora.Log)
	if err != nil || !strings.Contains(string(log), `"text":"policy tc, initiation receiver"`) ||
		!strings.Contains(string(log), `"msg":"config_reloaded"`) || aurora.Pid() != pid {
		t.Errorf("the log does not tell: %v", err)
	}
	open("door")
	g.until(t, aurora, first, ended)
	brokenFileChangesNothing(t, g, aurora)
}

func brokenFileChangesNothing(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	edit(t, site, `initiation = "receiver"`, `initiation = "symetric"`)
	got := g.at(t, site, "", "reload")
	if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, `did you mean "symmetric"`) ||
		!strings.Contains(got.stderr, "the configuration was not changed") {
		t.Errorf("got %+v", got)
	}
	var done api.Reloaded
	got = g.at(t, site, "", "reload", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &done); err != nil || got.code != 1 || len(done.Problems) != 1 ||
		done.Rules != (api.Rules{Initiation: "receiver", Policy: "tc", LocalPolicy: "firstfit"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	// SIGHUP with a good file works as the command does.
	edit(t, site, `initiation = "symetric"`, `initiation = "sender"`, `name = "tc"`, `name = "local"`)
	if err := syscall.Kill(site.Pid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	rulesAre(t, site, api.Rules{Initiation: "sender", Policy: "local", LocalPolicy: "firstfit"})
	if id := g.submit(t, site, "#!/bin/sh\n"); g.until(t, site, id, ended).Site != site.Name {
		t.Error("under policy local a job left home")
	}
}
