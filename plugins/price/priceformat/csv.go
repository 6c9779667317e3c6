package priceformat

import (
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// csvColumns are where the columns of a CSV stand; -1: there is no such one.
type csvColumns struct{ start, end, area, price, count int }

// csv reads Switchyard's own format. Lines that begin with # are remarks.
func (r *reading) csv(all []row) {
	var columns *csvColumns
	for _, line := range all {
		switch {
		case line.text == "" || strings.HasPrefix(line.text, "#"):
		case columns == nil:
			if columns = r.csvHeader(line); columns == nil {
				return
			}
		default:
			r.csvLine(line, columns)
		}
	}
	if columns == nil {
		r.problem(0, "it is empty; the first line names the columns: start,price")
	}
}

// csvHeader reads the names of the columns; nil: they are wrong.
func (r *reading) csvHeader(line row) *csvColumns {
	const want = `the columns are start, end (optional), area (optional) and price_eur_per_mwh or the like, with commas between them`
	names := fields(line.text, ",")
	c := csvColumns{start: -1, end: -1, area: -1, price: len(names) - 1, count: len(names)}
	next := 0
	for _, column := range []struct {
		name string
		at   *int
	}{{"start", &c.start}, {"end", &c.end}, {"area", &c.area}} {
		if next < c.price && names[next] == column.name {
			*column.at = next
			next++
		}
	}
	if c.start < 0 || next != c.price {
		r.problem(line.number, "the header is %s; %s", problems.Quote(line.text), want)
		return nil
	}
	if !r.priceColumn(line.number, names[c.price]) {
		return nil
	}
	if c.area < 0 && r.Area == "" {
		r.problem(line.number, "there is no column area; set area")
		return nil
	}
	return &c
}

// priceColumn reads the unit from the name of the column of prices: "price", or as
// "price_eur_per_mwh".
func (r *reading) priceColumn(line int, name string) bool {
	found := len(r.problems)
	named, isPrice := strings.CutPrefix(name, "price")
	money, energy, hasUnit := strings.Cut(strings.TrimPrefix(named, "_"), "_per_")
	switch {
	case name == "price":
		r.currency(line, "")
	case !isPrice || !strings.HasPrefix(named, "_") || !hasUnit:
		r.problem(line, "%s is no name of a column of prices; use price_eur_per_mwh or the like, or price", problems.Quote(name))
	case energy != "mwh":
		r.problem(line, "the prices are per %s; give them per MWh, and name the column price_%s_per_mwh", problems.Quote(energy), money)
	default:
		r.perMWh = true
		r.currency(line, strings.ToUpper(money))
	}
	return len(r.problems) == found
}

func (r *reading) csvLine(line row, c *csvColumns) {
	cells := fields(line.text, ",")
	if len(cells) != c.count {
		r.problem(line.number, "has %d columns, and the header %d; decimals need a point", len(cells), c.count)
		return
	}
	area := r.Area
	if c.area >= 0 {
		area = cells[c.area]
	}
	area, ok := r.area(line.number, area)
	if !ok {
		return
	}
	start, ok := r.csvTime(line.number, cells[c.start])
	if !ok {
		return
	}
	length := r.slot()
	if c.end >= 0 {
		end, isTime := r.csvTime(line.number, cells[c.end])
		if !isTime {
			return
		}
		length = end.Sub(start)
	}
	amount, ok := r.price(line.number, cells[c.price], '.')
	if !ok {
		return
	}
	r.add(line.number, area, price.Slot{Start: start, Length: length, Price: amount})
}

// csvTime reads a time with its offset, which must be that of the zone, if one is
// named.
func (r *reading) csvTime(line int, text string) (at protocol.Instant, ok bool) {
	read, ok := parseTime(text)
	if !ok {
		r.problem(line, "%s is no time with its offset from UTC; write it as 2026-01-31T00:00:00+01:00, or with Z for UTC", problems.Quote(text))
		return 0, false
	}
	if r.Zone != nil {
		_, offset := read.Zone()
		if right := offsetAt(read.Unix(), r.Zone); int64(offset) != right {
			r.problem(line, "%s has the offset %s, but that of %s is %s then; correct the times, or the key zone",
				problems.Quote(text), offsetText(int64(offset)), r.Zone, offsetText(right))
			return 0, false
		}
	}
	return protocol.InstantOf(read), true
}

// AppendCSV appends the curves as a CSV of the columns start, end, area and price, with
// times in UTC. [Read] reads the same curves from it.
func (s *Set) AppendCSV(b []byte) []byte {
	b = append(b, "start,end,area,price_"...)
	b = append(b, strings.ToLower(s.Currency)...)
	b = append(b, "_per_mwh\n"...)
	for _, curve := range s.Curves {
		for _, slot := range curve.Series.Slots {
			b = slot.Start.Time().AppendFormat(b, time.RFC3339)
			b = append(b, ',')
			b = slot.End().Time().AppendFormat(b, time.RFC3339)
			b = append(append(append(b, ','), curve.Area...), ',')
			b = append(decimal.Append(b, int64(slot.Price), 6, 0), '\n')
		}
	}
	return b
}
