// Package pricetest is what every feed of electricity prices must do, as a suite of
// cases.
//
//	func TestConformance(t *testing.T) {
//		pricetest.Test(t, pricetest.Target{
//			Open:  func(context.Context) (price.Feed, error) { return mine.New("prices.csv") },
//			Known: protocol.InstantOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
//		})
//	}
package pricetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Target is the feed under test.
type Target struct {
	// Open creates the feed again, with the same configuration: for a plugin, in a new
	// process. One that is an [io.Closer] is closed at the end of a case.
	Open func(ctx context.Context) (price.Feed, error)
	// Known is an instant for which the feed knows prices of each area. 0: now, and
	// if it knows none then, the cases that need prices do not apply.
	Known protocol.Instant
}

// Test runs the suite as subtests.
func Test(t *testing.T, target Target) {
	t.Helper()
	conformance.Test(t, Cases(target))
}

// Cases are the suite. Each opens the feed for itself.
func Cases(target Target) []conformance.Case {
	var cases []conformance.Case
	for _, r := range rules() {
		cases = append(cases, conformance.Case{Name: r.name, Run: func(ctx context.Context) error {
			return target.with(ctx, func(s subject) error { return r.holds(ctx, s) })
		}})
	}
	return cases
}

// rule is what a case checks.
type rule struct {
	name  string
	holds func(ctx context.Context, s subject) error
}

func rules() []rule {
	return []rule{
		{"the description is sound and stays the same", descriptionStays},
		{"each area has prices", areasHavePrices},
		{"equal queries get equal prices", equalWhenRepeated},
		{"several goroutines get equal prices", equalAtOnce},
		{"adjacent queries agree with a long one", adjacentAgree},
		{"queries of less than a slot get the whole slot", shortQueries},
		{"knowing no prices is no error", nothingKnown},
		{"an empty or reversed time has no prices", emptyTime},
		{"an unknown area is an error that says so", unknownArea},
	}
}

// subject is an open feed, and when it knows prices.
type subject struct {
	price.Feed
	target Target
}

func (t Target) with(ctx context.Context, use func(subject) error) (err error) {
	feed, err := t.Open(ctx)
	if err != nil {
		return fmt.Errorf("open the feed: %w", err)
	}
	if closer, ok := feed.(io.Closer); ok {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	return use(subject{feed, t})
}

// known is an instant with prices, or should be.
func (s subject) known() protocol.Instant {
	if s.target.Known != 0 {
		return s.target.Known
	}
	return protocol.InstantOf(time.Now())
}

// prices asks, and checks the answer against all that holds for every query.
func (s subject) prices(ctx context.Context, query price.Query) (price.Series, error) {
	series, err := s.Prices(ctx, query)
	if err != nil {
		return price.Series{}, fmt.Errorf("prices %s: %w", text(query), err)
	}
	if err = series.Check(query); err != nil {
		return price.Series{}, fmt.Errorf("prices %s: %w", text(query), err)
	}
	return series, nil
}

// days are the prices of an area from a day before until a day after the known
// instant, and the query for them. The error is a skip when there need be none.
func (s subject) days(ctx context.Context, area string) (price.Query, price.Series, error) {
	query := price.Query{Area: area, From: s.known().Add(-protocol.Day), Until: s.known().Add(protocol.Day)}
	series, err := s.prices(ctx, query)
	if err == nil && len(series.Slots) == 0 {
		err = fmt.Errorf("no prices %s, though the target says that they are known", text(query))
		if s.target.Known == 0 {
			err = conformance.Skip("no prices %s, and the target does not say when they are known", text(query))
		}
	}
	return query, series, err
}

// eachArea tries a check on the areas of the feed, at most maxAreas of them.
func (s subject) eachArea(ctx context.Context, check func(area string) error) error {
	described, err := s.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	for _, area := range described.Areas[:min(maxAreas, len(described.Areas))] {
		if err = check(area); err != nil {
			return err
		}
	}
	return nil
}

// maxAreas is how many areas are tried: a feed may know all of a continent.
const maxAreas = 5

func text(query price.Query) string {
	return fmt.Sprintf("of %s from %v until %v", query.Area, query.From.Time(), query.Until.Time())
}
