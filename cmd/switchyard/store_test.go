package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// stoppedSite is a site that has run a job and was stopped, and its state directory.
func stoppedSite(t *testing.T) (g *grid, site *testbed.Site, dir string) {
	t.Helper()
	g = startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	site = g.Sites[0]
	g.until(t, site, g.submit(t, site, "#!/bin/sh\n"), ended)
	text, err := os.ReadFile(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	stated := regexp.MustCompile(`state_dir = "(.*)"`).FindStringSubmatch(string(text))
	if stated == nil {
		t.Fatal("the configuration names no state_dir")
	}
	if got := g.at(t, site, "", "store", "verify", "--config", site.Config); got.code != 2 || !strings.Contains(got.stderr, "is running") {
		t.Errorf("store verify beside a running peer: %+v", got)
	}
	if err = site.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	return g, site, stated[1]
}

// wantWords expects words in what a command said.
func wantWords(t *testing.T, got result, code int, words ...string) {
	t.Helper()
	if got.code != code {
		t.Errorf("exit code %d, want %d: %+v", got.code, code, got)
	}
	for _, word := range words {
		if !strings.Contains(got.stdout+got.stderr, word) {
			t.Errorf("%q is missing in %s%s", word, got.stdout, got.stderr)
		}
	}
}

func TestStoreVerify(t *testing.T) {
	g, site, dir := stoppedSite(t)
	verify := func(args ...string) result {
		return g.at(t, site, "", append([]string{"store", "verify", "--config", site.Config}, args...)...)
	}
	wantWords(t, verify(), 0, "TABLE", "archive", "no errors in")
	path := filepath.Join(dir, "switchyard.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(data, []byte(`"incarnation":`), []byte(`"incarnatioN":`)) // also in pages that are free
	if err = os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	wantWords(t, verify(), 1, `table site, key "site", page`, "fails its checksum", "switchyard recover", "--new-store")
	var found storeJSON
	if got := verify("--json"); json.Unmarshal([]byte(got.stdout), &found) != nil || len(found.Problems) == 0 || found.Problems[0].Key != "site" {
		t.Errorf("as JSON: %+v", got)
	}
	wantWords(t, g.at(t, site, "", "peer", "--config", site.Config), 1, `key "site"`, "switchyard store verify")
	if err = os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wantWords(t, verify(), 3, "no database")
}

// A database of 0 bytes beside what a peer has left is not that of a new site.
func TestEmptiedDatabaseIsRefused(t *testing.T) {
	g, site, dir := stoppedSite(t)
	path := filepath.Join(dir, "switchyard.db")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"peer", "store verify"} {
		got := g.at(t, site, "", append(strings.Fields(command), "--config", site.Config)...)
		wantWords(t, got, 1, "the database is lost", path+" is empty", "machine.json", "switchyard recover", "switchyard peer --new-store")
	}
	startAgain(t, g, site)
	if aside, err := filepath.Glob(filepath.Join(dir, "machine.json.set-aside-*")); err != nil || len(aside) != 1 {
		t.Errorf("set aside: %q, %v", aside, err)
	}
	wantWords(t, g.at(t, site, "", "peer", "--new-store", "--config", site.Config), 1, "is whole", "start without --new-store")
}

// startAgain runs a peer with --new-store until it is ready.
func startAgain(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	peer := g.process(patience(t), t, site, "peer", "--new-store", "--config", site.Config)
	log, err := peer.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = peer.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "peer_ready") {
			ready = true
			if err = peer.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	if err = peer.Wait(); err != nil || !ready {
		t.Errorf("with --new-store: ready %t, %v", ready, err)
	}
}
