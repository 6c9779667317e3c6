package plugins_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// another is a policy of another author over the same Python modules.
const another = `#!/usr/bin/python3 -B
import switchyard_plugin as switchyard


class First:
    initiations = ("sender",)

    def __init__(self, config):
        self.limit = config.duration("limit", switchyard.HOUR)

    def params(self):
        return {"limit_ms": str(self.limit)}

    def decide(self, snapshot):
        print("this is no handshake")
        if snapshot.awt[0] > self.limit:
            raise ValueError("too long a wait")
        yield switchyard.Decision(job=0, site=0, wait=snapshot.awt[0], reason="é" * 300)


switchyard.serve(First, name="first", version="1.0.0", about="the first job at the first site")
`

// TestPythonModules: the modules serve any policy, tell what it raises, keep the
// protocol from what it prints, and cut reasons between two characters.
func TestPythonModules(t *testing.T) {
	t.Parallel()
	plugin := copyWith(t, "first.py", another).open(t, "")
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", CPUs: 1, MaxJobs: 1}}, Jobs: []policy.Job{{ID: protocol.NewJobID(1, 1), CPUs: 1}},
		AWT: []protocol.Duration{5}, ERT: []protocol.Duration{1}, Cost: []protocol.Micro{0},
	}
	want := policy.Decision{Wait: 5, Reason: strings.Repeat("é", 256)}
	if got, _, err := plugin.Policy().Decide(t.Context(), in); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, %v", got, err)
	}
	in.AWT[0] = 2 * protocol.Hour
	if got, _, err := plugin.Policy().Decide(t.Context(), in); err == nil || !strings.Contains(err.Error(), "ValueError: too long a wait") {
		t.Errorf("a policy that raises: %+v, %v", got, err)
	}
	in.AWT[0] = 5
	if got, _, err := plugin.Policy().Decide(t.Context(), in); err != nil || len(got) != 1 {
		t.Errorf("after that: %+v, %v", got, err)
	}
}

// copyWith is a plugin in a folder of its own with a copy of the modules.
func copyWith(t *testing.T, name, text string) example {
	t.Helper()
	e := pythonPolicy(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(e.path))); err != nil {
		t.Fatal(err)
	}
	e.path = filepath.Join(dir, name)
	writeProgram(t, e.path, text)
	return e
}

// writeProgram writes an executable file. No process is forked meanwhile: it would hold the file
// open for a moment, and a program that is open for writing cannot be run.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestPythonPin: the pin is of the file that is started.
func TestPythonPin(t *testing.T) {
	t.Parallel()
	e := copyWith(t, "first.py", another)
	spec := e.spec(t, "")
	writeProgram(t, e.path, another+"\n")
	plugin, err := pluginhost.Open(spec, logOf(t))
	if err == nil {
		err = errors.Join(plugin.Wait(t.Context()), plugin.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "not the pinned one") {
		t.Errorf("a changed file: %v", err)
	}
}

// TestPythonEndsWithItsHost: a plugin whose host was killed ends by itself. This host is
// a shell, which does not see to that.
func TestPythonEndsWithItsHost(t *testing.T) {
	t.Parallel()
	e := pythonPolicy(t)
	host := exec.CommandContext(t.Context(), "sh", "-c", `"$0" & echo $!; wait`, e.path)
	host.Env = append(os.Environ(), sdk.CookieKey+"="+sdk.CookieValue, "PLUGIN_UNIX_SOCKET_DIR="+publicDir(t))
	out, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	said.Scan()
	pid := said.Text()
	said.Scan()
	if _, err = strconv.Atoi(pid); err != nil || !strings.Contains(said.Text(), "|unix|") {
		t.Fatalf("it said %q, then %q: %v", pid, said.Text(), said.Err())
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	await(t, "the plugin's end", func() error {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if errors.Is(err, fs.ErrNotExist) || strings.Contains(string(state), ") Z ") {
			return nil
		}
		return fmt.Errorf("it still runs: %s, %w", state, err)
	})
}
