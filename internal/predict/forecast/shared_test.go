package forecast_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shared returns a file of the data that is shared beside the checkout, unpacked.
func shared(tb testing.TB, path ...string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "..", "shared", "data"}, path...)...))
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	if !strings.HasSuffix(path[len(path)-1], ".gz") {
		return data
	}
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	if data, err = io.ReadAll(packed); err != nil {
		tb.Fatal(err)
	}
	return data
}

func float(tb testing.TB, text string) float64 {
	tb.Helper()
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		tb.Fatal(err)
	}
	return value
}

func micro(tb testing.TB, text string) protocol.Micro {
	tb.Helper()
	return protocol.Micro(math.Round(float(tb, text) * 1e6))
}

// hours is a series of hours from an instant on; [forecast.Hole] leaves one out.
func hours(start time.Time, costs []protocol.Micro) (out price.Series) {
	at := protocol.InstantOf(start)
	for _, cost := range costs {
		if cost != forecast.Hole {
			out.Slots = append(out.Slots, price.Slot{Start: at, Length: protocol.Hour, Price: cost})
		}
		at = at.Add(protocol.Hour)
	}
	return out
}

func curve(tb testing.TB, known price.Series, zone *time.Location) *forecast.Curve {
	tb.Helper()
	c, err := forecast.NewCurve(known, zone)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func location(tb testing.TB, name string) *time.Location {
	tb.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return zone
}

// regions of XSEDE whose prices vary.
func regions() []string {
	return []string{"Indiana", "Louisiana", "Pittsburgh", "San_Diego", "Texas"}
}

// xsede is June 2014 in a region. The file has no dates; hour 0 is local midnight.
func xsede(tb testing.TB, region string) *forecast.Curve {
	tb.Helper()
	var costs []protocol.Micro
	for _, line := range strings.Split(strings.TrimSpace(string(shared(tb, "prices", "xsede-2014-06", region+".csv"))), "\n")[1:] {
		costs = append(costs, micro(tb, line))
	}
	return curve(tb, hours(time.Date(2014, 6, 1, 0, 0, 0, 0, time.UTC), costs), time.UTC)
}

// nordPool is the year 2014 in all areas of Nord Pool's own file, whose empty cells
// are hours that the clock leaves out.
func nordPool(tb testing.TB) map[string]*forecast.Curve {
	tb.Helper()
	lines := strings.Split(strings.TrimSpace(string(shared(tb, "prices", "nordpool", "elspot-prices_2014_hourly_eur.csv.gz"))), "\n")
	areas := strings.Split(strings.TrimSpace(lines[0]), ";")[2:]
	zone := location(tb, "Europe/Oslo")
	costs := make([][]protocol.Micro, len(areas))
	for _, line := range lines[1:] {
		for i, cell := range strings.Split(strings.TrimSpace(line), ";")[2:] {
			if cell != "" {
				costs[i] = append(costs[i], micro(tb, strings.Replace(cell, ",", ".", 1)))
			}
		}
	}
	out := map[string]*forecast.Curve{}
	for i, area := range areas {
		out[area] = curve(tb, hours(time.Date(2014, 1, 1, 0, 0, 0, 0, zone), costs[i]), zone)
	}
	return out
}
