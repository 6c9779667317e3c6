package workload_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)
}

func TestMomentsByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dist workload.HyperErlang
		want workload.Moments
	}{
		"exponential of mean 2": {workload.HyperErlang{N: 1, Lambda1: 0.5, Lambda2: 9, Rho: 1}, workload.Moments{2, 8, 48}},
		"second branch alone":   {workload.HyperErlang{N: 1, Lambda1: 9, Lambda2: 0.5, Rho: 0}, workload.Moments{2, 8, 48}},
		"Erlang of 3 stages":    {workload.HyperErlang{N: 3, Lambda1: 1, Lambda2: 1, Rho: 0.3}, workload.Moments{3, 12, 60}},
		// ½·2·(1 + ¼), ½·2·3·(1 + 1/16), ½·2·3·4·(1 + 1/64)
		"both branches": {workload.HyperErlang{N: 2, Lambda1: 1, Lambda2: 4, Rho: 0.5}, workload.Moments{1.25, 3.1875, 12.1875}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.dist.Moments()
			for k := range got {
				if !near(got[k], test.want[k], 1e-14) {
					t.Errorf("moment %d is %v, want %v", k+1, got[k], test.want[k])
				}
			}
			if got, want := test.dist.Times(3).Mean(), 3*test.want[0]; !near(got, want, 1e-14) {
				t.Errorf("three times as long has a mean of %v, want %v", got, want)
			}
		})
	}
}

// dists draws distributions whose branches differ enough to be told apart.
func dists() *rapid.Generator[workload.HyperErlang] {
	return rapid.Custom(func(t *rapid.T) workload.HyperErlang {
		slow := math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, "slow"))
		return workload.HyperErlang{
			N:       rapid.IntRange(1, 12).Draw(t, "n"),
			Lambda1: slow,
			Lambda2: slow * math.Pow(10, rapid.Float64Range(0.05, 2.5).Draw(t, "ratio")),
			Rho:     rapid.Float64Range(0.01, 0.99).Draw(t, "rho"),
		}
	})
}

// The fit of a distribution's moments has these moments, with an order that is
// not above the distribution's own; where that is the least there is, it is the
// distribution.
func TestMatchIsTheInverseOfMoments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := dists().Draw(t, "distribution")
		got, matched := workload.Match(want.Moments(), 12)
		if matched != 3 || got.N > want.N || got.Lambda1 > got.Lambda2 {
			t.Fatalf("%+v: matched %d moments with %+v", want, matched, got)
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("%+v: %v", got, err)
		}
		for k, m := range got.Moments() {
			if !near(m, want.Moments()[k], 1e-7) {
				t.Fatalf("%+v: moment %d of %+v is %v", want, k+1, got, m)
			}
		}
		if got.N == want.N && (!near(got.Lambda1, want.Lambda1, 1e-4) ||
			!near(got.Lambda2, want.Lambda2, 1e-2) || !near(got.Rho, want.Rho, 1e-2)) {
			t.Fatalf("%+v came back as %+v", want, got)
		}
	})
}

// Whatever the moments, the answer is a distribution that has as many of them
// as it says, or none for no positive mean.
func TestMatchSaysWhatItMatched(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 20).Draw(t, "most")
		mean := math.Pow(10, rapid.Float64Range(-3, 6).Draw(t, "mean"))
		second := 1 + math.Pow(10, rapid.Float64Range(-6, 3).Draw(t, "variation"))
		third := second * second * (1 + math.Pow(10, rapid.Float64Range(-6, 3).Draw(t, "skew")))
		m := workload.Moments{mean, second * mean * mean, third * mean * mean * mean}
		got, matched := workload.Match(m, most)
		if matched < 1 || got.N > most {
			t.Fatalf("matched %d with %+v", matched, got)
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("%+v: %v", got, err)
		}
		for k := range matched {
			if !near(got.Moments()[k], m[k], 1e-6) {
				t.Fatalf("moment %d of %+v is %v, want %v", k+1, got, got.Moments()[k], m[k])
			}
		}
		order := float64(most)
		if matched < 3 && m.Variation() > 1.001/order && third > second*second*1.001*(order+2)/(order+1) {
			t.Fatalf("three moments are feasible, %d were matched", matched)
		}
		if matched < 2 && m.Variation() > 1.001/order {
			t.Fatal("two moments are feasible, one was matched")
		}
	})
}

func TestMatchFallsBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		moments workload.Moments
		most    int
		matched int
	}{
		"exponential":                {workload.Moments{2, 8, 48}, 10, 3}, // order 2 has it, order 1 only on its border
		"exponential, order 1 alone": {workload.Moments{2, 8, 48}, 1, 1},
		"skewed too little":          {workload.Moments{1, 3, 10}, 2, 2},
		"the same with more stages":  {workload.Moments{1, 3, 10}, 9, 3},
		"constant":                   {workload.Moments{5, 25, 125}, 30, 1},
		"all zero":                   {workload.Moments{}, 30, 0},
		"not a number":               {workload.Moments{math.NaN(), 1, 1}, 30, 0},
		"overflowed":                 {workload.Moments{1, math.Inf(1), math.Inf(1)}, 30, 1},
		"third moment overflowed":    {workload.Moments{1, 3, math.Inf(1)}, 30, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, matched := workload.Match(test.moments, test.most); matched != test.matched {
				t.Errorf("matched %d moments with %+v, want %d", matched, got, test.matched)
			}
		})
	}
}

func TestSamplesConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dist := dists().Draw(t, "distribution")
		dist = dist.Times(1000 / dist.Mean()) // so that milliseconds are fine enough
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		const draws = 4000
		times := make([]float64, draws)
		for i := range times {
			times[i] = float64(dist.Sample(rng)) / float64(protocol.Second)
		}
		got, want := workload.MomentsOf(times), dist.Moments()
		// Six standard errors: one false alarm in hundreds of millions.
		if limit := 6 * math.Sqrt(want.Variation()/draws); !near(got[0], want[0], limit) && want.Variation() < 10 {
			t.Fatalf("the mean of %d draws is %v, want %v", draws, got[0], want[0])
		}
	})
}

func TestSecondAndThirdSampleMoments(t *testing.T) {
	t.Parallel()
	dist := workload.HyperErlang{N: 3, Lambda1: 0.01, Lambda2: 0.05, Rho: 0.3}
	rng := rand.New(rand.NewPCG(1, 2))
	times := make([]float64, 400_000)
	for i := range times {
		times[i] = float64(dist.Sample(rng)) / float64(protocol.Second)
	}
	got, want := workload.MomentsOf(times), dist.Moments()
	for k := range got {
		if !near(got[k], want[k], 0.01) {
			t.Errorf("sample moment %d is %v, want %v", k+1, got[k], want[k])
		}
	}
}

// Renewals is exact for order 1 and close for higher ones.
func TestRenewals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dist workload.HyperErlang
		span float64
	}{
		"Poisson":            {workload.HyperErlang{N: 1, Lambda1: 0.01, Lambda2: 0.01, Rho: 0.5}, 5000},
		"rare long gaps":     {workload.HyperErlang{N: 1, Lambda1: 0.0001, Lambda2: 0.1, Rho: 0.02}, 3000},
		"two stages":         {workload.HyperErlang{N: 2, Lambda1: 0.001, Lambda2: 0.1, Rho: 0.1}, 20_000},
		"many equal stages":  {workload.HyperErlang{N: 9, Lambda1: 0.1, Lambda2: 0.1, Rho: 0.5}, 5000},
		"shorter than a gap": {workload.HyperErlang{N: 1, Lambda1: 0.0001, Lambda2: 0.01, Rho: 0.5}, 50},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 7))
			const runs = 20_000
			events := 0
			for range runs {
				for at := test.dist.Sample(rng); float64(at) < 1000*test.span; at += test.dist.Sample(rng) {
					events++
				}
			}
			if got, want := test.dist.Renewals(test.span), float64(events)/runs; !near(got, want, 0.03) {
				t.Errorf("%v events expected, %v seen", got, want)
			}
		})
	}
}

func TestHyperErlangValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dist workload.HyperErlang
		want string
	}{
		"fine":         {workload.HyperErlang{N: 1, Lambda1: 1, Lambda2: 1, Rho: 1}, ""},
		"order":        {workload.HyperErlang{N: 0, Lambda1: 1, Lambda2: 1, Rho: 1}, "n: 0"},
		"many stages":  {workload.HyperErlang{N: 1 << 40, Lambda1: 1, Lambda2: 1, Rho: 1}, "n: 1099511627776"},
		"rate":         {workload.HyperErlang{N: 1, Lambda1: -1, Lambda2: 1, Rho: 1}, "lambda1: -1"},
		"infinite":     {workload.HyperErlang{N: 1, Lambda1: 1, Lambda2: math.Inf(1), Rho: 1}, "lambda2: +Inf"},
		"probability":  {workload.HyperErlang{N: 1, Lambda1: 1, Lambda2: 1, Rho: 1.5}, "rho: 1.5"},
		"not a number": {workload.HyperErlang{N: 1, Lambda1: 1, Lambda2: 1, Rho: math.NaN()}, "rho: NaN"},
		"overflow":     {workload.HyperErlang{N: 1, Lambda1: 1e-300, Lambda2: 1, Rho: 1}, "extreme"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantError(t, test.dist.Validate(), test.want)
		})
	}
}

// wantError checks that the error mentions want, or that there is none if want
// is empty.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("the error is %v, want one with %q", err, want)
	}
}
