package node_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reserver holds room, and gives it up as the test says.
type reserver struct {
	*outside

	release func(ctx context.Context, tag protocol.Tag) error
}

func (reserver) Reserve(context.Context, localsched.Hold) (protocol.Instant, error) { return 1, nil }

func (r reserver) Release(ctx context.Context, tag protocol.Tag) error { return r.release(ctx, tag) }

// releasing is an option of a node whose scheduler gives room up in this way.
func releasing(release func(ctx context.Context, tag protocol.Tag) error) option {
	return func(cfg *node.Config) {
		cfg.Scheduler = reserver{outside: cfg.Scheduler.(*outside), release: release}
	}
}

func releaseOp(job int) peer.ReleaseOp {
	return peer.ReleaseOp{Tag: protocol.Tag{Job: protocol.JobID(job), Epoch: 1}}
}

// Quotes and holds wait for the releases begun before them, all of them, and for no later one.
func TestRoomIsFreedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		doors := map[protocol.JobID]chan struct{}{1: make(chan struct{}), 2: make(chan struct{}), 3: make(chan struct{})}
		core := caller(
			peer.QuoteOp{}, releaseOp(1), releaseOp(2), peer.QuoteOp{}, submission(9), releaseOp(3), peer.ReserveOp{},
		)
		r := start(t, core, releasing(func(_ context.Context, tag protocol.Tag) error {
			mu.Lock()
			door := doors[tag.Job]
			mu.Unlock()
			<-door
			return nil
		}))
		answered := func(when string, want ...peer.CallID) {
			t.Helper()
			synctest.Wait()
			got := answers(core)
			for i, done := range got {
				if len(got) != len(want) || done.ID != want[i] || done.Err != nil {
					t.Fatalf("%s: answers %+v, want those of %v", when, got, want)
				}
			}
		}
		answered("at first", 1, 5)
		close(doors[2])
		answered("after the second release", 1, 3, 5)
		close(doors[1])
		answered("after the first two", 1, 2, 3, 4, 5)
		close(doors[3])
		answered("after all", 1, 2, 3, 4, 5, 6, 7)
		_ = r.end()
	})
}

// A batch system that hangs when it is to give room up holds up neither other calls nor other
// releases, and quotes and holds for a short while only.
func TestAHungReleaseHoldsUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const others = 40 // more than a lane has places
		ops := []peer.Op{releaseOp(1)}
		for i := range others {
			ops = append(ops, releaseOp(2+i))
		}
		ops = append(ops, peer.FindOp{}, peer.WithdrawOp{}, peer.KillOp{}, peer.QuoteOp{}, peer.ReserveOp{})
		hung := make(chan struct{})
		core := caller(ops...)
		r := start(t, core, releasing(func(_ context.Context, tag protocol.Tag) error {
			if tag.Job == 1 {
				<-hung // whatever the context says
			}
			return nil
		}))
		synctest.Wait()
		if got := answers(core); len(got) != others+3 {
			t.Errorf("%d answers while a release hangs, want those of %d releases and 3 other calls", len(got), others)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := answers(core); len(got) != others+5 {
			t.Errorf("%d answers 3 s later, want those of the quote and the hold as well", len(got))
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if got := answers(core); len(got) != others+6 || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "no answer within") {
			t.Errorf("the hung release was not given up: %d answers, the first %+v", len(got), got[0])
		}
		close(hung)
		_ = r.end()
	})
}

// Releases that all hang hold up releases only.
func TestManyHungReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ops []peer.Op
		for i := range 100 {
			ops = append(ops, releaseOp(1+i))
		}
		core := caller(append(ops, peer.KillOp{})...)
		r := start(t, core, releasing(func(ctx context.Context, _ protocol.Tag) error {
			<-ctx.Done()
			return errors.New("the plugin hangs")
		}))
		synctest.Wait()
		if got := answers(core); len(got) != 1 || got[0].ID != 101 {
			t.Errorf("while all releases hang: %+v", got)
		}
		_ = r.end()
	})
}
