package curve_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/price/curve"
)

// BenchmarkReadNordpool reads a year of 17 areas.
func BenchmarkReadNordpool(b *testing.B) {
	text := shared(b, "nordpool", elspot)
	options := curve.Options{Zone: zone(b, "Europe/Oslo"), Currency: "EUR"}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := curve.Read(curve.Nordpool, elspot, text, options); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadCSV reads the same as CSV.
func BenchmarkReadCSV(b *testing.B) {
	text := sharedNordpool(b).AppendCSV(nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := curve.Read(curve.CSV, "csv", text, curve.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
