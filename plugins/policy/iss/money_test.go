package iss_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestWeigh: it is the sum in exact numbers, rounded half up, within the largest amounts.
func TestWeigh(t *testing.T) {
	t.Parallel()
	edges := rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "terms")
		amounts, weights, sum := make([]protocol.Micro, n), make([]int, n), big.NewInt(0)
		for i := range amounts {
			amounts[i] = protocol.Micro(rapid.OneOf(edges, rapid.Int64(), rapid.Int64Range(-9, 9)).Draw(t, "amount"))
			weights[i] = rapid.OneOf(rapid.IntRange(0, math.MaxInt32), rapid.IntRange(0, 3_000_000), rapid.Just(500_000)).Draw(t, "weight")
			sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(amounts[i])), big.NewInt(int64(weights[i]))))
		}
		want := sum.Add(sum, big.NewInt(protocol.PPM/2))
		want.Div(want, big.NewInt(protocol.PPM)) // rounds down, as the divisor is positive
		low, high := big.NewInt(-math.MaxInt64), big.NewInt(math.MaxInt64)
		switch {
		case want.Cmp(low) < 0:
			want = low
		case want.Cmp(high) > 0:
			want = high
		}
		if got := iss.Weigh(amounts, weights); int64(got) != want.Int64() {
			t.Fatalf("%v by %v is %d, want %v", amounts, weights, got, want)
		}
	})
}
