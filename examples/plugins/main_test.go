// Package plugins_test tries the example plugins as what they are: programs of their
// own that a host starts, in the simulator and in real peers.
package plugins_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/plugins/sdk/python"
)

// bin is the folder of the binaries under test. Every account can pass through it.
var bin string

func TestMain(m *testing.M) { os.Exit(run(context.Background(), m)) }

func run(ctx context.Context, m *testing.M) int {
	if bin = os.Getenv("SWITCHYARD_TEST_BIN"); bin != "" { // make test has built them for all packages
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "plugins-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o711)
	}
	if err == nil {
		bin = dir
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", dir, "./cheapest", "./widest", "../../cmd/switchyard")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		out, err = build.CombinedOutput()
		os.Stderr.Write(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the examples:", err)
		return 1
	}
	return m.Run()
}

// example is an example plugin, and how it is started.
type example struct {
	kind  pluginhost.Kind
	path  string
	plain bool
}

func goPolicy() example {
	return example{kind: pluginhost.PolicyKind, path: filepath.Join(bin, "cheapest")}
}

func goScheduler() example {
	return example{kind: pluginhost.SchedulerKind, path: filepath.Join(bin, "widest")}
}

// needsPython ends a test where Python or its libraries are missing. CI has them.
func needsPython(t testing.TB) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import grpc, google.protobuf, tomllib").CombinedOutput()
	if err != nil {
		missing(t, "python3-grpcio and python3-protobuf: %v\n%s", err, out)
	}
}

// pythonPolicy is the policy in Python.
func pythonPolicy(t testing.TB) example {
	t.Helper()
	needsPython(t)
	text, err := os.ReadFile(filepath.Join("cheapest-python", "cheapest.py"))
	if err != nil {
		t.Fatal(err)
	}
	return pythonPlugin(t, "cheapest.py", string(text))
}

// pythonPlugin is a policy in Python in a directory of its own, with the SDK: a plugin's file must
// belong to who runs it, and nobody knows whose the checkout is.
func pythonPlugin(t testing.TB, name, text string) example {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, python.Files); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	writeProgram(t, path, text)
	return example{kind: pluginhost.PolicyKind, path: path, plain: true}
}

// missing ends a test that needs something which is not here.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	text := "missing: " + fmt.Sprintf(format, args...)
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// name is what configurations call the plugin.
func (e example) name() string { return strings.TrimSuffix(filepath.Base(e.path), ".py") }

// sum is the SHA-256 of the plugin's file.
func (e example) sum(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(e.path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// spec is how the plugin is started with a configuration in TOML.
func (e example) spec(t testing.TB, config string) pluginhost.Spec {
	t.Helper()
	return pluginhost.Spec{
		Name: e.name(), Kind: e.kind, Path: e.path, SHA256: e.sum(t), Plain: e.plain,
		Config: config, ConfigFile: "plugin.toml", Host: sdk.Host{Seed: 1, Software: "a test"},
	}
}

// open starts the plugin, for the time of the test.
func (e example) open(t testing.TB, config string) *pluginhost.Plugin {
	t.Helper()
	plugin, err := pluginhost.Open(e.spec(t, config), logOf(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := plugin.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return plugin
}

// openPolicy is a policy in a process that ends when it is closed.
type openPolicy struct {
	policy.Policy
	io.Closer
}

func logOf(t testing.TB) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// logTo prints what hosts log in the test's own output.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}
