package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestInput: a job reads the file that it names, with the rights of its account.
func TestInput(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	dir := homeDir(t)
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := home(t, dir, "sort -r")
	job.Payload.Input = filepath.Join(dir, "in")
	if got := s.awaitEnd(t, s.submit(t, job)); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	if got := readFile(t, job.Payload.Stdout); got != "two\none\n" {
		t.Errorf("it has read %q", got)
	}
	job = home(t, dir, "cat")
	job.Payload.Input = filepath.Join(dir, "none")
	if got := s.awaitEnd(t, s.submit(t, job)); got.State != protocol.Failed || !strings.Contains(got.Reason, "cannot open the stdin file "+job.Payload.Input) {
		t.Errorf("%+v", got)
	}
	job = guest(t, "cat")
	job.Payload.Input = filepath.Join(dir, "in")
	_, err := s.Submit(t.Context(), job)
	if refused := new(localsched.RefusedError); !asRefused(err, &refused) || refused.Reason != "its standard input is a file at its origin" {
		t.Errorf("a guest: %v", err)
	}
}

// TestAppendOutput: with append, output goes behind what is in its file; else it replaces that.
func TestAppendOutput(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	dir := homeDir(t)
	for _, tt := range []struct {
		behind bool
		want   string
	}{{true, "out\n"}, {true, "out\nout\n"}, {false, "out\n"}} {
		job := home(t, dir, "echo out; echo error >&2")
		job.Payload.AppendOutput = tt.behind
		if got := s.awaitEnd(t, s.submit(t, job)); got.State != protocol.Completed {
			t.Fatalf("%+v", got)
		}
		if got := readFile(t, job.Payload.Stdout); got != tt.want {
			t.Errorf("append %t: %q", tt.behind, got)
		}
		if got := readFile(t, job.Payload.Stderr); got != strings.ReplaceAll(tt.want, "out", "error") {
			t.Errorf("append %t: stderr %q", tt.behind, got)
		}
	}
}

// TestLimitSignal: before the limit a job gets the signal that it has asked for: its script, or
// all that the script has started.
func TestLimitSignal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		scriptOnly bool
		script     string
		want       string
	}{
		"script": {true, `sleep 600 & trap 'kill -0 $! && echo warned; exit 3' USR1; while :; do wait; done`, "warned\n"},
		// The script would be killed by the signal, as it does not handle it.
		"others": {false, `setsid sh -c 'trap "echo warned; exit 3" USR1; while :; do sleep 0.05; done'; exit $?`, "warned\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, job := openSite(t, nil), guest(t, tt.script)
			job.Spec.WallTime = 30 * protocol.Second
			job.Payload.LimitSignal = protocol.LimitSignal{Signal: 10, Before: 30*protocol.Second - ampleLimit, ScriptOnly: tt.scriptOnly}
			tag := s.submit(t, job)
			got := s.awaitEnd(t, tag)
			if out := s.read(t, tag, protocol.Stdout); got.State != protocol.Failed || got.ExitCode != 3 || got.Ran < ampleLimit || out != tt.want {
				t.Errorf("%+v, it has written %q", got, out)
			}
		})
	}
}

// TestContainer: a job with an image runs by the site's command, and is refused where there is none. The command
// here shows what it is given.
func TestContainer(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	runner := filepath.Join(dir, "runner")
	testprogram.Write(t, runner, "#!/bin/sh\necho \"in $1, $2\"; shift 2\nexec \"$@\"\n")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := openSite(t, func(c *process.Config) { c.Container = []string{runner, "{image}", "bind={dir}"} })
	job := guest(t, `echo "$0 $*"`)
	job.Spec.Container = "a b.sif"
	job.Payload.Args = []string{"{image}"}
	tag := s.submit(t, job)
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
	want := "in a b.sif, bind=" + s.dir(tag, "") + "\n" + s.dir(tag, "script") + " {image}\n"
	if got := s.read(t, tag, protocol.Stdout); got != strings.ReplaceAll(want, s.dir(tag, ""), strings.TrimSuffix(s.dir(tag, ""), "/")) {
		t.Errorf("got %q, want %q", got, want)
	}
	s = openSite(t, func(c *process.Config) { c.Container = []string{"/no/such/runner", "{image}"} })
	job = guest(t, "true")
	job.Spec.Container = "a.sif"
	if got := s.awaitEnd(t, s.submit(t, job)); got.State != protocol.Failed || !strings.Contains(got.Reason, "container command /no/such/runner: no such file") {
		t.Errorf("%+v", got)
	}
	s = openSite(t, nil)
	_, err := s.Submit(t.Context(), job)
	if refused := new(localsched.RefusedError); !asRefused(err, &refused) || refused.Reason != "it runs in a container, and this site runs none" {
		t.Errorf("without a command: %v", err)
	}
}
