package node_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ask puts a question whose answer has a known kind.
func ask[R view.Reply](t *testing.T, n *node.Node, question func(event.AskID) event.Event) R {
	t.Helper()
	reply, err := n.Ask(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := reply.(R)
	if !ok {
		t.Fatalf("answered with %T", reply)
	}
	return r
}

// life runs a peer on the store's file and stops it again.
func life(t *testing.T, path string, during func(*node.Node)) {
	t.Helper()
	file, err := store.Open(path, store.Options{AllowNetworkFS: true})
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.New(liveConfig(file))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	during(n)
	stop()
	if err = <-ended; err != nil {
		t.Error(err)
	}
	if err = file.Close(); err != nil {
		t.Error(err)
	}
}

func TestJobsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	submit := func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ann", Key: "once", Jobs: newJobs(50)}
	}
	queue := func(asked event.AskID) event.Event { return event.AskQueue{Asked: asked} }
	var first view.Submitted
	var card protocol.Card
	life(t, path, func(n *node.Node) {
		first = ask[view.Submitted](t, n, submit)
		card = n.Card("there")
		if err := n.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
	life(t, path, func(n *node.Node) {
		again := ask[view.Submitted](t, n, submit)
		if len(first.Jobs) != 50 || len(again.Jobs) != 50 || again.Jobs[49] != first.Jobs[49] {
			t.Errorf("the same submission gave %v and then %v", first.Jobs, again.Jobs)
		}
		if jobs := ask[view.Queue](t, n, queue).Jobs; len(jobs) != 50 || jobs[0].ID != first.Jobs[0] || jobs[0].User != "ann" {
			t.Errorf("%d jobs in the second life, the first one %+v", len(jobs), jobs[0])
		}
		if facts, err := n.Explain(first.Jobs[7]); err != nil || len(facts) == 0 || facts[0].Kind != event.LogJobSubmitted {
			t.Errorf("explain in the second life: %v, %v", facts, err)
		}
		if now := n.Card("there"); now.FirstStart != card.FirstStart || now.Incarnation != card.Incarnation || now.FirstStart == 0 {
			t.Errorf("the card was %+v and is %+v", card, now)
		}
	})
}
