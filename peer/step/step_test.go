package step_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestAPauseDoublesUpToTheMost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tries int
		want  protocol.Duration // without jitter
	}{
		{0, protocol.Second},
		{1, 2 * protocol.Second},
		{4, 16 * protocol.Second},
		{5, 30 * protocol.Second},
		{1_000_000, 30 * protocol.Second},
	} {
		dice := step.NewDice(uint64(tt.tries), 7)
		for range 200 {
			got := dice.Backoff(tt.tries, protocol.Second, 30*protocol.Second)
			if got < tt.want*3/4 || got >= tt.want*5/4 {
				t.Fatalf("after %d tries the pause is %v, want 75 to 125 %% of %v", tt.tries, got, tt.want)
			}
		}
	}
}

func TestAShortSpanHasNoJitter(t *testing.T) {
	t.Parallel()
	dice := step.NewDice(1, 1)
	for span := range protocol.Duration(4) {
		if got := dice.Jitter(span); got != span {
			t.Errorf("%d ms became %d ms", span, got)
		}
	}
}

func TestChanceIsThatOfTheSeedAndTheSite(t *testing.T) {
	t.Parallel()
	drawn := func(seed uint64, site protocol.SiteNumber) [4]uint64 {
		dice := step.NewDice(seed, site)
		r := dice.Rand()
		return [4]uint64{r.Uint64(), r.Uint64(), dice.Rand().Uint64(), dice.Rand().Uint64()}
	}
	if first, again := drawn(1, 2), drawn(1, 2); first != again {
		t.Error("the same seed and site draw something else")
	}
	if drawn(1, 2) == drawn(1, 3) || drawn(1, 2) == drawn(2, 2) {
		t.Error("another seed or site draws the same")
	}
}

func TestACallIsClosedOnce(t *testing.T) {
	t.Parallel()
	var calls step.Calls[string]
	first, second := calls.Open("first"), calls.Open("second")
	if first == second || len(calls.Pending()) != 2 {
		t.Fatalf("calls %d and %d, of which %d are pending", first, second, len(calls.Pending()))
	}
	if then, ok := calls.Close(first); !ok || then != "first" {
		t.Errorf("the first call is %q, %t", then, ok)
	}
	if then, ok := calls.Close(first); ok {
		t.Errorf("the first call is closed again, as %q", then)
	}
	if third := calls.Open("third"); third <= second {
		t.Errorf("call %d has a number that was had before", third)
	}
}

func TestAnAnswerOfAnotherKindIsAnError(t *testing.T) {
	t.Parallel()
	if got, err := step.ResultAs[event.SubmitResult](event.SubmitResult{Local: "7"}, nil); err != nil || got.Local != "7" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := step.ResultAs[event.SubmitResult](event.LookupResult{Local: "7"}, nil); err == nil {
		t.Errorf("got %+v of another kind", got)
	}
	late := errors.New("late")
	if _, err := step.ResultAs[event.SubmitResult](nil, late); !errors.Is(err, late) {
		t.Errorf("got %v", err)
	}
}

func TestRowsAreRecordedOnceInTheirOrder(t *testing.T) {
	t.Parallel()
	var rows step.Rows
	job, run := step.Row{Table: row.JobTable, Job: 5}, step.Row{Table: row.RunTable, Job: 5, Epoch: 2}
	for _, changed := range []step.Row{run, job, run} {
		rows.Mark(changed)
	}
	if want := []step.Row{run, job}; !slices.Equal(rows.Changed(), want) {
		t.Errorf("changed are %v, want %v", rows.Changed(), want)
	}
	rows.Clear()
	rows.Mark(job)
	if want := []step.Row{job}; !slices.Equal(rows.Changed(), want) {
		t.Errorf("in the next step %v are changed, want %v", rows.Changed(), want)
	}
}

func TestRecordKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row  step.Row
		want string
	}{
		{step.Row{Table: row.SiteTable}, string(row.SiteTable)},
		{step.Row{Table: row.GenerationTable}, string(row.GenerationTable)},
		{step.Row{Table: row.PartnerTable, Key: "lab"}, "lab"},
		{step.Row{Table: row.DedupTable, Key: "k"}, "k"},
		{step.Row{Table: row.JobTable, Job: 5}, row.JobKey(5)},
		{step.Row{Table: row.GuestTable, Job: 5}, row.JobKey(5)},
		{step.Row{Table: row.RunTable, Job: 5, Epoch: 2}, row.JobKey(5) + ".2"},
	} {
		if got := tt.row.RecordKey(); got != tt.want {
			t.Errorf("the key of %+v is %q, want %q", tt.row, got, tt.want)
		}
	}
}
