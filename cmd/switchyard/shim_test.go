package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestShimBinary: the small binary beside the peer's watches jobs and hands output to users,
// if it is of the same build. Else the peer does so itself, and says why.
func TestShimBinary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ shim, watches, log string }{
		"of one build": {"2", "switchyard-shim\n", ""},
		"of another":   {"1", "switchyard\n", `it is of build \"1 test\", and this peer of \"2 test\"; install both from one `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shortDir(t)
			if err := os.Chmod(dir, 0o755); err != nil { // accounts run the shim
				t.Fatal(err)
			}
			build := func(version, pkg string) {
				goTool(t, repository(t), "build", "-ldflags", "-s -w -X main.commit=test -X main.version="+version, "-o", dir+"/", pkg)
			}
			build("2", "./cmd/switchyard")
			build(c.shim, "./cmd/switchyard-shim")

			g := makeGridFrom(t, testbed.Config{Binary: filepath.Join(dir, "switchyard"), QuoteTimeout: quoteTimeout, Sites: []testbed.Machine{
				{Name: "aurora", CPUs: 1}, {Name: "borealis", CPUs: 1},
			}})
			if err := g.Start(patience(t)); err != nil {
				t.Fatal(err)
			}
			origin := g.Sites[0]
			out := filepath.Join(g.work, "watches")
			id := g.submit(t, origin, "#!/bin/sh\ncat /proc/$PPID/comm\n", "--sites=borealis", "--output="+out)
			if job := g.until(t, origin, id, ended); job.State != protocol.Completed {
				t.Errorf("%+v", job)
			}
			if text, err := os.ReadFile(out); err != nil || string(text) != c.watches {
				t.Errorf("%q, %v, want %q", text, err, c.watches)
			}
			log, err := os.ReadFile(origin.Log)
			if reported := strings.Contains(string(log), "shim_unusable"); err != nil || reported != (c.log != "") || !strings.Contains(string(log), c.log) {
				t.Errorf("%v, the log has: %s", err, log)
			}
		})
	}
}
