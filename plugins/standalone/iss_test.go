package main

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestISSConformance(t *testing.T) {
	t.Parallel()
	conforms(t, iss.Name, "max_search_nodes = 200000\n")
}

// TestISSDecidesAlike: the plugin is what its configuration says, and decides as the built-in
// policy does, wishes and all.
func TestISSDecidesAlike(t *testing.T) {
	t.Parallel()
	for config, cfg := range map[string]iss.Config{
		"": iss.Default(),
		"max_gap = 0.05\nmax_search_nodes = 1000\npaper_objective = true": {Gap: 50_000, Nodes: 1000, Double: true},
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			here, err := iss.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			alike(t, iss.Name, config, here, wished())
		})
	}
}

// wished are two applications: one of three components of two shapes each, whose money is
// limited, and one that is in a hurry.
func wished() policy.Snapshot {
	in := policy.Snapshot{
		Currency: "CHF", Sites: []policy.Site{{Name: "a", CPUs: 64, Free: 8, MaxJobs: 3, Currency: "CHF"}, {Name: "b", CPUs: 32, Free: 32, MaxJobs: 9, Currency: "CHF"}},
		Applications: []policy.Application{
			{
				ID: protocol.NewJobID(1, 1), Beta: protocol.PPM, MaxCost: 40 * protocol.Unit, MaxTime: protocol.Never,
				WaitingCost: []protocol.WaitingRate{{PerHour: 9 * protocol.Unit}, {From: 5 * protocol.Hour}},
			},
			{ID: protocol.NewJobID(1, 4), Beta: protocol.PPM, MaxCost: protocol.Unlimited, MaxTime: 2 * protocol.Hour, WaitingCost: []protocol.WaitingRate{{PerHour: protocol.Unit}}},
		},
	}
	for row := range 7 {
		job := policy.Job{ID: protocol.NewJobID(1, uint64(1+row/2)), CPUs: 4 << (row % 2), WallTime: protocol.Hour, Application: row / 6, Alpha: protocol.PPM, Gamma: 2 * protocol.PPM, Delta: protocol.PPM}
		if row < 4 {
			job.Together = 1
		}
		in.Jobs = append(in.Jobs, job)
		for s := range in.Sites {
			in.AWT = append(in.AWT, protocol.Duration(s*row)*protocol.Minute)
			in.ERT = append(in.ERT, protocol.Hour/protocol.Duration(1+row%2))
			in.Cost = append(in.Cost, 0)
			in.UsageCost, in.LicenseCost = append(in.UsageCost, protocol.Micro(5+row*7919%7-3*s)*protocol.Unit), append(in.LicenseCost, 0)
			in.EnergyCost, in.DataCost = append(in.EnergyCost, protocol.Unit), append(in.DataCost, protocol.Micro(s)*protocol.Unit)
		}
	}
	return in
}

// TestISSMistakesAreReported, all at once and with their lines.
func TestISSMistakesAreReported(t *testing.T) {
	t.Parallel()
	refuses(t, iss.Name, "max_gap = 2\nmax_search_nodes = 0\npaper_objective = false\nbeta = 1\n",
		"iss.toml:1: max_gap: 2", "iss.toml:2: max_search_nodes: 0 is outside", "iss.toml:4: beta: unknown key")
}
