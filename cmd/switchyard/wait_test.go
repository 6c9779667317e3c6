package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestWait(t *testing.T) {
	t.Parallel()
	job := func(state protocol.State, code, signal int) view.Job {
		return view.Job{State: state, ExitCode: code, Signal: signal}
	}
	lost := func(job view.Job, kept string) view.Job {
		job.Reason, job.Undelivered = "output not written: no directory", []view.Undelivered{{File: "stdout", Kept: kept}}
		return job
	}
	n := &fakeNode{jobs: map[protocol.JobID]view.Job{
		someID: job(protocol.Completed, 0, 0), someID + 1: job(protocol.Failed, 3, 0), someID + 2: job(protocol.Failed, 0, 9),
		someID + 3: job(protocol.Cancelled, 0, 0), someID + 4: job(protocol.Failed, 256, 0), someID + 5: job(protocol.Failed, 258, 0),
		someID + 6: lost(job(protocol.Completed, 0, 0), "/k"), someID + 7: lost(job(protocol.Completed, 0, 0), ""), someID + 8: lost(job(protocol.Failed, 4, 0), "/k"),
		someID + 9: {State: protocol.Completed, Array: &view.Array{ID: someID + 9, Completed: 3, Undelivered: 2}},
	}}
	for id, job := range n.jobs {
		job.ID = id
		n.jobs[id] = job
	}
	socket := serve(t, n)
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"1000000000042":                             {0, ""},
		"1000000000042 1000000000043":               {3, "job 1000000000043 FAILED: "},
		"1000000000044 1000000000043 1000000000042": {128 + 9, "job 1000000000044 FAILED: "},
		"1000000000045":                             {1, "job 1000000000045 CANCELLED"},
		"1000000000046":                             {1, "job 1000000000046 FAILED: "}, // 256 is 0 of a process
		"1000000000047 1000000000046":               {2, "job 1000000000047 FAILED: "},
		"1000000000048":                             {1, "job 1000000000048 COMPLETED: output not written: no directory\nswitchyard: job 1000000000048: `switchyard logs 1000000000048` prints what is kept of its stdout\n"},
		"1000000000049":                             {1, "job 1000000000049 COMPLETED: output not written: no directory\n"},
		"1000000000048 1000000000050":               {4, "job 1000000000050 FAILED: output not written"},
		"1000000000051":                             {1, "the output of 2 elements is not where it should be; `switchyard history --jobs=1000000000051`"},
		"1000000000043 1000000000099":               {exitNotFound, "there is no job 1000000000099"},
		"12":                                        {exitNotFound, "no job 12"},
		"x":                                         {exitUsage, ""},
		"":                                          {exitUsage, "missing job ID"},
		"--timeout=soon 1000000000042":              {exitUsage, "--timeout: "},
	} {
		got := command(t, socket, "", append([]string{"wait"}, strings.Fields(args)...)...)
		if got.code != want.code || !strings.Contains(got.stderr, want.says) || got.stdout != "" {
			t.Errorf("wait %s: %+v, want %d and %q", args, got, want.code, want.says)
		}
	}
	if got := command(t, "/nonexistent", "", "wait", "1000000000042"); got.code != exitUnreachable {
		t.Errorf("without a peer: %+v", got)
	}
}

// TestWaitAtMost: jobs that do not end in time are no failure of theirs.
func TestWaitAtMost(t *testing.T) {
	t.Parallel()
	n := &fakeNode{jobs: map[protocol.JobID]view.Job{someID: {ID: someID, State: protocol.Running}}}
	if got := command(t, serve(t, n), "", "wait", "--timeout=50ms", someID.String()); got.code != exitTimeout || !strings.Contains(got.stderr, "have not all ended after") {
		t.Errorf("%+v", got)
	}
}

// TestInsistDoesNotCountCalls: a peer that answers for hours, and then restarts, is waited for.
func TestInsistDoesNotCountCalls(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	a := &app{now: func() time.Time { return now }}
	calls := 0
	err := a.insist(context.Background(), time.Minute, func() error {
		calls++
		if calls == 3 {
			return nil
		}
		now = now.Add(5 * time.Hour)
		return api.ErrUnreachable
	})
	if err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
	a.now = func() time.Time { now = now.Add(time.Minute); return now }
	if err = a.insist(context.Background(), 0, func() error { return api.ErrUnreachable }); err == nil {
		t.Error("a peer that does not come back was waited for")
	}
}
