package row_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestTakeStatus: a report replaces what the row says, and the first one of a run gives its start.
func TestTakeStatus(t *testing.T) {
	t.Parallel()
	const now = protocol.Instant(100_000)
	for name, tt := range map[string]struct {
		job   row.Job
		m     protocol.Status
		began bool
		start protocol.Instant
	}{
		"it waits":               {row.Job{State: protocol.Pending}, protocol.Status{State: protocol.Pending}, false, 0},
		"it has begun":           {row.Job{State: protocol.Pending}, protocol.Status{State: protocol.Running, Ran: 10_000}, true, 90_000},
		"before it was placed":   {row.Job{State: protocol.Pending, CommittedAt: 95_000}, protocol.Status{State: protocol.Running, Ran: 10_000}, true, 95_000},
		"it runs on":             {row.Job{State: protocol.Running, Started: 80_000}, protocol.Status{State: protocol.Running, Ran: 10_000}, false, 80_000},
		"by a clock that is off": {row.Job{State: protocol.Pending}, protocol.Status{State: protocol.Running, At: 150_000}, true, 100_000},
	} {
		j := tt.job
		j.OperatorReason, j.Restored = "in doubt", true
		tt.m.Seq, tt.m.Reason = 3, "why"
		if began := j.TakeStatus(&tt.m, now); began != tt.began || j.Started != tt.start {
			t.Errorf("%s: began %t, started %d, want %t and %d", name, began, j.Started, tt.began, tt.start)
		}
		if j.StatusSeq != 3 || j.Reason != "why" || j.OperatorReason != "" || j.Restored || j.State != tt.m.State {
			t.Errorf("%s: %+v", name, j)
		}
		if want := tt.m.At; want != 0 && j.Offset != want.Sub(now) {
			t.Errorf("%s: the offset is %v", name, j.Offset)
		}
	}
}

// TestTakeTimes: when a job ran is what its site says, within the time in which it was there.
func TestTakeTimes(t *testing.T) {
	t.Parallel()
	const now = protocol.Instant(100_000)
	for name, tt := range map[string]struct {
		job            row.Job
		m              protocol.Result
		started, ended protocol.Instant
	}{
		"both are said":         {row.Job{}, protocol.Result{At: 500_000, Started: 430_000, Ended: 480_000}, 30_000, 80_000},
		"only the run time is":  {row.Job{}, protocol.Result{Outcome: protocol.Outcome{Ran: 40_000}}, 60_000, 100_000},
		"a start before it":     {row.Job{Started: 70_000}, protocol.Result{At: 500_000, Started: 430_000, Ended: 480_000}, 30_000, 80_000},
		"a start after it":      {row.Job{Started: 20_000}, protocol.Result{At: 500_000, Started: 430_000, Ended: 480_000}, 20_000, 80_000},
		"before it was placed":  {row.Job{CommittedAt: 50_000}, protocol.Result{At: 500_000, Started: 430_000, Ended: 480_000}, 50_000, 80_000},
		"an end in the future":  {row.Job{}, protocol.Result{At: 1_000, Started: 500, Ended: 9_000}, 99_500, 100_000},
		"an end before a start": {row.Job{}, protocol.Result{At: 500_000, Started: 480_000, Ended: 430_000}, 30_000, 30_000},
		"it never ran":          {row.Job{}, protocol.Result{At: 500_000, Ended: 480_000}, 0, 80_000},
	} {
		j := tt.job
		if j.TakeTimes(&tt.m, now); j.Started != tt.started || j.Ended != tt.ended {
			t.Errorf("%s: from %d to %d, want %d to %d", name, j.Started, j.Ended, tt.started, tt.ended)
		}
	}
}

// TestBound: what a site says of a run is bounded by the time that it had the job and by its machine, and no honest result is changed.
func TestBound(t *testing.T) {
	t.Parallel()
	const now, granted, submitted = protocol.Instant(10_000_000), protocol.Instant(9_000_000), protocol.Instant(4_000_000)
	const held, slack = protocol.Duration(1_000_000), row.MaxClockOffset
	for name, tt := range map[string]struct {
		restored bool
		said     protocol.Outcome
		want     protocol.Outcome
		wrong    string // a part of it
	}{
		"as it can be": {
			said: protocol.Outcome{Ran: held, Usage: protocol.Usage{CPU: 8 * held, Energy: 8 * 300 * int64(held)}},
			want: protocol.Outcome{Ran: held, Usage: protocol.Usage{CPU: 8 * held, Energy: 8 * 300 * int64(held)}},
		},
		"by a clock that was set meanwhile": {said: protocol.Outcome{Ran: held + slack}, want: protocol.Outcome{Ran: held + slack}},
		"longer than it was there": {
			said: protocol.Outcome{Ran: math.MaxInt64}, want: protocol.Outcome{Ran: held + slack}, wrong: "it ran",
		},
		"placed before the rows": {restored: true, said: protocol.Outcome{Ran: 6 * held}, want: protocol.Outcome{Ran: 6 * held}},
		"more than its CPUs, of a larger machine": {
			said: protocol.Outcome{Ran: 1000, Usage: protocol.Usage{CPU: 7999}}, want: protocol.Outcome{Ran: 1000, Usage: protocol.Usage{CPU: 7999}},
		},
		"measured after a short run": {
			said: protocol.Outcome{Ran: 1, Usage: protocol.Usage{CPU: 30, Energy: 9_000_000}},
			want: protocol.Outcome{Ran: 1, Usage: protocol.Usage{CPU: 30, Energy: 9_000_000}},
		},
		"more than all CPUs": {
			said: protocol.Outcome{Ran: 1000, Usage: protocol.Usage{CPU: math.MaxInt64, Energy: math.MaxInt64}},
			want: protocol.Outcome{Ran: 1000, Usage: protocol.Usage{CPU: 8 * 61_000, Energy: 8 * 61_000_000}}, wrong: "of CPU time",
		},
	} {
		j := row.Job{CommittedAt: granted, Restored: tt.restored, Spec: protocol.Spec{Submitted: submitted, Request: protocol.Request{CPUs: 4}}}
		got := tt.said
		if wrong := j.Bound(&got, 8, now); !reflect.DeepEqual(got, tt.want) || (wrong == "") != (tt.wrong == "") || !strings.Contains(wrong, tt.wrong) {
			t.Errorf("%s: %+v, %q", name, got, wrong)
		}
	}
}

// TestAdoptAndRerun: what the row forgets.
func TestAdoptAndRerun(t *testing.T) {
	t.Parallel()
	j := row.Job{Epoch: 2, Site: "b", OperatorReason: "why", StatusSeq: 4, ReserveFrom: 5, ReservedAt: 6}
	if j.Adopt("c", 9); j.Tag().Epoch != 9 || j.Site != "c" || j.OperatorReason != "" || j.StatusSeq != 0 || j.ReserveFrom != 0 || j.ReservedAt != 0 {
		t.Errorf("%+v", j)
	}
	for cancelsAny, want := range map[bool]string{false: "", true: "ada"} {
		cancelled := row.Job{Epoch: 2, Cancelling: true, CancelledBy: "ada", CancelsAny: cancelsAny}
		if cancelled.Adopt("c", 9); cancelled.Cancelling != cancelsAny || cancelled.CancelledBy != want {
			t.Errorf("cancelled as of any placement, %t: %+v", cancelsAny, cancelled)
		}
	}
	j.Outcome, j.Ended = &protocol.Outcome{}, 7
	if j.Rerun(); j.Outcome != nil || j.Ended != 0 || j.Reruns != 1 || j.Spec.Restarts != 1 {
		t.Errorf("%+v", j)
	}
}

// TestPredictionFrom: a member that waits for its group ends later, and costs the same.
func TestPredictionFrom(t *testing.T) {
	t.Parallel()
	p := &row.Prediction{Cost: 3, Run: 10, Back: 2, End: 50}
	if got := p.From(38); got != p {
		t.Errorf("%+v for a job that starts in time", got)
	}
	if got := p.From(39); *got != (row.Prediction{Cost: 3, Run: 10, Back: 2, End: 51}) || p.End != 50 {
		t.Errorf("%+v", got)
	}
	if (*row.Prediction)(nil).From(1) != nil {
		t.Error("nothing was predicted")
	}
}
