package cost

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Period is a time of the year, the week and the day with a rate of its own.
type Period struct {
	Name    string       // for people
	Months  contract.Set // January is 1; empty: all
	Days    contract.Set // as of [ParseDays]; empty: all
	Hours   []contract.Span
	PerHour protocol.Micro
}

// holds says whether the period has the rate of a time of such days.
func (p *Period) holds(month time.Month, kind, minute int) bool {
	if p.Months != 0 && !p.Months.Has(int(month)) || p.Days != 0 && !p.Days.Has(kind) {
		return false
	}
	in := func(s contract.Span) bool { return inside(s, minute) }
	return len(p.Hours) == 0 || slices.ContainsFunc(p.Hours, in)
}

// inside says whether a minute is in a span, which may go on after midnight.
func inside(s contract.Span, minute int) bool {
	if s.From < s.Until {
		return s.From <= minute && minute < s.Until
	}
	return minute >= s.From || minute < s.Until
}

// Curve is a rate of money by the clock: k_e(t) of [IS Figure 1] and k_w(t) of [IS Figure 2].
// It does not change.
type Curve struct {
	calendar Calendar
	days     [12][kinds][]mark // by month and kind of day
}

// mark is where a rate begins in a day.
type mark struct {
	from    protocol.Duration // since the day's start, by the clock
	perHour protocol.Micro
}

// NewCurve makes the curve that has a period's rate while that holds and perHour else. Of
// periods that overlap the first counts; [Overlaps] finds those.
func NewCurve(calendar Calendar, perHour protocol.Micro, periods []Period) *Curve {
	c := &Curve{calendar: calendar}
	for month := time.January; month <= time.December; month++ {
		for kind := range kinds {
			c.days[month-1][kind] = marks(perHour, periods, month, kind)
		}
	}
	return c
}

// quarter is what hours of the clock are made of, in minutes.
const quarter = 15

// marks cuts a day where the rate changes.
func marks(perHour protocol.Micro, periods []Period, month time.Month, kind int) (all []mark) {
	for minute := 0; minute < 24*60; minute += quarter {
		rate := perHour
		for i := range periods {
			if periods[i].holds(month, kind, minute) {
				rate = periods[i].PerHour
				break
			}
		}
		if n := len(all); n == 0 || all[n-1].perHour != rate {
			all = append(all, mark{protocol.Duration(minute) * protocol.Minute, rate})
		}
	}
	return all
}

// Piece is a time with one rate.
type Piece struct {
	From, Until protocol.Instant
	PerHour     protocol.Micro
}

// Pieces cuts a time where the rate may change, in order. The clock of the zone rules, also
// on days on which it is changed.
func (c *Curve) Pieces(from, until protocol.Instant) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		for from < until {
			offset, end := c.calendar.offset(from)
			stop := min(until, end)
			for from < stop {
				piece := c.piece(from, offset)
				piece.Until = min(piece.Until, stop)
				if !yield(piece) {
					return
				}
				from = piece.Until
			}
		}
	}
}

// piece is the one that begins at an instant, while the clock is so far ahead of UTC.
func (c *Curve) piece(from protocol.Instant, offset protocol.Duration) Piece {
	local := int64(from) + int64(offset)
	number := local / int64(protocol.Day)
	if local%int64(protocol.Day) < 0 {
		number--
	}
	start := protocol.Instant(number*int64(protocol.Day) - int64(offset))
	month, kind := c.calendar.kind(number)
	marks := c.days[month-1][kind]
	at := len(marks) - 1
	for at > 0 && marks[at].from > from.Sub(start) {
		at--
	}
	end := protocol.Day
	if at+1 < len(marks) {
		end = marks[at+1].from
	}
	return Piece{From: from, Until: start.Add(end), PerHour: marks[at].perHour}
}

// At is the rate at an instant.
func (c *Curve) At(t protocol.Instant) protocol.Micro {
	for piece := range c.Pieces(t, t.Add(protocol.Millisecond)) {
		return piece.PerHour
	}
	return 0
}

// integral is the rate times the milliseconds of its time, added up.
func (c *Curve) integral(from, until protocol.Instant) (sum int128.Number) {
	for piece := range c.Pieces(from, until) {
		sum = sum.Plus(int128.Product(int64(piece.PerHour), int64(piece.Until.Sub(piece.From))))
	}
	return sum
}

// Integral is what the rate comes to from an instant on for d: exact to the millisecond,
// then rounded to a millionth, half away from zero.
func (c *Curve) Integral(from protocol.Instant, d protocol.Duration) protocol.Micro {
	return protocol.Micro(c.integral(from, from.Add(d)).Nearest(int64(protocol.Hour)))
}

// Overlap is a time for which two periods have a rate.
type Overlap struct {
	First, Second int // indices of the periods
	When          string
}

// Overlaps lists the pairs of periods that hold at once, with the first such time of each.
func Overlaps(periods []Period) (all []Overlap) {
	for second := range periods {
		for first := range second {
			if when, ok := overlap(&periods[first], &periods[second]); ok {
				all = append(all, Overlap{first, second, when})
			}
		}
	}
	return all
}

// overlap is when both periods hold.
func overlap(p, q *Period) (when string, ok bool) {
	for month := time.January; month <= time.December; month++ {
		for _, kind := range []int{1, 2, 3, 4, 5, 6, 0, holiday} {
			for minute := 0; minute < 24*60; minute += quarter {
				if p.holds(month, kind, minute) && q.holds(month, kind, minute) {
					return fmt.Sprintf("%s in %s at %02d:%02d", dayName(kind), month, minute/60, minute%60), true
				}
			}
		}
	}
	return "", false
}

func dayName(kind int) string {
	if kind == holiday {
		return "holidays"
	}
	return time.Weekday(kind).String() + "s"
}
