package priceformat_test

import (
	"fmt"
	"math/big"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// drawSet draws curves with gaps and slots of all lengths.
func drawSet(t *rapid.T) *priceformat.Set {
	set := &priceformat.Set{Currency: rapid.StringMatching(`[A-Z]{3}`).Draw(t, "currency")}
	areas := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-zø.0-9?-][A-Za-zø .0-9?-]{0,8}[A-Za-zø]`), 1, 4, rapid.ID[string]).Draw(t, "areas")
	quarters := func(least, most int, name string) protocol.Duration {
		return protocol.Duration(rapid.IntRange(least, most).Draw(t, name)) * price.Resolution
	}
	for _, area := range sortedOf(areas) {
		c := priceformat.Curve{Area: area}
		at := protocol.Instant(0).Add(quarters(0, 2_000_000, "start"))
		for range rapid.IntRange(1, 20).Draw(t, "slots") {
			slot := price.Slot{
				Start: at.Add(quarters(0, 2, "pause")), Length: quarters(1, 96, "length"),
				Price: protocol.Micro(rapid.Int64Range(int64(-priceformat.DefaultMaxPrice), int64(priceformat.DefaultMaxPrice)).Draw(t, "price")),
			}
			c.Series.Slots = append(c.Series.Slots, slot)
			at = slot.End()
		}
		set.Curves = append(set.Curves, c)
	}
	return set
}

// What is written as CSV reads back as the same curves.
func TestCSVReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawSet(t)
		text := want.AppendCSV(nil)
		got, err := priceformat.Read(priceformat.CSV, "prices", text, priceformat.Options{Gaps: true})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v from\n%s", got, want, text)
		}
	})
}

// A decimal number is read as its nearest millionth.
func TestDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,4}(\.[0-9]{1,10})?`).Draw(t, "number")
		exact, _ := new(big.Rat).SetString(text)
		exact.Mul(exact, big.NewRat(int64(unit), 1))
		set, err := priceformat.Read(priceformat.CSV, "prices", []byte("start,price\n2026-01-01T00:00Z,"+text+"\n"), priceformat.Options{
			Area: "A", Currency: "EUR", PerMWh: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := set.Curves[0].Series.Slots[0].Price
		off := new(big.Rat).Sub(exact, big.NewRat(int64(got), 1))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%s is read as %d millionths", text, got)
		}
	})
}

// In whatever zone and year, a table that is written by the clock reads back as hours
// that follow each other.
func TestNordpoolFollowsTheClock(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{zone(t, "Europe/Oslo"), zone(t, "America/Sao_Paulo"), zone(t, "Australia/Sydney"), time.UTC}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SampledFrom(zones).Draw(t, "zone")
		start := time.Date(rapid.IntRange(1990, 2040).Draw(t, "year"), 1, rapid.IntRange(1, 365).Draw(t, "day"), 0, 0, 0, 0, in)
		text := []byte("datetime;Hours;A\n")
		const hours = 24 * 40
		for i := range hours {
			at := start.Add(time.Duration(i) * time.Hour).In(in)
			text = fmt.Appendf(text, "%s - %02d;1,5\n", at.Format("02.01.2006;15"), (at.Hour()+1)%24)
		}
		set, err := priceformat.Read(priceformat.Nordpool, "prices", text, priceformat.Options{Zone: in, Currency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		slots := set.Curves[0].Series.Slots
		if len(slots) != hours || slots[0].Start != protocol.InstantOf(start) || slots[hours-1].End() != protocol.InstantOf(start.Add(hours*time.Hour)) {
			t.Fatalf("%d hours from %v until %v", len(slots), slots[0].Start.Time(), slots[len(slots)-1].End().Time())
		}
	})
}
