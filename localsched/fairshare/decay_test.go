package fairshare_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const hour = protocol.Hour

// TestHalfLife: what is left after whole and half half-lives, and after more than there are bits.
func TestHalfLife(t *testing.T) {
	t.Parallel()
	const amount = 1 << 50
	for _, tt := range []struct {
		halfLife protocol.Duration
		periods  int64
		want     float64
	}{
		{7 * protocol.Day, 0, 1},
		{7 * protocol.Day, 7 * 24, 0.5},
		{7 * protocol.Day, 7 * 12, math.Sqrt(0.5)},
		{7 * protocol.Day, 70 * 24, 1.0 / 1024},
		{hour, 1, 0.5},
		{hour, 60, 0},
		{0, 1, 0.5}, // a half-life is at least a period
	} {
		d := fairshare.NewDecay(tt.halfLife)
		got := d.In(fairshare.Use{Period: 5, Amount: amount}, 5+tt.periods)
		if want := tt.want * amount; math.Abs(float64(got.Amount)-want) > 1e-6*want+1 || got.Period != 5+tt.periods {
			t.Errorf("half-life %v: after %d periods %d is left, want %.0f", tt.halfLife, tt.periods, got.Amount, want)
		}
	}
}

// TestDecayIsExact: however often use is looked at on the way, it is the same in the end.
func TestDecayIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := fairshare.NewDecay(protocol.Duration(rapid.Int64Range(0, int64(30*protocol.Day)).Draw(t, "half-life")))
		u := fairshare.Use{Period: rapid.Int64Range(-10, 10).Draw(t, "period"), Amount: rapid.Int64Range(0, math.MaxInt64).Draw(t, "amount")}
		a, b := rapid.Int64Range(0, 300).Draw(t, "a"), rapid.Int64Range(0, 300).Draw(t, "b")
		at := u.Period + a
		if once, twice := d.In(u, at+b), d.In(d.In(u, at), at+b); once != twice {
			t.Fatalf("%v at once, %v in two steps", once, twice)
		}
		if back := d.In(u, u.Period-a); back != u {
			t.Fatalf("an earlier period makes %v of %v", back, u)
		}
	})
}

// TestUseOfRun: a run counts by the hours in which it ran, the earlier ones less.
func TestUseOfRun(t *testing.T) {
	t.Parallel()
	d := fairshare.NewDecay(hour) // halves each hour
	at := func(hours float64) protocol.Instant { return protocol.Instant(hours * float64(hour)) }
	h := int64(hour)
	for _, tt := range []struct {
		name     string
		cpus     int
		from, to protocol.Instant
		want     fairshare.Use
	}{
		{"within an hour", 3, at(2.25), at(2.75), fairshare.Use{Period: 2, Amount: 3 * h / 2}},
		{"over one", 2, at(0.5), at(1.25), fairshare.Use{Period: 1, Amount: h/2 + h/2}},
		{"over three", 1, at(0), at(3), fairshare.Use{Period: 3, Amount: h/8 + h/4 + h/2}},
		{"no time", 9, at(1.5), at(1.5), fairshare.Use{Period: 1}},
		{"before it began", 9, at(1.5), at(1.25), fairshare.Use{Period: 1}},
		{"before 1970", 1, at(-0.5), at(0), fairshare.Use{Period: 0, Amount: h / 4}},
		{"too much", math.MaxInt32, 0, protocol.Instant(h) * protocol.Instant(1<<20), fairshare.Use{Period: 1 << 20, Amount: math.MaxInt32 * h}},
	} {
		got := d.Of(tt.cpus, tt.from, tt.to)
		if got.Period != tt.want.Period || math.Abs(float64(got.Amount-tt.want.Amount)) > 3+float64(tt.want.Amount)/1e12 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestSum: use of different periods is added in the later one, in either order.
func TestSum(t *testing.T) {
	t.Parallel()
	d := fairshare.NewDecay(2 * hour)
	a, b := fairshare.Use{Period: 1, Amount: 4_000_000}, fairshare.Use{Period: 5, Amount: 7}
	if x, y := d.Sum(a, b), d.Sum(b, a); x != y || x.Period != 5 || x.Amount < 1_000_004 || x.Amount > 1_000_007 {
		t.Errorf("%v and %v, want 1000007 in period 5", x, y)
	}
	full := fairshare.Use{Amount: math.MaxInt64}
	if got := d.Sum(full, full); got != full {
		t.Errorf("the largest twice is %v", got)
	}
}

// TestMost: a machine that always runs jobs on all CPUs comes near the most that it can have used, and never beyond.
func TestMost(t *testing.T) {
	t.Parallel()
	for _, halfLife := range []protocol.Duration{hour, 7 * protocol.Day, 365 * protocol.Day} {
		d, used := fairshare.NewDecay(halfLife), fairshare.Use{}
		periods := 30 * int64(halfLife/hour)
		for i := range periods {
			used = d.Sum(used, d.Of(100, protocol.Instant(i*int64(hour)), protocol.Instant((i+1)*int64(hour))-1))
		}
		if most := d.Most(100); used.Amount > most || float64(used.Amount) < 0.999*float64(most) {
			t.Errorf("half-life %v: 100 CPUs have used %d, the most is %d", halfLife, used.Amount, most)
		}
	}
	if got := fairshare.NewDecay(hour).Most(math.MaxInt); got != math.MaxInt64 {
		t.Errorf("the most of the largest machine is %d", got)
	}
	if got := fairshare.Scaled(math.MaxInt64, math.MaxInt64, math.MaxInt64/2); got != math.MaxInt64/2 {
		t.Errorf("half of the largest is %d", got)
	}
}
