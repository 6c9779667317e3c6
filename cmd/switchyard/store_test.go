package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stoppedSite is a site that has run a job and was stopped, and its state directory.
func stoppedSite(t *testing.T) (g *grid, site *testbed.Site, dir string) {
	t.Helper()
	g = startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	site = g.Sites[0]
	g.until(t, site, g.submit(t, site, "#!/bin/sh\n"), ended)
	dir = stateDir(t, site)
	if err := site.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	return g, site, dir
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
	verifyCopy := func(file string, args ...string) result {
		return g.at(t, site, "", append([]string{"store", "verify", "--file", file}, args...)...)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	wantWords(t, verifyCopy(copied), exitNotFound, "no database", copied)
	if err = os.WriteFile(copied, data, 0o600); err != nil {
		t.Fatal(err)
	}
	wantWords(t, verifyCopy(copied), 0, "TABLE", copied+": no errors in")
	wantWords(t, verifyCopy(copied, "--config", site.Config), exitUsage, "--file and --config name two databases")
	damaged := bytes.ReplaceAll(data, []byte(`"incarnation":`), []byte(`"incarnatioN":`))
	if err = os.WriteFile(copied, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	wantWords(t, verifyCopy(copied), exitFailed, `table site, key "site", page`, "fails its checksum", "do not restore it", "store backup")
	data = bytes.ReplaceAll(data, []byte(`"incarnation":`), []byte(`"incarnatioN":`)) // also in pages that are free
	if err = os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	wantWords(t, verify(), 1, `table site, key "site", page`, "fails its checksum", "switchyard recover", "--new-store")
	var found api.StoreReport
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

// jobsIn are the IDs of the jobs, live and ended, that a database has. It must have no errors.
func jobsIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	jobs := map[string]bool{}
	report, err := store.Verify(path, func(table string, one store.Row) {
		if table == string(row.JobTable) || table == string(row.ArchiveTable) {
			jobs[one.Key] = true
		}
	})
	if err != nil || len(report.Damage) > 0 {
		t.Fatalf("%s: %v, %v", path, report.Damage, err)
	}
	return jobs
}

// TestStoreOfARunningPeer copies, checks and compacts the database of a peer to which jobs are submitted all the time. Each copy has
// all jobs that had been submitted before it, and none that was submitted later; the peer loses none.
func TestStoreOfARunningPeer(t *testing.T) {
	t.Parallel()
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 4})
	site, dir := g.Sites[0], t.TempDir()
	client := api.Dial(site.Socket)
	defer client.Close()
	var submitted, begun atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var submitting sync.WaitGroup
	submitting.Go(func() {
		job := protocol.Job{
			Spec:    protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "load"},
			Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n"), WorkDir: dir, Stdout: "/dev/null", Stderr: "/dev/null"},
		}
		for ctx.Err() == nil {
			begun.Add(1)
			if _, err := client.Submit(context.WithoutCancel(ctx), api.Submission{Jobs: []protocol.Job{job}}); err != nil {
				t.Error(err)
				return
			}
			submitted.Add(1)
		}
	})
	run := func(args ...string) result {
		return g.at(t, site, "", append(append([]string{"store"}, args...), "--config", site.Config)...)
	}
	path := filepath.Join(dir, "copy.db")
	for range 5 {
		before := submitted.Load()
		got := run("backup", "--force", "--json", path)
		after := begun.Load()
		wantWords(t, got, 0, `"running": true`)
		if n := int64(len(jobsIn(t, path))); n < before || n > after {
			t.Errorf("the copy has %d jobs; %d were submitted before it, %d were begun after it", n, before, after)
		}
		wantWords(t, run("verify"), 0, "TABLE", "no errors in")
		wantWords(t, run("compact"), 0, " bytes became ")
	}
	var found api.StoreReport
	if got := run("inspect", "--json"); json.Unmarshal([]byte(got.stdout), &found) != nil || !found.Running || len(found.Tables) == 0 || len(found.Problems) > 0 {
		t.Errorf("inspect: %+v", got)
	}
	stop()
	submitting.Wait()
	wantWords(t, run("backup", path), 2, "exists", "--force")
	wantWords(t, run("backup", "--force", path), 0, "no errors.")
	if n := int64(len(jobsIn(t, path))); n != submitted.Load() {
		t.Errorf("%d jobs, and %d were submitted", n, submitted.Load())
	}
	database := statedir.Database(stateDir(t, site))
	wantWords(t, run("backup", "--force", database), 1, "is the database itself")
	wantWords(t, run("backup", filepath.Join(dir, "missing", "copy.db")), 1, "no such file")
	entries, err := os.ReadDir(dir)
	if info, statErr := os.Stat(path); err != nil || statErr != nil || len(entries) != 1 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: %v, %v", entries, err, info.Mode(), statErr)
	}
	if left, err := filepath.Glob(database + ".*"); err != nil || len(left) > 0 {
		t.Errorf("beside the database: %q, %v", left, err)
	}
}

// TestStoreOfAStoppedPeer copies and compacts the file of a database, with which the peer then starts.
func TestStoreOfAStoppedPeer(t *testing.T) {
	g, site, dir := stoppedSite(t)
	run := func(args ...string) result {
		return g.at(t, site, "", append(append([]string{"store"}, args...), "--config", site.Config)...)
	}
	database, path := statedir.Database(dir), filepath.Join(t.TempDir(), "copy.db")
	wantWords(t, run("inspect", "--json"), 0, `"running": false`, `"archive"`)
	wantWords(t, run("backup", path), 0, "no errors.")
	wantWords(t, run("compact", "--json"), 0, `"running": false`, `"bytes_after"`)
	if got, want := jobsIn(t, path), jobsIn(t, database); len(got) != 1 || !maps.Equal(got, want) {
		t.Errorf("the copy has %v, the database %v", got, want)
	}
	held, err := store.Open(database, store.Options{}) // as another process that is no peer
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, run("verify"), 6, "open in another process", "cannot reach the peer")
	if err = held.Close(); err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(site.Start(), g.Linked(patience(t))); err != nil {
		t.Fatal(err)
	}
	g.until(t, site, g.submit(t, site, "#!/bin/sh\n"), ended)
	if err = site.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(database, bytes.ReplaceAll(data, []byte(`"incarnation":`), []byte(`"incarnatioN":`)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantWords(t, run("backup", "--force", path), 1, "fails its checksum", "store verify")
	if n := len(jobsIn(t, path)); n != 1 { // the earlier copy stays
		t.Errorf("%d jobs", n)
	}
	if err = os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"inspect", "compact"} {
		wantWords(t, run(command), 3, "no database")
	}
	wantWords(t, run("backup", path+".2"), 3, "no database")
}
