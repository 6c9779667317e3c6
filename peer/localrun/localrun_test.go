package localrun_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const now protocol.Instant = 1_800_000_000_000

var tag = protocol.Tag{Job: 7, Epoch: 2}

func placed(phase row.RunPhase) *localrun.Run {
	return &localrun.Run{Run: row.Run{Tag: tag, Phase: phase, Since: now}}
}

func TestTheNextCall(t *testing.T) {
	t.Parallel()
	find, withdraw, kill := event.LookupOp{Tag: tag}, event.WithdrawOp{Tag: tag}, event.KillOp{Tag: tag}
	for name, tt := range map[string]struct {
		phase          row.RunPhase
		unwanted, kill bool
		calling, pause bool
		tries          int
		want           event.Op
	}{
		"a run that is wanted is left alone":          {phase: row.RunQueued},
		"an unclear submission is looked for":         {phase: row.RunSubmitting, unwanted: true, want: find},
		"but not before the pause is over":            {phase: row.RunSubmitting, unwanted: true, pause: true},
		"what waits is taken out":                     {phase: row.RunQueued, unwanted: true, want: withdraw},
		"at once, whatever else there is to wait for": {phase: row.RunQueued, unwanted: true, pause: true, want: withdraw},
		"after a failure, when the pause is over":     {phase: row.RunQueued, unwanted: true, pause: true, tries: 1},
		"again then":                                         {phase: row.RunQueued, unwanted: true, tries: 1, want: withdraw},
		"what runs may end by itself":                        {phase: row.RunRunning, unwanted: true},
		"unless it is to be ended":                           {phase: row.RunRunning, unwanted: true, kill: true, want: kill},
		"and is not told so twice in a row":                  {phase: row.RunRunning, unwanted: true, kill: true, pause: true, tries: 1},
		"one call at a time":                                 {phase: row.RunQueued, unwanted: true, calling: true},
		"what has ended is not called about":                 {phase: row.RunEnded, unwanted: true, kill: true},
		"a kill is for what has started, a waiting one goes": {phase: row.RunQueued, unwanted: true, kill: true, want: withdraw},
	} {
		r := placed(tt.phase)
		r.Withdraw, r.Kill, r.Calling, r.Tries = tt.unwanted, tt.kill, tt.calling, tt.tries
		if got := r.Next(tt.pause); got != tt.want {
			t.Errorf("%s: the next call is %#v, want %#v", name, got, tt.want)
		}
	}
}

func TestARunIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	r := placed(row.RunQueued)
	for i, tt := range []struct{ kill, want bool }{{false, true}, {false, false}, {true, true}, {true, false}, {false, false}} {
		r.Tries = 3
		if got := r.BeginWithdrawal(tt.kill); got != tt.want || (r.Tries == 0) != tt.want {
			t.Errorf("%d: taking it back, kill %t, is news: %t, after which it has %d tries", i, tt.kill, got, r.Tries)
		}
	}
	if !r.Withdraw || !r.Kill {
		t.Errorf("it is to be withdrawn: %t, and killed: %t", r.Withdraw, r.Kill)
	}
}

func TestWhatAnOriginHasNotAcknowledgedIsReported(t *testing.T) {
	t.Parallel()
	r := placed(row.RunQueued)
	if got := r.Report(now); got != nil {
		t.Errorf("reported is %+v, and nothing has happened", got)
	}
	r.News("waits")
	r.Reports = 4
	r.News("waits for a license")
	want := protocol.Status{Tag: tag, Seq: 2, State: protocol.Pending, Reason: "waits for a license", Waited: 500, At: now + 500}
	if got := r.Report(now + 500); got != want || r.Reports != 0 {
		t.Errorf("reported is %+v after %d times, want %+v", got, r.Reports, want)
	}
	for _, tt := range []struct {
		seq  uint32
		want bool
	}{{0, false}, {3, false}, {1, true}, {1, false}, {2, true}, {2, false}} {
		if got := r.Acknowledge(tt.seq); got != tt.want {
			t.Errorf("acknowledging status %d: %t", tt.seq, got)
		}
	}
	if got := r.Report(now); got != nil {
		t.Errorf("reported is %+v, and all is acknowledged", got)
	}
}

func TestStatusOfARunThatHasStarted(t *testing.T) {
	t.Parallel()
	r := placed(row.RunRunning)
	if got := r.Status(now + 50); got.State != protocol.Pending || got.Ran != 0 { // it is not told yet since when
		t.Errorf("it is %+v", got)
	}
	r.Reason, r.Returned = "Resources", "draining: disks" // whatever the batch system says of it since
	if got := r.Status(now + 50); got.Reason != "draining: disks" {
		t.Errorf("of a run that is given back it says %q", got.Reason)
	}
	r.Started = now + 10
	if got := r.Status(now + 50); got.Reason != "Resources" || got.State != protocol.Running || got.Waited != 10 || got.Ran != 40 {
		t.Errorf("it is %+v", got)
	}
}

func TestTheEndOfARun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		known, reported protocol.Instant // of its start
		ran             protocol.Duration
		waited          protocol.Duration
		ended           protocol.Instant
	}{
		"it ended while it was watched":        {known: now + 10, reported: now + 10, ran: 30, waited: 10, ended: now + 40},
		"its start is told with its end":       {reported: now + 20, ran: 30, waited: 20, ended: now + 50},
		"its start was told before":            {known: now + 10, ran: 30, waited: 10, ended: now + 40},
		"it never began":                       {ended: now + 100},
		"its clock is ahead":                   {reported: now + 20, ran: 300, waited: 20, ended: now + 100},
		"it is said to have started too early": {reported: now - 5, ran: 30, ended: now + 25},
	} {
		r := placed(row.RunRunning)
		r.Started = tt.known
		outcome, started := r.OutcomeOf(localsched.Change{
			Tag: tag, State: protocol.Failed, Started: tt.reported, Reason: "the queue says", Outcome: protocol.Outcome{Ran: tt.ran},
		})
		if err := r.End(&outcome, started, now+100); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := *r.Outcome
		if got.State != protocol.Failed || got.Reason != "the queue says" || got.Waited != tt.waited || r.Ended != tt.ended || r.Phase != row.RunEnded {
			t.Errorf("%s: it waited %v and ended at %v in phase %s: %+v", name, got.Waited, r.Ended-now, r.Phase, got)
		}
		if report, ok := r.Report(now).(protocol.Result); !ok || !reflect.DeepEqual(report.Outcome, got) || report.Ended != tt.ended {
			t.Errorf("%s: reported is %+v", name, r.Report(now))
		}
	}
}

func TestAPhaseBeginsWithoutTries(t *testing.T) {
	t.Parallel()
	r := placed(row.RunSubmitting)
	r.Tries = 5
	if err := r.Enter(row.RunQueued); err != nil || r.Tries != 0 || r.Phase != row.RunQueued {
		t.Errorf("phase %s after %d tries: %v", r.Phase, r.Tries, err)
	}
	if err := r.Enter(row.RunSubmitting); err == nil {
		t.Error("a run is submitted again that was queued")
	}
}

func TestReasonsAreSavedWhenTheyChange(t *testing.T) {
	t.Parallel()
	r := placed(row.RunQueued)
	long := strings.Repeat("x", 100_000)
	if !r.Explain(long) || r.Explain(long) || len(r.Reason) >= len(long) {
		t.Errorf("a long reason has %d bytes", len(r.Reason))
	}
	if !r.Stick("unknown") || r.Stick("unknown") || !r.Stick("") {
		t.Error("what is stuck is told again, or not when it changes")
	}
}

func TestWhatNoRowKnowsIsPutAside(t *testing.T) {
	t.Parallel()
	var w localrun.Watch
	if !w.MayForget() || w.Waits(tag) {
		t.Error("an empty local queue has something")
	}
	earlier := protocol.Tag{Job: 7, Epoch: 1}
	for i, tt := range []struct {
		tag   protocol.Tag
		state protocol.State
		isNew bool
	}{{tag, protocol.Pending, true}, {earlier, protocol.Running, true}, {tag, protocol.Pending, false}} {
		if got := w.Put(localsched.Change{Tag: tt.tag, State: tt.state}); got != tt.isNew {
			t.Errorf("%d: it is new: %t", i, got)
		}
	}
	if want := []protocol.Tag{earlier, tag}; !slices.Equal(w.Tags(), want) {
		t.Errorf("there are %v, want %v", w.Tags(), want)
	}
	if want := []protocol.Tag{tag}; !slices.Equal(w.Waiting(), want) || w.MayForget() {
		t.Errorf("%v wait, want %v; they may be forgotten: %t", w.Waiting(), want, w.MayForget())
	}
	if c, ok := w.Later(earlier); !ok || c.Tag != tag {
		t.Errorf("the latest placement is %+v, %t", c, ok)
	}
	if c, ok := w.Later(tag); ok {
		t.Errorf("later than the latest is %+v", c)
	}
	w.Remove(tag)
	if c, ok := w.Later(earlier); ok {
		t.Errorf("later than the one that is left is %+v", c)
	}
	if c, ok := w.Aside(tag); ok {
		t.Errorf("it is still there: %+v", c)
	}
	if c, ok := w.Aside(earlier); !ok || c.State != protocol.Running {
		t.Errorf("the other one is %+v, %t", c, ok)
	}
}

func TestEndsAreHeld(t *testing.T) {
	t.Parallel()
	var w localrun.Watch
	other := protocol.Tag{Job: 6, Epoch: 9}
	w.HoldEnd(localsched.Change{Tag: tag, State: protocol.Failed})
	w.HoldEnd(localsched.Change{Tag: other, State: protocol.Completed})
	if want := []protocol.Tag{other, tag}; !slices.Equal(w.HeldEnds(), want) || w.MayForget() {
		t.Errorf("held are %v, want %v; they may be forgotten: %t", w.HeldEnds(), want, w.MayForget())
	}
	w.DropEnd(other)
	if c, ok := w.HeldEnd(tag); !ok || c.State != protocol.Failed {
		t.Errorf("held is %+v, %t", c, ok)
	}
	w.DropEnd(tag)
	if c, ok := w.HeldEnd(tag); ok || !w.MayForget() {
		t.Errorf("held is still %+v", c)
	}
}

func TestFailuresAreCountedUntilTheWatchWorks(t *testing.T) {
	t.Parallel()
	var w localrun.Watch
	for want := range 3 {
		if got := w.Failed(); got != want {
			t.Errorf("%d failures before, want %d", got, want)
		}
	}
	if first, then := w.Works(), w.Works(); first != 3 || then != 0 {
		t.Errorf("it works after %d failures, and then after %d", first, then)
	}
}
