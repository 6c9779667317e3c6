package pricing_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestDraw is the product in exact arithmetic, brought back to what fits.
func TestDraw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perCPU := rapid.Int64Range(0, 1e9).Draw(t, "mW")
		spec := protocol.Spec{Request: protocol.Request{Power: rapid.IntRange(0, protocol.MaxPower).Draw(t, "power")}}
		spec.CPUs = rapid.IntRange(0, 1e9).Draw(t, "CPUs")
		share := int64(spec.Power)
		if share == 0 {
			share = protocol.PPM
		}
		want := new(big.Int).Mul(big.NewInt(perCPU), big.NewInt(int64(spec.CPUs)))
		want.Div(want.Mul(want, big.NewInt(share)), big.NewInt(protocol.PPM))
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got := pricing.Draw(perCPU, &spec); got != want.Int64() {
			t.Fatalf("%d mW on %d CPUs at %d: %d, want %d", perCPU, spec.CPUs, share, got, want)
		}
	})
	if got := pricing.Draw(math.MaxInt64, &protocol.Spec{Request: protocol.Request{CPUs: math.MaxInt}}); got != math.MaxInt64 {
		t.Errorf("the most that there is: %d", got)
	}
}
