package main

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLogsOfAStoppingPeer: who follows output and gets no more of it because the peer stops is
// told so, and not that this was all.
func TestLogsOfAStoppingPeer(t *testing.T) {
	t.Parallel()
	const id = protocol.JobID(1_000_000_000_001)
	node := &fakeNode{jobs: map[protocol.JobID]view.Job{
		id: {ID: id, User: "root", State: protocol.Pending, Origin: "aurora"},
	}}
	socket, stop := serveUntil(t, node)
	var looks atomic.Int64
	node.looked = func() {
		if looks.Add(1) == 2 { // first by the command, then for the output
			stop()
		}
	}
	got := command(t, socket, "", "logs", "--follow", id.String())
	if got.code != exitUnreachable || !strings.Contains(got.stderr, "cannot reach the peer at "+socket) {
		t.Errorf("got %+v", got)
	}
}
