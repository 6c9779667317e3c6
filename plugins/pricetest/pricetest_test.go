package pricetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/pricetest"
	"github.com/switchyard-hpc/switchyard/protocol"
	pricev1 "github.com/switchyard-hpc/switchyard/protocol/price/v1"
)

const noon protocol.Instant = 1_772_366_400_000 // 2026-03-01

// table is a right feed: slots of an hour and, at night, of a quarter, for four
// days around noon, with a gap.
type table struct{}

func (table) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"DE-LU", "FR"}, Currency: "EUR"}, nil
}

func (table) Prices(_ context.Context, query price.Query) (price.Series, error) {
	if query.Area != "DE-LU" && query.Area != "FR" {
		return price.Series{}, fmt.Errorf("%q: %w", query.Area, price.ErrUnknownArea)
	}
	var series price.Series
	for _, slot := range slots() {
		if query.From < query.Until && slot.Start < query.Until && slot.End() > query.From {
			series.Slots = append(series.Slots, slot)
		}
	}
	return series, nil
}

func slots() (all []price.Slot) {
	end := noon.Add(2 * protocol.Day)
	for at := noon.Add(-2 * protocol.Day); at < end; {
		slot := price.Slot{Start: at, Length: protocol.Hour, Price: protocol.Micro(at%1_000_003) - 500_000}
		if at.Time().Hour() < 6 {
			slot.Length = price.Resolution
		}
		if at.Time().Hour() != 20 {
			all = append(all, slot)
		}
		at = slot.End()
	}
	return all
}

func opens(feed price.Feed) func(context.Context) (price.Feed, error) {
	return func(context.Context) (price.Feed, error) { return feed, nil }
}

func TestRightFeeds(t *testing.T) {
	t.Parallel()
	for name, feed := range map[string]price.Feed{"here": table{}, "over the wire": wired{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pricetest.Test(t, pricetest.Target{Open: opens(feed), Known: noon})
		})
	}
}

// wired is the table at the other end of the wire.
type wired struct{ table }

func (w wired) Prices(ctx context.Context, query price.Query) (price.Series, error) {
	there, err := pricev1.DecodeQuery(pricev1.EncodeQuery(query))
	if err != nil {
		return price.Series{}, err
	}
	series, err := w.table.Prices(ctx, there)
	if err != nil {
		return price.Series{}, err
	}
	return pricev1.DecodeSeries(pricev1.EncodeSeries(series), query)
}

// TestWithoutKnown: what needs prices is skipped when nobody says when there are
// some, and fails when somebody says wrongly.
func TestWithoutKnown(t *testing.T) {
	t.Parallel()
	count := func(known protocol.Instant) (skipped, failed int) {
		for _, r := range conformance.Run(t.Context(), pricetest.Cases(pricetest.Target{Open: opens(table{}), Known: known}), nil) {
			if r.Err != nil {
				failed++
			}
			if r.Skipped != "" {
				skipped++
			}
		}
		return skipped, failed
	}
	if skipped, failed := count(0); skipped != 5 || failed != 0 {
		t.Errorf("%d cases skipped, %d failed", skipped, failed)
	}
	if skipped, failed := count(noon.Add(100 * protocol.Day)); skipped != 0 || failed != 5 {
		t.Errorf("%d cases skipped, %d failed", skipped, failed)
	}
}

// wrong is a right feed but for one thing.
type wrong struct {
	table
	prices func(query price.Query, right price.Series) (price.Series, error)
}

func (w wrong) Prices(ctx context.Context, query price.Query) (price.Series, error) {
	series, err := w.table.Prices(ctx, query)
	if err != nil {
		return series, err
	}
	return w.prices(query, series)
}

type fickle struct {
	table
	calls *atomic.Int64
}

func (f fickle) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"FR"}, Currency: fmt.Sprint("C", f.calls.Add(1))}, nil
}

type hospitable struct{ table }

func (h hospitable) Prices(ctx context.Context, query price.Query) (price.Series, error) {
	query.Area = "FR"
	return h.table.Prices(ctx, query)
}

// wrongs are feeds by the case that must catch them.
func wrongs() map[string]price.Feed {
	var calls, inside atomic.Int64
	return map[string]price.Feed{
		"the description is sound and stays the same": fickle{calls: &calls},
		"each area has prices": wrong{prices: func(query price.Query, right price.Series) (price.Series, error) {
			if query.Area == "FR" {
				return price.Series{}, nil
			}
			return right, nil
		}},
		"equal queries get equal prices": wrong{prices: func(_ price.Query, right price.Series) (price.Series, error) {
			return price.Series{Slots: right.Slots[calls.Add(1)%2:]}, nil
		}},
		"several goroutines get equal prices": wrong{prices: func(_ price.Query, right price.Series) (price.Series, error) {
			defer inside.Add(-1)
			meet := inside.Add(1) > 1
			time.Sleep(time.Millisecond) // so that calls do meet
			if meet {
				return price.Series{}, errors.New("one at a time, please")
			}
			return right, nil
		}},
		"adjacent queries agree with a long one": wrong{prices: func(query price.Query, right price.Series) (price.Series, error) {
			return price.Series{Slots: slices.DeleteFunc(right.Slots, func(s price.Slot) bool { return s.Start < query.From })}, nil
		}},
		"queries of less than a slot get the whole slot": wrong{prices: func(query price.Query, right price.Series) (price.Series, error) {
			return price.Series{Slots: slices.DeleteFunc(right.Slots, func(s price.Slot) bool { return s.End() > query.Until })}, nil
		}},
		"knowing no prices is no error": wrong{prices: func(_ price.Query, right price.Series) (price.Series, error) {
			if len(right.Slots) == 0 {
				return right, errors.New("no prices")
			}
			return right, nil
		}},
		"an empty or reversed time has no prices": wrong{prices: func(query price.Query, right price.Series) (price.Series, error) {
			if query.Until <= query.From {
				return price.Series{Slots: slots()[:1]}, nil
			}
			return right, nil
		}},
		"an unknown area is an error that says so": hospitable{},
	}
}

// TestWrongFeedsAreCaught: by the case that is about what is wrong with them.
func TestWrongFeedsAreCaught(t *testing.T) {
	t.Parallel()
	all := wrongs()
	for _, c := range pricetest.Cases(pricetest.Target{Open: opens(table{}), Known: noon}) {
		feed := all[c.Name]
		if feed == nil {
			t.Errorf("no wrong feed is made for the case %q", c.Name)
			continue
		}
		cases := slices.DeleteFunc(pricetest.Cases(pricetest.Target{Open: opens(feed), Known: noon}), func(o conformance.Case) bool { return o.Name != c.Name })
		if results := conformance.Run(t.Context(), cases, nil); len(results) != 1 || results[0].Err == nil {
			t.Errorf("%q does not catch its wrong feed: %+v", c.Name, results)
		}
	}
}

// TestLawlessSeries: whatever breaks the rules of a series is caught wherever
// prices are asked for.
func TestLawlessSeries(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *price.Slot){
		"no length":        func(s *price.Slot) { s.Length = 0 },
		"odd start":        func(s *price.Slot) { s.Start++ },
		"not asked for":    func(s *price.Slot) { s.Start = s.Start.Add(1000 * protocol.Day) },
		"overlapping ones": func(s *price.Slot) { s.Length = protocol.Day },
	} {
		feed := wrong{prices: func(_ price.Query, right price.Series) (price.Series, error) {
			if len(right.Slots) > 0 {
				change(&right.Slots[0])
			}
			return right, nil
		}}
		failed := 0
		for _, r := range conformance.Run(t.Context(), pricetest.Cases(pricetest.Target{Open: opens(feed), Known: noon}), nil) {
			if r.Err != nil {
				failed++
			}
		}
		if failed < 5 {
			t.Errorf("%s: %d cases fail", name, failed)
		}
	}
}
