package mcmf_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// large is a cycle of jobs of minutes to days over sites of different waits, speeds and
// prices; a fifth of the pairs is not quoted.
func large(jobs, sites, accept int) policy.Snapshot {
	rng := rand.New(rand.NewPCG(1, 1))
	in := policy.Snapshot{Self: 0}
	for s := range sites {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName(fmt.Sprintf("site-%04d", s)), CPUs: 4096, Free: 100, MaxJobs: accept, Currency: "EUR",
		})
	}
	speed, price, wait := make([]int64, sites), make([]int64, sites), make([]int64, sites)
	for s := range sites {
		speed[s], price[s], wait[s] = 50+rng.Int64N(151), 20+rng.Int64N(80), rng.Int64N(int64(protocol.Day))
	}
	for j := range jobs {
		run := int64(protocol.Minute) << rng.IntN(10)
		in.Jobs = append(in.Jobs, policy.Job{
			ID: protocol.NewJobID(1, uint64(j)), CPUs: 16, WallTime: protocol.Duration(run), Waited: protocol.Duration(rng.Int64N(120_000)),
		})
		for s := range sites {
			awt, ert, cost := protocol.Never, protocol.Never, protocol.Micro(0)
			if rng.IntN(5) > 0 {
				awt = protocol.Duration(wait[s] * (50 + rng.Int64N(101)) / 100)
				ert = protocol.Duration(run * 100 / speed[s])
				cost = protocol.Micro(int64(ert) * price[s] * (80 + rng.Int64N(41)) / 1000)
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, cost)
		}
	}
	return in
}

func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct{ jobs, sites, accept, marginal int }{
		{100, 8, 2, 0}, {2000, 50, 40, 0}, {2000, 50, 40, 8}, {10000, 58, 200, 0},
	} {
		b.Run(fmt.Sprintf("%d×%d/marginal=%d", size.jobs, size.sites, size.marginal), func(b *testing.B) {
			in := large(size.jobs, size.sites, size.accept)
			cfg := mcmf.Published(mcmf.Full)
			cfg.Marginal = size.marginal
			if size.marginal > 0 {
				tellGrowth(&in, size.marginal)
			}
			p, err := mcmf.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err = p.Decide(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// tellGrowth has the next job at each site wait some minutes longer.
func tellGrowth(in *policy.Snapshot, jobs int) {
	for s := range in.Sites {
		in.Sites[s].MarginalWaits = nil
		for k := range jobs - 1 {
			in.Sites[s].MarginalWaits = append(in.Sites[s].MarginalWaits, protocol.Duration(k+1)*protocol.Duration(s+1)*protocol.Minute)
		}
	}
}
