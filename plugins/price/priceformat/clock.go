package priceformat

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// clockForm is how bare clock readings are written.
const clockForm = "2006-01-02 15:04"

// ParseClock reads "2026-03-01", "2026-03-01 12:00" or "2026-03-01T12:00": what a clock
// shows, of whatever zone. The result is that reading in UTC.
func ParseClock(text string) (time.Time, error) {
	for _, form := range []string{clockForm, "2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly} {
		if clock, err := time.ParseInLocation(form, text, time.UTC); err == nil {
			return clock, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is no date and time; write it as \"2026-01-31 00:00\", without a zone", problems.Quote(text))
}

// parseTime reads a time with its offset from UTC (RFC 3339, seconds optional).
func parseTime(text string) (read time.Time, ok bool) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if read, err := time.Parse(form, text); err == nil {
			return read, true
		}
	}
	return time.Time{}, false
}

// instants are when a clock in the zone shows this reading, in order: once as a rule,
// never when it is put forward then, twice when it is put back.
func instants(clock time.Time, zone *time.Location) (found []protocol.Instant) {
	const day = 24 * 60 * 60
	reading := clock.Unix()
	// No zone changes its clock twice within two days.
	for _, near := range []int64{reading - day, reading + day} {
		offset := offsetAt(near, zone)
		at := protocol.InstantOf(time.Unix(reading-offset, 0))
		if offsetAt(reading-offset, zone) == offset && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	slices.Sort(found)
	return found
}

// offsetAt is how many seconds the zone's clock is ahead of UTC at a second of Unix
// time.
func offsetAt(second int64, zone *time.Location) int64 {
	_, offset := time.Unix(second, 0).In(zone).Zone()
	return int64(offset)
}

// offsetText prints an offset in seconds as "+01:00".
func offsetText(seconds int64) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
}
