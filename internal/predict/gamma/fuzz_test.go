package gamma_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// hostile draws whatever fits in an integer, the borders often.
func hostile(t *rapid.T, what string) int64 {
	return rapid.OneOf(
		rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53}), rapid.Int64(), rapid.Int64Range(0, 1e6),
	).Draw(t, what)
}

func hostileMachine(t *rapid.T) protocol.Machine {
	return protocol.Machine{
		Flops: hostile(t, "R"), Words: hostile(t, "M"), Network: hostile(t, "C"), Latency: hostile(t, "L"),
		Bus: rapid.Bool().Draw(t, "bus"),
	}
}

func hostileBehavior(t *rapid.T) protocol.Behavior {
	return protocol.Behavior{
		Mflop: hostile(t, "O"), Mwords: hostile(t, "W"), Sent: hostile(t, "S"), Messages: hostile(t, "Z"),
		CPUs: int(hostile(t, "P0")),
		Scaling: rapid.SampledFrom([]protocol.Scaling{
			protocol.Constant, protocol.Surface, protocol.Multicast, "unheard of",
		}).Draw(t, "scaling"),
	}
}

func hostileExecution(t *rapid.T) gamma.Execution {
	return gamma.Execution{
		Site: rapid.SampledFrom([]protocol.SiteName{"a", "b"}).Draw(t, "site"), Machine: hostileMachine(t),
		MHz: int(hostile(t, "full MHz")), CPUs: int(hostile(t, "P")), Ran: protocol.Duration(hostile(t, "T")),
		Usage: protocol.Usage{
			CPU: protocol.Duration(hostile(t, "CPU")), Mflop: hostile(t, "counted O"), Mwords: hostile(t, "counted W"),
			Sent: hostile(t, "counted S"), Messages: hostile(t, "counted Z"), MHz: int(hostile(t, "MHz")),
		},
		At: protocol.Instant(hostile(t, "at")), Stated: hostileBehavior(t),
	}
}

// sane says whether a prediction is one that may be shown, stored and reckoned with.
func sane(t *rapid.T, what string, p gamma.Prediction) {
	t.Helper()
	for _, n := range []float64{
		p.VA, p.VM, p.Ra, p.B, p.GammaA, p.GammaM, p.Gamma, p.Compute, p.Send, p.Latency, p.Efficiency,
	} {
		if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			t.Fatalf("%s: %+v", what, p)
		}
	}
	if p.Time < 0 || p.Intensity < 0 || p.Intensity > 1e6 || p.Computing < 0 || p.Computing > 1e6 {
		t.Fatalf("%s: %+v", what, p)
	}
}

func checkHostile(t *rapid.T) {
	stated, m, cpus := hostileBehavior(t), hostileMachine(t), int(hostile(t, "asked P"))
	sane(t, "predicted", gamma.Predict(stated, m, cpus))
	runs := rapid.SliceOfN(rapid.Custom(hostileExecution), 0, 6).Draw(t, "runs")
	for i := range runs {
		sane(t, "measured", gamma.Measure(stated, runs[i]))
	}
	k := gamma.Learn(stated, runs)
	for _, site := range []protocol.SiteName{"a", "b", "c"} {
		p, source, ok := k.Expect(site, m, cpus)
		sane(t, "expected", p)
		if ok != (p.Time > 0) || ok != (source != "") {
			t.Fatalf("ok is %t, but %q expects %v", ok, source, p.Time)
		}
	}
	if b := k.Behavior(); min(b.Mflop, b.Mwords, b.Sent, b.Messages, int64(b.CPUs)) < 0 {
		t.Fatalf("learnt %+v", b)
	}
}

// TestHostile: no numbers make the model panic, or expect what cannot be.
func TestHostile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkHostile)
}

func FuzzHostile(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkHostile)) }
