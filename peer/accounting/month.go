package accounting

import (
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Month is a calendar month in UTC.
type Month struct {
	Year  int
	Month time.Month
}

// monthForm is how months are written, as time.Parse reads it.
const monthForm = "2006-01"

// ParseMonth reads a month such as 2026-11.
func ParseMonth(text string) (Month, error) {
	at, err := time.Parse(monthForm, text)
	if err != nil || at.Year() < 1970 {
		return Month{}, fmt.Errorf("%.40q is not a month; write YYYY-MM, as 2026-11", text)
	}
	return Month{at.Year(), at.Month()}, nil
}

// MonthOf is the month of an instant.
func MonthOf(at protocol.Instant) Month {
	t := at.Time()
	return Month{t.Year(), t.Month()}
}

// String writes the month as [ParseMonth] reads it.
func (m Month) String() string { return m.start(0).Time().Format(monthForm) }

// Bounds are the first instant of the month and the first one after it.
func (m Month) Bounds() (since, until protocol.Instant) { return m.start(0), m.start(1) }

// start is the first instant of a month after this one, by their distance.
func (m Month) start(later time.Month) protocol.Instant {
	return protocol.InstantOf(time.Date(m.Year, m.Month+later, 1, 0, 0, 0, 0, time.UTC))
}
