package process_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestEnds runs one job for each way in which a job can end.
func TestEnds(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	cases := map[string]struct {
		script string
		change func(*localsched.Submission)
		want   protocol.Outcome
		reason string // part of it
	}{
		"well":      {"true", nil, protocol.Outcome{State: protocol.Completed}, ""},
		"exit code": {"exit 42", nil, protocol.Outcome{State: protocol.Failed, ExitCode: 42}, "exit code 42"},
		"signal":    {"kill -USR1 $$", nil, protocol.Outcome{State: protocol.Failed, Signal: 10}, "SIGUSR1"},
		"limit, obeying": {
			"exec sleep 600", limit(300), protocol.Outcome{State: protocol.Timeout, Signal: 15}, "limit of 0:00:01",
		},
		"limit, ignoring TERM": {
			"trap '' TERM; while :; do sleep 1; done", limit(ampleLimit), protocol.Outcome{State: protocol.Timeout, Signal: 9}, "limit",
		},
		"limit, ending well": {
			"trap 'exit 0' TERM; while :; do sleep 0.05; done", limit(ampleLimit), protocol.Outcome{State: protocol.Timeout}, "limit",
		},
		"no interpreter": {
			"", script("#!/no/such/shell\n"), protocol.Outcome{State: protocol.Failed, ExitCode: 127}, `"/no/such/shell": no such file`,
		},
		"no first line": {
			"", script("echo hello\n"), protocol.Outcome{State: protocol.Failed, ExitCode: 126}, "does not begin with #!",
		},
		"interpreter not executable": {
			"", script("#!/etc/passwd\n"), protocol.Outcome{State: protocol.Failed, ExitCode: 126}, `"/etc/passwd": permission denied`,
		},
		"no working directory": {
			"true", homeIn("/no/such/directory", "/dev/null"),
			protocol.Outcome{State: protocol.Failed, ExitCode: 127},
			"working directory /no/such/directory: no such file",
		},
		"no right to the output": {
			"true", homeIn("/", "/proc/version"),
			protocol.Outcome{State: protocol.Failed, ExitCode: 126},
			"stdout file /proc/version: permission denied",
		},
		"output in no directory": {
			"true", homeIn("/", "/no/such/directory/out"),
			protocol.Outcome{State: protocol.Failed, ExitCode: 127},
			"stdout file /no/such/directory/out: no such file",
		},
	}
	tags := map[string]protocol.Tag{}
	for name, c := range cases {
		job := guest(t, c.script)
		if c.change != nil {
			c.change(&job)
		}
		tags[name] = s.submit(t, job)
	}
	for name, c := range cases {
		got := s.awaitEnd(t, tags[name])
		if got.State != c.want.State || got.ExitCode != c.want.ExitCode || got.Signal != c.want.Signal {
			t.Errorf("%s: got %v, exit code %d, signal %d (%s), want %v, %d, %d",
				name, got.State, got.ExitCode, got.Signal, got.Reason, c.want.State, c.want.ExitCode, c.want.Signal)
		}
		if !strings.Contains(got.Reason, c.reason) || c.reason == "" && got.Reason != "" {
			t.Errorf("%s: the reason %q does not say %q", name, got.Reason, c.reason)
		}
		if got.Waited < 0 || got.Ran < 0 || got.State == protocol.Timeout && got.Ran < 300 {
			t.Errorf("%s: waited %v, ran %v", name, got.Waited, got.Ran)
		}
	}
}

// ampleLimit lets a shell set its traps first, also on a busy machine.
const ampleLimit = 10 * protocol.Second

func limit(ms protocol.Duration) func(*localsched.Submission) {
	return func(job *localsched.Submission) { job.Spec.WallTime = ms }
}

func script(text string) func(*localsched.Submission) {
	return func(job *localsched.Submission) { job.Payload.Script = []byte(text) }
}

func homeIn(dir, stdout string) func(*localsched.Submission) {
	return func(job *localsched.Submission) {
		job.Guest = false
		job.Payload.WorkDir, job.Payload.Stdout, job.Payload.Stderr = dir, stdout, stdout
	}
}

func TestGuestRunsApart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Socket, c.Commands = "/run/north.sock", "/state/commands" })
	job := guest(t, `id -un; pwd; env; echo "$@"; echo oops >&2; touch here`)
	job.Payload.Args = []string{"a b", "c"}
	job.Payload.Env = []string{"COLOUR=blue green", "HOME=/home/alice", "SLURM_JOB_ID=1", "odd", "=odder", "LD=a=b", "SWITCHYARD_SOCKET=/mine"}
	tag := s.submit(t, job)
	outcome := s.awaitEnd(t, tag)
	out, errs := s.read(t, tag, protocol.Stdout), s.read(t, tag, protocol.Stderr)
	account, err := user.Lookup(job.Account)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	id := job.Tag.Job.String()
	want := []string{
		job.Account, s.dir(tag, "work"), "a b c", "COLOUR=blue green", "LD=a=b", "HOME=" + account.HomeDir,
		"USER=" + job.Account, "LOGNAME=" + job.Account, "PATH=/usr/local/bin:/usr/bin:/bin:/state/commands", "SWITCHYARD_SOCKET=/run/north.sock",
		"SWITCHYARD_JOB_ID=" + id, "SWITCHYARD_JOB_NAME=test", "SWITCHYARD_ORIGIN_SITE=south",
		"SWITCHYARD_EXEC_SITE=north", "SWITCHYARD_EPOCH=3", "SLURM_JOB_ID=" + id, "SLURM_JOB_NAME=test",
		"SLURM_TASKS_PER_NODE=1", "SLURM_CPUS_ON_NODE=1", "SLURM_SUBMIT_DIR=" + s.dir(tag, "work"),
	}
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("the job does not see %q", w)
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "GOMAXPROCS") || strings.Contains(line, "odd") || strings.Contains(line, "/mine") {
			t.Errorf("the job sees %q", line)
		}
	}
	if errs != "oops\n" {
		t.Errorf("stderr is %q", errs)
	}
	checkFiles(t, outcome.Files, out, errs)
	if info, err := os.Stat(s.dir(tag, "work")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the working directory: %v, %v", info.Mode(), err)
	}
}

func checkFiles(t *testing.T, files []protocol.File, texts ...string) {
	t.Helper()
	if len(files) != len(texts) {
		t.Fatalf("%d files are to travel, want %d", len(files), len(texts))
	}
	for i, text := range texts {
		want := protocol.File{Stream: protocol.Stdout + protocol.Stream(i), Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text))}
		if files[i] != want {
			t.Errorf("file %d is described as %+v, want %+v", i, files[i], want)
		}
	}
}

func TestGuestStreamsInOneFile(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	job := guest(t, "echo one; echo two >&2; echo three")
	job.Payload.Stderr = job.Payload.Stdout
	tag := s.submit(t, job)
	checkFiles(t, s.awaitEnd(t, tag).Files, "one\ntwo\nthree\n")
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if got := s.read(t, tag, stream); got != "one\ntwo\nthree\n" {
			t.Errorf("%v is %q", stream, got)
		}
	}
	part, err := s.Fetch(t.Context(), tag, protocol.Stdout, 4, 3)
	if err != nil || string(part) != "two" {
		t.Errorf("a part is %q, %v", part, err)
	}
	none, err := s.Fetch(t.Context(), tag, protocol.Stdout, 1000, 3)
	if err != nil || len(none) != 0 {
		t.Errorf("behind the end is %q, %v", none, err)
	}
}

func TestHomeJob(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	dir := homeDir(t)
	write(t, filepath.Join(dir, "stdout"), strings.Repeat("old", 100))
	job := home(t, dir, "pwd; echo $HOME; echo oops >&2")
	job.Payload.Env = []string{"HOME=/home/alice", "PATH=/bin"}
	tag := s.submit(t, job)
	if files := s.awaitEnd(t, tag).Files; len(files) != 0 {
		t.Errorf("files are to travel: %v", files)
	}
	if got, want := readFile(t, filepath.Join(dir, "stdout")), dir+"\n/home/alice\n"; got != want {
		// The old file belongs to the account that runs the tests.
		t.Errorf("stdout is %q, want %q", got, want)
	}
	if got := s.read(t, tag, protocol.Stderr); got != "oops\n" {
		t.Errorf("stderr is %q", got)
	}
}

// write makes a file of the jobs' account.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if err = os.Chown(path, owner(info), -1); err != nil {
		t.Fatal(err)
	}
}

// TestFetchRefusesLinks has jobs put what is not theirs in the place of their
// output.
func TestFetchRefusesLinks(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	for name, script := range map[string]string{
		"link": "rm stdout; ln -s /etc/hostname stdout",
		"pipe": "rm stdout; mkfifo stdout",
		"dir":  "rm stdout; mkdir stdout",
		"gone": "rm stdout",
	} {
		tag := s.submit(t, home(t, homeDir(t), script))
		s.awaitEnd(t, tag)
		data, err := s.Fetch(t.Context(), tag, protocol.Stdout, 0, 100)
		if !errors.Is(err, localsched.ErrUnknownJob) {
			t.Errorf("%s: got %q, %v", name, data, err)
		}
	}
	// The directory of a guest's output is the peer's: under root, no guest gets in.
	asRoot(t)
	tag := s.submit(t, guest(t, "echo mine; cd ..; rm -f out; ln -s /etc/passwd out"))
	s.awaitEnd(t, tag)
	if got := s.read(t, tag, protocol.Stdout); got != "mine\n" {
		t.Errorf("stdout is %q", got)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	job := guest(t, `sleep 1000 & echo $!
setsid sleep 1000 & echo $!
(setsid sh -c 'sleep 1000 & echo $!; sleep 1000' &)
sleep 0.2`)
	tag := s.submit(t, job)
	if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
		t.Errorf("got %v: %s", got.State, got.Reason)
	}
	pids := strings.Fields(s.read(t, tag, protocol.Stdout))
	if len(pids) != 3 {
		t.Errorf("the job told of the processes %q", pids)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %s is left", pid)
		}
	}
}

// TestPipeHeldByOthers has a process of the job's account open the pipe on which the job's
// second stage speaks to its shim, before the job begins, and keep it: the job ends all the
// same, and what its second stage said is heard.
func TestPipeHeldByOthers(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	for want, change := range map[string]func(*localsched.Submission){
		"":                   func(*localsched.Submission) {},
		"/no/such/directory": func(job *localsched.Submission) { job.Payload.WorkDir = "/no/such/directory" },
		`"/no/such/shell"`:   script("#!/no/such/shell\n"),
		"exit code 7":        script("#!/bin/sh\nexit 7\n"),
	} {
		dir := homeDir(t)
		job := home(t, dir, "true")
		change(&job)
		begin := makePipe(t, filepath.Join(dir, "stdout"))
		tag := s.submit(t, job)
		s.awaitRunning(t, tag)
		held := openFD(t, s.shimOf(t, tag), 4)
		defer held.Close()
		begin()
		if got := s.awaitEnd(t, tag); !strings.Contains(got.Reason, want) || (want == "") != (got.State == protocol.Completed) {
			t.Errorf("%q: %+v", want, got)
		}
	}
}

// makePipe makes a named pipe of the jobs' account. Who opens it to write waits until begin
// is called.
func makePipe(t *testing.T, path string) (begin func()) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	return func() {
		pipe, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pipe.Close() })
	}
}

// openFD opens to write what a shim's only child has open under a number, once it does.
func openFD(t *testing.T, shim, number int) (file *os.File) {
	t.Helper()
	eventually(t, "the second stage is there", func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", shim))
		if err != nil || len(tasks) == 0 {
			t.Skip("this kernel does not tell of a process's children")
		}
		for _, task := range tasks {
			child := "/proc/" + strings.TrimSpace(readFile(t, task))
			if line, err := os.ReadFile(child + "/cmdline"); err == nil && strings.HasSuffix(string(line), "\x00exec\x00") {
				file, _ = os.OpenFile(fmt.Sprintf("%s/fd/%d", child, number), os.O_WRONLY, 0)
			}
		}
		return file != nil
	})
	return file
}
