package gamma

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Huge stands for a ratio whose divisor is 0, so that a [Prediction] can be written as JSON.
const Huge = 1e18

// Prediction is what the Γ model says of a run of a component on some CPUs of a machine
// (facts/iss-gamma.md). The zero value says nothing.
type Prediction struct {
	VA     float64 // V_a = O/W, in flop per word of memory; at most [Huge]
	VM     float64 // V_m = R∞/M∞, in flop per word
	Ra     float64 // r_a = min(R∞, V_a·M∞), in flop/s of a CPU
	B      float64 // b: words a second that the network takes from each CPU; on a bus C∞/P
	GammaA float64 // γ_a = O/S of one CPU, in flop per word sent; at most [Huge]
	GammaM float64 // γ_m = r_a/b, in flop per word
	Gamma  float64 // Γ = γ_a/γ_m = t_comp/t_comm; at most [Huge]

	Compute float64 // t_comp = O/(P·r_a), in seconds
	Send    float64 // t_comm = S/b, in seconds
	Latency float64 // t_lat = Z·L, in seconds

	Time       protocol.Duration // T = t_comp + t_comm + t_lat, rounded up; 0: not known
	Efficiency float64           // E = t_comp/T = 1/(1 + 1/Γ + t_lat/t_comp); the speed-up is P·E
	Intensity  int               // r_a/R∞, in parts per million
	Computing  int               // t_comp/T, in parts per million
}

// Predict predicts a run of a component on cpus CPUs of a machine. The prediction is empty
// where the behavior or the machine does not say enough. A run on one CPU sends nothing.
func Predict(b protocol.Behavior, m protocol.Machine, cpus int) Prediction {
	if !b.Stated() || !m.Stated() || cpus < 1 {
		return Prediction{}
	}
	w, n := workOf(&b), newNode(&m, cpus)
	return n.run(&w, even())
}

// node is one CPU of a machine, among those that a run has.
type node struct {
	cpus    float64 // P
	peak    float64 // R∞, in flop/s
	memory  float64 // M∞, in words a second
	network float64 // b as the machine states it, in words a second
	latency float64 // L, in seconds
}

// newNode shares a bus among all CPUs of the run: b = C∞/P.
func newNode(m *protocol.Machine, cpus int) node {
	n := node{
		cpus: float64(cpus), peak: float64(m.Flops), memory: float64(m.Words),
		network: float64(m.Network), latency: max(0, float64(m.Latency)) / 1e9,
	}
	if m.Bus {
		n.network /= n.cpus
	}
	return n
}

// work is what a component does in a run.
type work struct {
	flop     float64 // O, of all CPUs
	words    float64 // W, of all CPUs
	sent     float64 // S of each CPU
	messages float64 // Z of each CPU
	cpus     float64 // that sent and messages are meant for; 0: any number
	scaling  protocol.Scaling
}

func workOf(b *protocol.Behavior) work {
	return work{
		flop: million(b.Mflop), words: million(b.Mwords), sent: count(b.Sent), messages: count(b.Messages),
		cpus: max(0, float64(b.CPUs)), scaling: b.Scaling,
	}
}

func count(n int64) float64 { return max(0, float64(n)) }

func million(n int64) float64 { return 1e6 * count(n) }

// on is S and Z of each CPU when the component runs on cpus CPUs, see [protocol.Scaling].
func (w *work) on(cpus float64) (sent, messages float64) {
	switch {
	case cpus <= 1:
		return 0, 0
	case w.cpus <= 0:
		return w.sent, w.messages
	}
	switch w.scaling {
	case protocol.Constant:
	case protocol.Surface:
		return w.sent * math.Pow(w.cpus/cpus, 2.0/3), w.messages
	case protocol.Multicast:
		return w.sent * w.cpus / cpus, w.messages * (cpus - 1) / max(1, w.cpus-1)
	}
	return w.sent, w.messages
}

// at is the same work, stated for a number of CPUs.
func (w *work) at(cpus float64) work {
	same := work{flop: w.flop, words: w.words}
	same.sent, same.messages = w.on(cpus)
	return same
}

// pace is by how much runs differ from what the amounts of work and the machine's
// parameters say. The Γ model itself has no such thing: both are 1.
type pace struct {
	compute float64 // what the time to compute is multiplied by: r_a is so much lower
	network float64 // what the time to communicate is: above 1 b is lower than stated, below 1 part of it is hidden
}

func even() pace { return pace{compute: 1, network: 1} }

// times are the parts of a run time, in seconds.
type times struct {
	compute, send, latency float64
	peak                   bool // the peak bounds the rate, not the memory
	covered                bool // all computing is hidden behind communication
}

func (t *times) total() float64 { return t.compute + t.send + t.latency }

// stretch multiplies all parts by a factor.
func (t *times) stretch(by float64) {
	t.compute, t.send, t.latency = by*t.compute, by*t.send, by*t.latency
}

// times are t_comp = O/(P·r_a) = max(O/R∞, W/M∞)/P, t_comm = S/b and t_lat = Z·L. What is
// hidden of communication is hidden behind computing, hence never longer than that.
func (n *node) times(w *work, p pace) times {
	flop, words := w.flop/(n.cpus*n.peak), w.words/(n.cpus*n.memory)
	t := times{compute: p.compute * max(flop, words), peak: flop >= words}
	sent, messages := w.on(n.cpus)
	t.send, t.latency = sent/n.network, messages*n.latency
	bare := t.send + t.latency
	shown := p.network
	if bare-t.compute > shown*bare {
		shown, t.covered = 1-t.compute/bare, true
	}
	t.send, t.latency = shown*t.send, shown*t.latency
	return t
}

// run predicts a run of the work.
func (n *node) run(w *work, p pace) Prediction {
	return n.tell(w, n.times(w, p))
}

// tell derives the rates and ratios of the model from the parts of a run time.
func (n *node) tell(w *work, t times) Prediction {
	sent, _ := w.on(n.cpus)
	p := Prediction{
		VA: ratio(w.flop, w.words), VM: ratio(n.peak, n.memory),
		Ra: n.peak, B: n.network, GammaA: ratio(w.flop/n.cpus, sent),
		Compute: t.compute, Send: t.send, Latency: t.latency,
		Time: duration(t.total()), Efficiency: share(t.compute, t.total()),
	}
	if t.compute > 0 {
		p.Ra = w.flop / n.cpus / t.compute
	}
	if t.send > 0 {
		p.B = sent / t.send
	}
	p.GammaM = ratio(p.Ra, p.B)
	p.Gamma = ratio(t.compute, t.send)
	p.Intensity, p.Computing = ppm(share(p.Ra, n.peak)), ppm(p.Efficiency)
	return p
}

// ratio is at most [Huge].
func ratio(a, b float64) float64 {
	if q := a / b; q < Huge { // false for 0/0 as well
		return q
	}
	return Huge
}

// share is the part of a whole, between 0 and 1.
func share(part, whole float64) float64 {
	if q := part / whole; q < 1 {
		return max(0, q)
	}
	return 1
}

func ppm(share float64) int { return int(math.Round(1e6 * share)) }

// duration rounds up to a millisecond, and what is too long to tell to [protocol.Never].
func duration(seconds float64) protocol.Duration {
	const longest = float64(math.MaxInt64)
	const rounding = 1e-12 // of the floats, which shall not cost a millisecond
	ms := math.Ceil(1000 * seconds * (1 - rounding))
	if ms >= longest {
		return protocol.Never
	}
	return max(1, protocol.Duration(ms))
}
