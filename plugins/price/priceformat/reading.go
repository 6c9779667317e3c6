package priceformat

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxProblems bounds how many problems of one file are reported.
const maxProblems = 20

// reading gathers the curves of one file, and what is wrong with it.
type reading struct {
	Options

	name     string
	problems problems.List
	tracks   map[string]*track // by area, as the result names it
	others   map[string]bool   // areas that are not read
	renamed  map[string]bool   // areas whose new names were used
	perMWh   bool              // the unit is known
}

// track is the curve of an area as far as it is read.
type track struct {
	slots   []price.Slot
	line    int               // of the last slot
	largest protocol.Micro    // price, above or below 0
	peak    int               // line of the largest price
	above   protocol.Duration // how long prices are above 0
}

func newReading(name string, options Options) *reading {
	return &reading{
		Options: options, name: name, perMWh: options.PerMWh,
		tracks: map[string]*track{}, others: map[string]bool{}, renamed: map[string]bool{},
	}
}

// problem notes what is wrong with a line. Only the first one counts: the others mostly
// follow from it.
func (r *reading) problem(line int, format string, args ...any) {
	if n := len(r.problems); n > 0 && r.problems[n-1].Line == line {
		return
	}
	r.problems.Add(problems.Place{File: r.name, Line: line}, format, args...)
}

// currency takes the currency that the file names, or that of the options if it names
// none.
func (r *reading) currency(line int, named string) {
	switch {
	case named == "" && r.Currency == "":
		r.problem(line, "no currency is named; set currency, as \"EUR\"")
	case named == "":
	case !IsCurrency(named):
		r.problem(line, "%s is no currency; three capital letters are needed, as EUR", problems.Quote(named))
	case r.Currency != "" && r.Currency != named:
		r.problem(line, "the prices are in %s, but before, or by the key currency, in %s; correct the one that is wrong", named, r.Currency)
	default:
		r.Currency = named
	}
}

// area is the name of an area in the result; ok is false where it is not to be read.
func (r *reading) area(line int, name string) (area string, ok bool) {
	area, renamed := r.Rename[name]
	if !renamed {
		area = name
	}
	switch {
	case !r.asked(area):
		r.others[area] = true
		return "", false
	case renamed:
		r.renamed[name] = true
	case r.tracks[area] == nil:
		if err := CheckArea(area); err != nil {
			r.problem(line, "%v", err)
		}
	}
	return area, true
}

// asked says whether an area is to be read.
func (r *reading) asked(area string) bool { return len(r.Areas) == 0 || slices.Contains(r.Areas, area) }

// track is the curve of an area so far.
func (r *reading) track(area string) *track {
	t := r.tracks[area]
	if t == nil {
		t = &track{}
		r.tracks[area] = t
	}
	return t
}

// price reads a price, and checks that it can be one.
func (r *reading) price(line int, text string, point byte) (amount protocol.Micro, ok bool) {
	most := r.maxPrice()
	form := decimal.Form{Scale: 6, Max: int64(most), Negative: true, Comma: point == ',', Rounding: decimal.Nearest}
	read, err := form.Parse(text)
	switch {
	case errors.Is(err, decimal.ErrRange):
		r.problem(line, "the price %s is beyond ±%s per MWh; is it of another unit? Raise max_price if it is right",
			problems.Quote(text), most.Text())
	case err != nil:
		r.problem(line, "%s is no price; write a plain number with a decimal %s", problems.Quote(text), pointName(point))
	}
	return protocol.Micro(read), err == nil
}

func pointName(point byte) string {
	if point == ',' {
		return "comma"
	}
	return "point"
}

// add appends a slot to the curve of an area, in the order of time.
func (r *reading) add(line int, area string, slot price.Slot) {
	t := r.track(area)
	if int64(slot.Start)%int64(price.Resolution) != 0 || !lengthFits(slot.Length) {
		r.problem(line, "the price holds %v from %s; it must begin on a quarter of an hour and hold for whole ones, at most %v",
			slot.Length, r.time(slot.Start), price.MaxSlot)
		return
	}
	if n := len(t.slots); n > 0 {
		last := t.slots[n-1]
		switch {
		case slot.Start == last.Start:
			r.problem(line, "%s repeats %s, which line %d has already", area, r.time(slot.Start), t.line)
			return
		case slot.Start < last.Start:
			r.problem(line, "%s goes back to %s, before line %d; put the lines in the order of time", area, r.time(slot.Start), t.line)
			return
		case slot.Start < last.End():
			r.problem(line, "%s goes on at %s, but the price of line %d holds until %s; say how long prices hold, or correct the times",
				area, r.time(slot.Start), t.line, r.time(last.End()))
			return
		case slot.Start > last.End() && !r.Gaps:
			r.problem(line, "%s has no price from %s until %s; fill the gap, or set gaps = true if it is in order",
				area, r.time(last.End()), r.time(slot.Start))
		}
	}
	if size := max(slot.Price, -slot.Price); len(t.slots) == 0 || size > t.largest {
		t.largest, t.peak = size, line
	}
	if slot.Price > 0 {
		t.above = t.above.Plus(slot.Length)
	}
	t.slots, t.line = append(t.slots, slot), line
}

// time prints an instant for people: in the zone of the file, if that is known.
func (r *reading) time(t protocol.Instant) string {
	zone := time.UTC
	if r.Zone != nil {
		zone = r.Zone
	}
	return t.Time().In(zone).Format("2006-01-02 15:04 -07:00")
}

// settle ends the reading.
func (r *reading) settle() (*Set, error) {
	if len(r.problems) == 0 {
		r.checkWhole()
	}
	if wrong := r.problems.OfFile(maxProblems); wrong != nil {
		return nil, wrong
	}
	set := &Set{Currency: r.Currency, Others: sortedKeys(r.others)}
	for _, area := range sortedKeys(r.tracks) {
		set.Curves = append(set.Curves, Curve{area, price.Series{Slots: r.tracks[area].slots}})
	}
	return set, nil
}

// enough is how long prices must be above 0 before their size tells a unit: on a day of
// wind and sun the price of a MWh may be next to nothing for hours.
const enough = protocol.Day

// checkWhole looks at what only the whole file shows.
func (r *reading) checkWhole() {
	if len(r.tracks) == 0 && len(r.others) == 0 {
		r.problem(0, "there are no prices in it")
	}
	for _, area := range sortedKeys(r.tracks) {
		t := r.tracks[area]
		if !r.perMWh && t.above >= enough && t.largest < unit {
			r.problem(t.peak, "no price of %s is beyond ±%s, which looks like prices per kWh; give prices per MWh, or say unit = \"MWh\" if they are",
				area, t.largest.Text())
		}
	}
	for _, from := range sortedKeys(r.Rename) {
		if !r.renamed[from] && r.asked(r.Rename[from]) {
			r.problem(0, "there is no area %q to rename; it has %s", from,
				strings.Join(slices.Concat(sortedKeys(r.tracks), sortedKeys(r.others)), ", "))
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// row is a line of a text.
type row struct {
	number int // from 1
	text   string
}

// lines cuts a text into lines and leaves out empty ones at the end. A text that is not
// UTF-8 is Latin-1, as older exports of Nord Pool are.
func lines(text []byte) (all []row) {
	whole := strings.TrimPrefix(string(text), "\uFEFF")
	if !utf8.ValidString(whole) {
		var b strings.Builder
		for _, c := range []byte(whole) {
			b.WriteRune(rune(c))
		}
		whole = b.String()
	}
	number := 0
	for line := range strings.SplitSeq(strings.TrimRightFunc(whole, unicode.IsSpace), "\n") {
		number++
		all = append(all, row{number, strings.TrimSpace(line)})
	}
	return all
}

// fields cuts a line into its columns.
func fields(line, separator string) []string {
	all := strings.Split(line, separator)
	for i, field := range all {
		all[i] = unquote(strings.TrimSpace(field))
	}
	return all
}

// unquote takes a pair of quotes off.
func unquote(text string) string {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1]
	}
	return text
}

// notInArea refuses what would break a table or a CSV.
func notInArea(c rune) bool { return !unicode.IsPrint(c) || c == ',' || c == '"' }
