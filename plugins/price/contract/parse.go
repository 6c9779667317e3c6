package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseMonths reads names of months and ranges of them: "oct-mar, jul".
func ParseMonths(text string) (Set, error) {
	names := []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	return parseSet(text, "month", names, 1)
}

// ParseDays reads names of weekdays and ranges of them: "mon-fri, sun".
func ParseDays(text string) (Set, error) {
	return parseSet(text, "weekday", []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, 0)
}

// parseSet reads a list of names and ranges, which may go over the end: "fri-mon".
func parseSet(text, noun string, names []string, first int) (set Set, err error) {
	find := func(name string) (int, error) {
		at := slices.Index(names, strings.ToLower(strings.TrimSpace(name)))
		if at < first {
			return 0, fmt.Errorf("%q is no %s; use %s, or ranges of them as %s-%s", name, noun,
				strings.Join(names[first:], ", "), names[first], names[first+2])
		}
		return at, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		from, err := find(low)
		if err != nil {
			return 0, err
		}
		until := from
		if isRange {
			if until, err = find(high); err != nil {
				return 0, err
			}
		}
		for at := from; ; at++ {
			if at == len(names) {
				at = first
			}
			if set |= 1 << at; at == until {
				break
			}
		}
	}
	return set, nil
}

// ParseHours reads times of the day: "06:00-22:00" or "22:00-06:00, 12:00-13:30". They
// begin and end on quarters of an hour.
func ParseHours(text string) (spans []Span, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, fromOK := parseTime(low)
		until, untilOK := parseTime(high)
		switch {
		case !isRange || !fromOK || !untilOK:
			return nil, fmt.Errorf("%q is no time of the day; write it on quarters of an hour, as \"06:00-22:15\"", part)
		case from == until:
			return nil, fmt.Errorf("%q is empty; write 00:00-24:00 for a whole day", part)
		}
		spans = append(spans, Span{from, until})
	}
	return spans, nil
}

// parseTime reads "06:15" as minutes since midnight; "24:00" is the end of the day.
func parseTime(text string) (minute int, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) != len("06:15") || text[2] != ':' {
		return 0, false
	}
	hours, hoursErr := strconv.ParseUint(text[:2], 10, 8)
	minutes, minutesErr := strconv.ParseUint(text[3:], 10, 8)
	minute = int(hours*60 + minutes)
	return minute, hoursErr == nil && minutesErr == nil && minutes < 60 && minutes%15 == 0 && minute <= 24*60
}
