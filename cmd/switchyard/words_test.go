package main

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that did not end by itself has no exit code to show.
func TestEnding(t *testing.T) {
	t.Parallel()
	for want, job := range map[string]peer.JobView{
		"exit code 0":            {State: protocol.Completed},
		"exit code 3":            {State: protocol.Failed, ExitCode: 3},
		"signal 15":              {State: protocol.Cancelled, Signal: 15},
		"exit code 1":            {State: protocol.Cancelled, ExitCode: 1},
		"":                       {State: protocol.Cancelled},
		"NODE_FAIL, went away":   {State: protocol.NodeFail, Reason: "went away"},
		"COMPLETED, exit code 0": {State: protocol.Completed},
	} {
		got := ending(job)
		if strings.Contains(want, "_") || strings.Contains(want, ",") {
			got = stateText(job)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestVersionAsAnOption(t *testing.T) {
	t.Parallel()
	want := command(t, "", "", "version")
	if got := command(t, "", "", "--version"); got != want || !strings.HasPrefix(got.stdout, "switchyard ") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
