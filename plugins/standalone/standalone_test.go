package main

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

const asPlugin = "plugin"

// TestMain makes the test binary the plugin of a name in the processes that start starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asPlugin {
		os.Args = os.Args[2:]
		main()
		return
	}
	os.Exit(m.Run())
}

// start starts the plugin of a name for as long as the test takes, with a configuration that
// stands in <name>.toml. The error is what the plugin says of it.
func start(t *testing.T, name, config string) (policy.Policy, error) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := pluginhost.Open(pluginhost.Spec{
		Name: name, Kind: pluginhost.PolicyKind, Path: path, Args: []string{asPlugin, name},
		Config: config, ConfigFile: name + ".toml", Host: sdk.Host{Software: "test"},
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

// conforms runs the conformance suite over two processes of the plugin, in turns.
func conforms(t *testing.T, name, config string) {
	t.Helper()
	var processes []policy.Policy
	for range 2 {
		p, err := start(t, name, config)
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

// alike tests that the plugin says of itself what the built-in policy does, and decides a
// round that brings some decisions as that does.
func alike(t *testing.T, name, config string, here policy.Policy, in policy.Snapshot) {
	t.Helper()
	there, err := start(t, name, config)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := policy.Describe(there), policy.Describe(here); !reflect.DeepEqual(got, want) {
		t.Errorf("Info: got %+v, want %+v", got, want)
	}
	got, _, err := there.Decide(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if want, _, err := here.Decide(t.Context(), in); err != nil || len(got) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
	if fronter, ok := here.(policy.ParetoPolicy); ok {
		frontsAlike(t, there, fronter, in)
	}
}

// frontsAlike tests that the plugin lays out some choices as the built-in policy does.
func frontsAlike(t *testing.T, there policy.Policy, here policy.ParetoPolicy, in policy.Snapshot) {
	t.Helper()
	remote, ok := there.(policy.ParetoPolicy)
	if !ok {
		t.Fatalf("%T lays out no choices", there)
	}
	got, err := remote.ParetoFront(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := here.ParetoFront(t.Context(), in); err != nil || len(got.Points) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
}

// refuses tests that the plugin tells all that is wrong with a configuration.
func refuses(t *testing.T, name, config string, problems ...string) {
	t.Helper()
	_, err := start(t, name, config)
	if err == nil {
		t.Fatal("the configuration is taken")
	}
	for _, want := range problems {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %s", err, want)
		}
	}
}

// TestMakefileLinksEachPlugin: `make plugins` makes a link for each.
func TestMakefileLinksEachPlugin(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\nBUILT_IN := ")
	line, _, _ := strings.Cut(after, "\n")
	if got, want := slices.Sorted(slices.Values(strings.Fields(line))), slices.Sorted(maps.Keys(builtIn())); !slices.Equal(got, want) {
		t.Errorf("BUILT_IN is %q, want %q", got, want)
	}
}
