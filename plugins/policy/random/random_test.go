package random_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/random"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// snapshot has so many jobs and sites that take any number of them at once.
func snapshot(sites, jobs int) policy.Snapshot {
	var in policy.Snapshot
	for s := range sites {
		in.Sites = append(in.Sites, policy.Site{Name: protocol.SiteName(rune('a' + s)), MaxJobs: jobs})
	}
	for j := range jobs {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1})
		for range sites {
			in.AWT, in.ERT, in.Cost = append(in.AWT, 7), append(in.ERT, 1), append(in.Cost, 0)
		}
	}
	return in
}

func decide(t interface{ Fatal(args ...any) }, seed uint64, in policy.Snapshot) []policy.Decision {
	decisions, hint, err := random.New(random.Config{Seed: seed}).Decide(context.Background(), in)
	if err == nil {
		err = in.Check(decisions)
	}
	if err != nil || hint != nil {
		t.Fatal(err, hint)
	}
	return decisions
}

// TestEvenChances: 4,000 jobs over 4 sites give each about 1,000; the deviation is 27.
func TestEvenChances(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		counts := make([]int, 4)
		for _, d := range decide(t, seed, snapshot(4, 4000)) {
			counts[d.Site]++
		}
		for s, n := range counts {
			if n < 850 || n > 1150 {
				t.Errorf("seed %d: site %d gets %d of 4000 jobs: %v", seed, s, n, counts)
			}
		}
	}
}

// TestSeeds: the same seed draws the same, another one does not.
func TestSeeds(t *testing.T) {
	t.Parallel()
	in := snapshot(4, 100)
	first := decide(t, 1, in)
	if again := decide(t, 1, in); !reflect.DeepEqual(again, first) {
		t.Error("the same seed draws something else")
	}
	if other := decide(t, 2, in); reflect.DeepEqual(other, first) {
		t.Error("another seed draws the same")
	}
}

// TestJobsAreDrawnAlone: what a job draws does not depend on the jobs around it.
func TestJobsAreDrawnAlone(t *testing.T) {
	t.Parallel()
	in := snapshot(4, 50)
	all := decide(t, 3, in)
	for j := range in.Jobs {
		alone := snapshot(4, 1)
		alone.Jobs[0] = in.Jobs[j]
		if d := decide(t, 3, alone)[0]; d.Site != all[j].Site {
			t.Errorf("job %d draws site %d alone, %d among others", j, d.Site, all[j].Site)
		}
	}
}

// TestRefusedJobsDrawAgain: of 4 sites, each as likely in every later round, a job that
// comes back for 20 rounds sees all but with a chance of 4·(3/4)²⁰, 1 in 80; of 200 jobs
// a few may miss one, none draws the same site always.
func TestRefusedJobsDrawAgain(t *testing.T) {
	t.Parallel()
	seen := make([][4]bool, 200)
	for round := range 20 {
		in := snapshot(4, len(seen))
		for j := range in.Jobs {
			in.Jobs[j].Waited = protocol.Duration(round) * protocol.Minute
		}
		for _, d := range decide(t, 5, in) {
			seen[d.Job][d.Site] = true
		}
	}
	all := 0
	for j, sites := range seen {
		switch n := len(sites) - strings.Count(fmt.Sprint(sites), "false"); n {
		case 1:
			t.Errorf("job %d draws one site for ever", j)
		case 4:
			all++
		}
	}
	if all < 185 {
		t.Errorf("only %d jobs of %d see all sites", all, len(seen))
	}
}

// TestRoomIsUsedUp: jobs are left out only when no site that quoted them has room.
func TestRoomIsUsedUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := snapshot(rapid.IntRange(1, 4).Draw(t, "sites"), rapid.IntRange(0, 9).Draw(t, "jobs"))
		for s := range in.Sites {
			in.Sites[s].MaxJobs = rapid.IntRange(0, 3).Draw(t, "accept")
		}
		for at := range in.AWT {
			if rapid.Bool().Draw(t, "declined") {
				in.AWT[at], in.ERT[at] = protocol.Never, protocol.Never
			}
		}
		decisions := decide(t, rapid.Uint64().Draw(t, "seed"), in)
		sent := make([]int, len(in.Sites))
		for j := range in.Jobs {
			i := slices.IndexFunc(decisions, func(d policy.Decision) bool { return d.Job == j })
			if i >= 0 {
				sent[decisions[i].Site]++
				continue
			}
			for s := range in.Sites {
				if in.AWT[in.At(j, s)] != protocol.Never && sent[s] < in.Sites[s].MaxJobs {
					t.Fatalf("job %d is left out though site %d has room", j, s)
				}
			}
		}
	})
}

func TestInfoAndRestore(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{0, 1, 1<<64 - 1} {
		p := random.New(random.Config{Seed: seed})
		info := policy.Describe(p)
		if err := info.Check(); err != nil || info.Name != "random" || len(info.Initiations) != 4 || len(info.Can) != 0 {
			t.Errorf("Info() = %+v, %v", info, err)
		}
		if got, err := random.Restore(info.Params); err != nil || got != p {
			t.Errorf("seed %d: %+v, %v", seed, got, err)
		}
	}
	for name, params := range map[string][]policy.Param{
		"none":      nil,
		"two":       {{Name: "seed", Value: "1"}, {Name: "seed2", Value: "1"}},
		"another":   {{Name: "sead", Value: "1"}},
		"no number": {{Name: "seed", Value: "-1"}},
	} {
		if got, err := random.Restore(params); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
