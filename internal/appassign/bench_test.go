package appassign_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// euro is in millionths.
const euro = 1_000_000

// grid is an application on a grid of machines of different speeds, prices and queues.
// Each component may run on 16, 32, 64 or 128 CPUs, with less and less use of them. What
// it weighs is what it costs, with a little more on one of the terms.
func grid(components, sites int, seed uint64) *appassign.Problem {
	random := rand.New(rand.NewPCG(seed, 7))
	p := &appassign.Problem{
		MaxCost: appassign.Unlimited, MaxEnd: protocol.Never,
		Late: stairs(euro/4, protocol.Minute), // 15 euros an hour, by the minute
	}
	speed, price, wait := make([]float64, sites), make([]float64, sites), make([]float64, sites)
	for s := range sites {
		p.Sites = append(p.Sites, appassign.Site{CPUs: 1024 << random.IntN(4), Free: 1 << 20, MaxJobs: components})
		speed[s], price[s] = 0.5+1.5*random.Float64(), 0.02+0.06*random.Float64()
		wait[s] = random.Float64() * float64(4*protocol.Hour)
	}
	for range components {
		hours := 20 + 180*random.Float64() // of CPU time
		serial := random.Float64() / 50
		var c appassign.Component
		for s := range sites {
			for cpus := 16; cpus <= 128; cpus *= 2 {
				run := hours / speed[s] * (serial + (1-serial)/float64(cpus))
				use := run * float64(cpus) * price[s] * (0.9 + 0.2*random.Float64())
				power := run * float64(cpus) * 0.01
				c.Choices = append(c.Choices, appassign.Choice{
					Site: s, CPUs: cpus, Wait: protocol.Duration(wait[s] * float64(cpus) / 128),
					Run:      protocol.Duration(run * float64(protocol.Hour)),
					Weighted: int64((use + 1.5*power) * euro), Cost: int64((use + power) * euro),
				})
			}
		}
		p.Components = append(p.Components, c)
	}
	return p
}

// The kinds of limits that problems are solved with.
const (
	unlimited = "unlimited"
	cost      = "cost"            // a quarter of the way from the least cost to what the best choice costs
	tight     = "tight cost"      // a hundredth of that way
	timed     = "time"            // half of the way from the earliest end to that of the best choice
	shared    = "shared"          // sites with few free CPUs that accept few components
	crowded   = "crowded"         // most components wait for others
	poor      = "shared and cost" // half of that way
	poorer    = "shared and less" // a quarter of it
	hurried   = "shared and time" // half of the way from the earliest end to that of the best choice
	all       = "all"             // shared, time, and cost at a quarter
	printed   = "printed"         // each component's own wait counts too
)

// limited is a grid with limits of a kind.
func limited(tb testing.TB, components, sites int, kind string, seed uint64) *appassign.Problem {
	tb.Helper()
	p := grid(components, sites, seed)
	random := rand.New(rand.NewPCG(seed, 8))
	for s := range p.Sites {
		row := &p.Sites[s]
		switch kind {
		case shared, poor, poorer, hurried, all:
			row.Free, row.MaxJobs = 64+random.IntN(row.CPUs/4), 2+2*components/sites
		case crowded:
			row.Free, row.CPUs = 16, 64+row.CPUs/32
		}
	}
	switch kind {
	case cost, tight, poor, poorer, all:
		cheap := *p
		cheap.Components = nil
		for _, c := range p.Components {
			c.Choices = append([]appassign.Choice(nil), c.Choices...)
			for i := range c.Choices {
				c.Choices[i].Weighted = c.Choices[i].Cost
			}
			cheap.Components = append(cheap.Components, c)
		}
		cheap.Late = nil
		least, free := solved(tb, &cheap), solved(tb, p)
		part := int64(4)
		switch kind {
		case tight:
			part = 100
		case poor:
			part = 2
		}
		p.MaxCost = least.Cost + (free.Cost-least.Cost)/part
	case timed, hurried:
		p.MaxEnd = between(earliest(tb, p), solved(tb, p).End)
	case printed:
		p.EachLate = true
	}
	if kind == all {
		p.MaxEnd = between(earliest(tb, p), solved(tb, p).End)
	}
	return p
}

// earliest is when the application can end at all.
func earliest(tb testing.TB, p *appassign.Problem) protocol.Duration {
	tb.Helper()
	fast := *p
	fast.Late = func(end protocol.Duration) int64 { return 1000 * int64(end) }
	return solved(tb, &fast).End
}

func between(a, b protocol.Duration) protocol.Duration { return a + (b-a)/2 }

func solved(tb testing.TB, p *appassign.Problem) appassign.Solution {
	tb.Helper()
	got, err := appassign.Solve(p, appassign.Options{Gap: appassign.DefaultGap})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// report has a benchmark tell the gap and the steps of each kind of limits, on grids of
// several seeds.
func report(b *testing.B, components, gap int) {
	b.Helper()
	for _, kind := range []string{unlimited, cost, tight, timed, shared, poor, poorer, hurried, crowded, all, printed} {
		for seed := range uint64(5) {
			b.Run(fmt.Sprintf("%d×50×4/%s/%d", components, kind, seed), func(b *testing.B) {
				measure(b, limited(b, components, 50, kind, seed), gap)
			})
		}
	}
}

func measure(b *testing.B, p *appassign.Problem, gap int) {
	b.Helper()
	for b.Loop() {
		got, err := appassign.Solve(p, appassign.Options{Gap: gap})
		if _, none := errors.AsType[*appassign.InfeasibleError](err); none {
			b.Skip(err)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(got.Gap())/protocol.PPM*100, "%gap")
		b.ReportMetric(float64(got.Nodes), "steps")
	}
}

func BenchmarkTenComponents(b *testing.B) { report(b, 10, 0) }

func BenchmarkHundredComponents(b *testing.B) { report(b, 100, appassign.DefaultGap) }
