package sim_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var sharesSeed = flag.Int("shares.seed", 1, "of TestSharesOfGrid: where users submit and how long jobs run")

// TestSharesOfGrid: 50 users of 10 sites get the shares of the whole grid that they should have, to 5 %, if the sites
// exchange use, and to 10 % if half of the sites do not reach the other half for a day. Half of the users submit at two
// sites and half at five, all more than they may run. Each job runs where it is submitted, or where it ends soonest
// (policy tc). Without exchange those at five sites get more than their shares. A short test has a day, in which one job
// more is 4 % of what the smallest user may run.
func TestSharesOfGrid(t *testing.T) {
	t.Parallel()
	const (
		users, sites, slots = 50, 10, 4
		every               = 22 * protocol.Minute
	)
	const most, mostCut = 0.05, 0.1
	days := 3
	if testing.Short() {
		days = 1
	}
	end := protocol.Instant(days) * protocol.Instant(protocol.Day)
	share := func(user int) int { return 1 + user%2 }
	cfg := sim.Config{
		Seed: uint64(*sharesSeed), Scheme: sim.Distributed,
		FairShare: rules.FairShare{
			HalfLife: 7 * protocol.Day, Weights: fairshare.Weights{FairShare: 100_000, MaxAge: protocol.Day},
			Shares: fairshare.Shares{Accounts: []fairshare.Account{{Shares: 1, Users: map[string]int{}}}},
		},
	}
	for s := range sites {
		name := protocol.SiteName(fmt.Sprintf("s%d", s))
		cfg.Sites = append(cfg.Sites, sim.Site{Machine: sim.Machine{Name: name, Nodes: 1, CPUsPerNode: 2 * slots, MHz: 1000}, Local: engine.Multifactor()})
		cfg.FairShare.CommonNames = append(cfg.FairShare.CommonNames, name)
	}
	for u := range users {
		cfg.FairShare.Shares.Accounts[0].Users[fmt.Sprintf("u%d", u)] = share(u)
	}
	var jobs []workload.Job
	for at := protocol.Instant(0); at < end; at = at.Add(every) {
		for u := range users {
			run := (23 + protocol.Duration(7*len(jobs)+5*(*sharesSeed-1))%13) * protocol.Minute // which end one by one
			many := 2 + u/2%2*3
			jobs = append(jobs, workload.Job{
				ID: int64(len(jobs) + 1), User: u, Submit: at.Add(protocol.Duration(u) * protocol.Second), Run: run, Estimate: run, CPUs: 2,
				Origin: (u/4 + 3*(int(at/protocol.Instant(every))%many) + 7*(*sharesSeed-1)) % sites,
			})
		}
	}
	worst := func(t *testing.T, places policy.Policy, interval protocol.Duration, cuts ...sim.Cut) float64 {
		t.Helper()
		cfg := cfg
		cfg.Policy = places
		cfg.FairShare.ExchangeInterval, cfg.Network.Cuts = interval, cuts
		result, err := sim.Run(context.Background(), cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		off, all := offShares(result, jobs, end, users, share)
		if busy := all / float64(end) / (sites * slots); busy < 0.95 {
			t.Errorf("the machines are busy for %.3f of the time: the users do not submit enough to have their shares", busy)
		}
		return off
	}
	var cuts []sim.Cut
	for a := range sites / 2 {
		for b := sites / 2; b < sites; b++ {
			cuts = append(cuts, sim.Cut{A: a, B: b, From: protocol.Instant(protocol.Day / 2), Until: protocol.Instant(3 * protocol.Day / 2)})
		}
	}
	for _, places := range []policy.Policy{local.New(), tc.New(tc.Config{})} {
		t.Run(places.Info().Name, func(t *testing.T) {
			t.Parallel()
			exchanged, cut := worst(t, places, 5*protocol.Minute), 0.0
			if !testing.Short() {
				cut = worst(t, places, 5*protocol.Minute, cuts...)
			}
			alone := worst(t, places, 0)
			t.Logf("%d jobs of %d users of %d sites in %d days: CPU time is off the shares by at most %.1f %%, %.1f %% with a partition of a day, %.1f %% without exchange",
				len(jobs), users, sites, days, 100*exchanged, 100*cut, 100*alone)
			if exchanged > most || cut > mostCut || alone < 0.6 {
				t.Errorf("off by %.3f, with a partition of a day by %.3f, without exchange by %.3f", exchanged, cut, alone)
			}
		})
	}
}
