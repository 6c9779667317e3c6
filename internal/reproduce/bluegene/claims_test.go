package bluegene_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/bluegene"
)

// What [BG] claims of power budgets holds in every month of the synthetic half year, on the
// real log as one run and by its months, and on another machine.
func TestEveryMonthBearsTheClaimsOut(t *testing.T) {
	t.Parallel()
	t.Run("half year", func(t *testing.T) {
		t.Parallel()
		effects, err := bluegene.Effects(t.Context(), reproduce.Size{Seeds: 1}, bluegene.HalfYear, 50, 90)
		bearOut(t, effects, err)
	})
	t.Run("real log", func(t *testing.T) {
		t.Parallel()
		effects, err := bluegene.Effects(t.Context(), reproduce.Size{Data: shared(t), Seeds: 1}, bluegene.RealIntrepid, 50, 90)
		bearOut(t, effects, err)
	})
	t.Run("Blue Horizon", func(t *testing.T) {
		t.Parallel()
		effects, err := bluegene.Effects(t.Context(), reproduce.Size{Data: shared(t), Seeds: 1}, bluegene.BlueHorizon, 50, 90)
		bearOut(t, effects, err)
	})
}

// [BG 4.3]: a narrower range of powers saves more. That holds if the idle power of nodes counts in the budget
// and its baseline.
func TestNarrowRangesSaveMore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("schedules a half year six times")
	}
	r := run(t, reproduce.Size{Seeds: 1}, "bg-idle")[0]
	for _, title := range []string{"PB-50 of jobs and idle nodes, both count", "PB-90 of jobs and idle nodes, both count"} {
		i := slices.IndexFunc(r.Tables, func(t reproduce.Table) bool { return t.Title == title })
		for _, ratio := range []string{"saving, 1:3", "saving, 1:4", "saving, 1:5"} {
			narrow, wide, widest := value(t, &r.Tables[i], "20 to 33 kW", ratio), value(t, &r.Tables[i], "30 to 90 kW", ratio), value(t, &r.Tables[i], "30 to 120 kW", ratio)
			if narrow <= wide || wide <= widest {
				t.Errorf("%s: %s of %.1f, %.1f and %.1f %%", title, ratio, narrow, wide, widest)
			}
		}
	}
}

// bearOut takes effects at 50 and 90 % of the power, in turn.
func bearOut(t *testing.T, effects []bluegene.Effect, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	best := 0.0
	for i := 0; i < len(effects); i += 2 {
		half, most := &effects[i], &effects[i+1]
		best = max(best, half.Saving[0])
		checkSaving(t, half, most)
		checkRatios(t, half)
		checkRatios(t, most)
		checkLoss(t, half, most)
	}
	if best < 15 {
		t.Errorf("the best month saves %.1f %%, less than 15", best)
	}
}

// checkSaving: half the power saves at least a tenth of the cost, and more than nine tenths
// of it save.
func checkSaving(t *testing.T, half, most *bluegene.Effect) {
	t.Helper()
	if half.Saving[0] < 10 {
		t.Errorf("%s: half the power saves %.1f %%, less than 10", half.Month, half.Saving[0])
	}
	for i := range half.Saving {
		if half.Saving[i] <= most.Saving[i] {
			t.Errorf("%s: half the power saves %.1f %%, nine tenths %.1f", half.Month, half.Saving[i], most.Saving[i])
		}
	}
}

// checkRatios: the dearer the day, the more is saved.
func checkRatios(t *testing.T, c *bluegene.Effect) {
	t.Helper()
	if c.Saving[0] >= c.Saving[1] || c.Saving[1] >= c.Saving[2] {
		t.Errorf("%s, %d %%: %.2f %% are saved at 1:3, 1:4 and 1:5", c.Month, c.Percent, c.Saving)
	}
}

// checkLoss: what half the power costs in work done in the month is more than what nine
// tenths cost, and less than what the budget withholds in 14 of 24 hours: the night makes
// up for some.
func checkLoss(t *testing.T, half, most *bluegene.Effect) {
	t.Helper()
	t.Logf("%s: utilization %.1f %%, %.1f at 90 %% of the power, %.1f at 50 %%", half.Month, half.Default, most.Held, half.Held)
	if least := half.Default * (1 - 0.5*14/24); half.Held >= most.Held || most.Held > half.Default+0.5 || half.Held < least {
		t.Errorf("%s: %.1f %% of the machine by default, %.1f at 90 %% of the power, %.1f at 50", half.Month, half.Default, most.Held, half.Held)
	}
}
