package daemon_test

import (
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPlannedStarts: the origin of a job that waits at a partner learns over the network when the batch system there plans to
// start it: when the job that runs is at its time limit.
func TestPlannedStarts(t *testing.T) {
	t.Parallel()
	grid := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 2})
	aurora, borealis := start(t, grid.Sites[0]), start(t, grid.Sites[1])
	aurora.ready(t)
	borealis.ready(t)
	client := grid.Sites[0].Client()
	defer client.Close()
	await := func(id protocol.JobID, what string, is func(view.Job) bool) view.Job {
		for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			job, err := client.Job(t.Context(), protocol.JobName{Job: id})
			if err == nil && is(job) {
				return job
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v, %v", what, job, err)
			}
		}
	}
	submit := func() protocol.JobID {
		submitted, err := client.Submit(t.Context(), api.Submission{Jobs: []protocol.Job{{
			Spec:    protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Hour}, Name: "wide"},
			Payload: &protocol.Payload{Script: []byte("#!/bin/sh\nexec sleep 1000\n"), WorkDir: "/", Stdout: "/dev/null", Stderr: "/dev/null"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return submitted.Jobs[0]
	}
	first := await(submit(), "the first job does not start", func(job view.Job) bool { return job.State == protocol.Running })
	second := await(submit(), "no start is planned", func(job view.Job) bool { return job.Planned != nil })
	if late := second.Planned.Start.Sub(first.Started.Add(protocol.Hour)); late < -10*protocol.Second || late > 2*protocol.Minute {
		t.Errorf("planned %v after the time limit of the first job", late)
	}
	for _, id := range []protocol.JobID{second.ID, first.ID} {
		if err := client.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
		await(id, "the job does not end", func(job view.Job) bool { return job.State.Terminal() })
	}
	for _, r := range []running{aurora, borealis} {
		r.end()
		if err := r.stopped(t); err != nil {
			t.Error(err)
		}
	}
}
