package priceformat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const unit protocol.Micro = 1_000_000

// zone finds a time zone.
func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	found, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// clock is a reading of a clock.
func clock(tb testing.TB, text string) time.Time {
	tb.Helper()
	read, err := priceformat.ParseClock(text)
	if err != nil {
		tb.Fatal(err)
	}
	return read
}

// shown prints a set, a slot a line: area, start, minutes, price.
func shown(set *priceformat.Set) string {
	var b strings.Builder
	for _, c := range set.Curves {
		for _, slot := range c.Series.Slots {
			fmt.Fprintf(&b, "%s %s %d %s\n", c.Area, slot.Start.Time().Format("02T15:04"), slot.Length/protocol.Minute, decimal.Text(int64(slot.Price), 6, 0))
		}
	}
	return b.String()
}

// read reads a text that is right, and checks what holds for every result.
func read(t *testing.T, format priceformat.Format, text string, options priceformat.Options) *priceformat.Set {
	t.Helper()
	set, err := priceformat.Read(format, "prices", []byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, set)
	return set
}

// sound checks a set as a feed's answers are checked.
func sound(t interface{ Fatalf(string, ...any) }, set *priceformat.Set) {
	d := price.Description{Currency: set.Currency}
	for i := range set.Curves {
		c := &set.Curves[i]
		d.Areas = append(d.Areas, c.Area)
		slots := c.Series.Slots
		if len(slots) == 0 {
			t.Fatalf("the area %q has no prices", c.Area)
		}
		query := price.Query{Area: c.Area, From: slots[0].Start, Until: slots[len(slots)-1].End()}
		if err := c.Series.Check(query); err != nil {
			t.Fatalf("%s: %v", c.Area, err)
		}
		if set.Find(c.Area) != c {
			t.Fatalf("the area %q is not found", c.Area)
		}
	}
	if err := d.Check(); err != nil {
		t.Fatalf("%v", err)
	}
}

// wants compares what was read with what should be there.
func wants(t *testing.T, set *priceformat.Set, currency, want string) {
	t.Helper()
	if got := shown(set); set.Currency != currency || got != strings.TrimLeft(want, "\n") {
		t.Errorf("got prices in %s\n%s\nwant %s\n%s", set.Currency, got, currency, want)
	}
}

// refusal is a text that must be refused.
type refusal struct {
	text    string
	options priceformat.Options
	want    []string // parts of the error, in order; each line of it names file and line
}

func refuses(t *testing.T, format priceformat.Format, cases map[string]refusal) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := priceformat.Read(format, "prices", []byte(c.text), c.options)
			if err == nil {
				t.Fatalf("it is accepted:\n%s", shown(set))
			}
			rest := err.Error()
			for _, want := range c.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("got the error\n%v\nwithout %q, or not in this order", err, want)
				}
				rest = after
			}
		})
	}
}

func TestReadCSV(t *testing.T) {
	t.Parallel()
	wants(t, read(t, priceformat.CSV, "\uFEFFstart,price_eur_per_mwh\r\n"+
		"# a remark\r\n"+
		"2026-03-29T00:00:00+01:00, 41.5 \r\n"+
		"\"2026-03-29T01:00:00+01:00\",\"-1.7200005\"\r\n"+
		"2026-03-29T03:00:00+02:00,0\r\n\r\n", priceformat.Options{Area: "FI", Zone: zone(t, "Europe/Oslo")}), "EUR", `
FI 28T23:00 60 41.5
FI 29T00:00 60 -1.720001
FI 29T01:00 60 0
`)
	wants(t, read(t, priceformat.CSV, "start,end,area,price\n"+
		"2026-01-01T00:00Z,2026-01-01T06:00Z,SE1,10\n"+
		"2026-01-01T00:00Z,2026-01-01T00:15Z,DK1,300.01\n"+
		"2026-01-01T08:00Z,2026-01-02T08:00Z,SE1,11\n"+
		"2026-01-01T00:15Z,2026-01-01T01:00Z,DK1,-60.26\n",
		priceformat.Options{Currency: "SEK", Gaps: true, Rename: map[string]string{"DK1": "west"}}), "SEK", `
SE1 01T00:00 360 10
SE1 01T08:00 1440 11
west 01T00:00 15 300.01
west 01T00:15 45 -60.26
`)
	wants(t, read(t, priceformat.CSV, "start,area,price_usd_per_mwh\n2026-01-01T00:00-06:00,A,0.5\n2026-01-01T00:15-06:00,A,0.25\n",
		priceformat.Options{Slot: 15 * protocol.Minute}), "USD", `
A 01T06:00 15 0.5
A 01T06:15 15 0.25
`)
	wants(t, read(t, priceformat.CSV, "start,price\n2026-01-01T00:00Z,0.5\n", priceformat.Options{Area: "A", Currency: "EUR", PerMWh: true}), "EUR",
		"A 01T00:00 60 0.5\n")
}

func TestReadCSVRefuses(t *testing.T) {
	t.Parallel()
	a := priceformat.Options{Area: "A", Currency: "EUR"}
	with := func(change func(*priceformat.Options)) priceformat.Options {
		o := a
		change(&o)
		return o
	}
	const header = "start,price\n"
	const first = "2026-03-29T00:00Z,40\n"
	refuses(t, priceformat.CSV, map[string]refusal{
		"nothing":          {"", a, []string{"prices: it is empty"}},
		"no lines":         {header, a, []string{"prices: there are no prices"}},
		"no header":        {first, a, []string{"prices:1: the header is"}},
		"other columns":    {"# x\ntime,price\n", a, []string{"prices:2: the header is \"time,price\"; the columns are start"}},
		"columns reversed": {"price,start\n" + first, a, []string{"prices:1: the header is"}},
		"one too many":     {"start,end,area,zone,price\n", a, []string{"prices:1: the header is"}},
		"semicolons":       {"start;price\n2026-03-29T00:00Z;40,5\n", a, []string{"prices:1: the header is", "with commas"}},
		"decimal comma":    {header + "2026-03-29T00:00Z,40,5\n", a, []string{"prices:2: has 3 columns, and the header 2; decimals need a point"}},
		"no price":         {header + "2026-03-29T00:00Z,\n", a, []string{`prices:2: "" is no price`}},
		"an exponent":      {header + "2026-03-29T00:00Z,1e3\n", a, []string{`prices:2: "1e3" is no price`}},
		"not a number":     {header + "2026-03-29T00:00Z,NaN\n", a, []string{`prices:2: "NaN" is no price`}},
		"per kWh":          {"start,price_eur_per_kwh\n" + first, a, []string{`prices:1: the prices are per "kwh"; give them per MWh, and name the column price_eur_per_mwh`}},
		"no unit":          {"start,price_eur\n" + first, a, []string{`prices:1: "price_eur" is no name`}},
		"no such currency": {"start,price_euro_per_mwh\n" + first, a, []string{`prices:1: "EURO" is no currency`}},
		"another currency": {"start,price_sek_per_mwh\n" + first, a, []string{"prices:1: the prices are in SEK, but before, or by the key currency, in EUR; correct"}},
		"no currency":      {header + first, priceformat.Options{Area: "A"}, []string{"prices:1: no currency is named"}},
		"no area":          {header + first, priceformat.Options{Currency: "EUR"}, []string{"prices:1: there is no column area; set area"}},
		"an empty area":    {"start,area,price\n2026-03-29T00:00Z,,40\n", a, []string{"prices:2: an area has no name"}},
		"an area that does not print": {
			"start,area,price\n2026-03-29T00:00Z,\x1b[2J,40\n", a, []string{`prices:2: the area "\x1b[2J" has characters`},
		},
		"no offset":      {header + "2026-03-29T00:00:00,40\n", a, []string{"prices:2: \"2026-03-29T00:00:00\" is no time with its offset"}},
		"no such day":    {header + "2026-02-30T00:00Z,40\n", a, []string{"prices:2: ", "is no time"}},
		"ten minutes":    {header + "2026-03-29T00:10Z,40\n", a, []string{"prices:2: the price holds 1h0m0s from 2026-03-29 00:10 +00:00; it must begin on a quarter"}},
		"ends before it": {"start,end,price\n2026-03-29T01:00Z,2026-03-29T00:00Z,4\n", a, []string{"prices:2: the price holds -1h0m0s"}},
		"two days":       {"start,end,price\n2026-03-29T01:00Z,2026-03-31T00:00Z,4\n", a, []string{"prices:2: the price holds 47h0m0s"}},
		"a gap": {
			header + first + "2026-03-29T02:00Z,41\n2026-03-29T03:00Z,41\n", a,
			[]string{"prices:3: A has no price from 2026-03-29 01:00 +00:00 until 2026-03-29 02:00 +00:00; fill the gap, or set gaps = true"},
		},
		"a gap in one area": {
			"start,area,price\n2026-03-29T00:00Z,A,1\n2026-03-29T00:00Z,B,1\n2026-03-29T01:00Z,B,1\n2026-03-29T02:00Z,A,1\n", a,
			[]string{"prices:5: A has no price"},
		},
		"repeated": {header + first + first, a, []string{"prices:3: A repeats 2026-03-29 00:00 +00:00, which line 2 has already"}},
		"out of order": {
			header + "2026-03-29T05:00Z,40\n" + first, a,
			[]string{"prices:3: A goes back to 2026-03-29 00:00 +00:00, before line 2; put the lines in the order of time"},
		},
		"quarters taken for hours": {
			header + first + "2026-03-29T00:15Z,40\n", a,
			[]string{"prices:3: A goes on at 2026-03-29 00:15 +00:00, but the price of line 2 holds until 2026-03-29 01:00 +00:00"},
		},
		"local time called UTC": {
			header + "2026-03-29T00:00Z,40\n", with(func(o *priceformat.Options) { o.Zone = zone(t, "Europe/Oslo") }),
			[]string{`prices:2: "2026-03-29T00:00Z" has the offset +00:00, but that of Europe/Oslo is +01:00 then; correct the times, or the key zone`},
		},
		"winter time in summer": {
			header + "2026-03-29T01:00+01:00,40\n2026-03-29T02:00+01:00,40\n", with(func(o *priceformat.Options) { o.Zone = zone(t, "Europe/Oslo") }),
			[]string{`prices:3: "2026-03-29T02:00+01:00" has the offset +01:00, but that of Europe/Oslo is +02:00 then`},
		},
		"too dear": {
			header + first + "2026-03-29T01:00Z,10000.000001\n", a,
			[]string{`prices:3: the price "10000.000001" is beyond ±10000.00 per MWh; is it of another unit? Raise max_price`},
		},
		"no int64": {
			header + first + "2026-03-29T01:00Z,-99999999999999999999\n", a, []string{`prices:3: the price "-99999999999999999999" is beyond ±10000.00 per MWh`},
		},
		"too cheap": {header + "2026-03-29T01:00Z,-501\n", with(func(o *priceformat.Options) { o.MaxPrice = 500 * unit }), []string{"is beyond ±500.00 per MWh"}},
		"per kWh by its size": {
			header + hours(slices.Repeat([]string{"0.3", "0.31", "-0.29"}, 12)...), a,
			[]string{"prices:3: no price of A is beyond ±0.31, which looks like prices per kWh"},
		},
		"nothing to rename": {
			header + first, with(func(o *priceformat.Options) { o.Rename = map[string]string{"B": "C"} }),
			[]string{`prices: there is no area "B" to rename; it has A`},
		},
		"many mistakes": {
			header + strings.Repeat("x,1\n", 25), a, []string{"prices:2: ", "prices:21: ", "\nprices: and 5 more"},
		},
	})
}

// hours are lines of CSV, one for each hour.
func hours(prices ...string) string {
	var b strings.Builder
	for i, price := range prices {
		fmt.Fprintf(&b, "2026-03-%02dT%02d:00Z,%s\n", 1+i/24, i%24, price)
	}
	return b.String()
}

// TestNotPerKWh: prices of a MWh may be next to nothing, or below it, for whole days.
func TestNotPerKWh(t *testing.T) {
	t.Parallel()
	for name, prices := range map[string][]string{
		"below 0 most of the day":         append(slices.Repeat([]string{"-12.5"}, 12), slices.Repeat([]string{"0.3"}, 30)...),
		"at 0 but for a few hours":        append(slices.Repeat([]string{"0"}, 48), slices.Repeat([]string{"0.99"}, 23)...),
		"a little below 0, a few above":   append(slices.Repeat([]string{"-0.5"}, 48), slices.Repeat([]string{"0.5"}, 23)...),
		"next to nothing but for an hour": append(slices.Repeat([]string{"0.5"}, 48), "1"),
	} {
		set := read(t, priceformat.CSV, "start,price\n"+hours(prices...), priceformat.Options{Area: "A", Currency: "EUR"})
		if got := len(set.Curves[0].Series.Slots); got != len(prices) {
			t.Errorf("%s: %d prices of %d are read", name, got, len(prices))
		}
	}
}

func TestReadHourly(t *testing.T) {
	t.Parallel()
	options := priceformat.Options{Zone: zone(t, "Europe/Oslo"), Start: clock(t, "2026-03-29 00:00"), Area: "SE1", Currency: "EUR"}
	wants(t, read(t, priceformat.Hourly, "\"price\"\n40\n41.25\n42\n", options), "EUR", `
SE1 28T23:00 60 40
SE1 29T00:00 60 41.25
SE1 29T01:00 60 42
`)
	byClock := options
	byClock.ByClock = true
	for _, filler := range []string{"41", ""} {
		wants(t, read(t, priceformat.Hourly, "price\n40\n41\n"+filler+"\n43\n", byClock), "EUR", `
SE1 28T23:00 60 40
SE1 29T00:00 60 41
SE1 29T01:00 60 43
`)
	}
	byClock.Start = clock(t, "2026-10-25T01:00")
	wants(t, read(t, priceformat.Hourly, "price\n40\n41\n42\n", byClock), "EUR", `
SE1 24T23:00 60 40
SE1 25T00:00 60 41
SE1 25T01:00 60 41
SE1 25T02:00 60 42
`)
	gaps := options
	gaps.Gaps, gaps.Slot = true, 15*protocol.Minute
	wants(t, read(t, priceformat.Hourly, "price_eur_per_mwh\n0.5\n\n-0.25\n", gaps), "EUR", `
SE1 28T23:00 15 0.5
SE1 28T23:30 15 -0.25
`)
}

func TestReadHourlyRefuses(t *testing.T) {
	t.Parallel()
	options := priceformat.Options{Zone: zone(t, "Europe/Oslo"), Start: clock(t, "2026-03-29"), Area: "A", Currency: "EUR"}
	with := func(change func(*priceformat.Options)) priceformat.Options {
		o := options
		change(&o)
		return o
	}
	refuses(t, priceformat.Hourly, map[string]refusal{
		"nothing":       {"", options, []string{`prices:1: "" is no name of a column of prices`}},
		"no header":     {"40\n41\n", options, []string{`prices:1: "40" is no name of a column of prices`}},
		"two columns":   {"price\n40,41\n", options, []string{`prices:2: "40,41" is no price; write a plain number with a decimal point`}},
		"an empty line": {"price\n40\n\n42\n", options, []string{"prices:3: there is no price for 2026-03-29 01:00 +01:00; fill it in, or set gaps = true"}},
		"only the header": {
			"price\n\n\n", with(func(o *priceformat.Options) { o.Gaps = true }), []string{"prices: there are no prices"},
		},
		"another zone than the filler's": {
			"price\n40\n41\n42\n43\n", with(func(o *priceformat.Options) { o.ByClock = true }),
			[]string{"prices:4: 2026-03-29 02:00 does not exist in Europe/Oslo, so the line must be empty or repeat the one before"},
		},
		"no zone":     {"price\n40\n", with(func(o *priceformat.Options) { o.Zone = nil }), []string{"prices: zone: is missing; name the time zone"}},
		"no start":    {"price\n40\n", with(func(o *priceformat.Options) { o.Start = time.Time{} }), []string{"prices: start: is missing"}},
		"no area":     {"price\n40\n", with(func(o *priceformat.Options) { o.Area = "" }), []string{"prices: area: is missing"}},
		"no currency": {"price\n40\n", with(func(o *priceformat.Options) { o.Currency = "" }), []string{"prices: currency: is missing"}},
		"begins in the skipped hour": {
			"price\n40\n", with(func(o *priceformat.Options) { o.Start = clock(t, "2026-03-29 02:30") }),
			[]string{"prices: start: 2026-03-29 02:30 does not exist in Europe/Oslo"},
		},
	})
}

const nordpoolHeader = "datetime;Hours;SYS;Troms\xf8\n"

func TestReadNordpool(t *testing.T) {
	t.Parallel()
	options := priceformat.Options{Zone: zone(t, "Europe/Oslo"), Currency: "EUR"}
	wants(t, read(t, priceformat.Nordpool, nordpoolHeader+
		"30.03.2014;01\xa0-\xa002;25,92;\n30.03.2014;02\xa0-\xa003;;\n30.03.2014;03 - 04;-24,45;24,44\n", options), "EUR", `
SYS 30T00:00 60 25.92
SYS 30T01:00 60 -24.45
Tromsø 30T01:00 60 24.44
`)
	wants(t, read(t, priceformat.Nordpool, "datetime;Hours;FI\n25.10.2014;23 - 00;7\n26.10.2014;00 - 01;7\n26.10.2014;01 - 02;7\n"+
		"26.10.2014;02 - 03;8\n26.10.2014;02 - 03;9\n26.10.2014;03 - 04;0,01\n", options), "EUR", `
FI 25T21:00 60 7
FI 25T22:00 60 7
FI 25T23:00 60 7
FI 26T00:00 60 8
FI 26T01:00 60 9
FI 26T02:00 60 0.01
`)
	options.Gaps = true
	wants(t, read(t, priceformat.Nordpool, "datetime;Hours;FI;EE\n25.10.2014;21 - 22;7;\n25.10.2014;22 - 23;;\n25.10.2014;23 - 00;8;\n", options), "EUR", `
FI 25T19:00 60 7
FI 25T21:00 60 8
`)
}

func TestReadNordpoolRefuses(t *testing.T) {
	t.Parallel()
	options := priceformat.Options{Zone: zone(t, "Europe/Oslo"), Currency: "EUR"}
	in := func(name string) priceformat.Options {
		return priceformat.Options{Zone: zone(t, name), Currency: "EUR"}
	}
	const header = "datetime;Hours;FI\n"
	refuses(t, priceformat.Nordpool, map[string]refusal{
		"nothing":        {"", options, []string{"prices:1: the header is"}},
		"no areas":       {"datetime;Hours\n", options, []string{"prices:1: the header is"}},
		"commas":         {"datetime,Hours,FI\n", options, []string{"prices:1: the header is"}},
		"an area twice":  {"datetime;Hours;FI;FI\n", options, []string{"prices:1: the area FI has two columns"}},
		"only a header":  {header, options, []string{"prices:1: the area FI has no price"}},
		"too few cells":  {header + "01.01.2014;00 - 01\n", options, []string{"prices:2: has 2 columns, and the header 3"}},
		"decimal points": {header + "01.01.2014;00 - 01;28.5\n", options, []string{`prices:2: "28.5" is no price; write a plain number with a decimal comma`}},
		"another day":    {header + "2014-01-01;00 - 01;28\n", options, []string{`prices:2: "2014-01-01" and "00 - 01" are no day and hour`}},
		"two hours":      {header + "01.01.2014;00 - 02;28\n", options, []string{"prices:2: "}},
		"signed hours":   {header + "01.01.2014;+1 - 02;28\n", options, []string{"prices:2: "}},
		"an empty line":  {header + "\n01.01.2014;00 - 01;28\n", options, []string{"prices:2: is empty"}},
		"an empty cell": {
			header + "01.01.2014;00 - 01;28\n01.01.2014;01 - 02;\n01.01.2014;02 - 03;28\n", options,
			[]string{"prices:4: FI has no price from 2014-01-01 01:00 +01:00 until 2014-01-01 02:00 +01:00"},
		},
		"a line twice": {
			header + "01.01.2014;00 - 01;28\n01.01.2014;00 - 01;28\n", options,
			[]string{"prices:3: 2014-01-01 00:00 has 2 lines; in Europe/Oslo it comes once on that day"},
		},
		"a day of 24 hours in spring": {
			header + "30.03.2014;01 - 02;28\n30.03.2014;02 - 03;28\n30.03.2014;03 - 04;28\n", options,
			[]string{"prices:3: 2014-03-30 02:00 does not exist in Europe/Oslo, but has a price; the key zone, or the file, is wrong"},
		},
		"a day of 23 hours where there is none": {
			header + "30.03.2014;01 - 02;28\n30.03.2014;02 - 03;\n30.03.2014;03 - 04;28\n", in("UTC"),
			[]string{"prices:4: FI has no price from 2014-03-30 02:00 +00:00 until 2014-03-30 03:00 +00:00"},
		},
		"a day of 24 hours in autumn": {
			header + "26.10.2014;01 - 02;28\n26.10.2014;02 - 03;28\n26.10.2014;03 - 04;28\n", options,
			[]string{"prices:4: 2014-10-26 02:00 has one line, but comes twice in Europe/Oslo"},
		},
		"a day of 26 hours": {
			header + strings.Repeat("26.10.2014;02 - 03;28\n", 3), options,
			[]string{"prices:4: 2014-10-26 02:00 has 3 lines; in Europe/Oslo it comes twice on that day"},
		},
		"the zone of a neighbour": {
			header + "26.10.2014;01 - 02;28\n26.10.2014;02 - 03;28\n26.10.2014;02 - 03;28\n26.10.2014;03 - 04;28\n26.10.2014;04 - 05;28\n", in("Europe/Helsinki"),
			[]string{"prices:4: 2014-10-26 02:00 has 2 lines; in Europe/Helsinki it comes once", "prices:6: 2014-10-26 03:00 has one line, but comes twice"},
		},
	})
}

// TestReadOnlyAskedAreas: what is wrong with an area that nobody asks for is no
// mistake; what is wrong with one that is asked for is.
func TestReadOnlyAskedAreas(t *testing.T) {
	t.Parallel()
	nordpool := func(areas ...string) priceformat.Options {
		return priceformat.Options{Zone: zone(t, "Europe/Oslo"), Currency: "EUR", Areas: areas, Rename: map[string]string{"FI": "here"}}
	}
	// FRE is as in Nord Pool's files of 2015 and 2016: traded in some hours only. The last
	// columns have no price at all, prices of another form and no name.
	const table = "datetime;Hours;FI;FRE;ELE;FR;;\n01.01.2016;00 - 01;1;7;;1.5;;x\n01.01.2016;01 - 02;2;;;99999999;;\n01.01.2016;02 - 03;3;8;;;;\n"
	set := read(t, priceformat.Nordpool, table, nordpool("here"))
	wants(t, set, "EUR", `
here 31T23:00 60 1
here 01T00:00 60 2
here 01T01:00 60 3
`)
	if want := []string{"", "ELE", "FR", "FRE"}; !slices.Equal(set.Others, want) {
		t.Errorf("other areas %q, want %q", set.Others, want)
	}
	const csvTable = "start,area,price_eur_per_mwh\n2026-03-01T00:00:00Z,A,1\n2026-03-01T00:00:00Z,B,x\nsoon,B,1\n2026-03-01T01:00:00Z,A,2\n"
	wants(t, read(t, priceformat.CSV, csvTable, priceformat.Options{Areas: []string{"A"}}), "EUR", "A 01T00:00 60 1\nA 01T01:00 60 2\n")
	set, err := priceformat.Read(priceformat.ENTSOE, "prices", []byte(excerpt(t)), priceformat.Options{Areas: []string{"SE1"}})
	if err != nil || len(set.Curves) != 0 || !slices.Equal(set.Others, []string{"10YFI-1--------U"}) {
		t.Errorf("a document without the area: %v, %+v", err, set)
	}
	refuses(t, priceformat.Nordpool, map[string]refusal{
		"asked for": {table, nordpool("here", "FRE"), []string{"prices:4: FRE has no price from 2016-01-01 01:00 +01:00 until 2016-01-01 02:00 +01:00"}},
		"a gap of it": {
			"datetime;Hours;FI;SE1\n01.01.2016;00 - 01;1;7\n01.01.2016;01 - 02;;7\n01.01.2016;02 - 03;3;7\n", nordpool("here"),
			[]string{"prices:4: here has no price from 2016-01-01 01:00 +01:00"},
		},
		"all":         {table, nordpool(), []string{"prices:1: an area has no name"}},
		"the columns": {table + "01.01.2016;03 - 04;1\n", nordpool("here"), []string{"prices:5: has 3 columns, and the header 8"}},
		"renamed": {
			strings.Replace(table, "FI", "EE", 1), nordpool("here"),
			[]string{`there is no area "FI" to rename; it has`},
		},
	})
}

func TestOptionFaults(t *testing.T) {
	t.Parallel()
	oslo := zone(t, "Europe/Oslo")
	cases := map[string]struct {
		format  priceformat.Format
		options priceformat.Options
	}{
		`format: "xls" is unknown; use one of csv, hourly, nordpool, entsoe`: {"xls", priceformat.Options{}},
		`start: has no use with format "csv"`:                                {priceformat.CSV, priceformat.Options{Start: clock(t, "2026-01-01")}},
		`sequence: has no use with format "csv"`:                             {priceformat.CSV, priceformat.Options{Sequence: 1}},
		`hours: has no use with format "entsoe"`:                             {priceformat.ENTSOE, priceformat.Options{ByClock: true}},
		`area: has no use with format "entsoe"`:                              {priceformat.ENTSOE, priceformat.Options{Area: "FI"}},
		`unit: has no use with format "nordpool"`:                            {priceformat.Nordpool, priceformat.Options{Zone: oslo, Currency: "EUR", PerMWh: true}},
		`slot: has no use with format "nordpool"`:                            {priceformat.Nordpool, priceformat.Options{Zone: oslo, Currency: "EUR", Slot: protocol.Hour}},
		`zone: is missing`:                                                   {priceformat.Nordpool, priceformat.Options{Currency: "EUR"}},
		`currency: is missing`:                                               {priceformat.Nordpool, priceformat.Options{Zone: oslo}},
		`currency: invalid currency "eur"`:                                   {priceformat.ENTSOE, priceformat.Options{Currency: "eur"}},
		`slot: is 20m0s; use a multiple`:                                     {priceformat.CSV, priceformat.Options{Slot: 20 * protocol.Minute}},
		`slot: is 48h0m0s; use a`:                                            {priceformat.CSV, priceformat.Options{Slot: 2 * protocol.Day}},
		`max_price: is outside 0 to 1000000.00`:                              {priceformat.CSV, priceformat.Options{MaxPrice: priceformat.MaxPriceLimit + 1}},
		`sequence: is -1; use 1 or more`:                                     {priceformat.ENTSOE, priceformat.Options{Sequence: -1}},
		`rename: an area has no name`:                                        {priceformat.ENTSOE, priceformat.Options{Rename: map[string]string{"FI": ""}}},
		`area: the area "a,b" has`:                                           {priceformat.CSV, priceformat.Options{Area: "a,b"}},
		`hours: counts hours of the clock, so slot must be an hour`: {priceformat.Hourly, priceformat.Options{
			Zone: oslo, Currency: "EUR", Area: "A", Start: clock(t, "2026-01-01"), ByClock: true, Slot: 15 * protocol.Minute,
		}},
	}
	for want, c := range cases {
		if _, err := priceformat.Read(c.format, "prices", []byte("price\n1\n"), c.options); err == nil || !strings.Contains(err.Error(), "prices: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestParseClock(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2026-01-31", "2026-01-31 00:00", "2026-01-31T00:00", "2026-01-31T00:00:00"} {
		if got := clock(t, text); !got.Equal(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: got %v", text, got)
		}
	}
	for _, text := range []string{"", "2026-02-30", "2026-01-31T00:00Z", "31.01.2026", "2026-01-31 24:00"} {
		if got, err := priceformat.ParseClock(text); err == nil {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}
