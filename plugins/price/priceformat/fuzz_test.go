package priceformat_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
)

func sortedOf(names []string) []string { return slices.Sorted(slices.Values(names)) }

// readsBack checks that what is accepted is sound, and is the same after writing.
func readsBack(t *testing.T, format priceformat.Format, text []byte, options priceformat.Options) {
	t.Helper()
	set, err := priceformat.Read(format, "prices", text, options)
	if err != nil {
		return
	}
	sound(t, set)
	again, err := priceformat.Read(priceformat.CSV, "prices", set.AppendCSV(nil), priceformat.Options{Gaps: true, MaxPrice: priceformat.MaxPriceLimit})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(set, again) {
		t.Fatalf("it reads back differently:\n%+v\n%+v", set, again)
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add([]byte("start,end,area,price_eur_per_mwh\n2026-03-29T00:00:00+01:00,2026-03-29T01:00:00+01:00,FI,-1.72\n"), false, false)
	f.Add([]byte("# x\nstart,price\n2026-03-29T00:00Z,1\n2026-03-29T02:00Z,2\n"), true, true)
	oslo := zone(f, "Europe/Oslo")
	f.Fuzz(func(t *testing.T, text []byte, gaps, zoned bool) {
		options := priceformat.Options{Area: "A", Gaps: gaps}
		if zoned {
			options.Zone = oslo
		}
		readsBack(t, priceformat.CSV, text, options)
	})
}

func FuzzReadHourly(f *testing.F) {
	f.Add([]byte("\"price\"\n26.1\n22.72\n\n-1.72"), false, false)
	f.Add([]byte("price\n1\n2\n2\n3\n"), true, true)
	oslo := zone(f, "Europe/Oslo")
	f.Fuzz(func(t *testing.T, text []byte, gaps, byClock bool) {
		readsBack(t, priceformat.Hourly, text, priceformat.Options{
			Zone: oslo, Start: time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), ByClock: byClock, Area: "A", Currency: "EUR", Gaps: gaps,
		})
	})
}

func FuzzReadNordpool(f *testing.F) {
	f.Add([]byte(nordpoolHeader+"30.03.2014;01\xa0-\xa002;25,92;1\n30.03.2014;02\xa0-\xa003;;\n30.03.2014;03 - 04;24,45;-24,44\n"), false)
	f.Add([]byte("datetime;Hours;FI\n26.10.2014;02 - 03;8\n26.10.2014;02 - 03;9\n26.10.2014;03 - 04;\n"), true)
	oslo := zone(f, "Europe/Oslo")
	f.Fuzz(func(t *testing.T, text []byte, gaps bool) {
		readsBack(t, priceformat.Nordpool, text, priceformat.Options{Zone: oslo, Currency: "EUR", Gaps: gaps})
	})
}

func FuzzReadENTSOE(f *testing.F) {
	f.Add([]byte("<Publication_MarketDocument><type>A44</type><TimeSeries><in_Domain.mRID>A</in_Domain.mRID><out_Domain.mRID>A</out_Domain.mRID>"+
		"<currency_Unit.name>EUR</currency_Unit.name><price_Measure_Unit.name>MWH</price_Measure_Unit.name><curveType>A03</curveType>"+
		"<Period><timeInterval><start>2026-03-28T23:00Z</start><end>2026-03-29T22:00Z</end></timeInterval><resolution>PT60M</resolution>"+
		"<Point><position>1</position><price.amount>-1.5</price.amount></Point><Point><position>9</position><price.amount>2</price.amount></Point>"+
		"</Period></TimeSeries></Publication_MarketDocument>"), false)
	f.Add([]byte("<Acknowledgement_MarketDocument><Reason><text>no</text></Reason></Acknowledgement_MarketDocument>"), true)
	f.Fuzz(func(t *testing.T, text []byte, gaps bool) {
		readsBack(t, priceformat.ENTSOE, text, priceformat.Options{Gaps: gaps})
	})
}
