package iss_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// large is a cycle of applications of so many components each; a fifth of the pairs is not
// quoted.
func large(applications, components, sites int) policy.Snapshot {
	random := rand.New(rand.NewPCG(1, 1))
	in := policy.Snapshot{Currency: "CHF"}
	for s := range sites {
		one := site(fmt.Sprintf("site-%04d", s))
		one.CPUs, one.Free, one.MaxJobs = 4096, 100, 200
		in.Sites = append(in.Sites, one)
	}
	for a := range applications {
		in.Applications = append(in.Applications, wants(uint64(a*components), hourly(20), protocol.WaitingRate{From: 8 * hour}, protocol.WaitingRate{From: 16 * hour, PerHour: franc}))
		for k := range components {
			in.Jobs = append(in.Jobs, policy.Job{
				ID: protocol.NewJobID(1, uint64(a*components+k)), CPUs: 16, WallTime: protocol.Day, Application: a, Alpha: one, Gamma: one, Delta: one,
			})
			run := minute << random.IntN(10)
			for range sites {
				awt, ert, use := never, never, protocol.Micro(0)
				if random.IntN(5) > 0 {
					awt, ert = protocol.Duration(random.Int64N(int64(protocol.Day))), run*protocol.Duration(50+random.Int64N(100))/100
					use = protocol.Micro(int64(ert) * (20 + random.Int64N(80)) / 10)
				}
				in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, use)
				in.UsageCost, in.LicenseCost, in.EnergyCost, in.DataCost = append(in.UsageCost, use), append(in.LicenseCost, 0), append(in.EnergyCost, use/10), append(in.DataCost, 0)
			}
		}
	}
	return in
}

func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct{ applications, components, sites int }{{2000, 1, 50}, {10000, 1, 58}, {200, 10, 50}, {1, 100, 50}} {
		b.Run(fmt.Sprintf("%d×%d×%d", size.applications, size.components, size.sites), func(b *testing.B) {
			in, p := large(size.applications, size.components, size.sites), made(b, iss.Default())
			for b.Loop() {
				if _, _, err := p.Decide(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
