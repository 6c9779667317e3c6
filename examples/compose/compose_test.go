// Package compose_test runs the test beds of examples/compose as their users do.
package compose_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds one run of up.sh; it takes a minute or two. On a slow machine up.sh itself gives
// up first, and says what it waited for.
const patience = 30 * time.Minute

// turns lets two grids run at a time: each is up to eight containers.
var turns = make(chan struct{}, 2)

// TestBeds has each bed check what it shows.
func TestBeds(t *testing.T) {
	t.Parallel()
	need(t)
	for name, args := range map[string][]string{
		"initiations":  {"initiations"},
		"electricity":  {"electricity"},
		"power-budget": {"power-budget"},
		"iss":          {"iss"},
		"monitoring":   {"monitoring"},
		"slurm":        {"slurm"},
		"peers":        {"peers", "--profile", "peers"},
		"nats":         {"peers", "--profile", "nats"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switch name {
			case "monitoring":
				needProgram(t, "curl")
				needUnpacked(t, "prometheus-trixie", "PROMETHEUS", "prometheus")
			case "slurm":
				needProgram(t, "curl")
				needUnpacked(t, "slurm-trixie", "SLURM", "newer-slurm")
			case "nats":
				needProgram(t, "openssl")
			}
			up := start(t, args...)
			<-up.ended
			t.Logf("up.sh prints:\n%s", up.said)
			if up.err != nil {
				t.Errorf("up.sh: %v", up.err)
			}
			up.leavesNothing(t)
		})
	}
}

// TestUsage has up.sh refuse what is no bed, and a profile that a bed does not have.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"nowhere"}, {"iss", "peers"}, {"iss", "--profile", "nats"}, {"peers", "--profile", "x"}, {"--frob"}} {
		out, err := exec.CommandContext(t.Context(), "./up.sh", args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !bytes.HasPrefix(out, []byte("usage: up.sh BED")) {
			t.Errorf("up.sh %v: %v\n%s", args, err, out)
		}
	}
}

func TestInterruptedRunTakesTheGridDown(t *testing.T) {
	t.Parallel()
	need(t)
	up := start(t, "peers")
	up.says(t, "cutting its link")
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-up.ended
	if got, want := up.ProcessState.ExitCode(), 128+int(syscall.SIGTERM); got != want {
		t.Errorf("up.sh ended with %v, want exit status %d; it says:\n%s", up.err, want, up.said)
	}
	up.leavesNothing(t)
}

// need skips the test without a Docker engine, also in CI, where everything else
// that is missing is a failure.
func need(t *testing.T) {
	t.Helper()
	if out, err := docker(t, "version"); err != nil {
		if inCI() {
			fmt.Fprintln(os.Stderr, "examples/compose is NOT tested: no Docker engine answers here")
		}
		t.Skipf("no Docker engine answers: %v\n%s", err, out)
	}
	if _, err := os.Stat("/bin/busybox"); err != nil && os.Getenv("BUSYBOX") == "" {
		missing(t, "the containers need a static shell (Debian: apt install busybox-static): %v", err)
	}
	if _, err := exec.LookPath("docker-compose"); err != nil {
		if out, err := docker(t, "compose", "version"); err != nil {
			missing(t, "there is no Compose (Debian: apt install docker-compose): %v\n%s", err, out)
		}
	}
}

// needProgram skips the test without a program of the Debian package of its name.
func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, "the bed needs %s (Debian: apt install %[1]s): %v", name, err)
	}
}

// needUnpacked skips the test without packages of Debian that a target of the Makefile unpacks into a directory of that name, unless the
// variable says that they are elsewhere.
func needUnpacked(t *testing.T, name, variable, target string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(cache, "switchyard-tools", name)); err != nil && os.Getenv(variable) == "" {
		missing(t, "the packages are not unpacked (make %s): %v", target, err)
	}
}

func inCI() bool { return os.Getenv("CI") == "true" }

// missing skips the test; in CI it fails it.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if inCI() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func docker(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	return string(out), err
}

// run is a run of up.sh.
type run struct {
	*exec.Cmd
	said  *transcript
	dir   string        // where it makes the grid's folder
	ended chan struct{} // closed when it has; err is set then
	err   error
}

func start(t *testing.T, args ...string) *run {
	t.Helper()
	turns <- struct{}{}
	t.Cleanup(func() { <-turns })
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	up := &run{Cmd: exec.CommandContext(ctx, "./up.sh", args...), said: &transcript{}, dir: dir, ended: make(chan struct{})}
	up.Env = append(os.Environ(), "TMPDIR="+up.dir)
	if shared := os.Getenv("SWITCHYARD_TEST_BIN"); shared != "" { // make test has built it for all packages
		up.Env = append(up.Env, "SWITCHYARD="+filepath.Join(shared, "switchyard"))
	}
	up.Stdout, up.Stderr = up.said, up.said
	// Asked to end it still takes the grid down; killed it could not.
	up.Cancel = func() error { return up.Process.Signal(syscall.SIGTERM) }
	up.WaitDelay = time.Minute
	if err := up.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		up.err = up.Wait()
		close(up.ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-up.ended
	})
	return up
}

// says waits until up.sh has written the words.
func (r *run) says(t *testing.T, words string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(r.said.String(), words) {
		select {
		case <-r.ended:
			t.Fatalf("up.sh ended (%v) before it said %q, with:\n%s", r.err, words, r.said)
		case <-tick.C:
		}
	}
}

// leavesNothing fails the test if anything of the run is left.
func (r *run) leavesNothing(t *testing.T) {
	t.Helper()
	project := regexp.MustCompile(`switchyard-[a-z-]+-[0-9a-f]{8}`).FindString(r.said.String())
	if project == "" {
		t.Fatal("up.sh has not named the grid")
	}
	label := "label=com.docker.compose.project=" + project
	for _, list := range [][]string{
		{"ps", "--all", "--quiet", "--filter", label},
		{"network", "ls", "--quiet", "--filter", label},
		{"images", "--quiet", project},
	} {
		if out, err := docker(t, list...); err != nil || out != "" {
			t.Errorf("docker %s: %v\n%s", strings.Join(list, " "), err, out)
		}
	}
	left, err := os.ReadDir(r.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// transcript keeps what a process writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
