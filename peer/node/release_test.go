package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reserver holds room, and gives it up as the test says.
type reserver struct {
	*outside

	release func(ctx context.Context, tag protocol.Tag) error
}

func (reserver) Reserve(context.Context, localsched.Reservation) (protocol.Instant, error) {
	return 1, nil
}

func (r reserver) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	return r.release(ctx, tag)
}

// releasing is an option of a node whose scheduler gives room up in this way.
func releasing(release func(ctx context.Context, tag protocol.Tag) error) option {
	return func(cfg *node.Config) {
		cfg.Scheduler = reserver{outside: cfg.Scheduler.(*outside), release: release}
	}
}

func releaseOp(job int) event.CancelReservationOp {
	return event.CancelReservationOp{Tag: protocol.Tag{Job: protocol.JobID(job), Epoch: 1}}
}

// A batch system that hangs when it is to give room up holds up neither other calls nor other
// releases.
func TestAHungReleaseHoldsUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const others = 40 // more than a lane has places
		ops := []event.Op{releaseOp(1)}
		for i := range others {
			ops = append(ops, releaseOp(2+i))
		}
		ops = append(ops, event.LookupOp{}, event.WithdrawOp{}, event.KillOp{}, event.QuoteOp{}, event.ReserveOp{})
		hung := make(chan struct{})
		core := caller(ops...)
		r := start(t, core, releasing(func(_ context.Context, tag protocol.Tag) error {
			if tag.Job == 1 {
				<-hung // whatever the context says
			}
			return nil
		}))
		synctest.Wait()
		if got := answers(core); len(got) != others+5 {
			t.Errorf("%d answers while a release hangs, want those of %d releases and 5 other calls", len(got), others)
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
		var ops []event.Op
		for i := range 100 {
			ops = append(ops, releaseOp(1+i))
		}
		core := caller(append(ops, event.KillOp{})...)
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
