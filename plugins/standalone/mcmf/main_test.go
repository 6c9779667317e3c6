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
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
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
		Name: "mcmf", Kind: catalog.PolicyKind, Path: path, Args: []string{asPlugin},
		Config: config, ConfigFile: "mcmf.toml", Host: sdk.Host{Software: "test"},
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

// conforms runs the suite over two processes, in turns.
func conforms(t *testing.T, config string) {
	t.Helper()
	var processes []policy.Policy
	for range 2 {
		p, err := start(t, config)
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

func TestConformance(t *testing.T) {
	t.Parallel()
	conforms(t, "weight = 0.4\nscale = 1000\nmarginal = 8\n")
}

// TestDecidesAlike: the plugin is what its configuration says, and decides as the
// built-in policy does.
func TestDecidesAlike(t *testing.T) {
	t.Parallel()
	for config, cfg := range map[string]mcmf.Config{
		"":                     mcmf.Default(mcmf.Full),
		`variant = "inst"`:     mcmf.Default(mcmf.Inst),
		`variant = "twoprice"`: mcmf.Default(mcmf.TwoPrice),
		"weight = 0.4\nscale = 1000000\nmarginal = 4": {Variant: mcmf.Full, Weight: 400_000, Scale: 1_000_000, Marginal: 4},
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			there, err := start(t, config)
			if err != nil {
				t.Fatal(err)
			}
			here, err := mcmf.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := there.Info(), here.Info(); !reflect.DeepEqual(got, want) {
				t.Errorf("Info: got %+v, want %+v", got, want)
			}
			in := round(40, 5)
			got, _, err := there.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if want, _, err := here.Decide(in); err != nil || len(got) == 0 || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v, %v", got, want, err)
			}
		})
	}
}

// round is a snapshot of jobs and sites in which nothing is alike.
func round(jobs, sites int) policy.Snapshot {
	var in policy.Snapshot
	for s := range sites {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName("site-" + string(rune('a'+s))), CPUs: 64, Accept: jobs/sites + 1, Currency: []string{"EUR", "EUR", ""}[s%3],
			Latency: protocol.Second, Bandwidth: int64(s) * 1_000_000, Extra: []protocol.Duration{protocol.Duration(s) * protocol.Hour},
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

// TestMistakesAreTold, all at once and with their lines.
func TestMistakesAreTold(t *testing.T) {
	t.Parallel()
	_, err := start(t, "variant = \"best\"\nweight = 0.5\nscale = 0\nmarginal = 1\n")
	if err == nil {
		t.Fatal("the configuration is taken")
	}
	for _, want := range []string{`mcmf.toml:1: variant: "best" is none`, "mcmf.toml:3: scale: 0 is outside", "mcmf.toml:4: marginal: 1 is neither"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %s", err, want)
		}
	}
}
