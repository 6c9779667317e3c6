package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// storeWithPartners makes a database in which borealis has 2 jobs of this site and 1 of its own
// here, and charon 1 here.
func storeWithPartners(t *testing.T, dir string) *store.Store {
	t.Helper()
	made, err := store.Open(statedir.Database(dir), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var puts []store.Put
	for i, stored := range []row.Row{
		row.Job{State: protocol.Pending, Phase: row.JobHandedOff, Site: "borealis"},
		row.Job{State: protocol.Running, Phase: row.JobStagingOut, Site: "borealis"},
		row.Job{State: protocol.Pending, Phase: row.JobInGridQueue},
		row.Guest{Phase: row.GuestAccepted, Origin: "borealis"},
		row.Guest{Phase: row.GuestClosed, Origin: "borealis"},
		row.Guest{Phase: row.GuestPrepared, Origin: "charon"},
	} {
		table := row.GuestTable
		if _, job := stored.(row.Job); job {
			table = row.JobTable
		}
		value, failed := row.Encode(stored)
		if failed != nil {
			t.Fatal(failed)
		}
		puts = append(puts, store.Put{Table: string(table), Key: strconv.Itoa(i), Value: value})
	}
	if err = made.Commit(t.Context(), puts); err != nil {
		t.Fatal(err)
	}
	return made
}

// configOf is a configuration without partners.
func configOf(t *testing.T, dir, socket string) string {
	t.Helper()
	return tempFile(t, "site.toml", fmt.Sprintf("[site]\nname = \"aurora\"\nnumber = 1\nkey = %q\nstate_dir = %q\nsocket = %q\n", siteKey(t), dir, socket))
}

const (
	borealisMissing = `warning: partner "borealis": not configured, but it has 2 open jobs of this site, and this site has 1 open job of it`
	charonMissing   = `warning: partner "charon": not configured, but it has 0 open jobs of this site, and this site has 1 open job of it`
	wereNotCounted  = "jobs of partners that are not configured were not counted"
)

// config check says how many jobs concern partners that are missing in the configuration:
// whether it counts in the database or a peer that has it open does. That it can do neither
// is no mistake in the configuration.
func TestConfigCheckCountsJobsOfMissingPartners(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	noPeer := filepath.Join(dir, "nobody.sock")
	check := func(socket string, words ...string) {
		t.Helper()
		code, out, errs := cli(t, "config", "check", "--config", configOf(t, dir, socket))
		wantWords(t, result{code: code, stdout: out, stderr: errs}, 0, append(words, "Configuration OK: site aurora.")...)
		if len(words) == 0 && strings.Contains(errs, "not configured") {
			t.Errorf("said %q", errs)
		}
	}
	check(noPeer) // no database
	opened := storeWithPartners(t, dir)
	check(noPeer, wereNotCounted, "another peer is running", noPeer)
	sites := view.Sites{Sites: []view.Site{
		{Site: "aurora", Self: true, GuestJobs: 7}, {Site: "borealis", Link: "up", SentJobs: 2, GuestJobs: 1}, {Site: "dione", Link: "down"},
	}}
	check(serve(t, &fakeNode{replyF: always(sites, nil)}), borealisMissing)
	sites = view.Sites{Sites: []view.Site{{Site: "dione", Self: true}, {Site: "borealis", SentJobs: 2}}}
	check(serve(t, &fakeNode{replyF: always(sites, nil)}), wereNotCounted, "is not that of site aurora")
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	check(noPeer, borealisMissing, charonMissing)
	if err := os.WriteFile(statedir.Database(dir), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(noPeer, wereNotCounted)
}

// A partner that leaves the configuration while it has a job: config check and reload say so
// while the peer runs, before and after it is gone, and config check when it is stopped.
func TestPartnerLeavesTheConfiguration(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	aurora, end := g.Sites[0], filepath.Join(g.work, "end")
	id := g.submit(t, aurora, "#!/bin/sh\nwhile [ ! -e "+end+" ]; do sleep 0.05; done\n", "--sites=borealis")
	g.until(t, aurora, id, running)
	text, err := os.ReadFile(aurora.Config)
	if err != nil {
		t.Fatal(err)
	}
	partners := regexp.MustCompile(`(?s)\n\[\[partner\]\].*`).FindString(string(text))
	check := func() result { return g.at(t, aurora, "", "config", "check", "--config", aurora.Config) }
	if got := check(); got.code != 0 || strings.Contains(got.stderr, "not configured") {
		t.Errorf("config check with all partners: %+v", got)
	}
	edit(t, aurora, partners, "\n")
	const missing = `partner "borealis": not configured, but it has 1 open job of this site, and this site has 0 open jobs of it`
	wantWords(t, check(), 0, missing, "Configuration OK: site ")
	wantWords(t, g.at(t, aurora, "", "reload"), 0, "warning: "+missing, "removed        partner borealis")
	wantWords(t, check(), 0, missing, "Configuration OK: site ")
	if err = aurora.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	wantWords(t, check(), 0, missing, "Configuration OK: site ")
	writeText(t, end, "")
}
