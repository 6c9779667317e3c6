package slurm_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// shells lists the POSIX shells of this machine.
func shells(t testing.TB) (found [][]string) {
	t.Helper()
	for _, line := range [][]string{{"/bin/sh"}, {"dash"}, {"bash", "--posix"}, {"ksh"}} {
		if path, err := exec.LookPath(line[0]); err == nil {
			found = append(found, append([]string{path}, line[1:]...))
		}
	}
	return found
}

// launched runs a job's launch script as Slurm would, with a command env before the
// system's that writes down its arguments. It returns what the job and env have said.
func launched(t *testing.T, shell []string, submission localsched.Submission) (job, arguments string) {
	t.Helper()
	dir := t.TempDir()
	record := spool.NewJob(submission, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
	seen := filepath.Join(dir, "seen")
	fake := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>" + seen + "\nexec /usr/bin/env \"$@\"\n"
	for path, text := range map[string]string{
		"bin/env": fake, "claim/.keep": "", "work/.keep": "",
		spool.ScriptFile: string(submission.Payload.Script), "launch": slurm.Launch(dir, record),
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(dir, "launch"))...)
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7"}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", shell, err, said.String())
	}
	out, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	arg, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), string(arg)
}

// TestEnvironmentIsNoArgument has a job with secrets in its environment: it gets them,
// and no command has them among its arguments, which everybody on a node can read.
func TestEnvironmentIsNoArgument(t *testing.T) {
	t.Parallel()
	job := guest("")
	job.Payload.Script = []byte("#!/bin/cat /proc/self/environ\n") // a shell would leave odd names out
	job.Payload.Env = []string{
		"API_TOKEN=hunter2 'quoted' \"$HOME\" `id`\nsecond line", "EMPTY=", "_x9=y", "PATH=/usr/bin:/bin",
		"odd%%=1", "BASH_FUNC_module%%=() { echo loaded; }", "UID=77", "PPID=1", "IFS=x", "RANDOM=5", "9lives=cat",
	}
	for _, shell := range shells(t) {
		out, arguments := launched(t, shell, job)
		got := strings.Split(out, "\x00")
		for _, want := range job.Payload.Env {
			if !slices.Contains(got, want) {
				t.Errorf("%v: the job does not have %q in %q", shell, want, got)
			}
		}
		if strings.Contains(arguments, "hunter2") || strings.Contains(arguments, "SWITCHYARD") {
			t.Errorf("%v: the arguments of env are %q", shell, arguments)
		}
	}
}

// TestEnvironmentIsNotInPS looks at the arguments of all processes while jobs with a secret
// start, run and end.
func TestEnvironmentIsNotInPS(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	const secret = "correct-horse-battery-staple"
	stop, seen := make(chan struct{}), make(chan []string)
	go func() {
		var found []string
		for {
			select {
			case <-stop:
				seen <- found
				return
			case <-time.After(time.Millisecond):
				found = append(found, commandLinesWith(secret)...)
			}
		}
	}()
	for range 5 {
		job := guest(`[ -n "$API_TOKEN" ] && sleep .2`)
		job.Payload.Env = []string{"API_TOKEN=" + secret}
		s.submit(t, job)
		if end := s.awaitEnd(t, job.Tag); end.State != protocol.Completed {
			t.Errorf("%+v", end)
		}
	}
	close(stop)
	if found := <-seen; len(found) > 0 {
		t.Errorf("the secret stands in the arguments of %q", found)
	}
}

func commandLinesWith(secret string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(secret)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}
