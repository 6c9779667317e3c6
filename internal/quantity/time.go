package quantity

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxTimeLimit is the longest time limit of Slurm, which counts its minutes in 32 bits.
const maxTimeLimit = math.MaxUint32 * protocol.Minute

// The errors of times.
var (
	ErrTime     = errors.New("is not a time; write min, min:s, h:min:s, d-h, d-h:min or d-h:min:s")
	ErrLongTime = errors.New("is a longer time than Slurm can count")
)

// ParseTimeLimit reads a time limit as Slurm's commands take it, and as they print it (sbatch(1), --time): "min", "min:s",
// "h:min:s", "d-h", "d-h:min" or "d-h:min:s", where each number may also be above 59. It is [protocol.Never] for "-1" and
// for UNLIMITED and INFINITE, in any case. What [protocol.Duration.Text] prints reads back.
func ParseTimeLimit(text string) (protocol.Duration, error) {
	switch strings.ToUpper(text) {
	case "UNLIMITED", "INFINITE", "-1":
		return protocol.Never, nil
	}
	limit, _, err := parseTime(text)
	if err == nil && limit > maxTimeLimit {
		return 0, ErrLongTime
	}
	return limit, err
}

// ParseCPUTime reads a time that sacct prints: in the notation of [ParseTimeLimit], and if it has seconds, possibly with a
// fraction, of which whole milliseconds count.
func ParseCPUTime(text string) (protocol.Duration, error) {
	clock, fraction, hasFraction := strings.Cut(text, ".")
	total, hasSeconds, err := parseTime(clock)
	if err != nil || !hasFraction {
		return total, err
	}
	ms, err := decimal.Form{Scale: 3, Rounding: decimal.TowardZero}.Parse("0." + fraction)
	if err != nil || !hasSeconds {
		return 0, ErrTime
	}
	return total + protocol.Duration(ms), nil
}

// parseTime reads a time of whole seconds, and reports whether seconds are written. With the largest numbers the sum is
// far from an overflow.
func parseTime(text string) (total protocol.Duration, hasSeconds bool, err error) {
	units := []protocol.Duration{protocol.Day, protocol.Hour, protocol.Minute, protocol.Second}
	days, clock, hasDays := strings.Cut(text, "-")
	parts := append([]string{days}, strings.Split(clock, ":")...)
	if !hasDays {
		parts, units = strings.Split(text, ":"), units[1:]
	}
	if !hasDays && len(parts) < len(units) {
		units = units[1:]
	}
	if len(parts) > len(units) {
		return 0, false, ErrTime
	}
	for i, digits := range parts {
		n, err := strconv.ParseUint(digits, 10, 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return 0, false, ErrLongTime
		case err != nil:
			return 0, false, ErrTime
		}
		total += protocol.Duration(n) * units[i]
	}
	return total, len(parts) == len(units), nil
}
