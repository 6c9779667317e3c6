package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSacctAsksOnce: who has cancelled a job is part of its view, so that a list of any length needs no question for each job.
func TestSacctAsksOnce(t *testing.T) {
	t.Parallel()
	me, err := userName(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const count = 1000
	now, lookups := protocol.InstantOf(time.Now()), atomic.Int64{}
	n := &fakeNode{replyF: func(event.Event) (view.Reply, error) { return view.Queue{}, nil }, looked: func() { lookups.Add(1) }}
	for i := range count {
		n.past = append(n.past, view.Job{
			ID: someID + protocol.JobID(i), Name: "solve", User: me, Origin: "aurora", State: protocol.Cancelled, CancelledBy: me, CPUs: 1,
			Submitted: now - 2000, Ended: now - 1000,
		})
	}
	var out bytes.Buffer
	socket := serve(t, n)
	a := &app{stdout: &out, stderr: &out, now: time.Now, getenv: func(name string) string { return map[string]string{"SWITCHYARD_SOCKET": socket}[name] }}
	if code := a.runAs(t.Context(), "sacct", []string{"-n", "-X", "-P", "-S", "now-1hour", "-o", "jobname,state"}); code != 0 {
		t.Fatal(out.String())
	}
	a.peer.Close()
	if want := strings.Repeat(fmt.Sprintf("solve|CANCELLED by %d\n", os.Getuid()), count); out.String() != want {
		t.Errorf("sacct prints\n%s", out.String())
	}
	if lookups.Load() != 0 || len(n.asked) != 1 {
		t.Errorf("sacct has looked up %d jobs, and has asked %v", lookups.Load(), n.asked)
	}
}

// TestRunsOfRequeuedJobs: without an option a job is its last run, or that it waits again; -D lists all its runs, the last at the end.
func TestRunsOfRequeuedJobs(t *testing.T) {
	t.Parallel()
	now := protocol.InstantOf(time.Now())
	run := func(id protocol.JobID, epoch protocol.Epoch, state protocol.State, earlier bool) view.Job {
		at := now.Add(protocol.Duration(epoch-10) * protocol.Minute)
		return view.Job{
			ID: id, Name: "solve", User: "root", Origin: "aurora", Site: "borealis", State: state, CPUs: 1, Epoch: epoch, Earlier: earlier,
			Submitted: now - 3_600_000, Started: at - 1000, Ended: at,
		}
	}
	const waits = someID + 1
	n := &fakeNode{
		past: []view.Job{
			run(someID, 4, protocol.Completed, false), run(someID, 3, protocol.NodeFail, true), run(waits, 2, protocol.Cancelled, true), run(someID, 1, protocol.Cancelled, true),
		},
		replyF: func(event.Event) (view.Reply, error) {
			return view.Queue{Jobs: []view.Job{{ID: waits, Name: "solve", User: "root", Origin: "aurora", State: protocol.Pending, CPUs: 1, Epoch: 2, Submitted: now - 3_600_000}}}, nil
		},
	}
	socket := serve(t, n)
	for options, want := range map[string]string{
		"":   "1000000000042|COMPLETED 1000000000043|PENDING",
		"-D": "1000000000042|REQUEUED 1000000000042|NODE_FAIL 1000000000042|COMPLETED 1000000000043|REQUEUED 1000000000043|PENDING",
	} {
		var out bytes.Buffer
		a := &app{stdout: &out, stderr: &out, now: time.Now, getenv: func(name string) string { return map[string]string{"SWITCHYARD_SOCKET": socket}[name] }}
		code := a.runAs(t.Context(), "sacct", append([]string{"-a", "-n", "-X", "-P", "-S", "now-1hour", "-o", "jobid,state"}, strings.Fields(options)...))
		a.peer.Close()
		if got := strings.Join(strings.Fields(out.String()), " "); code != 0 || got != want {
			t.Errorf("sacct %s: exit code %d, prints\n%s, want\n%s", options, code, got, want)
		}
	}
	for options, want := range map[string][]string{
		"":   {"1000000000042 solve root - borealis COMPLETED"},
		"-D": {"1000000000042 4 solve root - borealis COMPLETED", "1000000000042 3 solve root - borealis NODE_FAIL", "1000000000043 2 solve root - borealis CANCELLED", "1000000000042 1 solve root - borealis CANCELLED"},
	} {
		got := command(t, socket, "", append([]string{"history", "--no-header"}, strings.Fields(options)...)...)
		lines := strings.Split(strings.TrimSpace(squeezed(got.stdout)), "\n")
		if len(lines) != len(want) {
			t.Fatalf("history %s:\n%s", options, got.stdout)
		}
		for i, line := range lines {
			if !strings.HasPrefix(strings.TrimSpace(line), want[i]) {
				t.Errorf("history %s: line %d is %q, want %q", options, i, line, want[i])
			}
		}
	}
}
