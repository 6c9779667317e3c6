package priceformat

import (
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// nordpoolTable is a table of Nord Pool while it is read.
type nordpoolTable struct {
	*reading

	areas []string  // of the columns from the third on; empty: one that is not read
	clock time.Time // of the last line
	times int       // that this clock reading has come so far
	most  int       // that it comes in the zone
}

// nordpool reads the yearly tables: semicolons between the columns, decimal commas, a
// line for each hour of the clock, a column for each area. The hour that is skipped in
// spring is absent or empty; that which comes twice in autumn has two lines.
func (r *reading) nordpool(all []row) {
	t := nordpoolTable{reading: r}
	names := fields(all[0].text, ";")
	if len(names) < 3 || !strings.EqualFold(names[0], "datetime") || !strings.EqualFold(names[1], "hours") {
		r.problem(all[0].number, "the header is %s; Nord Pool's begins with datetime;Hours and has a column for each area", problems.Quote(all[0].text))
		return
	}
	r.perMWh = true
	for _, name := range names[2:] {
		area, ok := r.area(all[0].number, name)
		if ok {
			if r.tracks[area] != nil {
				r.problem(all[0].number, "the area %s has two columns", area)
			}
			r.track(area)
		}
		t.areas = append(t.areas, area)
	}
	r.currency(all[0].number, "")
	if len(r.problems) > 0 {
		return
	}
	for _, line := range all[1:] {
		if line.text == "" {
			r.problem(line.number, "is empty")
			continue
		}
		t.line(line)
	}
	t.checkColumns(all[0].number)
}

func (t *nordpoolTable) line(line row) {
	cells := fields(line.text, ";")
	if len(cells) != len(t.areas)+2 {
		t.problem(line.number, "has %d columns, and the header %d", len(cells), len(t.areas)+2)
		return
	}
	clock, ok := nordpoolClock(cells[0], cells[1])
	if !ok {
		t.problem(line.number, "%s and %s are no day and hour; they are written as 31.01.2026;00 - 01", problems.Quote(cells[0]), problems.Quote(cells[1]))
		return
	}
	start, exists := t.start(line.number, clock)
	for i, text := range cells[2:] {
		switch {
		case text == "" || t.areas[i] == "":
		case !exists:
			t.problem(line.number, "%s does not exist in %s, but has a price; the key zone, or the file, is wrong", clock.Format(clockForm), t.Zone)
		default:
			if amount, ok := t.price(line.number, text, ','); ok {
				t.add(line.number, t.areas[i], price.Slot{Start: start, Length: protocol.Hour, Price: amount})
			}
		}
	}
}

// start is when the hour of a line begins; exists is false for one that the clock
// skips, or shows too often.
func (t *nordpoolTable) start(line int, clock time.Time) (start protocol.Instant, exists bool) {
	starts := instants(clock, t.Zone)
	if !clock.Equal(t.clock) {
		if t.times < t.most && t.times > 0 {
			t.problem(line, "%s has one line, but comes twice in %s, since the clock is put back then; the key zone, or the file, is wrong",
				t.clock.Format(clockForm), t.Zone)
		}
		t.clock, t.times, t.most = clock, 0, len(starts)
	}
	t.times++
	switch {
	case len(starts) == 0:
		return 0, false
	case t.times > len(starts):
		t.problem(line, "%s has %d lines; in %s it comes %s on that day", clock.Format(clockForm), t.times, t.Zone, howOften(len(starts)))
		return 0, false
	}
	return starts[t.times-1], true
}

func howOften(n int) string {
	if n == 1 {
		return "once"
	}
	return "twice"
}

// nordpoolClock reads a day, 31.01.2026, and an hour, 00 - 01.
func nordpoolClock(day, hours string) (clock time.Time, ok bool) {
	date, err := time.ParseInLocation("02.01.2006", day, time.UTC)
	from, until, found := strings.Cut(hours, "-")
	first, firstOK := nordpoolHour(from)
	last, lastOK := nordpoolHour(until)
	if err != nil || !found || !firstOK || !lastOK || last != (first+1)%24 {
		return time.Time{}, false
	}
	return date.Add(time.Duration(first) * time.Hour), true
}

func nordpoolHour(text string) (hour int, ok bool) {
	text = strings.TrimSpace(text)
	parsed, err := strconv.ParseUint(text, 10, 8)
	return int(parsed), err == nil && len(text) == 2 && parsed < 24
}

// checkColumns looks for areas without a price. An area that begins or ends within the
// file is in order.
func (t *nordpoolTable) checkColumns(header int) {
	for _, area := range t.areas {
		if area == "" || len(t.tracks[area].slots) > 0 {
			continue
		}
		if !t.Gaps {
			t.problem(header, "the area %s has no price; set gaps = true if that is in order", area)
		}
		delete(t.tracks, area)
	}
}
