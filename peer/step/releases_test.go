package step_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestReleases: what looks for free CPUs waits for the cancellations before it, and for no other call.
func TestReleases(t *testing.T) {
	t.Parallel()
	one, two := protocol.Tag{Job: 1, Epoch: 1}, protocol.Tag{Job: 2, Epoch: 1}
	cancel := func(id event.CallID, tag protocol.Tag) event.Call {
		return event.Call{ID: id, Op: event.CancelReservationOp{Tag: tag}}
	}
	quote := func(id event.CallID) event.Call { return event.Call{ID: id, Op: event.QuoteOp{}} }
	reserve := func(id event.CallID) event.Call { return event.Call{ID: id, Op: event.ReserveOp{}} }
	answer := func(id event.CallID) func(*step.Releases) []event.Call {
		return func(r *step.Releases) []event.Call { _, _, next := r.Answered(id); return next }
	}
	timeout := func(tag protocol.Tag) func(*step.Releases) []event.Call {
		return func(r *step.Releases) []event.Call { return r.TimedOut(tag) }
	}
	for name, tt := range map[string]struct {
		calls []event.Call
		now   []event.CallID // of them
		then  []func(*step.Releases) []event.Call
		next  [][]event.CallID
		left  int
	}{
		"nothing is cancelled": {[]event.Call{quote(1), reserve(2)}, []event.CallID{1, 2}, nil, nil, 0},
		"both wait, other calls do not": {
			[]event.Call{cancel(1, one), quote(2), reserve(3), {ID: 4, Op: event.WatchOp{}}},
			[]event.CallID{1, 4},
			[]func(*step.Releases) []event.Call{answer(4), answer(1)},
			[][]event.CallID{nil, {2, 3}},
			0,
		},
		"each waits for those before it": {
			[]event.Call{cancel(1, one), quote(2), cancel(3, two), quote(4)},
			[]event.CallID{1, 3},
			[]func(*step.Releases) []event.Call{answer(3), answer(1)},
			[][]event.CallID{nil, {2, 4}},
			0,
		},
		"the first is answered first": {
			[]event.Call{cancel(1, one), quote(2), cancel(3, two), quote(4)},
			[]event.CallID{1, 3},
			[]func(*step.Releases) []event.Call{answer(1)},
			[][]event.CallID{{2}},
			2,
		},
		"one hangs": {
			[]event.Call{cancel(1, one), cancel(2, one), quote(3)},
			[]event.CallID{1, 2},
			[]func(*step.Releases) []event.Call{timeout(two), timeout(one)},
			[][]event.CallID{nil, {3}},
			0,
		},
	} {
		var r step.Releases
		var now []event.CallID
		for _, c := range tt.calls {
			if r.Issue(c) {
				now = append(now, c.ID)
			}
		}
		if !slices.Equal(now, tt.now) {
			t.Errorf("%s: made at once: %v", name, now)
		}
		for i, then := range tt.then {
			var next []event.CallID
			for _, c := range then(&r) {
				next = append(next, c.ID)
			}
			if !slices.Equal(next, tt.next[i]) {
				t.Errorf("%s: after answer %d: %v, want %v", name, i+1, next, tt.next[i])
			}
		}
		if r.Len() != tt.left {
			t.Errorf("%s: %d are left", name, r.Len())
		}
	}
}

// TestReleasesOfOneReservation: the wait for a reservation is over with the last of its cancellations.
func TestReleasesOfOneReservation(t *testing.T) {
	t.Parallel()
	var r step.Releases
	tag := protocol.Tag{Job: 1, Epoch: 1}
	for id := range event.CallID(2) {
		r.Issue(event.Call{ID: id, Op: event.CancelReservationOp{Tag: tag}})
	}
	if over, _, _ := r.Answered(0); over {
		t.Error("over with the first of two")
	}
	if over, of, _ := r.Answered(1); !over || of != tag {
		t.Errorf("not over with the last: %t %v", over, of)
	}
}

// TestFailedReleases: a cancellation that fails is tried again 20 times, and only the first and the last
// failure are reported.
func TestFailedReleases(t *testing.T) {
	t.Parallel()
	var r step.Releases
	one, two, failed := protocol.Tag{Job: 1, Epoch: 1}, protocol.Tag{Job: 2, Epoch: 1}, errors.New("down")
	for i := range 20 {
		before, again, report := r.Failed(one, failed)
		want := ""
		switch i {
		case 0:
			want = "release: down; asked again"
		case 19:
			want = "release: down; given up; the room ends with the time that was asked for"
		}
		if before != i || again != (i < 19) || report != want {
			t.Errorf("failure %d: %d before it, again %t, %q", i, before, again, report)
		}
	}
	if r.Unsettled() != 0 {
		t.Error("what is given up is remembered")
	}
	r.Failed(two, failed)
	r.Failed(one, failed)
	if r.Settle(two); r.Unsettled() != 1 {
		t.Errorf("%d cancellations have failed, want 1", r.Unsettled())
	}
	if before, _, _ := r.Failed(two, failed); before != 0 {
		t.Errorf("%d failures before the first one", before)
	}
}
