package gamma_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// machine is one of round numbers: V_m = 4 flop per word.
func machine() protocol.Machine {
	return protocol.Machine{Flops: 4e9, Words: 1e9, Network: 2e7, Latency: 50_000}
}

// TestPredict compares with what one reckons by hand from facts/iss-gamma.md.
func TestPredict(t *testing.T) {
	t.Parallel()
	bus := machine()
	bus.Bus = true
	behavior := protocol.Behavior{Mflop: 16_000_000, Mwords: 8_000_000, Sent: 2e9, Messages: 1e6, CPUs: 8}
	for name, c := range map[string]struct {
		behavior                protocol.Behavior
		machine                 protocol.Machine
		cpus                    int
		ra, b, gamma            float64
		compute, send, latency  float64
		time                    protocol.Duration
		intensity, computingPPM int
	}{
		"bound by memory": {
			behavior, machine(), 8, 2e9, 2e7, 10, 1000, 100, 50, 1_150_000, 500_000, 869_565,
		},
		"on a bus each has an eighth": {
			behavior, bus, 8, 2e9, 2.5e6, 1.25, 1000, 800, 50, 1_850_000, 500_000, 540_541,
		},
		"one CPU sends nothing": {
			behavior, machine(), 1, 2e9, 2e7, gamma.Huge, 8000, 0, 0, 8_000_000, 500_000, 1_000_000,
		},
		"at the peak": {
			protocol.Behavior{Mflop: 16_000_000, Mwords: 1_000_000},
			machine(), 8,
			4e9, 2e7, gamma.Huge, 500, 0, 0, 500_000, 1_000_000, 1_000_000,
		},
		"no accesses to memory": {
			protocol.Behavior{Mflop: 16_000_000},
			machine(), 8,
			4e9, 2e7, gamma.Huge, 500, 0, 0, 500_000, 1_000_000, 1_000_000,
		},
		"a part of a millisecond counts as one": {
			protocol.Behavior{Mflop: 5}, machine(), 1, 4e9, 2e7, gamma.Huge, 0.00125, 0, 0, 2, 1_000_000, 1_000_000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := gamma.Predict(c.behavior, c.machine, c.cpus)
			for what, pair := range map[string][2]float64{
				"r_a": {p.Ra, c.ra}, "b": {p.B, c.b}, "Γ": {p.Gamma, c.gamma},
				"t_comp": {p.Compute, c.compute}, "t_comm": {p.Send, c.send}, "t_lat": {p.Latency, c.latency},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
					t.Errorf("%s is %g, want %g", what, pair[0], pair[1])
				}
			}
			if p.Time != c.time || p.Intensity != c.intensity || p.Computing != c.computingPPM {
				t.Errorf("T %v, intensity %d, computing %d; want %v, %d, %d",
					p.Time, p.Intensity, p.Computing, c.time, c.intensity, c.computingPPM)
			}
		})
	}
}

// TestWholeMilliseconds: the rounding of floats does not cost a millisecond.
func TestWholeMilliseconds(t *testing.T) {
	t.Parallel()
	for ms := range int64(5000) {
		p := gamma.Predict(protocol.Behavior{Mflop: 4 * (ms + 1)}, machine(), 1)
		if p.Time != protocol.Duration(ms+1) {
			t.Errorf("%d ms become %v", ms+1, p.Time)
		}
	}
}

func TestPredictNothing(t *testing.T) {
	t.Parallel()
	said := protocol.Behavior{Mflop: 1}
	for name, p := range map[string]gamma.Prediction{
		"no behavior": gamma.Predict(protocol.Behavior{Mwords: 1}, machine(), 1),
		"no machine":  gamma.Predict(said, protocol.Machine{Flops: 1, Words: 1}, 1),
		"no CPU":      gamma.Predict(said, machine(), 0),
	} {
		if p != (gamma.Prediction{}) {
			t.Errorf("%s: predicts %+v", name, p)
		}
	}
}

// TestScaling follows what each CPU sends from 8 CPUs to 64.
func TestScaling(t *testing.T) {
	t.Parallel()
	for scaling, want := range map[protocol.Scaling][2]float64{
		protocol.Constant:  {100, 50},
		protocol.Surface:   {25, 50},
		protocol.Multicast: {12.5, 450},
	} {
		p := gamma.Predict(
			protocol.Behavior{Mflop: 1e6, Sent: 2e9, Messages: 1e6, CPUs: 8, Scaling: scaling}, machine(), 64)
		if math.Abs(p.Send-want[0]) > 1e-9 || math.Abs(p.Latency-want[1]) > 1e-9 {
			t.Errorf("%q: sends for %g s and waits %g s, want %v", scaling, p.Send, p.Latency, want)
		}
	}
}

func drawMachine(t *rapid.T) protocol.Machine {
	return protocol.Machine{
		Flops: rapid.Int64Range(1e8, 1e12).Draw(t, "R"), Words: rapid.Int64Range(1e7, 1e11).Draw(t, "M"),
		Network: rapid.Int64Range(1e4, 1e10).Draw(t, "C"), Latency: rapid.Int64Range(0, 1e6).Draw(t, "L"),
		Bus: rapid.Bool().Draw(t, "bus"),
	}
}

func drawBehavior(t *rapid.T) protocol.Behavior {
	return protocol.Behavior{
		Mflop: rapid.Int64Range(1, 1e11).Draw(t, "O"), Mwords: rapid.Int64Range(0, 1e11).Draw(t, "W"),
		Sent: rapid.Int64Range(0, 1e12).Draw(t, "S"), Messages: rapid.Int64Range(0, 1e9).Draw(t, "Z"),
		CPUs: rapid.IntRange(0, 256).Draw(t, "P0"),
		Scaling: rapid.SampledFrom([]protocol.Scaling{
			protocol.Constant, protocol.Surface, protocol.Multicast,
		}).Draw(t, "scaling"),
	}
}

// TestIdentities checks the relations of facts/iss-gamma.md that the code does not use.
func TestIdentities(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, cpus := drawMachine(t), rapid.IntRange(1, 1000).Draw(t, "P")
		p := gamma.Predict(drawBehavior(t), m, cpus)
		near := func(what string, a, b float64) {
			if math.Abs(a-b) > 1e-9*max(math.Abs(a), math.Abs(b)) {
				t.Errorf("%s: %g is not %g in %+v", what, a, b, p)
			}
		}
		near("r_a = min(R∞, V_a·M∞)", p.Ra, min(float64(m.Flops), p.VA*float64(m.Words)))
		near("E = 1/(1 + 1/Γ + t_lat/t_comp)", p.Efficiency, 1/(1+p.Send/p.Compute+p.Latency/p.Compute))
		if p.Send > 0 {
			near("Γ = γ_a/γ_m", p.Gamma, min(gamma.Huge, p.GammaA/p.GammaM))
			near("γ_m = r_a/b", p.GammaM, p.Ra/p.B)
		}
		seconds := p.Compute + p.Send + p.Latency
		if ms := float64(p.Time); ms < 1000*seconds*(1-1e-9) || ms > 1000*seconds+1 {
			t.Errorf("T is %v, its parts take %g s", p.Time, seconds)
		}
	})
}

// TestBetterMachines: no parameter makes a run longer by being better.
func TestBetterMachines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, m, cpus := drawBehavior(t), drawMachine(t), rapid.IntRange(1, 1000).Draw(t, "P")
		better := m
		better.Flops *= rapid.Int64Range(1, 5).Draw(t, "faster")
		better.Words *= rapid.Int64Range(1, 5).Draw(t, "more memory")
		better.Network *= rapid.Int64Range(1, 5).Draw(t, "more network")
		better.Latency /= rapid.Int64Range(1, 5).Draw(t, "less latency")
		better.Bus = m.Bus && rapid.Bool().Draw(t, "still a bus")
		if was, is := gamma.Predict(b, m, cpus).Time, gamma.Predict(b, better, cpus).Time; is > was {
			t.Errorf("%v on %+v, but %v on the better %+v", was, m, is, better)
		}
	})
}
