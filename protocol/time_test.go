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
