package main_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	cheapest "github.com/switchyard-hpc/switchyard/examples/plugins/cheapest"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
)

// TestPlugin: in a process of its own the policy decides as it does in this one.
func TestPlugin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cheapest")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	spec := pluginhost.Spec{Name: "cheapest", Kind: pluginhost.PolicyKind, Path: path, Config: `wait_limit = "1h"`}
	plugin, err := pluginhost.Open(spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plugin.Close() })
	if err = plugin.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := drawSnapshot(t, rapid.IntRange(0, 10).Draw(t, "jobs"))
		apart, _, err := plugin.Policy().Decide(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if within, _, _ := cheapest.New(hour).Decide(t.Context(), in); !slices.Equal(within, apart) {
			t.Fatalf("decided %+v in process, %+v in a process of its own", within, apart)
		}
	})
}
