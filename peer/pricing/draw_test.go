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
		if got := pricing.JobPower(perCPU, &spec); got != want.Int64() {
			t.Fatalf("%d mW on %d CPUs at %d: %d, want %d", perCPU, spec.CPUs, share, got, want)
		}
	})
	if got := pricing.JobPower(math.MaxInt64, &protocol.Spec{Request: protocol.Request{CPUs: math.MaxInt}}); got != math.MaxInt64 {
		t.Errorf("the most that there is: %d", got)
	}
}

// TestDrawOfAll: what a budget has measured counts, else the runs that are known and the site's power of
// the other busy CPUs.
func TestDrawOfAll(t *testing.T) {
	t.Parallel()
	d := desk()
	var running pricing.Drawing
	running.Add(400_000, 2)
	running.Add(100_000, 1)
	running.Remove(100_000, 1)
	for name, tt := range map[string]struct {
		load  protocol.Load
		power int64
		want  int64
	}{
		"two, and one of others":  {protocol.Load{Busy: 3}, d.Power, 650_000},
		"the load is older":       {protocol.Load{Busy: 1}, d.Power, 400_000},
		"a budget says":           {protocol.Load{Busy: 3, Draw: 7}, d.Power, 7},
		"a budget of which 0 go":  {protocol.Load{Busy: 3, Budget: protocol.ActiveBudget(7)}, d.Power, 0},
		"no power is stated here": {protocol.Load{Busy: 3}, 0, 0},
	} {
		d.Power = tt.power
		if got := d.DrawOfAll(running, &tt.load); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	if running.Remove(400_000, 2); !running.Idle() {
		t.Errorf("%+v is left", running)
	}
}

// TestMeasured: half a kWh in an hour on 4 CPUs of 250 W is half of what the site states.
func TestMeasured(t *testing.T) {
	t.Parallel()
	d := desk()
	for name, tt := range map[string]struct {
		cpus    int
		outcome protocol.Outcome
		want    int
	}{
		"half":           {4, protocol.Outcome{Ran: protocol.Hour, Usage: protocol.Usage{Energy: 1_800_000_000}}, 500_000},
		"hardly any":     {4, protocol.Outcome{Ran: protocol.Hour, Usage: protocol.Usage{Energy: 1}}, 1},
		"beyond all":     {4, protocol.Outcome{Ran: 1, Usage: protocol.Usage{Energy: math.MaxInt64}}, protocol.MaxPower},
		"not measured":   {4, protocol.Outcome{Ran: protocol.Hour}, 0},
		"no time":        {4, protocol.Outcome{Usage: protocol.Usage{Energy: 1}}, 0},
		"no CPUs either": {0, protocol.Outcome{Ran: protocol.Hour, Usage: protocol.Usage{Energy: 1}}, 0},
	} {
		if got := d.Measured(tt.cpus, &tt.outcome); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
