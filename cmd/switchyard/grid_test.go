package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// grid is a running grid of real processes.
type grid struct {
	*testbed.Grid
	work string // where jobs work and leave their output
}

// startGrid starts a grid that ends with the test.
func startGrid(t *testing.T, machines ...testbed.Machine) *grid {
	t.Helper()
	g := makeGrid(t, machines...)
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	return g
}

// quoteTimeout is for a busy machine, on which a quote may take seconds; tests of what a site does without one set it.
const quoteTimeout = 20 * protocol.Second

// startPatientGrid is as startGrid, but sites ask again soon.
func startPatientGrid(t *testing.T, machines ...testbed.Machine) *grid {
	t.Helper()
	g := makeGridFrom(t, testbed.Config{
		Binary: ownBinary(t), Sites: machines, QuoteTimeout: quoteTimeout, CheckInterval: 30 * protocol.Second,
	})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	return g
}

func makeGrid(t *testing.T, machines ...testbed.Machine) *grid {
	t.Helper()
	return makeGridFrom(t, testbed.Config{Binary: ownBinary(t), Sites: machines, QuoteTimeout: quoteTimeout})
}

// ownBinary is this test's, which is switchyard as well. Under make test it lies beside the small binary that
// watches jobs: three processes for each job, which under the race detector take the most time of all.
func ownBinary(t *testing.T) string {
	t.Helper()
	binary, err := besideShim()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

var besideShim = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	shared := os.Getenv("SWITCHYARD_TEST_BIN")
	if err != nil || shared == "" {
		return self, err
	}
	dir, err := os.MkdirTemp(shared, "own-")
	if err != nil {
		return "", err
	}
	own := filepath.Join(dir, "switchyard")
	return own, errors.Join(
		os.Chmod(dir, 0o711), // jobs' accounts run the small one
		exec.Command("cp", self, own).Run(),
		os.Link(filepath.Join(shared, daemon.ShimBinary), filepath.Join(dir, daemon.ShimBinary)),
	)
})

// plainBinary is switchyard without the race detector, which takes a third of the time to start: make test has
// built it for all packages. Without make test it is this test's binary.
func plainBinary(t *testing.T) string {
	t.Helper()
	if shared := os.Getenv("SWITCHYARD_TEST_BIN"); shared != "" {
		return filepath.Join(shared, "switchyard")
	}
	return ownBinary(t)
}

// makeGridFrom makes a grid of a configuration without a directory.
func makeGridFrom(t *testing.T, cfg testbed.Config) *grid {
	t.Helper()
	dir := shortDir(t)
	cfg.Dir, cfg.Env = dir, []string{asBinary + "=" + testCommit}
	built, err := testbed.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := &grid{Grid: built, work: filepath.Join(dir, "jobs")}
	if err := testbed.MakeShared(t.Context(), g.work); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Stop(stopPatience); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			g.showLogs(t)
		}
	})
	return g
}

// showLogs prints what the peers had to say, as the folder is about to go.
func (g *grid) showLogs(t *testing.T) {
	t.Helper()
	for _, site := range g.Sites {
		text, err := os.ReadFile(site.Log)
		const most = 6000
		t.Logf("%s (%v):\n%s", site.Log, err, text[max(0, len(text)-most):])
	}
}

// stopPatience bounds the stop of a peer, which takes a second or two on an idle machine.
const stopPatience = 2 * time.Minute

// patience bounds waiting for processes; nothing takes nearly as long.
func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// at runs switchyard as a process of its own at a site.
func (g *grid) at(t *testing.T, site *testbed.Site, stdin string, args ...string) result {
	t.Helper()
	return finished(t, g.process(patience(t), t, site, args...), stdin)
}

// finished runs a command to its end.
func finished(t *testing.T, cmd *exec.Cmd, stdin string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (g *grid) process(ctx context.Context, t *testing.T, site *testbed.Site, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, plainBinary(t), args...)
	cmd.Dir = g.work
	cmd.Env = append(os.Environ(), asBinary+"="+testCommit, "SWITCHYARD_SOCKET="+site.Socket)
	return cmd
}

// submit submits a script that must be taken.
func (g *grid) submit(t *testing.T, site *testbed.Site, script string, args ...string) protocol.JobID {
	t.Helper()
	got := g.at(t, site, script, append([]string{"submit"}, args...)...)
	line := regexp.MustCompile(`^Submitted batch job ([0-9]+)\n$`).FindStringSubmatch(got.stdout)
	if got.code != 0 || line == nil {
		t.Fatalf("submit: %+v", got)
	}
	id, err := protocol.ParseJobID(line[1])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// until waits until the job is as wanted, seen at the site.
func (g *grid) until(t *testing.T, site *testbed.Site, id protocol.JobID, wanted func(view.Job) bool) view.Job {
	t.Helper()
	client, ctx := site.Client(), patience(t)
	defer client.Close()
	for {
		job, err := client.Job(ctx, protocol.JobName{Job: id})
		if err == nil && wanted(job) {
			return job
		}
		if ctx.Err() != nil || err == nil && job.State.Terminal() {
			t.Fatalf("job %s never became as wanted: %+v, %v", id, job, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func ended(job view.Job) bool   { return job.State.Terminal() }
func running(job view.Job) bool { return job.State == protocol.Running }

func (g *grid) output(t *testing.T, job view.Job) string {
	t.Helper()
	text, err := os.ReadFile(job.Stdout)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
