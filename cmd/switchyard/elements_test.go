package main

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestElementsThatAnArrayDoesNotHave: ID_9 of an array with the elements 1 to 3 is not found, though a job has the job ID that the
// element 9 would have.
func TestElementsThatAnArrayDoesNotHave(t *testing.T) {
	t.Parallel()
	other := protocol.Element{Array: someID, Index: 9}.ID()
	n := &fakeNode{replyF: always(view.Done{}, nil), jobs: map[protocol.JobID]view.Job{
		someID: {ID: someID, Array: &view.Array{ID: someID, Elements: protocol.IndexesOf(1, 2, 3)}},
		other:  {ID: other, State: protocol.Completed},
	}}
	socket := serve(t, n)
	for _, line := range []string{
		"hold", "release", "requeue --force", "update --nice=5", "cancel", "cancel --application", "status", "wait", "logs", "logs -f", "explain",
		"queue -j", "history -j", "usage -j",
	} {
		got := command(t, socket, "", append(strings.Fields(line), someID.String()+"_9")...)
		if want := "array 1000000000042 has no elements 9; its elements are 1-3\n"; got.code != 3 || got.stdout != "" || !strings.HasSuffix(got.stderr, want) {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if len(n.asked) != 0 || len(n.asking) != 0 {
		t.Errorf("the peer was asked %v, %v", n.asked, n.asking)
	}
}
