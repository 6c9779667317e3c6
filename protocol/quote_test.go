package protocol_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestQuoteCost(t *testing.T) {
	t.Parallel()
	terms := func(amounts ...protocol.Micro) (out []protocol.Term) {
		for _, amount := range amounts {
			out = append(out, protocol.Term{Amount: amount})
		}
		return out
	}
	cases := map[string]struct {
		quote protocol.Quote
		want  protocol.Micro
	}{
		"no terms":  {protocol.Quote{}, 0},
		"a sum":     {protocol.Quote{Terms: terms(5, -7, 3)}, 1},
		"declined":  {protocol.Quote{Declined: "full", Terms: terms(5)}, 0},
		"too much":  {protocol.Quote{Terms: terms(math.MaxInt64, math.MaxInt64)}, math.MaxInt64},
		"too small": {protocol.Quote{Terms: terms(math.MinInt64, -1)}, math.MinInt64},
	}
	for name, c := range cases {
		if got := c.quote.Cost(); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// Plus is the sum in exact arithmetic, brought back to what fits.
func TestMicroPlus(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		edges := rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64})
		m := rapid.OneOf(edges, rapid.Int64()).Draw(t, "m")
		n := rapid.OneOf(edges, rapid.Int64()).Draw(t, "n")
		want := new(big.Int).Add(big.NewInt(m), big.NewInt(n))
		switch {
		case want.IsInt64():
		case want.Sign() > 0:
			want.SetInt64(math.MaxInt64)
		default:
			want.SetInt64(math.MinInt64)
		}
		if got := protocol.Micro(m).Plus(protocol.Micro(n)); int64(got) != want.Int64() {
			t.Fatalf("%d + %d: got %d, want %d", m, n, got, want)
		}
	})
}

// TestMicroText: they have all their decimals, and two at least.
func TestMicroTextIn(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]string{"": "-1.25", "CHF": "-1.25 CHF"} {
		if got := protocol.Micro(-1_250_000).TextIn(currency); got != want {
			t.Errorf("in %q: got %q, want %q", currency, got, want)
		}
	}
}

func TestMicroText(t *testing.T) {
	t.Parallel()
	for amount, want := range map[protocol.Micro]string{
		0: "0.00", 1: "0.000001", -1: "-0.000001", 5000: "0.005", -5000: "-0.005", 12_400_000: "12.40", 12_404_999: "12.404999",
		-999_999: "-0.999999", 1_000_000: "1.00", math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		if got := amount.Text(); got != want {
			t.Errorf("%d is %q, want %q", amount, got, want)
		}
	}
}
