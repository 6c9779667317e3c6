package priceformat_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
)

// BenchmarkReadNordpool reads a year of 17 areas.
func BenchmarkReadNordpool(b *testing.B) {
	text := shared(b, "nordpool", elspot)
	options := priceformat.Options{Zone: zone(b, "Europe/Oslo"), Currency: "EUR"}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := priceformat.Read(priceformat.Nordpool, elspot, text, options); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadCSV reads the same as CSV.
func BenchmarkReadCSV(b *testing.B) {
	text := sharedNordpool(b).AppendCSV(nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := priceformat.Read(priceformat.CSV, "csv", text, priceformat.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
