package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Calendar tells which kind of day it is at an instant.
type Calendar struct {
	Zone     *time.Location // of the clock; nil: UTC
	Holidays []Holiday
}

// Holiday is the kind of day, beside the weekdays 0 to 6, that the holidays of a [Calendar]
// are: they are no weekdays then.
const holiday = 7

// kinds are how many kinds of days there are.
const kinds = 8

// Holiday is a span of days, both ends included, of one year or of every year.
type Holiday struct {
	From, Until Date // Until before From in a span of every year goes on after new year
}

// Date is a day. Year 0 stands for every year.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

func (d Date) compare(e Date) int {
	return cmp.Or(cmp.Compare(d.Year, e.Year), cmp.Compare(d.Month, e.Month), cmp.Compare(d.Day, e.Day))
}

// has says whether a day, with its year, is in the span.
func (h Holiday) has(day Date) bool {
	if h.From.Year == 0 {
		day.Year = 0
	}
	after, before := day.compare(h.From) >= 0, day.compare(h.Until) <= 0
	if h.From.compare(h.Until) > 0 {
		return after || before
	}
	return after && before
}

// ParseHoliday reads a day or a span of days: "2026-04-03", "2026-07-20..2026-08-07", or
// "01-01" and "12-24..01-02" for those of every year.
func ParseHoliday(text string) (Holiday, error) {
	low, high, isSpan := strings.Cut(text, "..")
	from, err := parseDate(low)
	if err != nil {
		return Holiday{}, err
	}
	if !isSpan {
		return Holiday{from, from}, nil
	}
	until, err := parseDate(high)
	switch {
	case err != nil:
		return Holiday{}, err
	case (from.Year == 0) != (until.Year == 0):
		return Holiday{}, fmt.Errorf("%q has a year at one end only; write it at both, or at none for every year", text)
	case from.Year > 0 && from.compare(until) > 0:
		return Holiday{}, fmt.Errorf("%q ends before it begins; write the earlier day first", text)
	}
	return Holiday{from, until}, nil
}

// parseDate reads "2026-04-03", or "04-03" without a year. 29 February is a day of every
// year that has one.
func parseDate(text string) (Date, error) {
	text = strings.TrimSpace(text)
	if day, err := time.Parse(time.DateOnly, text); err == nil && day.Year() > 0 {
		return Date{day.Year(), day.Month(), day.Day()}, nil
	}
	const leap = "2024-"
	if day, err := time.Parse(time.DateOnly, leap+text); err == nil {
		return Date{0, day.Month(), day.Day()}, nil
	}
	return Date{}, fmt.Errorf("%q is no day; write it as 2026-04-03, or as 04-03 for every year; a span as 12-24..01-02", text)
}

// ParseDays reads names of kinds of days: weekdays and ranges of them as
// [contract.ParseDays] does, and "holiday" for the holidays of the calendar, which are no
// weekdays: "sat-sun, holiday". They are numbered from Sunday, 0; holidays are 7.
func ParseDays(text string) (set contract.Set, err error) {
	var weekdays []string
	for part := range strings.SplitSeq(text, ",") {
		if strings.EqualFold(strings.TrimSpace(part), "holiday") {
			set |= 1 << holiday
		} else {
			weekdays = append(weekdays, part)
		}
	}
	if len(weekdays) == 0 {
		return set, nil
	}
	named, err := contract.ParseDays(strings.Join(weekdays, ","))
	if err != nil {
		return 0, fmt.Errorf("%w; or \"holiday\"", err)
	}
	return set | named, nil
}

// kind is that of a day, which is this number of days after 1970-01-01.
func (c *Calendar) kind(number int64) (month time.Month, kind int) {
	day := protocol.Instant(number * int64(protocol.Day)).Time()
	date := Date{day.Year(), day.Month(), day.Day()}
	if slices.ContainsFunc(c.Holidays, func(h Holiday) bool { return h.has(date) }) {
		return date.Month, holiday
	}
	return date.Month, int(day.Weekday())
}

// offset is by how much the clock is ahead of UTC at an instant, and for how long at least
// it stays so.
func (c *Calendar) offset(at protocol.Instant) (ahead protocol.Duration, until protocol.Instant) {
	clock := at.Time().In(cmp.Or(c.Zone, time.UTC))
	_, seconds := clock.Zone()
	ahead, until = protocol.Duration(seconds)*protocol.Second, math.MaxInt64
	if _, end := clock.ZoneBounds(); !end.IsZero() {
		until = protocol.InstantOf(end)
	}
	if until <= at { // package time forgets that leap years of rules have a 366th day
		const step = protocol.Instant(quarter * protocol.Minute)
		until = at - at%step + step
	}
	return ahead, until
}
