package sim_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSharesOfSite: users of a site who all bring the same work, nearly twice what it can do, get the CPU time that their
// shares say. Without fair share all get the same.
func TestSharesOfSite(t *testing.T) {
	t.Parallel()
	const users, days = 15, 10
	share := func(user int) int { return 1 + user%3 }
	cfg := sim.Config{
		Seed: 1, Scheme: sim.Distributed, Policy: local.New(),
		Sites: []sim.Site{{Machine: sim.Machine{Name: "s", Nodes: 1, CPUsPerNode: 8, MHz: 1000}, Local: engine.Multifactor()}},
		FairShare: rules.FairShare{
			HalfLife: 7 * protocol.Day, Weights: fairshare.Weights{FairShare: 100_000, MaxAge: protocol.Day},
			Shares: fairshare.Shares{Accounts: []fairshare.Account{{Shares: 1, Users: map[string]int{}}}},
		},
	}
	for u := range users {
		cfg.FairShare.Shares.Accounts[0].Users[fmt.Sprintf("u%d", u)] = share(u)
	}
	var jobs []workload.Job
	const end = protocol.Instant(days * protocol.Day)
	for at := protocol.Instant(0); at < end; at = at.Add(42 * protocol.Minute) {
		for u := range users {
			run := (14 + protocol.Duration(len(jobs))*7%13) * protocol.Minute // which end one by one
			jobs = append(jobs, workload.Job{
				ID: int64(len(jobs) + 1), User: u, Submit: at.Add(protocol.Duration(u) * protocol.Second), Run: run, Estimate: run, CPUs: 2,
			})
		}
	}
	worst := func(cfg sim.Config) float64 {
		result, err := sim.Run(context.Background(), cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		off, _ := offShares(result, jobs, end, users, share)
		return off
	}
	fair := worst(cfg)
	cfg.Sites[0].Local, cfg.FairShare = engine.EASY(), rules.FairShare{}
	plain := worst(cfg)
	t.Logf("%d jobs of %d users in %d days: CPU time is off the shares by at most %.1f %%; first come, first served, by %.0f %%", len(jobs), users, days, 100*fair, 100*plain)
	if fair > 0.05 || plain < 0.5 {
		t.Errorf("off by %.3f, and without fair share by %.3f; want at most 0.05", fair, plain)
	}
}

// offShares is by how much, at most, the time for which jobs of a user ran until the end differs from the user's share of all
// that ran, relative to that, and the time of all.
func offShares(result *sim.Result, jobs []workload.Job, end protocol.Instant, users int, share func(user int) int) (off, all float64) {
	used, shares := map[int]float64{}, 0.0
	for i, p := range result.Placements {
		time := float64(max(0, min(p.Start.Add(jobs[i].Run), end)-p.Start))
		used[jobs[i].User] += time
		all += time
	}
	for u := range users {
		shares += float64(share(u))
	}
	for u := range users {
		off = max(off, math.Abs(used[u]/all/(float64(share(u))/shares)-1))
	}
	return off, all
}
