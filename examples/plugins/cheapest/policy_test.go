package main_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	cheapest "github.com/switchyard-hpc/switchyard/examples/plugins/cheapest"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	minute = protocol.Minute
	hour   = protocol.Hour
	never  = protocol.Never
)

// TestConformance: the policy does what all policies must.
func TestConformance(t *testing.T) {
	t.Parallel()
	policytest.Test(t, policytest.Target{Open: func(context.Context) (policy.Policy, error) {
		return cheapest.New(hour), nil
	}})
}

// site is a site of 4 CPUs that are all taken, with room for any number of jobs.
func site(name, currency string) policy.Site {
	return policy.Site{Name: protocol.SiteName(name), CPUs: 4, MaxJobs: 100, Currency: currency}
}

// quote is a wait and a price.
type quote struct {
	awt  protocol.Duration
	cost protocol.Micro
}

// snapshot has jobs of 2 CPUs that run for an hour; the quotes are row by row. The
// first site decides.
func snapshot(sites []policy.Site, quotes ...quote) policy.Snapshot {
	in := policy.Snapshot{Sites: sites}
	for j := range len(quotes) / len(sites) {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 2, WallTime: hour})
	}
	for _, q := range quotes {
		ert := hour
		if q.awt == never {
			ert = never
		}
		in.AWT, in.ERT, in.Cost = append(in.AWT, q.awt), append(in.ERT, ert), append(in.Cost, q.cost)
	}
	return in
}

// decide lists the decisions as "job:site wait".
func decide(t *testing.T, in policy.Snapshot) (placed []string, decisions []policy.Decision) {
	t.Helper()
	decisions, hint, err := cheapest.New(hour).Decide(t.Context(), in)
	if err != nil || hint != nil {
		t.Fatalf("Decide: hint %v, error %v", hint, err)
	}
	for _, d := range decisions {
		placed = append(placed, fmt.Sprintf("%d:%s %v", d.Job, in.Sites[d.Site].Name, d.Wait))
	}
	return placed, decisions
}

func TestDecide(t *testing.T) {
	t.Parallel()
	a, b, c := site("a", "EUR"), site("b", "EUR"), site("c", "EUR")
	dollar, free := site("b", "USD"), site("a", "")
	one, idle := b, b
	one.MaxJobs, idle.Free = 1, 4
	for name, tt := range map[string]struct {
		in   policy.Snapshot
		want []string
	}{
		"the least price":                {snapshot([]policy.Site{a, b}, quote{0, 20}, quote{minute, 10}), []string{"0:b 1m0s"}},
		"just within the limit":          {snapshot([]policy.Site{a, b}, quote{0, 20}, quote{hour, 10}), []string{"0:b 1h0m0s"}},
		"just beyond the limit":          {snapshot([]policy.Site{a, b}, quote{0, 20}, quote{hour + 1, 10}), []string{"0:a 0s"}},
		"a negative price":               {snapshot([]policy.Site{a, b}, quote{0, 0}, quote{0, -1}), []string{"0:b 0s"}},
		"one price: the least wait":      {snapshot([]policy.Site{a, b}, quote{minute, 5}, quote{0, 5}), []string{"0:b 0s"}},
		"all equal: the own site":        {snapshot([]policy.Site{a, b}, quote{}, quote{}), []string{"0:a 0s"}},
		"nobody within the limit":        {snapshot([]policy.Site{a, b}, quote{3 * hour, 1}, quote{2 * hour, 9}), []string{"0:b 2h0m0s"}},
		"another currency comes last":    {snapshot([]policy.Site{a, dollar}, quote{minute, 90}, quote{0, 1}), []string{"0:a 1m0s"}},
		"another currency but in time":   {snapshot([]policy.Site{a, dollar}, quote{2 * hour, 1}, quote{0, 9}), []string{"0:b 0s"}},
		"no price at home":               {snapshot([]policy.Site{free, dollar, c}, quote{0, 0}, quote{hour, 9}, quote{0, 1}), []string{"0:b 1h0m0s"}},
		"declined sites are left out":    {snapshot([]policy.Site{a, b}, quote{never, 0}, quote{9 * hour, 9}), []string{"0:b 9h0m0s"}},
		"nobody takes it":                {snapshot([]policy.Site{a, b}, quote{never, 0}, quote{never, 0}), nil},
		"a site that accepts one":        {snapshot([]policy.Site{a, one}, quote{0, 9}, quote{0, 1}, quote{0, 9}, quote{0, 1}), []string{"0:b 0s", "1:a 0s"}},
		"fewest jobs of the round":       {snapshot([]policy.Site{a, idle}, quote{0, 1}, quote{30 * minute, 1}, quote{0, 1}, quote{30 * minute, 1}), []string{"0:a 0s", "1:b 30m0s"}},
		"a full site waits for earlier":  {snapshot([]policy.Site{a}, quote{0, 1}, quote{0, 1}, quote{0, 1}), []string{"0:a 0s", "1:a 30m0s", "2:a 1h0m0s"}},
		"an idle one does not":           {snapshot([]policy.Site{idle}, quote{0, 1}, quote{0, 1}, quote{0, 1}), []string{"0:b 0s", "1:b 0s", "2:b 1h0m0s"}},
		"earlier jobs exceed the limit":  {snapshot([]policy.Site{a, b}, quote{hour, 1}, quote{0, 9}, quote{hour, 1}, quote{0, 9}), []string{"0:a 1h0m0s", "1:b 0s"}},
		"a job keeps its place in a row": {snapshot([]policy.Site{a, b}, quote{never, 0}, quote{never, 0}, quote{0, 1}, quote{never, 0}), []string{"1:a 0s"}},
		"no jobs":                        {snapshot([]policy.Site{a, b}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := decide(t, tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("placed %v, want %v", got, tt.want)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	a, b, none := site("a", "EUR"), site("b", "EUR"), site("c", "")
	for want, in := range map[string]policy.Snapshot{
		"cheapest of those that start it within 1h0m0s (1 of 2 sites): 0.04 EUR, wait 0s":             snapshot([]policy.Site{a, b}, quote{0, 40_000}, quote{2 * hour, 1}),
		"cheapest of those that start it within 1h0m0s (2 of 2 sites): -12.000001 EUR, wait 1.5s":     snapshot([]policy.Site{a, b}, quote{0, 40_000}, quote{1500, -12_000_001}),
		"cheapest of those that start it within 1h0m0s (1 of 1 sites): 3 EUR, wait 250ms":             snapshot([]policy.Site{a}, quote{250, 3_000_000}),
		"cheapest of those that start it within 1h0m0s (1 of 1 sites): -9223372036854.775808 EUR, wa": snapshot([]policy.Site{a}, quote{250, math.MinInt64}),
		"no site starts it within 1h0m0s; least turnaround, 3h0m0s":                                   snapshot([]policy.Site{a, b}, quote{2 * hour, 2}, quote{3 * hour, 1}),
		"no site that starts it within 1h0m0s has a price to compare; least turnaround, 1h0m0s":       snapshot([]policy.Site{a, none}, quote{2 * hour, 2}, quote{0, 0}),
	} {
		if _, got := decide(t, in); len(got) != 1 || !strings.HasPrefix(got[0].Reason, want) {
			t.Errorf("got %+v, want the reason %q", got, want)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	info := policy.Describe(cheapest.New(90 * protocol.Second))
	if len(info.Can) != 0 || !slices.Equal(info.Params, []policy.Param{{Name: "wait_limit_ms", Value: "90000"}}) {
		t.Errorf("Info() = %+v", info)
	}
	for _, one := range []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle} {
		if !slices.Contains(info.Initiations, one) {
			t.Errorf("it does not serve %s", one)
		}
	}
}

// TestNoCheaperSite: no site is better for a single job than the chosen one.
func TestNoCheaperSite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t, 1)
		decisions, _, _ := cheapest.New(hour).Decide(t.Context(), in)
		if len(decisions) == 0 {
			if slices.ContainsFunc(in.AWT, func(awt protocol.Duration) bool { return awt != never }) {
				t.Fatal("a job that could run stays in the queue")
			}
			return
		}
		chosen := decisions[0].Site
		for s := range in.Sites {
			switch soon, late := in.AWT[s] <= hour, in.AWT[chosen] > hour; {
			case soon && late:
				t.Fatalf("site %d is within the limit, %d is not", s, chosen)
			case soon && in.Cost[s] < in.Cost[chosen]:
				t.Fatalf("site %d is cheaper than %d", s, chosen)
			case (late || soon && in.Cost[s] == in.Cost[chosen]) && in.AWT[s] < in.AWT[chosen]:
				t.Fatalf("site %d is sooner than %d, and no dearer within the limit", s, chosen)
			}
		}
	})
}

// drawSnapshot draws sites of one currency, and jobs.
func drawSnapshot(t *rapid.T, jobs int) policy.Snapshot {
	var sites []policy.Site
	for s := range rapid.IntRange(1, 6).Draw(t, "sites") {
		sites = append(sites, site(string(rune('a'+s)), "EUR"))
	}
	quotes := make([]quote, jobs*len(sites))
	for i := range quotes {
		awt := rapid.OneOf(rapid.Int64Range(0, int64(2*hour)), rapid.Just(int64(never))).Draw(t, "awt")
		if quotes[i].awt = protocol.Duration(awt); quotes[i].awt != never {
			quotes[i].cost = protocol.Micro(rapid.Int64Range(-3, 3).Draw(t, "cost"))
		}
	}
	return snapshot(sites, quotes...)
}
