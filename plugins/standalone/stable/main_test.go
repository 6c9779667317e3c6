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
	"github.com/switchyard-hpc/switchyard/plugins/policy/stable"
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
		Name: "stable", Kind: catalog.PolicyKind, Path: path, Args: []string{asPlugin},
		Config: config, ConfigFile: "stable.toml", Host: sdk.Host{Software: "test"},
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
	conforms(t, "")
}

// TestDecidesAlike: the plugin decides as the built-in policy does.
func TestDecidesAlike(t *testing.T) {
	t.Parallel()
	there, err := start(t, "")
	if err != nil {
		t.Fatal(err)
	}
	here := stable.New()
	if got, want := there.Info(), here.Info(); !reflect.DeepEqual(got, want) {
		t.Errorf("Info: got %+v, want %+v", got, want)
	}
	in := policy.Snapshot{Sites: []policy.Site{{Name: "a", Accept: 3}, {Name: "b", Accept: 9}}}
	for j := range 12 {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1, WallTime: protocol.Hour})
		for s := range in.Sites {
			in.AWT = append(in.AWT, protocol.Duration(s)*protocol.Hour)
			in.ERT = append(in.ERT, protocol.Minute)
			in.Cost = append(in.Cost, protocol.Micro(j*7919%101-50))
		}
	}
	got, _, err := there.Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	if want, _, err := here.Decide(in); err != nil || len(got) != 12 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
}

// TestNothingToConfigure: every key is a mistake.
func TestNothingToConfigure(t *testing.T) {
	t.Parallel()
	if _, err := start(t, "weight = 0.5\n"); err == nil || !strings.Contains(err.Error(), "stable.toml:1: weight: unknown key") {
		t.Errorf("got %v", err)
	}
}
