package main

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestStableConformance(t *testing.T) {
	t.Parallel()
	conforms(t, "stable", "")
}

// TestStableDecidesAlike: the plugin decides as the built-in policy does.
func TestStableDecidesAlike(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{Sites: []policy.Site{{Name: "a", MaxJobs: 3}, {Name: "b", MaxJobs: 9}}}
	for j := range 12 {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1, WallTime: protocol.Hour})
		for s := range in.Sites {
			in.AWT = append(in.AWT, protocol.Duration(s)*protocol.Hour)
			in.ERT = append(in.ERT, protocol.Minute)
			in.Cost = append(in.Cost, protocol.Micro(j*7919%101-50))
		}
	}
	alike(t, "stable", "", stable.New(), in)
}

// TestStableNothingToConfigure: every key is a mistake.
func TestStableNothingToConfigure(t *testing.T) {
	t.Parallel()
	refuses(t, "stable", "weight = 0.5\n", "stable.toml:1: weight: unknown key")
}
