package power_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// drawSignal draws a signal within the first 40 ms, with no budget before and after.
func drawSignal(t *rapid.T, label string) power.Signal {
	at := rapid.SliceOfDistinct(rapid.Int64Range(0, 40), rapid.ID[int64]).Draw(t, label)
	slices.Sort(at)
	steps := make([]power.Step, len(at))
	for i := range steps {
		limit := rapid.SampledFrom([]int64{0, 3, 5, 7, power.Unlimited}).Draw(t, "limit")
		steps[i] = power.Step{At: protocol.Instant(at[i]), Limit: limit}
	}
	s, err := power.NewSignal(steps)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range steps { // what it was made of is what it says
		for now := step.At; now < 60 && (i+1 == len(steps) || now < steps[i+1].At); now++ {
			if limit, _ := s.At(now); limit != step.Limit {
				t.Fatalf("at %d the budget is %d, not that of %+v", now, limit, steps)
			}
		}
	}
	return s
}

// TestSignal compares every question with one asked of each millisecond.
func TestSignal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, other := drawSignal(t, "steps"), drawSignal(t, "other steps")
		lowest := power.Min(s, other)
		now := protocol.Instant(rapid.IntRange(-2, 45).Draw(t, "now"))
		limit, until := s.At(now)
		most, allows := limit, power.End
		draw := rapid.SampledFrom([]int64{0, 1, 3, 4, 5, 6, 8, power.Unlimited}).Draw(t, "draw")
		changed := power.End
		for at := now; at < 60; at++ {
			here, _ := s.At(at)
			there, _ := other.At(at)
			if both, _ := lowest.At(at); both != min(here, there) {
				t.Fatalf("at %d the lower of %d and %d is %d", at, here, there, both)
			}
			if here != limit {
				changed = min(changed, at)
			}
			most = max(most, here)
			if here >= draw {
				allows = min(allows, at)
			}
		}
		if until != changed {
			t.Fatalf("at %d it holds until %d, want %d", now, until, changed)
		}
		if got := s.MaxBudget(now); got != most {
			t.Fatalf("from %d on the most is %d, want %d", now, got, most)
		}
		if got := s.Allows(now, draw); got != allows {
			t.Fatalf("from %d on %d is allowed at %d, want %d", now, draw, got, allows)
		}
		if !s.Equal(s, now) || s.Equal(other, 0) != slices.Equal(s.Steps(), other.Steps()) {
			t.Fatalf("equality of %v and %v is wrong", s, other)
		}
	})
}

func TestSignalsThatAreNone(t *testing.T) {
	t.Parallel()
	for want, steps := range map[string][]power.Step{
		"step 1 at 1970-01-01 00:00:00.005 +0000 UTC does not come after": {{At: 5, Limit: 1}, {At: 5, Limit: 2}},
		"it cannot be negative": {{At: 5, Limit: -1}},
	} {
		if _, err := power.NewSignal(steps); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", steps, err, want)
		}
	}
	var none power.Signal
	if limit, until := none.At(7); limit != power.Unlimited || until != power.End || none.Free(7) != 7 {
		t.Errorf("the zero signal: %d until %d", limit, until)
	}
	always := power.Always(9)
	if limit, until := always.At(-1 << 60); limit != 9 || until != power.End || always.Free(0) != power.End || always.Allows(3, 9) != 3 {
		t.Errorf("always: %d until %d", limit, until)
	}
}

// TestDraw: equation 3 of [BG] with its slip mended. A rack has 1,024 nodes of 4 CPUs.
func TestDraw(t *testing.T) {
	t.Parallel()
	const rack, kW = 4096, 1_000_000_000 / 4096 // µW of a CPU for a kW per rack
	rates := power.Rates{Busy: 33 * kW, Idle: 13 * kW}
	for _, c := range []struct {
		name                 string
		working, held, share int
		want                 float64 // kW
	}{
		{"a rack at the site's rate", rack, rack, 0, 33},
		{"a rack at two thirds of it", rack, rack, 666_667, 22},
		{"a midplane", rack / 2, rack / 2, 0, 16.5},
		{"513 nodes hold a rack", 513 * 4, rack, 0, 33*513./1024 + 13*511./1024},
		{"one node holds a midplane", 4, 2048, 0, 33/1024. + 13*511./1024},
		{"more is asked for than held", 2 * rack, rack, 0, 33},
		{"nothing", 0, 0, 0, 0},
	} {
		got := float64(rates.Draw(c.working, c.held, c.share)) / 1e6
		if diff := got - c.want; diff < -0.0001 || diff > 0.0001 {
			t.Errorf("%s: %f kW, want %f", c.name, got, c.want)
		}
	}
}

// TestEquationThreeNeverBinds: as printed, equation 3 is a mean over the nodes of the job,
// some 0.02 kW whatever the job's size. A budget of half of Intrepid's power then stops
// nothing, even with a job on every midplane; as corrected it does.
func TestEquationThreeNeverBinds(t *testing.T) {
	t.Parallel()
	const racks, perRack, budget = 40, 25.0, 0.5 * 40 * 25.0 // kW
	printed, corrected := 0.0, 0.0
	for range 2 * racks { // a job on each midplane
		const nodes, held = 512, 512
		printed += nodes/held*perRack/1024 + (held-nodes)/held*13.0/1024
		corrected += nodes*perRack/1024 + (held-nodes)*13.0/1024
	}
	if printed > budget/100 {
		t.Errorf("as printed a full machine draws %.2f kW of %.0f", printed, budget)
	}
	if corrected <= budget {
		t.Errorf("as corrected a full machine draws %.0f kW of %.0f", corrected, budget)
	}
	rates := power.Rates{Busy: 25_000_000_000 / 4096, Idle: 13_000_000_000 / 4096}
	if got := 2 * racks * rates.Draw(2048, 2048, 0); got <= int64(budget*1e6) || got > int64(1.01*corrected*1e6) {
		t.Errorf("jobs on all midplanes draw %s", power.Text(got))
	}
}

// TestDrawIsBounded: nothing that a request or a configuration can say overflows.
func TestDrawIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rates := power.Rates{Busy: rapid.Int64Range(0, power.MaxRate).Draw(t, "busy"), Idle: rapid.Int64Range(0, power.MaxRate).Draw(t, "idle")}
		held := rapid.IntRange(0, 1<<40).Draw(t, "held")
		working := rapid.IntRange(-1, 1<<40).Draw(t, "working")
		share := rapid.IntRange(0, protocol.MaxPower).Draw(t, "share")
		draw := rates.Draw(working, held, share)
		if draw < 0 || draw > power.MaxDraw {
			t.Fatalf("%d mW", draw)
		}
		if more := rates.Draw(working, held+1, share); more < draw && working > held {
			t.Fatalf("%d mW on one more CPU, %d without", more, draw)
		}
	})
}

func TestRatesCheck(t *testing.T) {
	t.Parallel()
	for _, good := range []power.Rates{{Busy: 1}, {Busy: power.MaxRate, Idle: power.MaxRate}} {
		if err := good.Check(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, bad := range []power.Rates{{}, {Busy: 2, Idle: 3}, {Busy: power.MaxRate + 1}, {Busy: 1, Idle: -1}, {Busy: 1, Idle: power.MaxRate + 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for milliwatts, want := range map[int64]string{
		0: "0 W", 1500: "1.5 W", 60_000_000: "60 kW", 12_345_678: "12.345678 kW", 2_500_000_000: "2.5 MW", power.Unlimited: "any power",
	} {
		if got := power.Text(milliwatts); got != want {
			t.Errorf("%d mW is %q, want %q", milliwatts, got, want)
		}
	}
}
