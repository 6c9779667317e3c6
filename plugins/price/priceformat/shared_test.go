package priceformat_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shared returns a file of prices that is shared beside the checkout, unpacked.
func shared(tb testing.TB, name ...string) []byte {
	tb.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "..", "shared", "data", "prices"}, name...)...)
	text, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	if filepath.Ext(path) != ".gz" {
		return text
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(unpacker)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

const elspot = "elspot-prices_2014_hourly_eur.csv.gz"

// sharedNordpool reads Nord Pool's table of 2014.
func sharedNordpool(tb testing.TB) *priceformat.Set {
	tb.Helper()
	set, err := priceformat.Read(priceformat.Nordpool, elspot, shared(tb, "nordpool", elspot), priceformat.Options{
		Zone: zone(tb, "Europe/Oslo"), Currency: "EUR",
	})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// A year of Nord Pool has all its hours.
func TestSharedNordpool(t *testing.T) {
	t.Parallel()
	set := sharedNordpool(t)
	sound(t, set)
	if len(set.Curves) != 17 {
		t.Fatalf("got %d areas", len(set.Curves))
	}
	first := protocol.InstantOf(clock(t, "2013-12-31 23:00"))
	for _, c := range set.Curves {
		slots := c.Series.Slots
		if len(slots) != 8760 || slots[0].Start != first || slots[8759].End().Sub(first) != 365*protocol.Day {
			t.Errorf("%s: %d prices from %v until %v", c.Area, len(slots), slots[0].Start.Time(), slots[len(slots)-1].End().Time())
		}
	}
}

// In the other zones of Europe the table's clock changes are at the wrong hours.
func TestSharedNordpoolInOtherZones(t *testing.T) {
	t.Parallel()
	text := shared(t, "nordpool", elspot)
	for _, name := range []string{"UTC", "Europe/London", "Europe/Helsinki", "America/New_York", "Asia/Kolkata"} {
		_, err := priceformat.Read(priceformat.Nordpool, elspot, text, priceformat.Options{Zone: zone(t, name), Currency: "EUR"})
		if err == nil || !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "has no price from") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The files of the authors of [MC] hold what Nord Pool's table does, for 6,575 hours of
// the clock, of which that skipped in March is a repetition.
func TestSharedFilesEqualNordpool(t *testing.T) {
	t.Parallel()
	nordpool := sharedNordpool(t)
	areas := map[string]string{"Norway1": "Molde", "Norway2": "Oslo", "Norway3": "Bergen", "Troms": "Troms?"}
	for _, name := range []string{
		"DK1", "DK2", "EE", "FI", "Kr.sand", "LT", "LV", "Molde", "Norway1", "Norway2", "Norway3", "SE1", "SE2", "SE3", "SE4", "Troms",
	} {
		options := priceformat.Options{
			Zone: zone(t, "Europe/Oslo"), Start: clock(t, "2014-01-01"), ByClock: true, Area: name, Currency: "EUR",
		}
		set, err := priceformat.Read(priceformat.Hourly, name, shared(t, "nordu-2014", name+".csv.gz"), options)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		area := name
		if other := areas[name]; other != "" {
			area = other
		}
		got, want := set.Curves[0].Series.Slots, nordpool.Find(area).Series.Slots
		if len(got) != 6574 || !slices.Equal(got, want[:6574]) {
			at := slices.IndexFunc(got, func(s price.Slot) bool { return !slices.Contains(want, s) })
			t.Errorf("%s differs from %s: %d prices, the first other one is %d", name, area, len(got), at)
		}
	}
}

// All the other files can be read.
func TestSharedHourly(t *testing.T) {
	t.Parallel()
	for path, hours := range map[string]int{
		"nordu-2014/Slovenia1.csv.gz": 6532, "nordu-2014/Swiss_Static.csv.gz": 6532, "nordu-2014/UK_Static.csv.gz": 6532,
		"nordu-2014/Ukraine_Static.csv.gz": 6532, "xsede-2014-06/Indiana.csv": 720, "xsede-2014-06/Louisiana.csv": 720,
		"xsede-2014-06/Pittsburgh.csv": 720, "xsede-2014-06/San_Diego.csv": 720, "xsede-2014-06/Tennessee.csv": 720,
		"xsede-2014-06/Texas.csv": 720,
	} {
		set, err := priceformat.Read(priceformat.Hourly, path, shared(t, strings.Split(path, "/")...), priceformat.Options{
			Zone: zone(t, "America/New_York"), Start: clock(t, "2014-06-01"), Area: "A", Currency: "USD",
		})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		sound(t, set)
		if got := len(set.Curves[0].Series.Slots); got != hours {
			t.Errorf("%s: %d hours, want %d", path, got, hours)
		}
	}
}
