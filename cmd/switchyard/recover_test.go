package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/peer/witness"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stateDir is where a site keeps its database.
func stateDir(t *testing.T, site *testbed.Site) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(site.Dir, "*", "switchyard.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d databases below %s: %v", len(found), site.Dir, err)
	}
	return filepath.Dir(found[0])
}

// copyOf is a site's copy with all that its state directory has at one instant, as a snapshot of
// the disk has it: the peer is stopped while it is made. It has an address of its own for the API.
func copyOf(t *testing.T, site *testbed.Site) testbed.Site {
	t.Helper()
	clone := *site
	clone.Dir = filepath.Join(filepath.Dir(site.Dir), "copy")
	if err := syscall.Kill(site.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for ctx := patience(t); !stopped(t, site.Pid()); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the peer does not stop")
		}
	}
	err := os.CopyFS(clone.Dir, os.DirFS(stateDir(t, site)))
	if err = errors.Join(err, syscall.Kill(site.Pid(), syscall.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	clone.Config, clone.Log = filepath.Join(clone.Dir, "site.toml"), filepath.Join(clone.Dir, "peer.log")
	clone.Socket = filepath.Join(clone.Dir, "s.sock")
	rewrite(t, site.Config, clone.Config, stateDir(t, site), clone.Dir, site.Socket, clone.Socket)
	return clone
}

// stopped says whether all threads of a process have been stopped by a signal.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the threads of process %d: %v, %v", pid, threads, err)
	}
	return !slices.ContainsFunc(threads, func(path string) bool {
		status, err := os.ReadFile(path)
		return err == nil && !strings.Contains(string(status), "\nState:\tT")
	})
}

// recovery asks a site's peer, as soon as it answers, whether it starts anything.
func (g *grid) recovery(t *testing.T, site *testbed.Site) (view view.Recovery) {
	t.Helper()
	for ctx := patience(t); ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		got := g.at(t, site, "", "recover", "--json")
		if got.code == exitUnreachable {
			continue
		}
		if err := json.Unmarshal([]byte(got.stdout), &view); err != nil || got.code != 0 {
			t.Fatalf("recover --json: %+v, %v", got, err)
		}
		return view
	}
	t.Fatal("the peer does not answer")
	return view
}

// starts is how often a job has left its mark.
func starts(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// backUp copies a site's database while its peer is stopped, and starts the peer again.
func backUp(t *testing.T, site *testbed.Site, database string) []byte {
	t.Helper()
	if err := site.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	if err = site.Start(); err != nil {
		t.Fatal(err)
	}
	return copied
}

// putBack stops a site's peer and puts a copy of its database in place.
func putBack(t *testing.T, site *testbed.Site, database string, copied []byte) {
	t.Helper()
	if err := site.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(database, copied, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestABackupThatIsPutBackStartsNothing: with the database of an earlier time nothing is
// started, by the file beside it alone; the reason is shown; an operator has it go on.
func TestABackupThatIsPutBackStartsNothing(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	site := g.Sites[0]
	database := filepath.Join(stateDir(t, site), "switchyard.db")
	marks := filepath.Join(g.work, "marks")
	blocker := g.submit(t, site, "#!/bin/sh\nsleep 300\n")
	waiting := g.submit(t, site, "#!/bin/sh\necho run >> "+marks+"\n")
	g.until(t, site, blocker, running)
	backup := backUp(t, site, database)
	if view := g.recovery(t, site); view.Needed {
		t.Fatalf("an ordinary start: %+v", view)
	}
	if got := g.at(t, site, "", "cancel", blocker.String()); got.code != 0 {
		t.Fatalf("cancel: %+v", got)
	}
	g.until(t, site, waiting, ended)
	putBack(t, site, database, backup)
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	view := g.recovery(t, site)
	if !view.Needed || !strings.Contains(strings.Join(view.Reasons, "\n"), "older than the witness file") {
		t.Fatalf("nobody notices: %+v", view)
	}
	if got := g.at(t, site, "#!/bin/sh\n", "submit"); got.code != exitFailed || !strings.Contains(got.stderr, "switchyard recover") {
		t.Errorf("submit: %+v", got)
	}
	if got := g.at(t, site, "", "queue"); !strings.Contains(got.stdout, "NeedsOperator") {
		t.Errorf("queue: %+v", got)
	}
	if got := g.at(t, site, "", "recover"); !strings.Contains(got.stdout, "switchyard recover --resume") {
		t.Errorf("recover: %+v", got)
	}
	if code, notes := g.doctor(t, site); code != exitFailed || !strings.Contains(notes["failed peer"], "nothing is started here: ") || !strings.Contains(notes["failed peer"], "switchyard recover") {
		t.Errorf("doctor: %d, %v", code, notes)
	}
	if got := g.at(t, site, "", "recover", "--resume", "--cancel"); got.code != 0 {
		t.Fatalf("recover --resume: %+v", got)
	}
	job := g.until(t, site, waiting, ended)
	if job.State != protocol.Cancelled || !strings.Contains(job.Reason, "outcome unknown") {
		t.Errorf("the job that ran in between: %+v", job)
	}
	again := g.submit(t, site, "#!/bin/sh\necho run >> "+marks+"\n")
	if job = g.until(t, site, again, ended); job.State != protocol.Completed || again <= waiting {
		t.Errorf("a new job: %+v", job)
	}
	if n := starts(t, marks); n != 2 {
		t.Errorf("%d starts of two jobs", n)
	}
}

// TestAPartnerKnowsALostLife: a database is put back and the files that witness are lost. The
// partner has what the site signed, returns it, and nothing is started.
func TestAPartnerKnowsALostLife(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	site := g.Sites[0]
	database := filepath.Join(stateDir(t, site), "switchyard.db")
	g.until(t, site, g.submit(t, site, "#!/bin/sh\n", "--sites", "borealis"), ended) // a partner that has seen a job is listed
	backup := backUp(t, site, database)
	g.seen(t, site)
	putBack(t, site, database, backup)
	if forgotten := removeAll(t, site.Dir, witness.Name); forgotten == 0 {
		t.Fatal("no witness file was there")
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	view := g.seen(t, site)
	if !view.Needed || !strings.Contains(strings.Join(view.Reasons, "\n"), "borealis has seen a later state of this site") {
		t.Errorf("nobody notices: %+v", view)
	}
}

// seen waits until a partner has said what it knows of the site's present life or a later one.
func (g *grid) seen(t *testing.T, site *testbed.Site) (shown view.Recovery) {
	t.Helper()
	for ctx := patience(t); ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		shown = g.recovery(t, site)
		if slices.ContainsFunc(shown.Partners, func(p view.PartnerMark) bool { return p.Life.Boot >= shown.Life.Boot }) {
			return shown
		}
	}
	t.Fatalf("no partner has seen it: %+v", shown)
	return shown
}

// removeAll removes the files of a name below a directory, and says how many there were.
func removeAll(t *testing.T, dir, name string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() != name {
			return err
		}
		n++
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestACopyOfASite: beside the original its peer does not start, and names it. Alone it
// starts nothing, and says that it was copied.
func TestACopyOfASite(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	site := g.Sites[0]
	marks := filepath.Join(g.work, "marks")
	blocker := g.submit(t, site, "#!/bin/sh\nsleep 300\n", "--sites=aurora")
	g.until(t, site, blocker, running)
	waiting := g.submit(t, site, "#!/bin/sh\necho run >> "+marks+"\n", "--sites=aurora")
	clone := copyOf(t, site)
	got := g.at(t, &clone, "", "peer", "--config", clone.Config)
	if got.code == 0 || !strings.Contains(got.stderr, "another peer of this site runs on this machine already: pid ") {
		t.Errorf("beside the original: %+v", got)
	}
	if err := site.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := clone.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clone.Stop(stopPatience) })
	view := g.recovery(t, &clone)
	if !view.Needed || !strings.Contains(strings.Join(view.Reasons, "\n"), "was copied or moved") {
		t.Errorf("alone: %+v", view)
	}
	if err := clone.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	if view = g.recovery(t, site); view.Needed {
		t.Errorf("the original, after the copy has gone: %+v", view)
	}
	if got = g.at(t, site, "", "cancel", blocker.String()); got.code != 0 {
		t.Fatalf("cancel: %+v", got)
	}
	if job := g.until(t, site, waiting, ended); job.State != protocol.Completed || starts(t, marks) != 1 {
		t.Errorf("%d starts of %+v", starts(t, marks), job)
	}
}
