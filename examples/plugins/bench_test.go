package plugins_test

import (
	"fmt"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// BenchmarkDecide says what a round costs in a process of its own, in Go and in Python.
func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct{ jobs, sites int }{{1, 3}, {64, 16}, {2000, 20}} {
		in := roundOf(size.jobs, size.sites)
		for _, language := range []struct {
			name string
			find func(testing.TB) example
		}{
			{"go", func(testing.TB) example { return goPolicy() }},
			{"python", pythonPolicy},
		} {
			b.Run(fmt.Sprintf("%dx%d/%s", size.jobs, size.sites, language.name), func(b *testing.B) {
				p := language.find(b).open(b, "").Policy()
				for b.Loop() {
					if _, _, err := p.Decide(b.Context(), in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// roundOf has sites that differ in price, and jobs that are alike.
func roundOf(jobs, sites int) policy.Snapshot {
	var in policy.Snapshot
	for s := range sites {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName(fmt.Sprintf("site-%02d", s)), CPUs: 1000, Free: 100, MaxJobs: jobs, Currency: "EUR",
		})
	}
	for j := range jobs {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 4, WallTime: protocol.Hour})
		for s := range sites {
			in.AWT, in.ERT = append(in.AWT, protocol.Minute), append(in.ERT, protocol.Hour)
			in.Cost = append(in.Cost, protocol.Micro(sites-s))
		}
	}
	return in
}
