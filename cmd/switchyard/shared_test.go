package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sharedDir is a directory that sites share, below that of their grid.
const sharedDir = "jobs/shared"

// filesShared: in a directory that the sites share a job runs at the other one as at home, and all that travels is what is
// elsewhere. One in which its account may not write there goes back, with the reason.
func filesShared(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	if err := testbed.MakeShared(t.Context(), filepath.Join(g.Dir, sharedDir)); err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\nset -e\npwd\nls -A\necho $PWD $SLURM_SUBMIT_DIR >where\nmv in out\n"
	dir := stagedDir(t, g, "shared/x", map[string]string{"in": "in", "unnamed": "x"})
	submitted := g.at(t, site, script, "submit", "--chdir="+dir, "--sites=borealis", "-o", "log", "--parsable")
	if submitted.code != 0 || strings.Contains(submitted.stderr, "empty directory") {
		t.Fatalf("%+v", submitted)
	}
	id, err := protocol.ParseJobID(strings.TrimSpace(submitted.stdout))
	if err != nil {
		t.Fatal(err)
	}
	job := g.until(t, site, id, ended)
	if job.State != protocol.Completed || job.Site != "borealis" || !job.InPlace || job.Reason != "" {
		t.Errorf("%+v", job)
	}
	hasFiles(t, dir, map[string]string{"log": dir + "\nin\nlog\nunnamed\n", "where": dir + " " + dir + "\n", "out": "in", "in": absent})

	if err := os.Symlink(g.work, filepath.Join(dir, "logs")); err != nil {
		t.Fatal(err)
	}
	job = g.until(t, site, g.submit(t, site, "#!/bin/sh\nls -A\n", "--chdir="+dir, "--sites=borealis", "-o", "logs/away.log", "--stage-in=unnamed"), ended)
	if job.State != protocol.Completed || job.InPlace || g.output(t, job) != "unnamed\n" {
		t.Errorf("with output that a link leads elsewhere: %+v, %q", job, g.output(t, job))
	}

	if os.Geteuid() != 0 { // else the directory can be another account's
		return
	}
	if err := errors.Join(os.Chown(dir, 0, 0), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	id = g.submit(t, site, script, "--chdir="+dir, "--sites=borealis", "-o", "/dev/null")
	why := "it cannot run in its own directory: its account cannot write in " + dir + " here: permission denied"
	g.until(t, site, id, func(job view.Job) bool {
		explained := strings.Join(strings.Fields(g.at(t, site, "", "explain", id.String()).stdout), " ") // lines are wrapped
		return strings.Contains(job.Reason, "borealis: left out for a while: "+why) && strings.Contains(explained, "requeued: borealis: "+why)
	})
	if got := g.at(t, site, "", "cancel", id.String()); got.code != 0 {
		t.Errorf("%+v", got)
	}
}
