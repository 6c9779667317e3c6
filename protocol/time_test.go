package protocol_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestNeverAbsorbs: a wait that never ends stays so whatever is added, and no sum
// of spans turns negative.
func TestNeverAbsorbs(t *testing.T) {
	t.Parallel()
	const never = protocol.Never
	for _, tt := range []struct{ a, b, want protocol.Duration }{
		{1, 2, 3},
		{5, -7, -2},
		{never, 0, never},
		{0, never, never},
		{never, never, never},
		{never, -1, never},
		{never - 1, 1, never},
		{never - 1, 2, never},
		{never - 2, 1, never - 1},
	} {
		if got := tt.a.Plus(tt.b); got != tt.want {
			t.Errorf("%d.Plus(%d) = %d, want %d", int64(tt.a), int64(tt.b), int64(got), int64(tt.want))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Int64Range(0, math.MaxInt64)
		a, b := protocol.Duration(span.Draw(t, "a")), protocol.Duration(span.Draw(t, "b"))
		if sum := a.Plus(b); sum < max(a, b) || sum != b.Plus(a) {
			t.Fatalf("%d + %d = %d", int64(a), int64(b), int64(sum))
		}
		if now := protocol.Instant(span.Draw(t, "now")); now.Add(a) < now {
			t.Fatalf("%d after %d is %d", int64(a), int64(now), int64(now.Add(a)))
		}
	})
}

func TestRescale(t *testing.T) {
	t.Parallel()
	const never = protocol.Never
	for _, tt := range []struct {
		d        protocol.Duration
		from, to int
		want     protocol.Duration
	}{
		{100, 300, 300, 100},
		{100, 375, 1300, 29}, // 28.8
		{100, 1300, 375, 347},
		{100, 0, 375, 100},
		{100, 375, 0, 100},
		{0, 1, 2, 0},
		{never, 1, 2, never},
		{never - 1, 2, 1, never},
		{never - 1, 1, 1 << 40, 8388608},
		{never - 1, 1 << 62, 1, never},
	} {
		if got := tt.d.Rescale(tt.from, tt.to); got != tt.want {
			t.Errorf("%d.Rescale(%d, %d) = %d, want %d", int64(tt.d), tt.from, tt.to, int64(got), int64(tt.want))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := protocol.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "d"))
		from, to := rapid.IntRange(1, 5000).Draw(t, "from"), rapid.IntRange(1, 5000).Draw(t, "to")
		there := d.Rescale(from, to)
		if over := int64(there)*int64(to) - int64(d)*int64(from); over < 0 || over >= int64(to) {
			t.Fatalf("%d at speed %d is %d at speed %d", int64(d), from, int64(there), to)
		}
	})
}

func TestDurationsConvert(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]protocol.Duration{
		0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Second: protocol.Second,
		24 * time.Hour: protocol.Day, -1: 0, -time.Second: -protocol.Second,
	} {
		if got := protocol.DurationOf(d); got != want {
			t.Errorf("DurationOf(%v) = %d, want %d", d, int64(got), int64(want))
		}
	}
	if got := protocol.Never.Std(); got != math.MaxInt64 {
		t.Errorf("Never.Std() = %v", got)
	}
	if got := (1500 * protocol.Millisecond).Std(); got != 1500*time.Millisecond {
		t.Errorf("Std() = %v", got)
	}
	if protocol.Never.String() != "never" || (90*protocol.Second).String() != "1m30s" {
		t.Errorf("printed as %v and %v", protocol.Never, 90*protocol.Second)
	}
}

func TestInstantsConvert(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 4, 30, 0, 123_456_789, time.UTC)
	now := protocol.InstantOf(at)
	if want := at.Truncate(time.Millisecond); !now.Time().Equal(want) {
		t.Errorf("%v comes back as %v", at, now.Time())
	}
	if got := now.Add(protocol.Never); got != math.MaxInt64 {
		t.Errorf("adding Never gives %d", int64(got))
	}
	if got := now.Add(protocol.Minute).Sub(now); got != protocol.Minute {
		t.Errorf("a minute later is %v later", got)
	}
}
