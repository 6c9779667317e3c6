package priceformat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/plugins/price"
)

// Format is how a file of prices is written.
type Format string

// The formats.
const (
	// CSV is Switchyard's own: the columns start, end (optional), area (optional) and
	// price, with times that have an offset.
	CSV Format = "csv"
	// Hourly has one price a line below the header "price", and no times.
	Hourly Format = "hourly"
	// Nordpool is Nord Pool's table: a line for each hour, a column for each area.
	Nordpool Format = "nordpool"
	// ENTSOE is the Publication_MarketDocument of type A44 of ENTSO-E's transparency
	// platform (IEC 62325-451-3).
	ENTSOE Format = "entsoe"
)

// Formats lists the names of the formats.
func Formats() []string {
	return []string{string(CSV), string(Hourly), string(Nordpool), string(ENTSOE)}
}

// Set are the curves of a file, sorted by area. All prices are of one currency.
type Set struct {
	Currency string // as "EUR"
	Curves   []Curve
	Others   []string // areas of the file that were not asked for, sorted
}

// Curve are the prices of an area.
type Curve struct {
	Area   string
	Series price.Series // as [price.Series.Check] wants it
}

// Find returns the curve of an area, or nil if there is none.
func (s *Set) Find(area string) *Curve {
	i, ok := slices.BinarySearchFunc(s.Curves, area, func(c Curve, area string) int { return strings.Compare(c.Area, area) })
	if !ok {
		return nil
	}
	return &s.Curves[i]
}

// Read reads the text of a file. The name is that of the file, for errors: one of type
// [*problems.FileError] if the file is wrong, another one if the options are.
func Read(format Format, name string, text []byte, options Options) (*Set, error) {
	if faults := options.Faults(format); len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s: %s", name, faults[0].Option, faults[0].Text)
	}
	r := newReading(name, options)
	switch format {
	case CSV:
		r.csv(lines(text))
	case Hourly:
		r.hourly(lines(text))
	case Nordpool:
		r.nordpool(lines(text))
	case ENTSOE:
		r.entsoe(text)
	}
	return r.settle()
}
