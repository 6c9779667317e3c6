package budget_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const kilowatts = budget.Kilowatt

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	found, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func hours(tb testing.TB, text string) budget.Hours {
	tb.Helper()
	read, err := budget.ParseHours(text)
	if err != nil {
		tb.Fatal(err)
	}
	return read
}

// utc reads "2026-03-29 01:00".
func utc(tb testing.TB, text string) protocol.Instant {
	tb.Helper()
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		tb.Fatal(err)
	}
	return protocol.InstantOf(at)
}

// reported is a signal in words: when which budget begins, in UTC.
func reported(s power.Signal) (lines []string) {
	for _, step := range s.Steps() {
		limit := "free"
		if step.Limit != power.Unlimited {
			limit = fmt.Sprintf("%gkW", float64(step.Limit)/float64(kilowatts))
		}
		lines = append(lines, step.At.Time().Format("01-02 15:04 ")+limit)
	}
	return lines
}

func wants(t *testing.T, s power.Signal, want ...string) {
	t.Helper()
	if got := reported(s); !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestHoursSignal(t *testing.T) {
	t.Parallel()
	zurich, chicago := "Europe/Zurich", "America/Chicago"
	for name, c := range map[string]struct {
		hours, zone, from, until string
		want                     []string
	}{
		"days": {"09:00-23:00", zurich, "2026-01-05 00:00", "2026-01-06 12:00", []string{
			"01-05 08:00 5kW", "01-05 22:00 free", "01-06 08:00 5kW", "01-06 22:00 free", // to the end of the last
		}},
		"begins within": {"09:00-23:00", zurich, "2026-01-05 12:07", "2026-01-05 23:00", []string{
			"01-05 12:00 5kW", "01-05 22:00 free",
		}},
		"over midnight": {"22:00-06:00", "UTC", "2026-01-05 12:00", "2026-01-06 12:00", []string{
			"01-05 22:00 5kW", "01-06 06:00 free",
		}},
		// 9 January 2026 is a Friday. After midnight it is Saturday, as in a tariff.
		"working days": {"mon-fri 20:00-02:00, sat 08:00-12:15", "UTC", "2026-01-09 12:00", "2026-01-12 12:00", []string{
			"01-09 20:00 5kW", "01-10 00:00 free", "01-10 08:00 5kW", "01-10 12:15 free", "01-12 00:00 5kW", "01-12 02:00 free",
		}},
		// On 29 March clocks in Zurich go from 2:00 to 3:00, at 1:00 UTC.
		"skipped: begins late": {"02:30-05:00", zurich, "2026-03-28 12:00", "2026-03-29 12:00", []string{
			"03-29 01:00 5kW", "03-29 03:00 free",
		}},
		"skipped: not at all": {"02:00-03:00", zurich, "2026-03-28 00:00", "2026-03-30 12:00", []string{
			"03-28 01:00 5kW", "03-28 02:00 free", "03-30 00:00 5kW", "03-30 01:00 free",
		}},
		"one hour less": {"00:00-06:00", zurich, "2026-03-28 12:00", "2026-03-29 12:00", []string{
			"03-28 23:00 5kW", "03-29 04:00 free",
		}},
		// On 25 October they go from 3:00 to 2:00, at 1:00 UTC.
		"twice": {"01:00-02:30", zurich, "2026-10-24 12:00", "2026-10-25 12:00", []string{
			"10-24 23:00 5kW", "10-25 00:30 free", "10-25 01:00 5kW", "10-25 01:30 free",
		}},
		"one hour more": {"00:00-06:00", zurich, "2026-10-24 12:00", "2026-10-25 12:00", []string{
			"10-24 22:00 5kW", "10-25 05:00 free",
		}},
		// In Chicago on 8 March from 2:00 to 3:00, at 8:00 UTC; on 1 November back, at 7:00 UTC.
		"Chicago in spring": {"sun 01:00-02:30", chicago, "2026-03-08 00:00", "2026-03-09 00:00", []string{
			"03-08 07:00 5kW", "03-08 08:00 free",
		}},
		"Chicago in autumn": {"sun 01:30-02:00", chicago, "2026-11-01 00:00", "2026-11-02 00:00", []string{
			"11-01 06:30 5kW", "11-01 07:00 free", "11-01 07:30 5kW", "11-01 08:00 free",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wants(t, hours(t, c.hours).Signal(zone(t, c.zone), utc(t, c.from), utc(t, c.until), 5*kilowatts), c.want...)
		})
	}
	always := hours(t, " always ").Signal(time.UTC, 0, 1, 5*kilowatts)
	if limit, until := always.At(utc(t, "2126-01-01 00:00")); limit != 5*kilowatts || until != power.End {
		t.Errorf("a hundred years on: %d until %d", limit, until)
	}
	// All days are told as far as they are followed, without an end to it.
	if n := len(hours(t, "00:00-24:00").Signal(time.UTC, 0, 1, 5*kilowatts).Steps()); n != 1 {
		t.Errorf("all day every day has %d steps", n)
	}
}

func TestParseHoursRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                 {`a part is empty`, `"always"`},
		"09:00-23:00,":                     {`a part is empty`},
		"9-23":                             {`in "9-23"`, `as "06:00-22:15"`},
		"09:10-23:00":                      {"on quarters of an hour"},
		"09:00":                            {"is no time of the day"},
		"mon-fri":                          {"is no time of the day"},
		"09:00-09:00":                      {"is empty; write 00:00-24:00"},
		"mon-day 09:00-23:00":              {`"day" is no weekday; use sun, mon`},
		"always, 09:00-23:00":              {`in "always"`},
		"sat sun 09:00-23:00":              {`in "sat sun 09:00-23:00"`},
		"7-8, mon 09:00-10:00, lundi 9:00": {`in "7-8"`, `in "lundi 9:00"`},
	} {
		_, err := budget.ParseHours(text)
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %v, want %q in it", text, err, part)
			}
		}
	}
}

// shift is a part of the hours, as a property test draws it.
type shift struct {
	first, last int // weekdays; -1: all
	from, until int // quarters of the day
}

func drawShift(t *rapid.T) shift {
	s := shift{first: rapid.IntRange(-1, 6).Draw(t, "first"), last: rapid.IntRange(0, 6).Draw(t, "last")}
	s.from = rapid.IntRange(0, 95).Draw(t, "from")
	s.until = rapid.IntRange(0, 96).Filter(func(q int) bool { return q != s.from }).Draw(t, "until")
	return s
}

func (s shift) String() string {
	days := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	text := fmt.Sprintf("%02d:%02d-%02d:%02d", s.from/4, s.from%4*15, s.until/4, s.until%4*15)
	if s.first < 0 {
		return text
	}
	return fmt.Sprintf("%s-%s %s", days[s.first], days[s.last], text)
}

// holds says of a reading of a clock whether the shift is on.
func (s shift) holds(clock time.Time) bool {
	if s.first >= 0 {
		day := s.first
		for day != s.last && day != int(clock.Weekday()) {
			day = (day + 1) % 7
		}
		if day != int(clock.Weekday()) {
			return false
		}
	}
	at := clock.Format("15:04")
	from, until := fmt.Sprintf("%02d:%02d", s.from/4, s.from%4*15), fmt.Sprintf("%02d:%02d", s.until/4, s.until%4*15)
	if from < until {
		return from <= at && at < until
	}
	return at >= from || at < until
}

// A signal of hours is what the clock on the wall shows at every quarter of an hour.
func TestHoursAreThoseOfTheClock(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, zone(t, "Europe/Zurich"), zone(t, "America/Chicago"), zone(t, "Asia/Kathmandu")}
	changes := []string{"2026-03-29 01:00", "2026-10-25 01:00", "2026-03-08 08:00", "2026-11-01 07:00", "2027-06-01 00:00"}
	rapid.Check(t, func(t *rapid.T) {
		clock := rapid.SampledFrom(zones).Draw(t, "zone")
		shifts := rapid.SliceOfN(rapid.Custom(drawShift), 1, 3).Draw(t, "shifts")
		texts := make([]string, len(shifts))
		for i, one := range shifts {
			texts[i] = one.String()
		}
		read, err := budget.ParseHours(strings.Join(texts, ", "))
		if err != nil {
			t.Fatal(err)
		}
		near, _ := time.Parse("2006-01-02 15:04", rapid.SampledFrom(changes).Draw(t, "near"))
		from := protocol.InstantOf(near).Add(-protocol.Duration(rapid.Int64Range(0, int64(3*protocol.Day)).Draw(t, "before")))
		until := from.Add(4 * protocol.Day)
		s := read.Signal(clock, from, until, kilowatts)
		for at := from; at < until; at = at.Add(price.Resolution) {
			limit, _ := s.At(at)
			want := slices.ContainsFunc(shifts, func(one shift) bool { return one.holds(at.Time().In(clock)) })
			if (limit == kilowatts) != want {
				t.Fatalf("at %v in %v: %d mW, and it holds: %t", at.Time(), clock, limit, want)
			}
		}
	})
}

func FuzzParseHours(f *testing.F) {
	for _, text := range []string{"always", "09:00-23:00", "mon-fri 07:00-20:00, sat 08:00-12:00", "fri-mon 22:00-06:00", "24:00-00:15", ", ,", "mon,"} {
		f.Add(text)
	}
	zurich := zone(f, "Europe/Zurich")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := budget.ParseHours(text)
		if err != nil {
			return
		}
		from := protocol.Instant(1_774_000_000_000)
		s := h.Signal(zurich, from, from.Add(10*protocol.Day), kilowatts)
		for at := from; at < from.Add(10*protocol.Day); at = at.Add(protocol.Hour) {
			if limit, _ := s.At(at); (limit == kilowatts) != h.Has(at.Time().In(zurich)) {
				t.Fatalf("%q at %v: %d mW", text, at.Time(), limit)
			}
		}
	})
}
