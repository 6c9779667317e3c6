package protocol

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Instant is a point of wall-clock time in milliseconds since the Unix epoch.
// It belongs to the clock of one site and never crosses to another.
type Instant int64

// Duration is a span of time in milliseconds.
type Duration int64

// The common spans.
const (
	Millisecond Duration = 1
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
	Day                  = 24 * Hour
)

// Never is the wait of a job that cannot start: the AWT of infinity of
// [SS 2.1].
const Never Duration = math.MaxInt64

// InstantOf converts a standard time, dropping what is below a millisecond.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time converts to a standard time in UTC.
func (t Instant) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Text is the instant as people read it, in UTC.
func (t Instant) Text() string { return t.Time().Format("2006-01-02 15:04:05Z") }

// Add returns the instant d later. Adding [Never] gives the last instant.
func (t Instant) Add(d Duration) Instant {
	if d > 0 && int64(t) > math.MaxInt64-int64(d) {
		return math.MaxInt64
	}
	return t + Instant(d)
}

// Sub returns the span from u to t.
func (t Instant) Sub(u Instant) Duration { return Duration(t - u) }

// DurationOf converts a standard duration, rounding up to a millisecond so that
// a positive span never becomes zero.
func DurationOf(d time.Duration) Duration {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	return Duration(ms)
}

// Std converts to a standard duration. [Never] gives the longest one.
func (d Duration) Std() time.Duration {
	if d > Duration(math.MaxInt64/int64(time.Millisecond)) {
		return math.MaxInt64
	}
	return time.Duration(d) * time.Millisecond
}

// Plus adds two spans; [Never] absorbs.
func (d Duration) Plus(e Duration) Duration {
	if d == Never || e == Never || (e > 0 && d > Never-e) {
		return Never
	}
	return d + e
}

// Rescale is how long what takes d at one speed takes at another, rounded up. A
// speed that is not positive counts as equal to the other; [Never] stays.
func (d Duration) Rescale(from, to int) Duration {
	if from <= 0 || to <= 0 || from == to || d <= 0 || d == Never {
		return d
	}
	high, low := bits.Mul64(uint64(d), uint64(from))
	low, carry := bits.Add64(low, uint64(to)-1, 0)
	if high += carry; high >= uint64(to) {
		return Never
	}
	scaled, _ := bits.Div64(high, low, uint64(to))
	if scaled >= uint64(Never) {
		return Never
	}
	return Duration(scaled)
}

// String prints the span as Go durations are printed, "never" for [Never].
func (d Duration) String() string {
	if d == Never {
		return "never"
	}
	return d.Std().String()
}

// Text writes the span for people: h:mm:ss, or d-hh:mm:ss from a day on. A part of a
// second counts as a whole one, so that a wait never reads as none.
func (d Duration) Text() string {
	if d == Never {
		return "never"
	}
	if d < 0 {
		return "-" + (-max(d, -Never)).Text()
	}
	seconds := int64(d / Second)
	if d%Second > 0 {
		seconds++
	}
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	if h >= 24 {
		return fmt.Sprintf("%d-%02d:%02d:%02d", h/24, h%24, m, s)
	}
	return fmt.Sprintf("%d:%02d:%02d", h, m, s)
}

// Transfer is how long data take over a link, rounded up: its latency, and their bytes
// at its bandwidth in bytes a second.
func Transfer(data int64, latency Duration, bandwidth int64) Duration {
	if data <= 0 || bandwidth <= 0 {
		return latency
	}
	high, low := bits.Mul64(uint64(data), uint64(Second))
	if high >= uint64(bandwidth) {
		return Never
	}
	span, rest := bits.Div64(high, low, uint64(bandwidth))
	if rest > 0 {
		span++
	}
	return latency.Plus(Duration(min(span, uint64(Never))))
}
