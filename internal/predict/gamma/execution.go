package gamma

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Keep is how many executions of a component [Trim] keeps of each site, KeepAll how many
// of all sites.
const (
	Keep    = 16
	KeepAll = 128
)

// Execution is one run of a component to its end, as the Epilogue writes it to the
// DataWarehouse [IS 4.3].
type Execution struct {
	Site    protocol.SiteName `json:"site"`
	Machine protocol.Machine  `json:"machine"`       // the site's, as it was then
	MHz     int               `json:"mhz,omitempty"` // of its CPUs at full speed, where Machine.Flops is reached; 0: not known
	CPUs    int               `json:"cpus"`
	Ran     protocol.Duration `json:"ran_ms"`
	Usage   protocol.Usage    `json:"usage"`
	At      protocol.Instant  `json:"at_ms"`  // its end, by the origin's clock
	Stated  protocol.Behavior `json:"stated"` // what the user said of this very run; zero: what is said of the next one
}

// Trim keeps the executions that are worth it: the last [Keep] of each site, and of these
// the last [KeepAll], the latest last.
func Trim(runs []Execution) []Execution {
	kept := make([]Execution, 0, min(len(runs), KeepAll))
	ofSite := make(map[protocol.SiteName]int)
	latest := slices.Clone(runs)
	slices.SortStableFunc(latest, func(a, b Execution) int { return later(&a, &b) })
	for i := range latest {
		if site := latest[i].Site; ofSite[site] < Keep && len(kept) < KeepAll {
			ofSite[site]++
			kept = append(kept, latest[i])
		}
	}
	slices.Reverse(kept)
	return kept
}

// later puts the latest first.
func later(a, b *Execution) int {
	return cmp.Or(
		cmp.Compare(b.At, a.At), cmp.Compare(a.Site, b.Site), cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.Ran, b.Ran),
	)
}

// Measure is the Γ model's reading of one run [IS 4.3]: r_a = O/(P·t_comp),
// b = S/(T - t_comp - t_lat) and Γ. O, W, S and Z are those that were counted, else those
// that are stated. Where the CPU time does not determine t_comp, the run time is split as
// the model predicts it.
func Measure(stated protocol.Behavior, e Execution) Prediction {
	b := e.counted(stated)
	if !b.Stated() || !e.fits() {
		return Prediction{}
	}
	w, n := workOf(&b), e.node()
	t := n.times(&w, even())
	if computed, ok := e.computed(); ok && t.send > 0 {
		rest := e.seconds() - computed
		t.compute, t.latency = computed, min(t.latency, rest)
		t.send = rest - t.latency
	}
	t.stretch(e.seconds() / t.total())
	return n.tell(&w, t)
}

// counted is what is stated, with what was counted in its place.
func (e *Execution) counted(stated protocol.Behavior) protocol.Behavior {
	b := stated
	if e.Stated.Stated() {
		b = e.Stated
	}
	if e.Usage.Mflop > 0 {
		b.Mflop = e.Usage.Mflop
	}
	if e.Usage.Mwords > 0 {
		b.Mwords = e.Usage.Mwords
	}
	if e.Usage.Sent <= 0 && e.Usage.Messages <= 0 {
		return b
	}
	w := workOf(&b)
	sent, messages := w.on(float64(e.CPUs))
	b.Sent, b.Messages = whole(sent), whole(messages)
	if e.Usage.Sent > 0 {
		b.Sent = e.Usage.Sent
	}
	if e.Usage.Messages > 0 {
		b.Messages = e.Usage.Messages
	}
	b.CPUs = e.CPUs
	return b
}

// fits says whether the run can be compared with the model.
func (e *Execution) fits() bool { return e.Machine.Stated() && e.CPUs > 0 && e.Ran > 0 }

// seconds is T.
func (e *Execution) seconds() float64 { return max(0, float64(e.Ran)) / float64(protocol.Second) }

// draws is the power that was measured, in parts per million of what the site states. A run
// at a lower frequency tells nothing of that at the full one.
func (e *Execution) draws() float64 {
	if e.MHz > 0 && e.Usage.MHz > 0 && e.Usage.MHz < e.MHz {
		return 0
	}
	return float64(e.Usage.Power)
}

// node is the machine as it ran: a lower frequency lowers R∞ alone.
func (e *Execution) node() node {
	n := newNode(&e.Machine, e.CPUs)
	if e.MHz > 0 && e.Usage.MHz > 0 && e.Usage.MHz < e.MHz {
		n.peak *= float64(e.Usage.MHz) / float64(e.MHz)
	}
	return n
}

// computed is t_comp, in seconds, if the CPU time tells it. It does not where there is
// nothing but computing, and not where it is as long as the run: processes that poll for
// messages use their CPUs while they wait.
func (e *Execution) computed() (seconds float64, ok bool) {
	const polling = 0.98
	if e.CPUs <= 1 || e.Usage.CPU <= 0 {
		return 0, false
	}
	seconds = float64(e.Usage.CPU) / float64(protocol.Second) / float64(e.CPUs)
	return seconds, seconds > 0 && seconds < polling*e.seconds()
}
