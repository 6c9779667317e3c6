package tc_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	second = protocol.Second
	never  = protocol.Never
)

// site is a site with room for any number of jobs.
func site(name string, rus, cpus, free int) policy.Site {
	return policy.Site{Name: protocol.SiteName(name), RUS: rus, CPUs: cpus, Free: free, MaxJobs: 100}
}

// snapshot has jobs of 2 CPUs; awt is row by row, every run takes a minute.
func snapshot(sites []policy.Site, awt ...protocol.Duration) policy.Snapshot {
	in := policy.Snapshot{Self: 0, Sites: sites, AWT: awt}
	for j := range len(awt) / len(sites) {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 2, WallTime: protocol.Minute})
	}
	for _, d := range awt {
		ert := protocol.Minute
		if d == never {
			ert = never
		}
		in.ERT = append(in.ERT, ert)
	}
	return in
}

// placed lists the chosen site of each decision as job:site.
func placed(t *testing.T, epsilon protocol.Duration, in policy.Snapshot) []string {
	t.Helper()
	decisions, hint, err := tc.New(tc.Config{Epsilon: epsilon}).Decide(t.Context(), in)
	if err != nil || hint != nil {
		t.Fatalf("Decide: hint %v, error %v", hint, err)
	}
	var out []string
	for _, d := range decisions {
		if d.Reason == "" {
			t.Errorf("the decision for job %d has no reason", d.Job)
		}
		out = append(out, fmt.Sprintf("%d:%s", d.Job, in.Sites[d.Site].Name))
	}
	return out
}

func TestDecide(t *testing.T) {
	t.Parallel()
	a, b, c := site("a", 500_000, 4, 2), site("b", 200_000, 4, 4), site("c", 200_000, 4, 4)
	full := b
	full.MaxJobs = 0
	one := b
	one.MaxJobs = 1
	for name, tt := range map[string]struct {
		epsilon protocol.Duration
		in      policy.Snapshot
		want    []string
	}{
		"the least turnaround":               {0, snapshot([]policy.Site{a, b}, 10*second, 20*second), []string{"0:a"}},
		"within ε the lowest RUS":            {10 * second, snapshot([]policy.Site{a, b}, 10*second, 20*second), []string{"0:b"}},
		"just beyond ε":                      {10*second - 1, snapshot([]policy.Site{a, b}, 10*second, 20*second), []string{"0:a"}},
		"equal RUS: the own site":            {0, snapshot([]policy.Site{b, c}, 0, 0), []string{"0:b"}},
		"declined sites are left out":        {0, snapshot([]policy.Site{a, b}, never, 20*second), []string{"0:b"}},
		"nobody takes it":                    {0, snapshot([]policy.Site{a, b}, never, never), nil},
		"a site that accepts none":           {0, snapshot([]policy.Site{a, full}, 20*second, 0), []string{"0:a"}},
		"a site that accepts one":            {0, snapshot([]policy.Site{a, one}, 20*second, 0, 20*second, 0), []string{"0:b", "1:a"}},
		"equal RUS: fewest jobs of a round":  {0, snapshot([]policy.Site{b, c}, 0, 0, 0, 0), []string{"0:b", "1:c"}},
		"earlier choices add to later waits": {0, snapshot([]policy.Site{a, b}, 0, 20*second, 0, 20*second), []string{"0:a", "1:b"}},
		"a job keeps its place among others": {0, snapshot([]policy.Site{a, b}, never, never, 0, never), []string{"1:a"}},
		"no jobs":                            {0, snapshot([]policy.Site{a, b}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := placed(t, tt.epsilon, tt.in); !slices.Equal(got, tt.want) {
				t.Errorf("placed %v, want %v", got, tt.want)
			}
		})
	}
}

// TestFreeCPUsAreSharedBeforeWaits: while CPUs are left, an earlier choice costs a
// later job nothing.
func TestFreeCPUsAreSharedBeforeWaits(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a", 0, 6, 6), site("b", 0, 6, 6)}, 0, 90*second, 0, 90*second, 0, 90*second, 0, 90*second)
	want := []string{"0:a", "1:a", "2:a", "3:a"} // the fourth waits 60 s·6 CPUs/6 CPUs at a, 90 s at b
	if got := placed(t, 0, in); !slices.Equal(got, want) {
		t.Errorf("placed %v, want %v", got, want)
	}
	in = snapshot([]policy.Site{site("a", 0, 6, 6), site("b", 0, 6, 6)}, 0, 50*second, 0, 50*second, 0, 50*second, 0, 50*second)
	want[3] = "3:b"
	if got := placed(t, 0, in); !slices.Equal(got, want) {
		t.Errorf("placed %v, want %v", got, want)
	}
}

// TestWaitBehindThisRound: a decision's wait is the quoted one and the work that the round has sent
// there before, spread over the site's CPUs, once its free CPUs are used up. The last free ones
// still count as free, a site that says nothing of its CPUs makes nobody wait, and work that no
// int64 holds is as much as can be counted, not what is left of it after an overflow.
func TestWaitBehindThisRound(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64 / 4
	for name, tt := range map[string]struct {
		cpus, free int
		jobCPUs    int
		ert        protocol.Duration
		want       []protocol.Duration // beyond the quote, job by job
	}{
		"the last free CPUs":       {6, 6, 2, 60, []protocol.Duration{0, 0, 0, 60, 80}},
		"more CPUs than are free":  {6, 5, 2, 60, []protocol.Duration{0, 0, 40, 60, 80}},
		"a site without CPUs":      {0, 0, 2, 60, []protocol.Duration{0, 0, 0}},
		"work beyond an int64":     {8, 0, 1 << 6, 1 << 60, []protocol.Duration{0, most / 8, most / 8}},
		"work that adds up to it":  {8, 0, 1, most - 1, []protocol.Duration{0, (most - 1) / 8, most / 8}},
		"jobs that take no time":   {8, 0, 2, 0, []protocol.Duration{0, 0, 0}},
		"jobs that ask for no CPU": {8, 0, 0, 60, []protocol.Duration{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const quoted = 7
			in := policy.Snapshot{Sites: []policy.Site{site("a", 0, tt.cpus, tt.free)}}
			var want []protocol.Duration
			for j, wait := range tt.want {
				in.Jobs = append(in.Jobs, policy.Job{ID: protocol.JobID(j), CPUs: tt.jobCPUs})
				in.AWT, in.ERT = append(in.AWT, quoted), append(in.ERT, tt.ert)
				want = append(want, quoted+wait)
			}
			decisions, _, err := tc.New(tc.Config{}).Decide(t.Context(), in)
			var got []protocol.Duration
			for _, d := range decisions {
				got = append(got, d.Wait)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("waits %v, want %v (%v)", got, want, err)
			}
		})
	}
}

// TestReasonSaysWhatTheQuotesDoNot: what a job waits for others of its round is in its turnaround and
// in no quote, so the reason tells it apart.
func TestReasonSaysWhatTheQuotesDoNot(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a", 123_456, 2, 2), site("b", 123_456, 2, 2)}, 0, 90*second, 0, 90*second)
	for epsilon, want := range map[protocol.Duration][]string{
		0: {"least turnaround, 0:01:00", "least turnaround, 0:02:00 (0:01:00 of it behind jobs of this round)"},
		30 * second: {
			"least turnaround, 0:01:00",
			"turnaround 0:02:30 within 0:00:30 of the least (0:02:00), lowest utilization of 2 such sites (12.3 %)",
		},
	} {
		decisions, _, err := tc.New(tc.Config{Epsilon: epsilon}).Decide(t.Context(), in)
		if err != nil || len(decisions) != 2 || decisions[0].Reason != want[0] || decisions[1].Reason != want[1] {
			t.Errorf("ε = %v: %+v, %v", epsilon, decisions, err)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	want := policy.Description{
		Name: "tc", Can: []policy.Capability{policy.SkipRoundBelowThreshold}, Params: []policy.Param{{Name: "epsilon_ms", Value: "30000"}},
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric},
	}
	if got := policy.Describe(tc.New(tc.Config{Epsilon: tc.DefaultEpsilon})); !reflect.DeepEqual(got, want) {
		t.Errorf("Info() = %+v, want %+v", got, want)
	}
}

// TestRestore: the parameters that a policy tells make the same policy again;
// others make none.
func TestRestore(t *testing.T) {
	t.Parallel()
	for _, epsilon := range []protocol.Duration{0, 1, 30 * second, never} {
		want := tc.New(tc.Config{Epsilon: epsilon})
		if got, err := tc.Restore(want.Info().Params); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ε = %d ms: %+v, %v", epsilon, got, err)
		}
	}
	for name, params := range map[string][]policy.Param{
		"none":     nil,
		"two":      {{Name: "epsilon_ms", Value: "1"}, {Name: "phi_ms", Value: "1"}},
		"another":  {{Name: "epsilon", Value: "1"}},
		"a word":   {{Name: "epsilon_ms", Value: "1s"}},
		"negative": {{Name: "epsilon_ms", Value: "-1"}},
		"too much": {{Name: "epsilon_ms", Value: "9223372036854775808"}},
	} {
		if got, err := tc.Restore(params); err == nil || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestDecideKeepsTheRules: whatever the snapshot, decisions are lawful, the same
// when repeated, and leave the snapshot as it was.
func TestDecideKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t)
		before := drawnCopy(in)
		p := tc.New(tc.Config{Epsilon: protocol.Duration(rapid.Int64Range(0, 60_000).Draw(t, "epsilon"))})
		first, _, _ := p.Decide(t.Context(), in)
		second, _, _ := p.Decide(t.Context(), in)
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("two decisions differ: %v, %v", first, second)
		}
		if !reflect.DeepEqual(in, before) {
			t.Fatal("Decide changed its snapshot")
		}
		checkLawful(t, &in, first)
	})
}

func checkLawful(t *rapid.T, in *policy.Snapshot, decisions []policy.Decision) {
	sent := make([]int, len(in.Sites))
	last := -1
	for _, d := range decisions {
		if d.Job <= last {
			t.Fatalf("job %d is decided after job %d", d.Job, last)
		}
		last = d.Job
		if in.AWT[in.At(d.Job, d.Site)] == never {
			t.Fatalf("job %d goes to a site that declined it", d.Job)
		}
		if sent[d.Site]++; sent[d.Site] > in.Sites[d.Site].MaxJobs {
			t.Fatalf("site %d gets %d jobs, it accepts %d", d.Site, sent[d.Site], in.Sites[d.Site].MaxJobs)
		}
	}
}

func drawSnapshot(t *rapid.T) policy.Snapshot {
	var in policy.Snapshot
	for s := range rapid.IntRange(1, 5).Draw(t, "sites") {
		cpus := rapid.IntRange(0, 8).Draw(t, "cpus")
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName(rune('a' + s)), RUS: rapid.IntRange(0, 3).Draw(t, "rus"),
			CPUs: cpus, Free: rapid.IntRange(0, cpus).Draw(t, "free"), MaxJobs: rapid.IntRange(0, 3).Draw(t, "accept"),
		})
	}
	in.Self = rapid.IntRange(-1, len(in.Sites)-1).Draw(t, "self")
	for j := range rapid.IntRange(0, 6).Draw(t, "jobs") {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.JobID(j), CPUs: rapid.IntRange(1, 8).Draw(t, "job CPUs")})
		for range in.Sites {
			awt, ert := never, never
			if rapid.Bool().Draw(t, "takes it") {
				awt = protocol.Duration(rapid.Int64Range(0, 100_000).Draw(t, "awt"))
				ert = protocol.Duration(rapid.Int64Range(1, 100_000).Draw(t, "ert"))
			}
			in.AWT, in.ERT = append(in.AWT, awt), append(in.ERT, ert)
		}
	}
	return in
}

func drawnCopy(in policy.Snapshot) policy.Snapshot {
	in.Sites, in.Jobs = slices.Clone(in.Sites), slices.Clone(in.Jobs)
	in.AWT, in.ERT = slices.Clone(in.AWT), slices.Clone(in.ERT)
	return in
}
