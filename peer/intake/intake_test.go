package intake_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// two is the rule of the tests: two jobs in a minute.
var two = intake.Rule{Max: 2, Period: protocol.Minute}

const minute = protocol.Instant(protocol.Minute)

func TestJobsOfOnePeriod(t *testing.T) {
	t.Parallel()
	in := intake.New(two)
	steps := []struct {
		name string
		now  protocol.Instant
		do   func(now protocol.Instant) // nil: nothing
		left int
		why  string
	}{
		{"nothing has come", 5 * minute, nil, 2, ""},
		{"one job", 5 * minute, func(now protocol.Instant) { in.Take(now) }, 1, ""},
		{
			"a second one, late in the period", 6*minute - 1, func(now protocol.Instant) { in.Take(now) }, 0,
			"has taken 2 jobs in this period, as many as it allows",
		},
		{
			"more than it allows", 6*minute - 1, func(now protocol.Instant) { in.Take(now) }, 0,
			"has taken 2 jobs in this period, as many as it allows",
		},
		{"the next period", 6 * minute, nil, 2, ""},
		{"and one in it", 6*minute + 1, func(now protocol.Instant) { in.Take(now) }, 1, ""},
		{"the clock went back by a period", 5 * minute, nil, 2, ""},
	}
	for _, step := range steps {
		if step.do != nil {
			step.do(step.now)
		}
		if got := in.Left(step.now); got != step.left {
			t.Errorf("%s: %d are left, want %d", step.name, got, step.left)
		}
		if got := in.FullReason(step.now); got != step.why {
			t.Errorf("%s: %q, want %q", step.name, got, step.why)
		}
	}
}

func TestAnyNumber(t *testing.T) {
	t.Parallel()
	in := intake.New(intake.Rule{Period: protocol.Minute})
	for range 10 {
		in.Take(minute)
	}
	if got, why := in.Left(minute), in.FullReason(minute); got != math.MaxInt32 || why != "" {
		t.Errorf("%d are left, %q", got, why)
	}
	if got := in.Row(); got.Jobs != 10 {
		t.Errorf("the count is %d, want 10: a rule may come", got.Jobs)
	}
}

func TestGiveBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(in *intake.Intake, taken *intake.Number)
		now    protocol.Instant
		back   bool
		left   int
	}{
		"in the same period":       {nil, 6*minute - 1, true, 2},
		"in the next one":          {nil, 6 * minute, false, 2},
		"one that was not counted": {func(_ *intake.Intake, taken *intake.Number) { *taken = 0 }, 5 * minute, false, 1},
		"more than have come": {func(in *intake.Intake, taken *intake.Number) {
			in.GiveBack(5*minute, *taken)
		}, 5 * minute, false, 2},
	} {
		in := intake.New(two)
		taken := in.Take(5 * minute)
		if taken == 0 {
			t.Fatalf("%s: no number", name)
		}
		if c.change != nil {
			c.change(&in, &taken)
		}
		if got := in.GiveBack(c.now, taken); got != c.back {
			t.Errorf("%s: %v, want %v", name, got, c.back)
		}
		if got := in.Left(c.now); got != c.left {
			t.Errorf("%s: %d are left, want %d", name, got, c.left)
		}
	}
}

// TestChange: by another rule what has come goes on to count, in a period of the new length.
func TestChange(t *testing.T) {
	t.Parallel()
	in := intake.New(two)
	taken := in.Take(5 * minute)
	hourly := intake.Rule{Max: 3, Period: protocol.Hour}
	in.Change(hourly, 5*minute)
	if got := in.Left(59 * minute); got != 2 {
		t.Errorf("%d are left, want 2", got)
	}
	if !in.GiveBack(59*minute, taken) {
		t.Error("the job is not in the count any more")
	}
	in.Take(59 * minute)
	in.Change(two, 120*minute)
	if got := in.Left(120 * minute); got != 2 {
		t.Errorf("of an hour that is over %d are left, want 2", got)
	}
}

// TestResume: a period goes on in the next life of the peer.
func TestResume(t *testing.T) {
	t.Parallel()
	before := intake.New(two)
	before.Take(5 * minute)
	last := before.Row()
	if last != (row.Intake{Until: 6 * minute, Jobs: 1}) {
		t.Fatalf("the row is %+v", last)
	}
	for name, c := range map[string]struct {
		now   protocol.Instant
		lasts bool
		left  int
	}{
		"it lasts":     {6*minute - 1, true, 1},
		"it is over":   {6 * minute, false, 2},
		"long so":      {60 * minute, false, 2},
		"at its begin": {5 * minute, true, 1},
	} {
		in := intake.New(two)
		since, number, lasts := in.Resume(c.now, last)
		if lasts != c.lasts || in.Left(c.now) != c.left {
			t.Errorf("%s: %v, and %d are left", name, lasts, in.Left(c.now))
		}
		if lasts && (since != 5*minute || !in.GiveBack(c.now, number)) {
			t.Errorf("%s: jobs since %d with number %d are in the count", name, since, number)
		}
		if !lasts && (since != 0 || number != 0) {
			t.Errorf("%s: since %d, number %d", name, since, number)
		}
	}
}
