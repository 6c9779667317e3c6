package quantity

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Side says which instant a text means that leaves out the date or the year.
type Side uint8

// The sides.
const (
	Ahead  Side = iota // the next one after now, as for sbatch --begin
	Behind             // today; of a date without a year, the month that has begun last, as for sacct --starttime
)

// The errors of instants.
var (
	ErrInstant = errors.New("is not an instant; write HH:MM[:SS], YYYY-MM-DD[THH:MM[:SS]], MMDD[YY], MM/DD[/YY], today, tomorrow, " +
		"midnight, noon, fika, teatime, now, or now+COUNT with seconds, minutes, hours, days or weeks, as \"now+2hours\"")
	ErrNoSuchDate = errors.New("is not a date of the calendar, or not a time of day")
)

// ParseInstant reads an instant as Slurm's commands take it (sbatch(1), --begin; sacct(1), --starttime), in the zone of now:
// a time of day, a date, or both in any order with a blank, a hyphen or a T between them. A date alone is its midnight. The
// word now counts in whole seconds, and "uts" precedes seconds since 1970. The errors are [ErrInstant] and [ErrNoSuchDate].
func ParseInstant(text string, now time.Time, side Side) (protocol.Instant, error) {
	if seconds, ok := cutWord(text, "uts"); ok {
		n, err := strconv.ParseInt(seconds, 10, 40)
		if err != nil || n < 0 {
			return 0, ErrInstant
		}
		return protocol.InstantOf(time.Unix(n, 0)), nil
	}
	if rest, ok := cutWord(strings.TrimSpace(text), "now"); ok {
		return parseNow(rest, now)
	}
	r := instantReader{rest: text, now: now}
	for r.next() {
		if err := r.element(); err != nil {
			return 0, err
		}
	}
	return r.instant(side)
}

// cutWord returns what follows a word in any case.
func cutWord(text, word string) (rest string, ok bool) {
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return text, false
	}
	return text[len(word):], true
}

// parseNow reads what follows the word now: nothing, or a count of units before or after it.
func parseNow(rest string, now time.Time) (protocol.Instant, error) {
	at := protocol.InstantOf(now.Truncate(time.Second))
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return at, nil
	}
	sign := protocol.Duration(1)
	if rest[0] == '-' {
		sign = -1
	}
	if rest[0] != '+' && rest[0] != '-' {
		return 0, ErrInstant
	}
	rest = strings.TrimSpace(rest[1:])
	unit := strings.TrimLeft(rest, "0123456789")
	count, err := strconv.ParseUint(rest[:len(rest)-len(unit)], 10, 31)
	if err != nil {
		return 0, ErrInstant
	}
	length, ok := unitOfTime(strings.ToLower(strings.TrimSpace(unit)))
	if !ok {
		return 0, ErrInstant
	}
	return at.Add(sign * protocol.Duration(count) * length), nil
}

// unitOfTime is the length of a unit; none is a second.
func unitOfTime(name string) (protocol.Duration, bool) {
	switch name {
	case "", "second", "seconds":
		return protocol.Second, true
	case "minute", "minutes":
		return protocol.Minute, true
	case "hour", "hours":
		return protocol.Hour, true
	case "day", "days":
		return protocol.Day, true
	case "week", "weeks":
		return 7 * protocol.Day, true
	}
	return 0, false
}

// instantReader reads the elements of an instant, a date and a time of day, each at most once.
type instantReader struct {
	rest string
	now  time.Time

	hasDate, hasClock    bool
	year                 int // 0: left out
	month, day           int
	hour, minute, second int
}

// next cuts what separates elements, and reports whether one follows.
func (r *instantReader) next() bool {
	r.rest = strings.TrimLeft(r.rest, " \t")
	if r.hasDate || r.hasClock {
		if between, ok := strings.CutPrefix(r.rest, "-"); ok {
			r.rest = between
		} else if len(r.rest) > 1 && r.rest[0] == 'T' && isDigit(r.rest[1]) {
			r.rest = r.rest[1:]
		}
	}
	return r.rest != "" || !r.hasDate && !r.hasClock
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// element reads one word, date or time of day.
func (r *instantReader) element() error {
	for word, hour := range map[string]int{"midnight": 0, "noon": 12, "fika": 15, "teatime": 16} {
		if rest, ok := cutWord(r.rest, word); ok {
			r.rest = rest
			return r.setClock(hour, 0, 0)
		}
	}
	for days, word := range []string{"today", "tomorrow"} {
		if rest, ok := cutWord(r.rest, word); ok {
			r.rest = rest
			on := r.now.AddDate(0, 0, days)
			return r.setDate(on.Year(), int(on.Month()), on.Day())
		}
	}
	digits := r.digits()
	if rest, ok := strings.CutPrefix(r.rest, ":"); ok && len(digits) <= 2 {
		r.rest = rest
		return r.clock(digits)
	}
	return r.date(digits)
}

// digits cuts the digits at the front.
func (r *instantReader) digits() string {
	rest := strings.TrimLeft(r.rest, "0123456789")
	digits := r.rest[:len(r.rest)-len(rest)]
	r.rest = rest
	return digits
}

// number reads digits of a width; 0: there are others, or none.
func number(digits string, widths ...int) (int, bool) {
	if !slices.Contains(widths, len(digits)) {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// clock reads MM[:SS][AM|PM] after the hour.
func (r *instantReader) clock(hours string) error {
	hour, okHour := number(hours, 1, 2)
	minute, ok := number(r.digits(), 2)
	second := 0
	if rest, more := strings.CutPrefix(r.rest, ":"); more && ok {
		r.rest = rest
		second, ok = number(r.digits(), 2)
	}
	if !okHour || !ok {
		return ErrInstant
	}
	for half, word := range []string{"AM", "PM"} {
		rest, ok := cutWord(strings.TrimLeft(r.rest, " "), word)
		if !ok {
			continue
		}
		if hour < 1 || hour > 12 {
			return ErrNoSuchDate
		}
		r.rest, hour = rest, hour%12+12*half
		break
	}
	return r.setClock(hour, minute, second)
}

// date reads what follows the first digits of a date: YYYY-MM-DD, MM/DD[/YY], MM.DD[.YY], or MMDD[YY], which is whole.
func (r *instantReader) date(first string) error {
	if r.rest != "" && strings.ContainsRune("/.", rune(r.rest[0])) {
		return r.dateWith(r.rest[:1], first)
	}
	if len(first) == 4 && len(r.rest) > 1 && r.rest[0] == '-' && isDigit(r.rest[1]) && !clockFollows(r.rest[1:]) {
		year, _ := number(first, 4)
		r.rest = r.rest[1:]
		month, okMonth := number(r.digits(), 1, 2)
		rest, okDash := strings.CutPrefix(r.rest, "-")
		r.rest = rest
		day, okDay := number(r.digits(), 1, 2)
		if !okMonth || !okDash || !okDay || year == 0 {
			return ErrInstant
		}
		return r.setDate(year, month, day)
	}
	whole, ok := number(first, 4, 6)
	if !ok {
		return ErrInstant
	}
	if len(first) == 4 {
		return r.setDate(0, whole/100, whole%100)
	}
	return r.setDate(2000+whole%100, whole/10_000, whole/100%100)
}

// clockFollows reports whether a time of day is next, as in MMDD-HH:MM.
func clockFollows(rest string) bool {
	return strings.HasPrefix(strings.TrimLeft(rest, "0123456789"), ":")
}

// dateWith reads the rest of MM/DD[/YY] with its separator.
func (r *instantReader) dateWith(separator, months string) error {
	month, okMonth := number(months, 1, 2)
	r.rest = r.rest[1:]
	day, okDay := number(r.digits(), 1, 2)
	year := 0
	if rest, more := strings.CutPrefix(r.rest, separator); more {
		r.rest = rest
		short, ok := number(r.digits(), 2)
		if !ok {
			return ErrInstant
		}
		year = 2000 + short
	}
	if !okMonth || !okDay {
		return ErrInstant
	}
	return r.setDate(year, month, day)
}

func (r *instantReader) setClock(hour, minute, second int) error {
	switch {
	case r.hasClock:
		return ErrInstant
	case hour > 23 || minute > 59 || second > 59:
		return ErrNoSuchDate
	}
	r.hasClock, r.hour, r.minute, r.second = true, hour, minute, second
	return nil
}

func (r *instantReader) setDate(year, month, day int) error {
	switch {
	case r.hasDate:
		return ErrInstant
	case month < 1 || month > 12 || day < 1 || day > 31:
		return ErrNoSuchDate
	}
	r.hasDate, r.year, r.month, r.day = true, year, month, day
	return nil
}

// instant draws the conclusions.
func (r *instantReader) instant(side Side) (protocol.Instant, error) {
	if !r.hasDate {
		at := r.on(r.now.Year(), int(r.now.Month()), r.now.Day())
		if side == Ahead && !at.After(r.now) {
			next := r.now.AddDate(0, 0, 1)
			at = r.on(next.Year(), int(next.Month()), next.Day())
		}
		return protocol.InstantOf(at), nil
	}
	year := r.year
	if year == 0 {
		year = r.now.Year()
		switch {
		case side == Behind && r.month > int(r.now.Month()):
			year--
		case side == Ahead && !r.on(year, r.month, r.day).After(r.now):
			year++
		}
	}
	at := r.on(year, r.month, r.day)
	if !r.isOn(at, year) { // in some zones clocks go forward at midnight: the day begins after what they leave out
		_, at = at.ZoneBounds()
	}
	if !r.isOn(at, year) {
		return 0, ErrNoSuchDate
	}
	return protocol.InstantOf(at), nil
}

// isOn says whether an instant is on the date.
func (r *instantReader) isOn(at time.Time, year int) bool {
	return at.Year() == year && int(at.Month()) == r.month && at.Day() == r.day
}

// on is the time of day on a date.
func (r *instantReader) on(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, r.hour, r.minute, r.second, 0, r.now.Location())
}
