package main

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestMCMFConformance(t *testing.T) {
	t.Parallel()
	conforms(t, "mcmf", "normalise = \"round\"\nweight = 0.4\ncost_steps = 1000\nmarginal_jobs = 8\n")
}

// TestMCMFDecidesAlike: the plugin is what its configuration says, and decides as the
// built-in policy does.
func TestMCMFDecidesAlike(t *testing.T) {
	t.Parallel()
	for config, cfg := range map[string]mcmf.Config{
		"":                     mcmf.Default(mcmf.Full),
		`variant = "inst"`:     mcmf.Default(mcmf.Inst),
		`variant = "twoprice"`: mcmf.Default(mcmf.TwoPrice),
		"normalise = \"round\"\nweight = 0.4\ncost_steps = 1000000\nmarginal_jobs = 4": {
			Variant: mcmf.Full, Weight: 400_000, DelayPrice: mcmf.DefaultDelayPrice, Scale: 1_000_000, Marginal: 4,
		},
		"delay_price = 0.5\ncurrency = \"EUR\"\ncost_steps = 100": {
			Variant: mcmf.Full, ByPrice: true, DelayPrice: protocol.Unit / 2, Currency: "EUR", Weight: mcmf.DefaultWeight, Scale: 100,
		},
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			here, err := mcmf.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			alike(t, "mcmf", config, here, round(40, 5))
		})
	}
}

// round is a snapshot of jobs and sites in which nothing is alike.
func round(jobs, sites int) policy.Snapshot {
	var in policy.Snapshot
	for s := range sites {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName("site-" + string(rune('a'+s))), CPUs: 64, MaxJobs: jobs/sites + 1, Currency: []string{"EUR", "EUR", ""}[s%3],
			Latency: protocol.Second, Bandwidth: int64(s) * 1_000_000, MarginalWaits: []protocol.Duration{protocol.Duration(s) * protocol.Hour},
		})
	}
	for j := range jobs {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1, WallTime: protocol.Hour, Data: int64(j) * 1_000_000})
		for s := range sites {
			in.AWT = append(in.AWT, protocol.Duration((j*131+s*977)%7_200_000))
			in.ERT = append(in.ERT, protocol.Duration(600_000+(j*37+s*11)%3_600_000))
			in.Cost = append(in.Cost, protocol.Micro((j*7919+s*104_729)%1_000_003-500_000))
		}
	}
	return in
}

// TestMCMFMistakesAreReported, all at once and with their lines.
func TestMCMFMistakesAreReported(t *testing.T) {
	t.Parallel()
	refuses(t, "mcmf", "variant = \"best\"\nweight = 0.5\ncost_steps = 0\nmarginal_jobs = 1\n",
		`mcmf.toml:1: variant: "best" is unknown; use mcmf`, `mcmf.toml:2: weight: it has no effect with normalise = "price"`, "mcmf.toml:3: cost_steps: 0 is outside", "mcmf.toml:4: marginal_jobs: 1 is neither")
}
