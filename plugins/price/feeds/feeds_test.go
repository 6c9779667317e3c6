package feeds_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const unit protocol.Micro = 1_000_000

func open(name, text, dir string) (feeds.Feed, error) {
	return feeds.Open(name, "feed.toml", dir, text, "", slog.New(slog.DiscardHandler))
}

func TestOpenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hours.csv"), []byte("price\n40\n41\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	feed, err := open(feeds.FileName, `
grid_fee = 20.5
tax = 10
[[file]]
path = "hours.csv"
format = "hourly"
zone = "Europe/Oslo"
start = "2026-03-01 00:00"
area = "NO1"
currency = "EUR"
max_price = 4000
`, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err = feed.Refresh(); err != nil {
		t.Fatal(err)
	}
	start := protocol.InstantOf(time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC))
	s, err := feed.Prices(t.Context(), price.Query{Area: "NO1", From: start, Until: start.Add(protocol.Day)})
	if err != nil || len(s.Slots) != 2 || s.Slots[0] != (price.Slot{Start: start, Length: protocol.Hour, Price: 66_550_000}) {
		t.Errorf("got %v, %v", s.Slots, err)
	}
}

// The area that is asked for is read alone, unless the configuration says which are.
func TestOpenFileForAnArea(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := "datetime;Hours;FI;FRE;SE1\n01.01.2016;00 - 01;1;7;1\n01.01.2016;01 - 02;2;;2\n01.01.2016;02 - 03;3;8;3\n"
	if err := os.WriteFile(filepath.Join(dir, "elspot.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	const config = "[[file]]\npath = \"elspot.csv\"\nformat = \"nordpool\"\nzone = \"Europe/Oslo\"\ncurrency = \"EUR\"\n"
	for _, c := range []struct{ areas, area, want string }{
		{"", "FI", "FI"},
		{"areas = [\"FI\", \"SE1\"]\n", "", "FI SE1"},
		{"areas = [\"SE1\"]\n", "FI", "SE1"},
		{"", "", ""},
	} {
		feed, err := feeds.Open(feeds.FileName, "feed.toml", dir, c.areas+config, c.area, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		d, err := feed.Describe(t.Context())
		if (err == nil) != (c.want != "") || strings.Join(d.Areas, " ") != c.want {
			t.Errorf("%+v: got %v, %v", c, d.Areas, err)
		}
	}
}

func TestOpenTariff(t *testing.T) {
	t.Parallel()
	feed, err := open(feeds.TariffName, `
area = "hall"
currency = "EUR"
zone = "Europe/Berlin"
price = 100
grid_fee = 10
tax = 19
[[period]]
days = "sat-sun"
price = 40
[[period]]
months = "nov-feb"
hours = "17:00-20:00"
price = 250.5
`, "")
	if err != nil {
		t.Fatal(err)
	}
	if err = feed.Refresh(); err != nil {
		t.Error(err)
	}
	for at, want := range map[time.Time]protocol.Micro{
		time.Date(2026, 1, 7, 16, 0, 0, 0, time.UTC):  309_995_000, // Wednesday, 17 h in Berlin
		time.Date(2026, 1, 10, 16, 0, 0, 0, time.UTC): 59_500_000,
		time.Date(2026, 7, 8, 16, 0, 0, 0, time.UTC):  130_900_000,
	} {
		from := protocol.InstantOf(at)
		s, err := feed.Prices(t.Context(), price.Query{Area: "hall", From: from, Until: from + 1})
		if err != nil || len(s.Slots) != 1 || s.Slots[0].Price != want {
			t.Errorf("%v: got %v, %v; want %d", at, s.Slots, err, want)
		}
	}
}

// All that is wrong is told at once, each with its line.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{feeds.FileName, "areas = [\"a,b\"]\n", "feed.toml: file: is missing; add a table [[file]] for each file of prices\n" +
			"feed.toml:1: areas: the area \"a,b\" has characters that do not print, or a comma"},
		{feeds.FileName, "grid_fee = 1e9\ntax = -1\n", "feed.toml: file: is missing; add a table [[file]] for each file of prices\n" +
			"feed.toml:1: grid_fee: is outside ±1000000.00 per MWh\n" +
			"feed.toml:2: tax: is outside 0 to 1000 percent"},
		{feeds.FileName, `[[file]]
zone = "Europe/Olso"
colour = "red"
unit = "kWh"
[[file]]
path = "x"
format = "hourly"
start = 2026-01-01
hours = "clocks"
currency = "eur"
sequence = 2
[[file]]
path = "x"
format = "nord"
[[file]]
path = "x"
format = "csv"
slot = "10m"
`, `feed.toml:1: file[1].format: is missing; use one of csv, hourly, nordpool, entsoe
feed.toml:1: file[1].path: is missing; set the path of the price file
feed.toml:2: file[1].zone: invalid time zone "Europe/Olso"; use a name such as "Europe/Oslo" or "UTC"
feed.toml:3: file[1].colour: unknown key; allowed here: path, format, zone, start, hours, area, currency, unit, slot, gaps, max_price, sequence, rename
feed.toml:4: file[1].unit: "kWh" is unknown; use "MWh"
feed.toml:5: file[2].area: is missing; name the price area of the file
feed.toml:5: file[2].zone: is missing; name the time zone of the file's clock, as "Europe/Oslo"
feed.toml:8: file[2].start: is a date or time; write a date and time in quotes, as "2026-01-31 00:00"
feed.toml:9: file[2].hours: "clocks" is unknown; did you mean "clock"? Allowed are "elapsed", "clock"
feed.toml:10: file[2].currency: invalid currency "eur"; use three capital letters, such as "EUR"
feed.toml:11: file[2].sequence: has no use with format "hourly"; leave it out
feed.toml:14: file[3].format: "nord" is unknown; allowed are "csv", "hourly", "nordpool", "entsoe"
feed.toml:18: file[4].slot: is 10m0s; use a multiple of 15m0s up to 24h0m0s`},
		{feeds.TariffName, `price = 2000000
zone = "Local"
[[period]]
months = "mon"
days = 3
hours = "6-22"
`, `feed.toml: area: an area has no name; name the price area that the tariff is for
feed.toml: currency: invalid currency ""; use three capital letters, such as "EUR"
feed.toml:1: price: is beyond ±1000000.00 per MWh
feed.toml:2: zone: invalid time zone "Local"; use a name such as "Europe/Oslo" or "UTC"
feed.toml:3: period[1].price: is missing; set the price of a MWh
feed.toml:4: period[1].months: "mon" is no month; use jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec, or ranges of them as jan-mar
feed.toml:5: period[1].days: is a number; write weekdays, as "mon-fri"
feed.toml:6: period[1].hours: "6-22" is no time of the day; write it on quarters of an hour, as "06:00-22:15"`},
		{feeds.FileName, "x = \n", "feed.toml:1: not TOML"},
		{"weather", "", `unknown price feed "weather"; built-in feeds are file and tariff`},
	}
	for _, c := range cases {
		_, err := open(c.name, c.text, "")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.want)
		}
	}
}

// A price that looks like one per kWh is odd, but may be right.
func TestTariffWarns(t *testing.T) {
	t.Parallel()
	var c feeds.Tariff
	r := settings.NewReader(&c)
	r.Text("feed.toml", "", "area = \"A\"\ncurrency = \"EUR\"\nzone = \"UTC\"\nprice = 0.31\n")
	c.Check(r)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if warnings := r.Warnings(); len(warnings) != 1 || warnings[0].String() != "feed.toml:4: price: is less than 1 per MWh; is it per kWh?" {
		t.Errorf("got %v", warnings)
	}
	s, err := c.Open().Prices(t.Context(), price.Query{Area: "A", Until: 1})
	if err != nil || s.Slots[0].Price != 310_000*unit/unit {
		t.Errorf("got %v, %v", s, err)
	}
}
