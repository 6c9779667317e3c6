package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxDuration keeps sums of a few durations and an instant far from overflow.
const maxDuration = 100 * 365 * protocol.Day

// unit is a unit of time with its name in the configuration.
type unit struct {
	name string
	size protocol.Duration
}

// timeUnits lists the units from the largest down.
func timeUnits() []unit {
	return []unit{
		{"d", protocol.Day}, {"h", protocol.Hour}, {"m", protocol.Minute}, {"s", protocol.Second}, {"ms", protocol.Millisecond},
	}
}

var errDuration = errors.New(`is no duration; write a number and a unit of ms, s, m, h or d, as "30s", "2h" or "1h30m"`)

// decodeDuration reads "30s", "2h", "7d", "1h30m", or "0".
func decodeDuration(raw any) (protocol.Duration, error) {
	text, ok := raw.(string)
	if !ok {
		return 0, mismatch(raw, `a duration in quotes, as "30s", "2h" or "7d"`)
	}
	if text == "0" {
		return 0, nil
	}
	var total protocol.Duration
	rest := text
	if days, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil {
			return 0, errDuration
		}
		total, rest = protocol.Duration(n)*protocol.Day, after
	}
	if rest != "" || total == 0 {
		d, err := time.ParseDuration(rest)
		switch {
		case rest == "" && total == 0 && text != "":
			return 0, nil // "0d"
		case err != nil:
			return 0, errDuration
		case d < 0:
			return 0, errors.New("is negative; durations are 0 or more")
		}
		total += protocol.DurationOf(d)
	}
	if total > maxDuration {
		return 0, errors.New("is more than a hundred years; write less")
	}
	return total, nil
}

// formatDuration prints what decodeDuration reads.
func formatDuration(d protocol.Duration) string {
	var b strings.Builder
	for _, u := range timeUnits() {
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			d -= n * u.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}

// memoryUnit returns how many megabytes a unit has.
func memoryUnit(name string) (mb int64, ok bool) {
	switch strings.ToUpper(strings.TrimSpace(name)) {
	case "MB", "M", "MIB":
		return 1, true
	case "GB", "G", "GIB":
		return 1 << 10, true
	case "TB", "T", "TIB":
		return 1 << 20, true
	}
	return 0, false
}

// decodeMegabytes reads "512MB", "4GB", "2TB", or a number of megabytes.
func decodeMegabytes(raw any) (Megabytes, error) {
	switch raw := raw.(type) {
	case int64:
		if raw < 0 {
			return 0, errors.New("is negative; sizes are 0 or more")
		}
		return Megabytes(raw), nil
	case string:
		end := strings.IndexFunc(raw, func(r rune) bool { return r < '0' || r > '9' })
		n, err := strconv.ParseInt(raw[:max(0, end)], 10, 64)
		mb, ok := memoryUnit(raw[max(0, end):])
		if err != nil || !ok || n > math.MaxInt64/mb {
			return 0, errors.New(`is no size; write a number and a unit of MB, GB or TB, as "512MB" or "4GB"`)
		}
		return Megabytes(n * mb), nil
	}
	return 0, mismatch(raw, `a size, as "512MB" or "4GB", or a number of megabytes`)
}

// formatMegabytes prints what decodeMegabytes reads.
func formatMegabytes(m Megabytes) string {
	switch {
	case m > 0 && m%(1<<20) == 0:
		return fmt.Sprintf("%dTB", m>>20)
	case m > 0 && m%(1<<10) == 0:
		return fmt.Sprintf("%dGB", m>>10)
	}
	return fmt.Sprintf("%dMB", m)
}
