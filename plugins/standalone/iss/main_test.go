package main

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestMain: this test binary is also the plugin.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asPlugin {
		os.Args = os.Args[:1]
		main()
		return
	}
	os.Exit(m.Run())
}

const asPlugin = "plugin"

// start starts the plugin, for as long as the test takes.
func start(t *testing.T, config string) (policy.Policy, error) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := catalog.Open(catalog.Spec{
		Name: iss.Name, Kind: catalog.PolicyKind, Path: path, Args: []string{asPlugin},
		Config: config, ConfigFile: "iss.toml", Host: sdk.Host{Software: "test"},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return plugin.Policy(), plugin.Wait(t.Context())
}

// TestConformance runs the suite over two processes, in turns.
func TestConformance(t *testing.T) {
	t.Parallel()
	var processes []policy.Policy
	for range 2 {
		p, err := start(t, "nodes = 200000\n")
		if err != nil {
			t.Fatal(err)
		}
		processes = append(processes, p)
	}
	opened := 0
	policytest.Test(t, policytest.Target{Open: func(context.Context) (policy.Policy, error) {
		opened++
		return processes[opened%2], nil
	}})
}

// TestDecidesAlike: the plugin is what its configuration says, and decides as the built-in
// policy does, wishes and all.
func TestDecidesAlike(t *testing.T) {
	t.Parallel()
	for config, cfg := range map[string]iss.Config{
		"": iss.Default(),
		"gap = 0.05\nnodes = 1000\nprinted = true": {Gap: 50_000, Nodes: 1000, Double: true},
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			there, err := start(t, config)
			if err != nil {
				t.Fatal(err)
			}
			here, err := iss.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := there.Info(), here.Info(); !reflect.DeepEqual(got, want) {
				t.Errorf("Info: got %+v, want %+v", got, want)
			}
			in := wished()
			got, _, err := there.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if want, _, err := here.Decide(in); err != nil || len(got) != 4 || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v, %v", got, want, err)
			}
		})
	}
}

// wished are two applications: one of three components of two shapes each, whose money is
// limited, and one that is in a hurry.
func wished() policy.Snapshot {
	in := policy.Snapshot{
		Currency: "CHF", Sites: []policy.Site{{Name: "a", CPUs: 64, Free: 8, Accept: 3, Currency: "CHF"}, {Name: "b", CPUs: 32, Free: 32, Accept: 9, Currency: "CHF"}},
		Applications: []policy.Application{
			{
				ID: protocol.NewJobID(1, 1), Beta: protocol.PPM, MaxCost: 40 * protocol.Unit, MaxTime: protocol.Never,
				Waiting: []policy.Rate{{PerHour: 9 * protocol.Unit}, {From: 5 * protocol.Hour}},
			},
			{ID: protocol.NewJobID(1, 4), Beta: protocol.PPM, MaxCost: policy.Unlimited, MaxTime: 2 * protocol.Hour, Waiting: []policy.Rate{{PerHour: protocol.Unit}}},
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
			in.Use, in.Licence = append(in.Use, protocol.Micro(5+row*7919%7-3*s)*protocol.Unit), append(in.Licence, 0)
			in.Eco, in.Data = append(in.Eco, protocol.Unit), append(in.Data, protocol.Micro(s)*protocol.Unit)
		}
	}
	return in
}

// TestMistakesAreTold, all at once and with their lines.
func TestMistakesAreTold(t *testing.T) {
	t.Parallel()
	_, err := start(t, "gap = 2\nnodes = 0\nprinted = false\nbeta = 1\n")
	if err == nil {
		t.Fatal("the configuration is taken")
	}
	for _, want := range []string{"iss.toml:1: gap: 2", "iss.toml:2: nodes: 0 is outside", "iss.toml:4: beta: unknown key"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %s", err, want)
		}
	}
}
