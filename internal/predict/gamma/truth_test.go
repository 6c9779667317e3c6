package gamma_test

import (
	"math"
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Counters that a machine may have.
type counters struct{ cpu, flop, words, network bool }

func all() counters { return counters{cpu: true, flop: true, words: true, network: true} }

// truth makes runs as they really are.
type truth struct {
	behavior protocol.Behavior
	overlap  float64 // share of the shorter of computing and communicating that hides behind the longer
	noise    float64 // of each time and counter, relative
	random   *rand.Rand
}

// seconds is the run time without noise.
func (t *truth) seconds(m *protocol.Machine, cpus int) float64 {
	p := gamma.Predict(t.behavior, *m, cpus)
	talk := p.Send + p.Latency
	return p.Compute + talk - t.overlap*min(p.Compute, talk)
}

func (t *truth) noisy(n float64) float64 {
	return n * (1 + t.noise*(2*t.random.Float64()-1))
}

// run is one at a site, measured by what counters there are.
func (t *truth) run(s *site, cpus int, at protocol.Instant, has counters) gamma.Execution {
	p := gamma.Predict(t.behavior, s.machine, cpus)
	seconds := t.noisy(t.seconds(&s.machine, cpus))
	e := gamma.Execution{
		Site: s.name, Machine: s.machine, CPUs: cpus, At: at, Ran: protocol.Duration(math.Ceil(1000 * seconds)),
	}
	if has.cpu {
		e.Usage.CPU = protocol.Duration(1000 * float64(cpus) * min(seconds, t.noisy(p.Compute)))
	}
	if has.flop {
		e.Usage.Mflop = int64(t.noisy(float64(t.behavior.Mflop)))
	}
	if has.words {
		e.Usage.Mwords = int64(t.noisy(float64(t.behavior.Mwords)))
	}
	if has.network && cpus > 1 {
		e.Usage.Sent = int64(t.noisy(p.Send * p.B))
		e.Usage.Messages = int64(t.noisy(p.Latency * 1e9 / max(1, float64(s.machine.Latency))))
	}
	return e
}

// wrong is the behavior as a user states it who errs by up to a factor of 5 in each amount.
func (t *truth) wrong() protocol.Behavior {
	b := t.behavior
	for _, amount := range []*int64{&b.Mflop, &b.Mwords, &b.Sent, &b.Messages} {
		*amount = int64(float64(*amount) * math.Pow(5, 2*t.random.Float64()-1))
	}
	return b
}

// runs are some at one site.
func (t *truth) runs(n int, s *site, cpus []int, has counters) (runs []gamma.Execution) {
	for i := range n {
		runs = append(runs, t.run(s, cpus[i%len(cpus)], protocol.Instant(i), has))
	}
	return runs
}

// off is the relative error of what is expected.
func off(expected protocol.Duration, seconds float64) float64 {
	return math.Abs(float64(expected)/1000/seconds - 1)
}
