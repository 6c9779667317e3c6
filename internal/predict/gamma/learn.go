package gamma

import (
	"math"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Knowledge is what is known of a component before its next run. The zero value knows
// nothing.
type Knowledge struct {
	presumed work   // of the next run
	factors  vector // by which the runs correct that
	past     []past // the latest first
	modelled int    // of past
}

// past is a run in the light of what is known.
type past struct {
	site     protocol.SiteName
	cpus     float64
	seconds  float64
	weight   float64
	modelled bool    // the machine said enough
	surplus  float64 // ln of the run time over what the model explains of it
	draws    float64 // power at the full frequency, in parts per million of what the site states; 0: not measured
}

// Learn draws what to expect of a component's next run from what the user states of it,
// perhaps nothing, and from its earlier runs, in any order. Only those that [Trim] keeps
// count.
//
// One O, W, S and Z, and one pace of computing and of communicating, have to explain the
// runs on all machines and all numbers of CPUs. Of these the most likely are taken, after
// what was stated, counted and timed, each with its doubt. What they leave unexplained at a
// site is expected there again.
func Learn(stated protocol.Behavior, runs []Execution) Knowledge {
	runs = usable(runs)
	explained := slices.DeleteFunc(slices.Clone(runs), func(e Execution) bool { return !e.Machine.Stated() })
	p := presume(&stated, explained)
	k := Knowledge{presumed: p.work, modelled: len(explained)}
	f := fit{doubts: p.doubts}
	ofSite := make(map[protocol.SiteName]int)
	for i := range runs {
		e := &runs[i]
		weight := math.Pow(fading, float64(ofSite[e.Site]))
		ofSite[e.Site]++
		k.past = append(k.past, past{site: e.Site, cpus: float64(e.CPUs), seconds: e.seconds(), weight: weight, draws: e.draws()})
		if e.Machine.Stated() {
			w := p.of(e)
			f.samples = append(f.samples, newSample(e, &w, weight))
		}
	}
	found := f.best()
	k.factors = found.factors()
	k.compare(runs, f.samples)
	return k
}

// fading is how much a run counts for each later one at its site.
const fading = 0.85

// usable are the executions that tell a run time, the latest first.
func usable(runs []Execution) []Execution {
	kept := slices.DeleteFunc(Trim(runs), func(e Execution) bool { return e.CPUs < 1 || e.Ran < 1 })
	slices.Reverse(kept)
	return kept
}

// compare notes what the model leaves unexplained.
func (k *Knowledge) compare(runs []Execution, samples []sample) {
	for i := range runs {
		if runs[i].Machine.Stated() {
			k.past[i].modelled, k.past[i].surplus = true, samples[0].surplus(&k.factors)
			samples = samples[1:]
		}
	}
}

// Behavior is what the next run will do, as far as is known. Amounts that were not stated are
// the presumed ones.
func (k *Knowledge) Behavior() protocol.Behavior {
	w, _ := k.factors.apply(&k.presumed)
	return protocol.Behavior{
		Mflop: whole(w.flop / 1e6), Mwords: whole(w.words / 1e6), Sent: whole(w.sent), Messages: whole(w.messages),
		CPUs: int(whole(w.cpus)), Scaling: w.scaling,
	}
}

// Expect predicts the component's next run on cpus CPUs of a site's machine, and returns
// in a few words for the user what that rests on. Not ok: nothing is known. Where the Γ
// model has no prediction but the component ran at the site, the CPU time of those runs
// is expected again, and only the Time is set.
func (k *Knowledge) Expect(site protocol.SiteName, m protocol.Machine, cpus int) (p Prediction, source string, ok bool) {
	here := k.ranAt(site)
	switch {
	case cpus < 1:
		return Prediction{}, "", false
	case m.Stated() && k.presumed.flop > 0:
		return k.model(site, &m, cpus), k.source(here), true
	case here > 0:
		return Prediction{Time: duration(k.cpuSeconds(site, cpus) / float64(cpus))}, k.source(here), true
	}
	return Prediction{}, "", false
}

func (k *Knowledge) ranAt(site protocol.SiteName) (runs int) {
	for i := range k.past {
		if k.past[i].site == site {
			runs++
		}
	}
	return runs
}

func (k *Knowledge) source(here int) string {
	switch {
	case here > 0:
		return runsOf(here) + " there"
	case k.modelled > 0:
		return runsOf(k.modelled) + " elsewhere"
	}
	return "as stated"
}

func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return strconv.Itoa(n) + " runs"
}

// model is the Γ model with all that is known put in.
func (k *Knowledge) model(site protocol.SiteName, m *protocol.Machine, cpus int) Prediction {
	n := newNode(m, cpus)
	w, p := k.factors.apply(&k.presumed)
	t := n.times(&w, p)
	t.stretch(math.Exp(k.typical(site, cpus, func(p *past) (float64, bool) { return p.surplus, p.modelled })))
	return n.tell(&w, t)
}

// cpuSeconds are those of all CPUs together that runs at a site took.
func (k *Knowledge) cpuSeconds(site protocol.SiteName, cpus int) float64 {
	return k.typical(site, cpus, func(p *past) (float64, bool) { return p.cpus * p.seconds, true })
}

// Draws is the predicted power of the component at a site on cpus CPUs, as
// [protocol.Request.Power] counts it: what it drew there, else what it drew elsewhere, for it
// uses its CPUs alike. Zero means that it was measured nowhere.
func (k *Knowledge) Draws(site protocol.SiteName, cpus int) int {
	if cpus < 1 {
		return 0
	}
	measured := func(p *past) (float64, bool) { return p.draws, p.draws > 0 }
	here := k.typical(site, cpus, measured)
	if here == 0 {
		here = k.middle(cpus, measured)
	}
	return int(math.Round(here))
}

// typical is the weighted median of a number that runs at a site have. The later one counts
// more, and that on a like number of CPUs.
func (k *Knowledge) typical(site protocol.SiteName, cpus int, number func(*past) (float64, bool)) float64 {
	return k.middle(cpus, func(p *past) (float64, bool) {
		n, ok := number(p)
		return n, ok && p.site == site
	})
}

// middle is that of the runs at all sites.
func (k *Knowledge) middle(cpus int, number func(*past) (float64, bool)) float64 {
	const halving = 2 // the weight of a run is divided by this for each factor of two in CPUs
	var numbers []weighted
	for i := range k.past {
		p := &k.past[i]
		if n, ok := number(p); ok {
			near := math.Exp2(-halving * math.Abs(math.Log2(p.cpus/float64(cpus))))
			numbers = append(numbers, weighted{n, p.weight * near})
		}
	}
	return median(numbers)
}

func whole(n float64) int64 {
	const most = 1 << 62
	if n < most {
		return int64(n + 0.5)
	}
	return most
}
