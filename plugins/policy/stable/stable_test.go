package stable_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const never = protocol.Never

// quote is what a site says to a job; a run of 0 stands for a declined one.
type quote struct {
	awt, ert protocol.Duration
	cost     protocol.Micro
}

// snapshot has sites a, b, … that take so many jobs, and a row of quotes for each job.
func snapshot(accept []int, rows ...[]quote) policy.Snapshot {
	var in policy.Snapshot
	for s, n := range accept {
		in.Sites = append(in.Sites, policy.Site{Name: protocol.SiteName(rune('a' + s)), MaxJobs: n, Currency: "EUR"})
	}
	for j, row := range rows {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1})
		for _, q := range row {
			if q.ert == 0 {
				q = quote{never, never, 0}
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, q.awt), append(in.ERT, q.ert), append(in.Cost, q.cost)
		}
	}
	return in
}

func decide(t interface{ Fatal(args ...any) }, in policy.Snapshot) []policy.Decision {
	decisions, hint, err := stable.New().Decide(context.Background(), in)
	if err == nil {
		err = in.Check(decisions)
	}
	if err != nil || hint != nil {
		t.Fatal(err, hint)
	}
	return decisions
}

func TestDecide(t *testing.T) {
	t.Parallel()
	no := quote{}
	for name, tt := range map[string]struct {
		in   policy.Snapshot
		want []string
	}{
		"no jobs":                        {snapshot([]int{1}), nil},
		"no quotes":                      {snapshot([]int{1}, []quote{no}), nil},
		"no room":                        {snapshot([]int{0}, []quote{{0, 1, 0}}), nil},
		"the fastest":                    {snapshot([]int{9, 9}, []quote{{5, 5, 0}, {0, 9, 7}}), []string{"0:b"}},
		"of equally fast ones the first": {snapshot([]int{9, 9}, []quote{{5, 5, 0}, {0, 10, 0}}), []string{"0:a"}},
		"a run that never ends":          {snapshot([]int{9, 9}, []quote{{5, never, 0}, {0, 10, 0}}), []string{"0:b"}},
		"the cheapest job has the site": {
			snapshot([]int{1, 9}, []quote{{0, 1, 5}, {0, 9, 0}}, []quote{{0, 1, 4}, {0, 9, 0}}), []string{"0:b", "1:a"},
		},
		"of equally cheap ones the first": {
			snapshot([]int{1, 9}, []quote{{0, 1, 5}, {0, 9, 0}}, []quote{{0, 1, 5}, {0, 9, 0}}), []string{"0:a", "1:b"},
		},
		"who is driven out drives out": {
			snapshot([]int{1, 1}, []quote{{0, 1, 5}, {0, 2, 5}}, []quote{{0, 2, 9}, {0, 1, 9}}, []quote{{0, 1, 4}, no}),
			[]string{"0:b", "2:a"}, // the third takes a from the first, which takes b from the second
		},
		"the last place": {
			snapshot([]int{2}, []quote{{0, 1, 3}}, []quote{{0, 1, -1}}, []quote{{0, 1, 2}}, []quote{{0, 1, 4}}), []string{"1:a", "2:a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range decide(t, tt.in) {
				got = append(got, fmt.Sprintf("%d:%s", d.Job, tt.in.Sites[d.Site].Name))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("placed %v, want %v", got, tt.want)
			}
		})
	}
}

// TestPricesAloneMoveNothing is a drawback that [MC 3.3.2] names: when each job prefers
// another site, what it costs does not count.
func TestPricesAloneMoveNothing(t *testing.T) {
	t.Parallel()
	in := snapshot([]int{1, 1}, []quote{{0, 1, 1_000_000}, {0, 2, 0}}, []quote{{0, 2, 0}, {0, 1, 1_000_000}})
	for _, d := range decide(t, in) {
		if d.Site != d.Job || !strings.HasPrefix(d.Reason, "choice 1 of 2 by response, 1ms") {
			t.Errorf("%+v", d)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	in := snapshot([]int{1, 9}, []quote{{0, 60_000, 5}, {0, 90_000, 0}}, []quote{{0, 60_000, 4}, {0, 90_000, 0}})
	want := "choice 2 of 2 by response, 1m30s; a, 1m0s, has no room but for jobs that cost it less"
	if got := decide(t, in)[0].Reason; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	want := policy.Description{Name: "stable", Initiations: []policy.Initiation{policy.Sender, policy.Cycle}}
	if got := policy.Describe(stable.New()); !reflect.DeepEqual(got, want) {
		t.Errorf("Info() = %+v, want %+v", got, want)
	}
}

func drawSnapshot(t *rapid.T) policy.Snapshot {
	var in policy.Snapshot
	for s := range rapid.IntRange(1, 4).Draw(t, "sites") {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName(rune('a' + s)), MaxJobs: rapid.IntRange(0, 3).Draw(t, "accept"),
			Latency: protocol.Duration(rapid.Int64Range(0, 9).Draw(t, "latency")), Bandwidth: rapid.Int64Range(0, 2000).Draw(t, "bandwidth"),
		})
	}
	in.Self = rapid.IntRange(-1, len(in.Sites)-1).Draw(t, "self")
	for j := range rapid.IntRange(0, 12).Draw(t, "jobs") {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1, Data: rapid.Int64Range(0, 20).Draw(t, "data")})
		for range in.Sites {
			awt, ert, cost := never, never, protocol.Micro(0)
			if rapid.IntRange(0, 3).Draw(t, "takes it") > 0 {
				awt = protocol.Duration(rapid.Int64Range(0, 9).Draw(t, "awt"))
				ert = protocol.Duration(rapid.Int64Range(1, 9).Draw(t, "ert"))
				cost = protocol.Micro(rapid.Int64Range(-4, 4).Draw(t, "cost"))
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, cost)
		}
	}
	return in
}

// TestNoPairPrefersEachOther: there is no blocking pair, a job and a site that both
// would rather have each other than what they got.
func TestNoPairPrefersEachOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t)
		decisions := decide(t, in)
		at, held := make([]int, len(in.Jobs)), make([][]int, len(in.Sites))
		for j := range at {
			at[j] = -1
		}
		for _, d := range decisions {
			at[d.Job], held[d.Site] = d.Site, append(held[d.Site], d.Job)
		}
		response := func(j, s int) protocol.Duration {
			q := in.At(j, s)
			wait := in.AWT[q]
			if job, to := in.Jobs[j], in.Sites[s]; s != in.Self && job.Data > 0 && to.Bandwidth > 0 {
				wait = max(wait, to.Latency+protocol.Duration((job.Data*1000+to.Bandwidth-1)/to.Bandwidth))
			}
			return wait + in.ERT[q]
		}
		for j := range in.Jobs {
			for s := range in.Sites {
				if in.AWT[in.At(j, s)] == never || s == at[j] {
					continue
				}
				wants := at[j] < 0 || response(j, s) < response(j, at[j]) || response(j, s) == response(j, at[j]) && s < at[j]
				wanted := len(held[s]) < in.Sites[s].MaxJobs || slices.ContainsFunc(held[s], func(other int) bool {
					a, b := in.Cost[in.At(j, s)], in.Cost[in.At(other, s)]
					return a < b || a == b && j < other
				})
				if wants && wanted {
					t.Fatalf("job %d and site %s prefer each other to %+v", j, in.Sites[s].Name, decisions)
				}
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct{ jobs, sites, accept int }{{2000, 50, 40}, {10000, 58, 200}} {
		b.Run(fmt.Sprintf("%d×%d", size.jobs, size.sites), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			in := snapshot(slices.Repeat([]int{size.accept}, size.sites))
			for j := range size.jobs {
				in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1})
				for range size.sites {
					in.AWT = append(in.AWT, protocol.Duration(rng.Int64N(int64(protocol.Day))))
					in.ERT = append(in.ERT, protocol.Hour)
					in.Cost = append(in.Cost, protocol.Micro(rng.Int64N(1_000_000)))
				}
			}
			for b.Loop() {
				decide(b, in)
			}
		})
	}
}
