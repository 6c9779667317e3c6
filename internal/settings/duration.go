package settings

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxDuration is the longest duration that can be written. Sums of a few such
// and an instant are far from an overflow.
const MaxDuration = 100 * 365 * protocol.Day

// unit is a unit of time with its name.
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

func decodeDuration(raw any) (protocol.Duration, error) {
	text, ok := raw.(string)
	if !ok {
		return 0, Mismatch(raw, `a duration in quotes, as "30s", "2h" or "7d"`)
	}
	return ParseDuration(text)
}

// ErrTooLong says that a duration is longer than [MaxDuration].
var ErrTooLong = errors.New("is more than a hundred years; write less")

// ParseDuration reads "30s", "2h", "7d", "1h30m", or "0".
func ParseDuration(text string) (protocol.Duration, error) {
	errForm := errors.New(`is not a valid duration; write a number and a unit of ms, s, m, h or d, as "30s", "2h" or "1h30m"`)
	if text == "0" {
		return 0, nil
	}
	var total protocol.Duration
	rest := text
	if days, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil {
			return 0, errForm
		}
		total, rest = protocol.Duration(n)*protocol.Day, after
	}
	if rest != "" || total == 0 {
		d, err := time.ParseDuration(rest)
		switch {
		case rest == "" && total == 0 && text != "":
			return 0, nil // "0d"
		case err != nil:
			return 0, errForm
		case d < 0:
			return 0, errors.New("is negative; durations are 0 or more")
		}
		total += protocol.DurationOf(d)
	}
	if total > MaxDuration {
		return 0, ErrTooLong
	}
	return total, nil
}

// FormatDuration prints what [ParseDuration] reads.
func FormatDuration(d protocol.Duration) string {
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
