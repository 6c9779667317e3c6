package priceformat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// OfFeed asks a feed for the prices of an area or, when the query names none, of all of them.
// An error for an area that the feed does not know is [price.ErrUnknownArea].
func OfFeed(ctx context.Context, feed price.Feed, query price.Query) (*Set, error) {
	described, err := feed.Describe(ctx)
	if err != nil {
		return nil, err
	}
	areas := described.Areas
	if query.Area != "" {
		if !slices.Contains(areas, query.Area) {
			return nil, &unknownAreaError{query.Area, areas}
		}
		areas = []string{query.Area}
	}
	set := &Set{Currency: described.Currency}
	for _, query.Area = range areas {
		series, err := feed.Prices(ctx, query)
		if err != nil {
			return nil, err
		}
		set.Curves = append(set.Curves, Curve{Area: query.Area, Series: series})
	}
	return set, nil
}

// unknownAreaError says which areas there are.
type unknownAreaError struct {
	area  string
	areas []string
}

func (e *unknownAreaError) Error() string {
	return fmt.Sprintf("there is no area %q; there are %s", e.area, strings.Join(e.areas, ", "))
}

// Is implements the interface of [errors.Is].
func (*unknownAreaError) Is(err error) bool { return errors.Is(err, price.ErrUnknownArea) }

// JSON is the set as it is printed in JSON: the currency, and of each area the prices.
func (s *Set) JSON() any {
	type slotJSON struct {
		Start  protocol.Instant  `json:"start_ms"`
		Length protocol.Duration `json:"length_ms"`
		Price  protocol.Micro    `json:"price_micro"` // millionths per MWh
	}
	type curveJSON struct {
		Area  string     `json:"area"`
		Slots []slotJSON `json:"slots"`
	}
	var curves []curveJSON
	for _, c := range s.Curves {
		one := curveJSON{Area: c.Area, Slots: make([]slotJSON, len(c.Series.Slots))}
		for i, slot := range c.Series.Slots {
			one.Slots[i] = slotJSON(slot)
		}
		curves = append(curves, one)
	}
	return struct {
		Currency string      `json:"currency"`
		Curves   []curveJSON `json:"curves"`
	}{s.Currency, curves}
}

// Gaps says for how long prices are missing between others, in all, and the first such time.
func (c *Curve) Gaps() (missing protocol.Duration, first price.Slot) {
	for i := 1; i < len(c.Series.Slots); i++ {
		before, slot := c.Series.Slots[i-1].End(), c.Series.Slots[i]
		if slot.Start > before && missing == 0 {
			first = price.Slot{Start: before, Length: slot.Start.Sub(before)}
		}
		missing = missing.Plus(slot.Start.Sub(before))
	}
	return missing, first
}

// AreaOf names the area of a file that names none, by the name of the file.
func AreaOf(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, end := range []string{".gz", ".csv", ".txt"} {
		name = strings.TrimSuffix(name, end)
	}
	if CheckArea(name) != nil {
		return "prices"
	}
	return name
}
