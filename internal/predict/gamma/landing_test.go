package gamma_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestRanges checks the Γ that [IS 2] tells of its application classes on its machines.
func TestRanges(t *testing.T) {
	t.Parallel()
	huge := [2]float64{gamma.Huge, gamma.Huge}
	want := map[string]map[protocol.SiteName][2]float64{
		"farmed": { // [IS 2.1]: "the Γ parameter is huge"
			"farm": huge, "pentium": huge, "xeon": huge, "opteron": huge, "xt3": huge, "smp": huge,
		},
		"neighbours": { // [IS 2.2]
			"farm": {0, 0.1}, "pentium": {2, 10}, "xeon": {10, 50}, "opteron": {10, 50}, "xt3": {200, 2000},
		},
		"transposed": { // [IS 2.3]: on Fast Ethernet communication takes several times as long as computing
			"farm": {0, 0.1}, "pentium": {1.0 / 8, 1.0 / 3}, "xeon": {1, 10}, "opteron": {1, 10}, "xt3": {10, 100},
		},
		"shared": {"farm": {0, 0.1}, "smp": {10, 100}}, // [IS 2.4]
	}
	for _, c := range classes(t) {
		for _, s := range park(t) {
			bounds, ok := want[c.name][s.name]
			if !ok {
				continue
			}
			if p := gamma.Predict(c.behavior, s.machine, c.cpus); p.Gamma < bounds[0] || p.Gamma > bounds[1] {
				t.Errorf("%s on %s: Γ is %.3g, [IS 2] wants %g to %g", c.name, s.name, p.Gamma, bounds[0], bounds[1])
			}
		}
	}
}

// TestRegimes: what bounds the processors, and whether more of them help.
func TestRegimes(t *testing.T) {
	t.Parallel()
	for _, c := range classes(t) {
		for _, s := range park(t) {
			p := gamma.Predict(c.behavior, s.machine, c.cpus)
			switch c.name {
			case "transposed": // [IS 2.3]: r_a = R∞
				if p.Intensity != 1_000_000 {
					t.Errorf("%s on %s reaches %d ppm of the peak", c.name, s.name, p.Intensity)
				}
			case "neighbours": // [IS 2.2]: "determined by the main memory bandwidth"
				if p.Ra > 0.5*float64(s.machine.Flops) {
					t.Errorf("%s on %s is not bound by the memory: r_a = %g", c.name, s.name, p.Ra)
				}
			case "shared": // [IS 2.4]: "the scalability is very poor" but with shared memory
				if good := p.Efficiency > 0.8; good != (s.name == "smp") || !good && p.Efficiency > 0.4 {
					t.Errorf("%s on %s has the efficiency %.2f", c.name, s.name, p.Efficiency)
				}
			}
		}
	}
}

// The weights are 1 (the objective "balanced") and these are the rates that count beside a
// site's price of the CPU.
const (
	salary      = 60.0   // CHF per working hour of the engineer who waits
	wattHour    = 150e-6 // CHF
	cooling     = 1.3
	hoursOfWeek = 24 * 7
)

// working is how many working hours, 8 to 12 and 13 to 17 from Monday to Friday, lie in so
// many hours that begin at an hour of the week.
func working(begin, hours float64) float64 {
	weeks := math.Floor(hours / hoursOfWeek)
	sum, end := 40*weeks, begin+hours-weeks*hoursOfWeek
	for day := range 14 {
		if day%7 >= 5 {
			continue
		}
		for _, opens := range []int{8, 13} {
			from := float64(24*day + opens)
			sum += max(0, min(end, from+4)-max(begin, from))
		}
	}
	return sum
}

// cost is z in CHF of all components of a class at an idle site, from an hour of the week on.
func cost(c *class, s *site, begin float64) float64 {
	if c.cpus > s.cpus || c.memoryMB > s.memoryMB {
		return math.Inf(1)
	}
	hours := float64(gamma.Predict(c.behavior, s.machine, c.cpus).Time) / float64(protocol.Hour)
	used := hours * float64(c.cpus*c.cases)
	return used*s.price + used*s.watts*cooling*wattHour + salary*working(begin, hours)
}

// cheapest is where a class lands.
func cheapest(c *class, sites []site, begin float64) protocol.SiteName {
	var at protocol.SiteName
	least := math.Inf(1)
	for i := range sites {
		if z := cost(c, &sites[i], begin); z < least {
			at, least = sites[i].name, z
		}
	}
	return at
}

// changed is a site whose price and every parameter are multiplied, each by a factor of its
// own.
func changed(s site, factor func(i int) float64) site {
	m := &s.machine
	for i, parameter := range []*int64{&m.Flops, &m.Words, &m.Network, &m.Latency} {
		*parameter = int64(float64(*parameter) * factor(i))
	}
	s.watts *= factor(4)
	s.price *= factor(5)
	return s
}

// TestLandings: each class goes where [IS 2] wants it, at any time of the week, also when
// each price and parameter of the park is wrong by 20 %, alone or all at once.
func TestLandings(t *testing.T) {
	t.Parallel()
	const parameters = 6
	sites := park(t)
	check := func(what string, c *class, sites []site, begin float64) {
		t.Helper()
		if at := cheapest(c, sites, begin); !slices.Contains(c.lands, string(at)) {
			t.Errorf("%s lands at %s instead of %v, begun at hour %g of the week, with %s", c.name, at, c.lands, begin, what)
		}
	}
	random := rand.New(rand.NewPCG(7, 7))
	for _, c := range classes(t) {
		for begin := 0.0; begin < hoursOfWeek; begin++ {
			check("the park as it is", &c, sites, begin)
			for i := range len(sites) * parameters {
				for _, by := range []float64{0.8, 1.2} {
					one := slices.Clone(sites)
					one[i/parameters] = changed(one[i/parameters], func(j int) float64 {
						if j == i%parameters {
							return by
						}
						return 1
					})
					check("one thing changed", &c, one, begin)
				}
			}
			for range 10 {
				corner := make([]site, len(sites))
				for i, s := range sites {
					corner[i] = changed(s, func(int) float64 { return 0.8 + 0.4*float64(random.IntN(2)) })
				}
				check("all changed at random", &c, corner, begin)
			}
			check("all changed for the worst", &c, worst(&c, sites), begin)
		}
	}
}

// worst makes the sites where a class should land slower and dearer, and all others faster
// and cheaper.
func worst(c *class, sites []site) []site {
	against := make([]site, len(sites))
	for i, s := range sites {
		better := 1.2
		if slices.Contains(c.lands, string(s.name)) {
			better = 0.8
		}
		against[i] = changed(s, func(j int) float64 {
			if j < 3 { // rates
				return better
			}
			return 2 - better
		})
	}
	return against
}
