package main

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestRequeueAfterTheEnd: a job that has failed at a partner, and whose origin has been killed since, runs again by scontrol under
// its ID; its output goes behind that of the run before, and both runs are in the history.
func TestRequeueAfterTheEnd(t *testing.T) {
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 2})
	aurora := g.Sites[0]
	script := "#!/bin/sh\necho run $SLURM_RESTART_COUNT\n[ \"$SLURM_RESTART_COUNT\" = 1 ] || exit 3\n"
	id := g.submit(t, aurora, script, "--sites=borealis", "--open-mode=append", "-D", g.work)
	if job := g.until(t, aurora, id, ended); job.State != protocol.Failed {
		t.Fatalf("%+v", job)
	}
	if err := aurora.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := aurora.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Linked(patience(t)); err != nil {
		t.Fatal(err)
	}
	for ctx := patience(t); ; time.Sleep(10 * time.Millisecond) { // it listens to its partner first
		out, code := g.slurmLine(t, aurora, "scontrol requeue "+id.String())
		if code == 0 {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("exit code %d: %s", code, out)
		}
	}
	wantWords(t, g.at(t, aurora, "", "wait", id.String()), 0, "")
	job := g.until(t, aurora, id, ended)
	if job.State != protocol.Completed || job.Restarts != 1 || job.Site != "borealis" {
		t.Errorf("%+v", job)
	}
	if got := g.output(t, job); strings.Join(strings.Fields(got), " ") != "run run 1" {
		t.Errorf("the output is %q", got)
	}
	if runs := g.past(t, aurora, "--duplicates"); len(runs) != 2 || runs[0].State != protocol.Completed || runs[1].State != protocol.Failed || !runs[1].Earlier {
		t.Errorf("%+v", runs)
	}
	if out, code := g.slurmLine(t, aurora, "scontrol requeuehold "+id.String()); code != 0 || out != "" {
		t.Fatalf("exit code %d: %s", code, out)
	}
	g.until(t, aurora, id, func(job view.Job) bool {
		return job.State == protocol.Pending && strings.HasPrefix(job.Reason, view.ReasonHeldByUser) && job.Restarts == 2
	})
}
