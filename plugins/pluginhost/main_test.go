package pluginhost_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

// TestMain: this test binary is also every plugin of these tests, and a host that is
// killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "plugin":
			bePlugin(os.Args[2], os.Args[3:])
		case "host":
			beHost(os.Args[2:])
		}
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// self is the path of this test binary.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// quick are times for tests: everything happens soon, but nothing by accident.
func quick() pluginhost.Timing {
	return pluginhost.Timing{
		Start: time.Minute, Call: time.Minute, Poll: 200 * time.Millisecond, Stop: 5 * time.Second,
		Health: 10 * time.Second, Backoff: 20 * time.Millisecond, BackoffMax: 50 * time.Millisecond,
		Most: 1000, Rest: time.Minute,
	}
}

// specOf is the spec of a policy of these tests.
func specOf(t testing.TB, name string, args ...string) pluginhost.Spec {
	t.Helper()
	return pluginhost.Spec{
		Name: name, Kind: pluginhost.PolicyKind, Path: self(t), Args: slices.Concat([]string{"plugin", name}, args),
		Host: sdk.Host{Site: "north", Seed: 7, Software: "catalog test"}, Timing: quick(), ConfigFile: "peer.toml",
	}
}

// opened opens a plugin and closes it at the end of the test.
func opened(t testing.TB, spec pluginhost.Spec) *pluginhost.Plugin {
	t.Helper()
	plugin, err := pluginhost.Open(spec, logOf(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return plugin
}

// up opens a plugin and waits until it is up.
func up(t testing.TB, spec pluginhost.Spec) *pluginhost.Plugin {
	t.Helper()
	plugin := opened(t, spec)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := plugin.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return plugin
}

// restart kills a plugin's process and waits until it is up again.
func restart(t testing.TB, plugin *pluginhost.Plugin) {
	t.Helper()
	pid := plugin.Status().PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "another process", func() bool {
		s := plugin.Status()
		return s.State == pluginhost.Up && s.PID != pid
	})
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited two minutes for: %s", what)
		}
	}
}

// wants checks the words of an error.
func wants(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one with %q", words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
}

// logOf is a log that is shown if the test fails.
func logOf(t testing.TB) *slog.Logger {
	t.Helper()
	book := new(testlog.Buffer)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(book)
		}
	})
	return book.Logger()
}
