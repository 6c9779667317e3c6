package waitpredict_test

import (
	"context"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holding is a fake that holds room for jobs.
type holding struct {
	*fake
	held map[protocol.Tag]bool
}

func (h holding) Reserve(_ context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	h.held[hold.Tag] = true
	return hold.Start, h.fails
}

func (h holding) CancelReservation(_ context.Context, tag protocol.Tag) error {
	delete(h.held, tag)
	return h.fails
}

// TestPredictorPassesReserver: with a predictor a batch system holds room exactly if it does
// without.
func TestPredictorPassesReserver(t *testing.T) {
	t.Parallel()
	clock := func() protocol.Instant { return begin }
	if _, ok := waitpredict.New(&fake{}, newPredictor(t, waitpredict.Plan), clock).(localsched.Reserver); ok {
		t.Error("one that holds no room does with a foresight")
	}
	under := holding{&fake{}, map[protocol.Tag]bool{}}
	holds, ok := waitpredict.New(under, newPredictor(t, waitpredict.Plan), clock).(localsched.Reserver)
	if !ok {
		t.Fatal("one that holds room does not with a foresight")
	}
	if at, err := holds.Reserve(t.Context(), localsched.Reservation{Tag: tagOf(1), Start: 7}); err != nil || at != 7 || !under.held[tagOf(1)] {
		t.Errorf("held from %d on, %v", at, err)
	}
	if err := holds.CancelReservation(t.Context(), tagOf(1)); err != nil || under.held[tagOf(1)] {
		t.Errorf("not released: %v", err)
	}
}

// TestHeldJobsTeachNothing: of jobs that wait for their hold nothing is learnt of waits; of
// those whose hold was given up it is.
func TestHeldJobsTeachNothing(t *testing.T) {
	t.Parallel()
	for name, released := range map[string]bool{"held": false, "given up": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			under := holding{&fake{quotes: []protocol.Quote{{AWT: protocol.Minute, ERT: 1}}}, map[protocol.Tag]bool{}}
			now := begin
			s := waitpredict.New(under, newPredictor(t, waitpredict.Plan), func() protocol.Instant { return now })
			holds, ok := s.(localsched.Reserver)
			if !ok {
				t.Fatal("it holds no room")
			}
			for n := uint64(1); n <= 20; n++ {
				quote(t, s, n)
				holdOne(t, s, holds, n, released)
				now = now.Add(protocol.Minute)
				under.changes = []localsched.Change{{Tag: tagOf(n), State: protocol.Completed}}
				if _, err := s.Watch(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
			}
			if known := quote(t, s, 99).AWTHigh != 0; known != released {
				t.Errorf("an interval is known: %v, want %v", known, released)
			}
		})
	}
}

// holdOne holds room for a job, or gives it up again, and submits the job.
func holdOne(t *testing.T, s localsched.Scheduler, holds localsched.Reserver, n uint64, released bool) {
	t.Helper()
	if _, err := holds.Reserve(t.Context(), localsched.Reservation{Tag: tagOf(n)}); err != nil {
		t.Fatal(err)
	}
	if released {
		if err := holds.CancelReservation(t.Context(), tagOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	job := localsched.Submission{Tag: tagOf(n), Spec: protocol.Spec{Request: request(n)}}
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}
