package pricetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// noArea is an area that no feed knows.
const noArea = "no-such-area"

// descriptionStays asks twice, and a new instance.
func descriptionStays(ctx context.Context, s subject) error {
	first, err := s.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if err = first.Check(); err != nil {
		return err
	}
	compare := func(other subject) error {
		second, failed := other.Describe(ctx)
		if failed == nil && !reflect.DeepEqual(first, second) {
			failed = fmt.Errorf("the description is %+v at first, then %+v", first, second)
		}
		return failed
	}
	if err = compare(s); err != nil {
		return err
	}
	return s.target.with(ctx, compare)
}

func areasHavePrices(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		_, _, err := s.days(ctx, area)
		return err
	})
}

// again asks once more, and compares.
func (s subject) again(ctx context.Context, query price.Query, first price.Series) error {
	second, err := s.prices(ctx, query)
	if err == nil && !slices.Equal(first.Slots, second.Slots) {
		err = fmt.Errorf("prices %s: got %v, want %v as before", text(query), second.Slots, first.Slots)
	}
	return err
}

// equalWhenRepeated asks for other times in between.
func equalWhenRepeated(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		query, first, err := s.days(ctx, area)
		if err != nil {
			return err
		}
		for i := range 5 {
			other := query
			other.From = query.From.Add(protocol.Duration(i) * protocol.Hour)
			if _, err = s.prices(ctx, other); err != nil {
				return err
			}
			for range 2 {
				if err = s.again(ctx, query, first); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func equalAtOnce(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		query, first, err := s.days(ctx, area)
		if err != nil {
			return err
		}
		return conformance.Together(8, func(int) error {
			for range 5 {
				if err := s.again(ctx, query, first); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// adjacentAgree cuts a long query in two, between slots and within one, which is
// then part of both answers.
func adjacentAgree(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		query, long, err := s.days(ctx, area)
		if err != nil {
			return err
		}
		slot := long.Slots[len(long.Slots)/2]
		for _, cut := range []protocol.Instant{slot.Start, slot.Start + 1, slot.Start.Add(slot.Length / 2), slot.End() - 1} {
			if cut <= query.From || cut >= query.Until {
				continue
			}
			if err = s.agree(ctx, query, long, cut); err != nil {
				return err
			}
		}
		return nil
	})
}

// agree compares the two parts of a query with what the answer to the whole says of
// them.
func (s subject) agree(ctx context.Context, query price.Query, long price.Series, cut protocol.Instant) error {
	before, after := query, query
	before.Until, after.From = cut, cut
	for _, part := range []price.Query{before, after} {
		outside := func(slot price.Slot) bool { return slot.Start >= part.Until || slot.End() <= part.From }
		want := slices.DeleteFunc(slices.Clone(long.Slots), outside)
		if err := s.again(ctx, part, price.Series{Slots: want}); err != nil {
			return fmt.Errorf("a part of a longer query differs: %w", err)
		}
	}
	return nil
}

// shortQueries asks for the first, a middle and the last quarter of an hour of a
// slot, and for a millisecond.
func shortQueries(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		_, long, err := s.days(ctx, area)
		if err != nil {
			return err
		}
		slot := long.Slots[len(long.Slots)/2]
		for _, query := range []price.Query{
			{Area: area, From: slot.Start, Until: slot.Start.Add(price.Resolution)},
			{Area: area, From: slot.Start.Add(slot.Length / 2), Until: slot.Start.Add(slot.Length/2 + 1)},
			{Area: area, From: slot.End().Add(-price.Resolution), Until: slot.End()},
			{Area: area, From: slot.Start, Until: slot.Start + 1},
			{Area: area, From: slot.End() - 1, Until: slot.End()},
		} {
			if err = s.again(ctx, query, price.Series{Slots: []price.Slot{slot}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// nothingKnown asks for days of the distant past and future. Whoever knows them
// may answer.
func nothingKnown(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		const century = 36525 * protocol.Day
		for _, from := range []protocol.Instant{0, s.known().Add(century)} {
			if _, err := s.prices(ctx, price.Query{Area: area, From: from, Until: from.Add(protocol.Day)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// emptyTime may be refused, or have no prices.
func emptyTime(ctx context.Context, s subject) error {
	return s.eachArea(ctx, func(area string) error {
		for _, length := range []protocol.Duration{0, -1, -protocol.Hour, -2 * protocol.Day} {
			query := price.Query{Area: area, From: s.known(), Until: s.known().Add(length)}
			series, err := s.Prices(ctx, query)
			if err == nil && len(series.Slots) > 0 {
				return fmt.Errorf("prices %s: %v", text(query), series.Slots)
			}
		}
		return nil
	})
}

func unknownArea(ctx context.Context, s subject) error {
	for _, area := range []string{noArea, ""} {
		query := price.Query{Area: area, From: s.known(), Until: s.known().Add(protocol.Day)}
		series, err := s.Prices(ctx, query)
		if err == nil {
			return fmt.Errorf("the area %q has the prices %v; want an error", area, series.Slots)
		}
		if area == noArea && !errors.Is(err, price.ErrUnknownArea) {
			return fmt.Errorf("the error about the area %q does not wrap price.ErrUnknownArea: %w", area, err)
		}
	}
	return nil
}
