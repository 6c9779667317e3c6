package price_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	quarter = protocol.Instant(price.Resolution)
	hour    = protocol.Instant(protocol.Hour)
)

// slot lasts an hour.
func slot(start protocol.Instant, cost protocol.Micro) price.Slot {
	return price.Slot{Start: start, Length: protocol.Hour, Price: cost}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

func TestSeriesCheck(t *testing.T) {
	t.Parallel()
	query := price.Query{Area: "FR", From: hour + 1, Until: 5 * hour}
	right := map[string][]price.Slot{
		"nothing":            nil,
		"overlaps both ends": {slot(quarter, 1), slot(5*hour-quarter, -1)},
		"mixed lengths":      {{Start: hour, Length: 15 * protocol.Minute}, {Start: 2 * hour, Length: protocol.Day}},
	}
	for name, slots := range right {
		if err := (&price.Series{Slots: slots}).Check(query); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := map[string][]price.Slot{
		"slot 0 lasts 0s":           {{Start: hour}},
		"slot 0 lasts -1h0m0s":      {{Start: 2 * hour, Length: -protocol.Hour}},
		"slot 0 lasts 20m0s":        {{Start: hour, Length: 20 * protocol.Minute}},
		"slot 0 lasts 24h15m0s":     {{Start: hour, Length: price.MaxSlot + price.Resolution}},
		"slot 0 lasts never":        {{Start: hour, Length: protocol.Never}},
		"slot 0 begins at":          {slot(hour+1, 0)},
		"slot 1 begins at":          {slot(2*hour, 0), slot(3*hour-quarter, 0)},
		"before slot 0 ends":        {slot(2*hour, 0), slot(2*hour, 0)},
		"slot 0 at 1970-01-01 05:0": {slot(5*hour, 0)},
		"slot 0 at 1970-01-01 00:0": {slot(0, 0)},
	}
	for want, slots := range wrong {
		refused(t, (&price.Series{Slots: slots}).Check(query), want)
	}
	late := &price.Series{Slots: []price.Slot{slot(math.MaxInt64/hour*hour, 0)}}
	refused(t, late.Check(query), "was not asked for") // and its end does not wrap around
}

func TestSeriesAt(t *testing.T) {
	t.Parallel()
	s := price.Series{Slots: []price.Slot{slot(hour, 10), slot(2*hour, -20), slot(4*hour, 40)}}
	cases := map[protocol.Instant]struct {
		price protocol.Micro
		ok    bool
	}{
		math.MinInt64: {},
		hour - 1:      {},
		hour:          {10, true},
		2*hour - 1:    {10, true},
		2 * hour:      {-20, true},
		3 * hour:      {},
		4*hour - 1:    {},
		4 * hour:      {40, true},
		5 * hour:      {},
		math.MaxInt64: {},
	}
	for at, want := range cases {
		if got, ok := s.At(at); got != want.price || ok != want.ok {
			t.Errorf("at %v: got %d, %t; want %d, %t", at.Time(), got, ok, want.price, want.ok)
		}
	}
	if _, ok := (&price.Series{}).At(0); ok {
		t.Error("an empty series has a price")
	}
}

// At finds the slot that a look at each of them finds.
func TestSeriesAtIsTheSlotThatHoldsTheInstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s price.Series
		end := protocol.Instant(0)
		for i := range rapid.IntRange(0, 8).Draw(t, "slots") {
			one := price.Slot{
				Start:  end + quarter*protocol.Instant(rapid.IntRange(0, 2).Draw(t, "gap")),
				Length: price.Resolution * protocol.Duration(rapid.IntRange(1, 3).Draw(t, "length")),
				Price:  protocol.Micro(i + 1),
			}
			s.Slots, end = append(s.Slots, one), one.End()
		}
		at := protocol.Instant(rapid.Int64Range(-5, int64(end)+5).Draw(t, "at"))
		var want protocol.Micro
		for _, one := range s.Slots {
			if one.Start <= at && at < one.End() {
				want = one.Price
			}
		}
		if got, ok := s.At(at); got != want || ok != (want != 0) {
			t.Fatalf("at %d of %+v: got %d, %t; want %d", at, s, got, ok, want)
		}
	})
}

func TestDescriptionCheck(t *testing.T) {
	t.Parallel()
	if err := (&price.Description{Areas: []string{"DE-LU", "FR"}, Currency: "EUR"}).Check(); err != nil {
		t.Error(err)
	}
	for want, d := range map[string]price.Description{
		"names no currency":                     {Areas: []string{"FR"}},
		"knows no area":                         {Currency: "EUR"},
		`areas "FR" and "DE-LU" are not sorted`: {Areas: []string{"FR", "DE-LU"}, Currency: "EUR"},
		`areas "FR" and "FR" are not sorted`:    {Areas: []string{"FR", "FR"}, Currency: "EUR"},
	} {
		refused(t, d.Check(), want)
	}
}
