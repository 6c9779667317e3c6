package budget

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Hours are times of the week at which a budget holds. The zero Hours are all of them.
type Hours struct{ parts []part }

// part is a time of the day on some days of the week.
type part struct {
	days  contract.Set // Sunday is 0; empty: all
	hours contract.Span
}

// Always is how all hours are written.
const Always = "always"

// ParseHours reads "always", "09:00-23:00" or "mon-fri 07:00-20:00, sat 08:00-12:00". Times
// are quarters of an hour. One that ends before it begins goes on after midnight:
// "22:00-06:00". Its two parts belong each to the day on which they are, as in a tariff.
// The error names every part that is wrong and says how to write it.
func ParseHours(text string) (Hours, error) {
	if strings.TrimSpace(text) == Always {
		return Hours{}, nil
	}
	var h Hours
	var wrong []error
	for piece := range strings.SplitSeq(text, ",") {
		one, err := parsePart(strings.TrimSpace(piece))
		if err != nil {
			wrong = append(wrong, err)
		}
		h.parts = append(h.parts, one)
	}
	if len(wrong) > 0 {
		return Hours{}, errors.Join(wrong...)
	}
	return h, nil
}

func parsePart(text string) (part, error) {
	if text == "" {
		return part{}, errors.New(`a part is empty; write "always", or times as "09:00-23:00" or "mon-fri 07:00-20:00"`)
	}
	var one part
	days, hours, both := strings.Cut(text, " ")
	if !both {
		days, hours = "", text
	}
	if both {
		set, err := contract.ParseDays(days)
		if err != nil {
			return part{}, fmt.Errorf("in %q: %w", text, err)
		}
		one.days = set
	}
	spans, err := contract.ParseHours(hours)
	if err != nil {
		return part{}, fmt.Errorf("in %q: %w", text, err)
	}
	one.hours = spans[0] // commas have been cut at already
	return one, nil
}

// Has says whether a reading of the clock is among the hours.
func (h Hours) Has(clock time.Time) bool {
	if len(h.parts) == 0 {
		return true
	}
	minute := clock.Hour()*60 + clock.Minute()
	return slices.ContainsFunc(h.parts, func(p part) bool {
		return (p.days == 0 || p.days.Has(int(clock.Weekday()))) && within(p.hours, minute)
	})
}

func within(s contract.Span, minute int) bool {
	if s.From < s.Until {
		return s.From <= minute && minute < s.Until
	}
	return minute >= s.From || minute < s.Until
}

// overtime bounds how long the hours in which a time ends are followed.
const overtime = 15 * protocol.Day

// Signal is a budget in milliwatts that holds while the clock of a zone shows one of the
// hours. An hour that the clock skips is not there; one that it shows twice counts twice.
// Before the time from which it is asked for there is no budget; the hours in which that
// time ends are listed to their own end. All hours are a budget for ever.
func (h Hours) Signal(zone *time.Location, from, until protocol.Instant, limit int64) power.Signal {
	if len(h.parts) == 0 {
		return power.Always(limit)
	}
	var steps []power.Step
	holds := false
	// Clocks are whole quarters of an hour apart from UTC.
	for at := quarter(from); at < until || holds && at < until.Add(overtime); at = at.Add(price.Resolution) {
		if now := h.Has(at.Time().In(zone)); now != holds {
			steps = append(steps, power.Step{At: at, Limit: limitIf(now, limit)})
			holds = now
		}
	}
	return signal(steps)
}

// quarter is the beginning of the quarter of an hour in which an instant is.
func quarter(at protocol.Instant) protocol.Instant {
	const length = protocol.Instant(price.Resolution)
	return at - (at%length+length)%length
}

// limitIf is a budget if it holds, and none otherwise.
func limitIf(holds bool, limit int64) int64 {
	if holds {
		return max(0, limit)
	}
	return power.Unlimited
}
