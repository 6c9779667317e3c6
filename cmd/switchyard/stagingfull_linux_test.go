package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fill leaves room for a number of bytes on a disk, and returns how to free it.
func fill(t *testing.T, dir string, leave int) (free func()) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, max(0, int(st.Bavail)*int(st.Bsize)-leave)), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStagingOnFullDisks: while a disk is full, at the site that runs a job or at its origin, before it starts or when
// it has ended, it waits and says so, and goes on when there is room.
func TestStagingOnFullDisks(t *testing.T) {
	g := makeGridFrom(t, testbed.Config{
		Binary: ownBinary(t), Sites: []testbed.Machine{{Name: "aurora", CPUs: 1}, {Name: "borealis", CPUs: 1}},
		QuoteTimeout: quoteTimeout, CheckInterval: 30 * protocol.Second,
	})
	aurora, borealis := g.Sites[0], g.Sites[1]
	const disk, low, mega = 80 << 20, 40 << 20, 1 << 20
	here, there := smallState(t, aurora, disk), smallState(t, borealis, disk)
	for _, open := range []string{there, filepath.Dir(there)} { // the account of jobs runs below
		if err := os.Chmod(open, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	says := func(job view.Job) bool {
		return strings.Contains(job.Reason, "MiB left, and the last 64 are for its store")
	}

	dir := stagedDir(t, g, "full", map[string]string{"in/data": strings.Repeat("0123456789abcde\n", mega/4)})
	started, goOn, done := filepath.Join(dir, "started"), filepath.Join(dir, "go"), filepath.Join(dir, "done")
	free := fill(t, there, low)
	id := g.submit(t, aurora, "#!/bin/sh\nset -e\ncp in/data out\n>"+started+"\nwhile ! [ -e "+goOn+" ]; do sleep 0.05; done\n>"+done+"\n",
		"--chdir="+dir, "--sites=borealis", "-o", "/dev/null", "--stage-in=in", "--stage-out=out")
	g.until(t, aurora, id, says)
	free()
	appears(t, started)

	freeThere, freeHere := fill(t, there, mega), fill(t, here, low)
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	appears(t, done)
	g.until(t, aurora, id, running)
	freeThere()
	g.until(t, aurora, id, says)
	freeHere()
	job := g.until(t, aurora, id, ended)
	if job.State != protocol.Completed {
		t.Fatalf("%+v", job)
	}
	hasFiles(t, dir, map[string]string{"out": strings.Repeat("0123456789abcde\n", mega/4)})
}

// appears waits until a file is there.
func appears(t *testing.T, path string) {
	t.Helper()
	hasBytes(t, path, -1)
}
