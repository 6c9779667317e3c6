package mcmf_test

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func drawConfig(t *rapid.T) mcmf.Config {
	cfg := mcmf.Config{
		Variant:  rapid.SampledFrom(mcmf.Variants()).Draw(t, "variant"),
		Weight:   rapid.OneOf(rapid.SampledFrom([]int{0, 250_000, protocol.PPM}), rapid.IntRange(0, protocol.PPM)).Draw(t, "weight"),
		Scale:    rapid.SampledFrom([]int{1, 100, 1_000_000}).Draw(t, "scale"),
		Marginal: rapid.SampledFrom([]int{0, 0, 4}).Draw(t, "marginal"),
	}
	if cfg.ByPrice = rapid.Bool().Draw(t, "by price"); cfg.ByPrice {
		cfg.Weight = 0
		cfg.DelayPrice = rapid.SampledFrom([]protocol.Micro{0, 1, protocol.Unit / 50, mcmf.MaxDelayPrice}).Draw(t, "delay price")
		cfg.Currency = rapid.SampledFrom([]string{"", "EUR", "SEK", "NOK"}).Draw(t, "of it")
	}
	if cfg.Variant == mcmf.Inst {
		cfg.Marginal = 0
	}
	return cfg
}

// drawSnapshot draws a round small enough to try all of its assignments.
func drawSnapshot(t *rapid.T) policy.Snapshot {
	var in policy.Snapshot
	for s := range rapid.IntRange(1, 4).Draw(t, "sites") {
		row := site(string(rune('a'+s)), rapid.IntRange(0, 3).Draw(t, "accept"))
		row.Currency = rapid.SampledFrom([]string{"EUR", "EUR", "EUR", "SEK", ""}).Draw(t, "currency")
		row.NoEnergy = rapid.IntRange(0, 3).Draw(t, "no energy") == 0
		row.Latency = protocol.Duration(rapid.Int64Range(0, 100).Draw(t, "latency"))
		row.Bandwidth = rapid.Int64Range(0, 100).Draw(t, "bandwidth")
		for range rapid.IntRange(0, 3).Draw(t, "extras") {
			row.MarginalWaits = append(row.MarginalWaits, protocol.Duration(rapid.Int64Range(0, 500).Draw(t, "extra")))
		}
		slices.Sort(row.MarginalWaits)
		in.Sites = append(in.Sites, row)
	}
	in.Self = rapid.IntRange(-1, len(in.Sites)-1).Draw(t, "self")
	for j := range rapid.IntRange(0, 5).Draw(t, "jobs") {
		in.Jobs = append(in.Jobs, policy.Job{
			ID: protocol.NewJobID(1, uint64(j)), CPUs: 1, WallTime: protocol.Hour,
			Waited: drawWaited(t),
			Data:   rapid.Int64Range(0, 20).Draw(t, "data"),
		})
		for range in.Sites {
			awt, ert, cost := protocol.Never, protocol.Never, protocol.Micro(0)
			if rapid.IntRange(0, 3).Draw(t, "takes it") > 0 {
				awt = protocol.Duration(rapid.Int64Range(0, 1000).Draw(t, "awt"))
				ert = protocol.Duration(rapid.Int64Range(1, 1000).Draw(t, "ert"))
				cost = protocol.Micro(rapid.Int64Range(-1000, 1000).Draw(t, "cost"))
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, cost)
		}
	}
	return in
}

// drawWaited draws an age: together, minutes apart, or beyond all bounds.
func drawWaited(t *rapid.T) protocol.Duration {
	most := rapid.SampledFrom([]protocol.Duration{300, protocol.Hour, 20 * protocol.Day}).Draw(t, "oldest")
	return protocol.Duration(rapid.Int64Range(0, int64(most)).Draw(t, "waited"))
}

// model is the policy worked out with fractions, as the equations are written.
type model struct {
	in    policy.Snapshot
	costs []*big.Rat   // of each pair, rounded; nil: there is none
	steps [][]*big.Rat // of each further job at a site
	late  []*big.Rat   // of each job, for its youth
}

func newModel(in policy.Snapshot, cfg mcmf.Config) *model {
	m := &model{in: in, costs: make([]*big.Rat, len(in.AWT)), steps: make([][]*big.Rat, len(in.Sites))}
	m.late = m.lateness(cfg.Scale)
	currency := m.currency()
	if cfg.ByPrice && cfg.Currency != "" {
		currency = cfg.Currency
	}
	priced := func(s int) bool { return currency != "" && in.Sites[s].Currency == currency }
	reported := false
	m.open(func(_, s, _ int) { reported = reported || priced(s) && !in.Sites[s].NoEnergy })
	known := func(s int) bool { return priced(s) && (!reported || !in.Sites[s].NoEnergy) }
	var responses, energies []*big.Rat
	response := make([]*big.Rat, len(in.AWT))
	m.pairs(func(j, s, at int) {
		wait := int64(in.AWT[at])
		if cfg.Variant == mcmf.Inst {
			wait = 0
		}
		if job, to := in.Jobs[j], in.Sites[s]; s != in.Self && job.Data > 0 && to.Bandwidth > 0 {
			sent := (job.Data*1000 + to.Bandwidth - 1) / to.Bandwidth
			wait = max(wait, int64(to.Latency)+sent)
		}
		response[at] = big.NewRat(wait+int64(in.ERT[at]), 1)
	})
	m.open(func(_, s, at int) {
		responses = append(responses, response[at])
		if known(s) {
			energies = append(energies, big.NewRat(int64(in.Cost[at]), 1))
		}
	})
	w := big.NewRat(int64(cfg.Weight), protocol.PPM)
	if cfg.ByPrice {
		w = weightByPrice(cfg.DelayPrice, responses, energies)
	}
	slow := normaliser(responses, new(big.Rat).Mul(w, big.NewRat(int64(cfg.Scale), 1)))
	expensive := normaliser(energies, new(big.Rat).Mul(new(big.Rat).Sub(big.NewRat(1, 1), w), big.NewRat(int64(cfg.Scale), 1)))
	m.open(func(j, s, at int) {
		term := m.guess(j, known, expensive)
		if known(s) {
			term = rounded(expensive.of(big.NewRat(int64(in.Cost[at]), 1)), protocol.PPM)
		}
		sum := new(big.Rat).Add(term, rounded(slow.of(response[at]), protocol.PPM))
		m.costs[at] = rounded(sum, 1)
	})
	for s := range in.Sites {
		for k := range len(in.Jobs) {
			step := new(big.Rat)
			if cfg.Marginal > 0 {
				step = rounded(slow.by(big.NewRat(later(in.Sites[s].MarginalWaits, k), 1)), 1)
				step = slices.MinFunc([]*big.Rat{step, big.NewRat(math.MaxInt32-1, 1)}, (*big.Rat).Cmp)
			}
			m.steps[s] = append(m.steps[s], step)
		}
	}
	return m
}

// weightByPrice is what waiting may cost in the round, as a share of that and of what
// electricity may cost.
func weightByPrice(price protocol.Micro, responses, energies []*big.Rat) *big.Rat {
	width := func(values []*big.Rat) *big.Rat {
		if len(values) == 0 {
			return new(big.Rat)
		}
		return new(big.Rat).Sub(slices.MaxFunc(values, (*big.Rat).Cmp), slices.MinFunc(values, (*big.Rat).Cmp))
	}
	hours := new(big.Rat).Quo(width(responses), big.NewRat(int64(protocol.Hour), 1))
	slow := rounded(hours.Mul(hours, big.NewRat(int64(price), 1)), 1)
	all := new(big.Rat).Add(slow, width(energies))
	if all.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return rounded(new(big.Rat).Quo(slow, all), protocol.PPM)
}

func (m *model) pairs(visit func(j, s, at int)) {
	for j := range m.in.Jobs {
		for s := range m.in.Sites {
			if at := m.in.At(j, s); m.in.AWT[at] != never {
				visit(j, s, at)
			}
		}
	}
}

// open visits the pairs at sites that take jobs.
func (m *model) open(visit func(j, s, at int)) {
	m.pairs(func(j, s, at int) {
		if m.in.Sites[s].MaxJobs > 0 {
			visit(j, s, at)
		}
	})
}

// lateness is a whole scale for every ten minutes that a job is younger than the oldest
// that can be placed, at most a thousand.
func (m *model) lateness(scale int) []*big.Rat {
	oldest := protocol.Duration(0)
	m.open(func(j, _, _ int) { oldest = max(oldest, m.in.Jobs[j].Waited) })
	var late []*big.Rat
	for _, job := range m.in.Jobs {
		younger := big.NewInt(int64(max(0, oldest-job.Waited)))
		younger.Mul(younger, big.NewInt(int64(scale))).Div(younger, big.NewInt(600_000))
		if most := big.NewInt(1000 * int64(scale)); younger.Cmp(most) > 0 {
			younger = most
		}
		late = append(late, new(big.Rat).SetInt(younger))
	}
	return late
}

// currency is that of most sites with open pairs, of equal ones the first by name.
func (m *model) currency() (best string) {
	sites := map[string]map[int]bool{}
	m.open(func(_, s, _ int) {
		if name := m.in.Sites[s].Currency; name != "" {
			if sites[name] == nil {
				sites[name] = map[int]bool{}
			}
			sites[name][s] = true
		}
	})
	for name, of := range sites {
		if n := len(sites[best]); best == "" || len(of) > n || len(of) == n && name < best {
			best = name
		}
	}
	return best
}

// guess is the mean of the job's known energy terms, the middle without any.
func (m *model) guess(j int, known func(int) bool, expensive normal) *big.Rat {
	sum, n := new(big.Rat), int64(0)
	for s := range m.in.Sites {
		if at := m.in.At(j, s); known(s) && m.in.AWT[at] != never && m.in.Sites[s].MaxJobs > 0 {
			sum.Add(sum, rounded(expensive.of(big.NewRat(int64(m.in.Cost[at]), 1)), protocol.PPM))
			n++
		}
	}
	switch {
	case n > 0:
		return rounded(sum.Quo(sum, big.NewRat(n, 1)), protocol.PPM)
	case expensive.width.Sign() == 0:
		return sum
	}
	return rounded(new(big.Rat).Quo(expensive.whole, big.NewRat(2, 1)), protocol.PPM)
}

// later is how much longer the job after k others waits.
func later(reported []protocol.Duration, k int) int64 {
	var waits []int64
	waits = append(waits, 0)
	for _, d := range reported {
		waits = append(waits, int64(d))
	}
	for len(waits) <= k {
		n := len(waits)
		rise := int64(0)
		if n > 1 {
			rise = waits[n-1] - waits[n-2]
		}
		waits = append(waits, waits[n-1]+rise)
	}
	return waits[k]
}

// normal is min-max normalisation, times whole.
type normal struct{ least, width, whole *big.Rat }

func normaliser(values []*big.Rat, whole *big.Rat) normal {
	n := normal{new(big.Rat), new(big.Rat), whole}
	if len(values) > 0 {
		n.least = slices.MinFunc(values, (*big.Rat).Cmp)
		n.width = new(big.Rat).Sub(slices.MaxFunc(values, (*big.Rat).Cmp), n.least)
	}
	return n
}

func (n normal) of(v *big.Rat) *big.Rat { return n.by(new(big.Rat).Sub(v, n.least)) }

func (n normal) by(d *big.Rat) *big.Rat {
	if n.width.Sign() == 0 {
		return new(big.Rat)
	}
	d = new(big.Rat).Quo(d, n.width)
	return d.Mul(d, n.whole)
}

// rounded rounds to so many parts of one, halves up.
func rounded(v *big.Rat, parts int64) *big.Rat {
	v = new(big.Rat).Mul(v, big.NewRat(parts, 1))
	v.Add(v, big.NewRat(1, 2))
	whole := new(big.Int).Div(v.Num(), v.Denom()) // Euclidean: down
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), big.NewRat(parts, 1))
}

// best is how many jobs can be placed and what that costs at least, by trying all.
func (m *model) best() (most int, least *big.Rat) {
	load := make([]int, len(m.in.Sites))
	least = new(big.Rat)
	var try func(j, placed int, cost *big.Rat)
	try = func(j, placed int, cost *big.Rat) {
		if j == len(m.in.Jobs) {
			if placed > most || placed == most && cost.Cmp(least) < 0 {
				most, least = placed, cost
			}
			return
		}
		try(j+1, placed, cost)
		for s := range m.in.Sites {
			pair := m.costs[m.in.At(j, s)]
			if pair == nil || load[s] >= m.in.Sites[s].MaxJobs {
				continue
			}
			sum := new(big.Rat).Add(cost, pair)
			sum.Add(sum, m.steps[s][load[s]]).Add(sum, m.late[j])
			load[s]++
			try(j+1, placed+1, sum)
			load[s]--
		}
	}
	try(0, 0, new(big.Rat))
	return most, least
}

// total is what the decisions cost.
func (m *model) total(decisions []policy.Decision) *big.Rat {
	sum := new(big.Rat)
	load := make([]int, len(m.in.Sites))
	for _, d := range decisions {
		sum.Add(sum, m.costs[m.in.At(d.Job, d.Site)]).Add(sum, m.late[d.Job])
		sum.Add(sum, m.steps[d.Site][load[d.Site]])
		load[d.Site]++
	}
	return sum
}

// TestCheapestOfTheLargest: no assignment places more jobs, and none that places as many
// costs less, with what younger jobs cost on top; with and without the hint of another round.
func TestCheapestOfTheLargest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg, in := drawConfig(t), drawSnapshot(t)
		p, err := mcmf.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(in, cfg)
		most, least := m.best()
		for range 2 {
			decisions, hint, err := p.Decide(t.Context(), in)
			if err == nil {
				err = in.Check(decisions)
			}
			if err != nil {
				t.Fatal(err)
			}
			if cost := m.total(decisions); len(decisions) != most || cost.Cmp(least) != 0 {
				t.Fatalf("%d jobs at a cost of %s; %d can be placed for %s", len(decisions), cost, most, least)
			}
			in.Hint = hint
		}
	})
}

// TestWaitsGrow: each decision expects the quoted wait, and what those before it bring.
func TestWaitsGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t)
		p, err := mcmf.New(drawConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		decisions, _, err := p.Decide(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		sent := make([]int, len(in.Sites))
		for _, d := range decisions {
			want := in.AWT[in.At(d.Job, d.Site)] + protocol.Duration(later(in.Sites[d.Site].MarginalWaits, sent[d.Site]))
			if d.Wait != want {
				t.Fatalf("job %d waits %v, want %v", d.Job, d.Wait, want)
			}
			sent[d.Site]++
		}
	})
}

// TestOnlyDifferencesCount: money that every job costs everywhere changes nothing, nor
// does time that all jobs have waited.
func TestOnlyDifferencesCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t)
		p, err := mcmf.New(drawConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		before, _, err := p.Decide(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := p.Decide(t.Context(), in)
		if err != nil || !reflect.DeepEqual(again, before) {
			t.Fatalf("the same snapshot gives %+v, then %+v, %v", before, again, err)
		}
		money := protocol.Micro(rapid.Int64Range(-1_000_000_000_000, 1_000_000_000_000).Draw(t, "money"))
		time := protocol.Duration(rapid.Int64Range(0, int64(protocol.Day)).Draw(t, "time"))
		for at := range in.Cost {
			if in.AWT[at] != never {
				in.Cost[at] += money
			}
		}
		for j := range in.Jobs {
			in.Jobs[j].Waited += time
		}
		after, _, err := p.Decide(t.Context(), in)
		if err != nil || !reflect.DeepEqual(after, before) {
			t.Fatalf("%v more everywhere and %v later: %+v, was %+v, %v", money, time, after, before, err)
		}
	})
}

// TestNamesDoNotMatter: with other names, and so in another order, the sites together
// get as many jobs at the same cost.
func TestNamesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg, in := drawConfig(t), drawSnapshot(t)
		p, err := mcmf.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		first, _, err := p.Decide(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		order := rapid.Permutation(indices(len(in.Sites))).Draw(t, "order")
		other := reordered(in, order)
		second, _, err := p.Decide(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		a, b := newModel(in, cfg).total(first), newModel(other, cfg).total(second)
		if len(first) != len(second) || a.Cmp(b) != 0 {
			t.Fatalf("%d jobs for %s, and %d for %s", len(first), a, len(second), b)
		}
	})
}

func indices(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// reordered has site order[s] of a snapshot under the name of site s.
func reordered(in policy.Snapshot, order []int) policy.Snapshot {
	out := policy.Snapshot{Self: slices.Index(order, in.Self), Jobs: in.Jobs}
	for s, from := range order {
		row := in.Sites[from]
		row.Name = in.Sites[s].Name
		out.Sites = append(out.Sites, row)
	}
	for j := range in.Jobs {
		for _, from := range order {
			at := in.At(j, from)
			out.AWT, out.ERT, out.Cost = append(out.AWT, in.AWT[at]), append(out.ERT, in.ERT[at]), append(out.Cost, in.Cost[at])
		}
	}
	return out
}
