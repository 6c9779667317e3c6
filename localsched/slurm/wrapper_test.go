package slurm_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
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

// writeAll writes programs and other files into a directory.
func writeAll(t testing.TB, dir string, texts map[string]string) {
	t.Helper()
	for path, text := range texts {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		testprogram.Write(t, path, text)
	}
}

// launched runs a job's launch script as Slurm would, with a command env before the
// system's that writes down its arguments. It returns what the job and env have said.
func launched(t *testing.T, shell []string, submission localsched.Submission) (job, arguments string) {
	t.Helper()
	dir := t.TempDir()
	record := spool.NewJob(submission, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
	seen := filepath.Join(dir, "seen")
	fake := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>" + seen + "\nexec /usr/bin/env \"$@\"\n"
	writeAll(t, dir, map[string]string{
		"bin/env": fake, "claim/.keep": "", "work/.keep": "",
		spool.ScriptFile: string(submission.Payload.Script), "launch": slurm.Launch(dir, record),
	})
	cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(dir, "launch"))...)
	cmd.Env = []string{
		"PATH=" + filepath.Join(dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7", "SLURM_JOB_CPUS_PER_NODE=8(x2),4",
		"SLURM_EXPORT_ENV=NONE", "SLURM_GET_USER_ENV=1", "SLURM_TIME_FORMAT=standard", "SLURM_OPEN_MODE=a",
	}
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

// TestCPUsOfAnExclusiveJob: a job that has its nodes for itself finds all their CPUs, and others those that they asked for.
func TestCPUsOfAnExclusiveJob(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		for exclusive, want := range map[bool]string{true: "20", false: "3"} {
			job := guest("echo $SWITCHYARD_CPUS")
			job.Spec.CPUs, job.Spec.Exclusive = 3, exclusive
			if out, _ := launched(t, shell, job); out != want+"\n" {
				t.Errorf("%v: exclusive %t: %q, want %s", shell, exclusive, out, want)
			}
		}
	}
}

// TestOptionsOfTheAdapter: how the adapter has called sbatch does not change what srun does in the job, and how
// the user has submitted the job does.
func TestOptionsOfTheAdapter(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		for _, c := range []struct {
			appends bool
			export  string
			want    string
		}{{false, "", "unset unset unset unset"}, {true, "SLURM_EXPORT_ENV=A,B=c d", "a A,B=c d unset unset"}} {
			job := guest(`echo "${SLURM_OPEN_MODE-unset} ${SLURM_EXPORT_ENV-unset} ${SLURM_GET_USER_ENV-unset} ${SLURM_TIME_FORMAT-unset}"`)
			job.Payload.AppendOutput, job.Payload.Env = c.appends, []string{c.export}
			if out, _ := launched(t, shell, job); out != c.want+"\n" {
				t.Errorf("%v: %q, want %q", shell, out, c.want)
			}
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

// TestLateTermIsNoted: Slurm signals one process of a job after the other, so that the script may
// have ended by a signal before it comes to the wrapper. Here it comes while that writes down the end.
func TestLateTermIsNoted(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		dir := t.TempDir()
		job := guest("exit 5")
		record := spool.NewJob(job, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
		sync := "#!/bin/sh\n[ \"$1\" != .exit ] || [ -e told ] || { : >told; kill -TERM $PPID; }\nexec /bin/sync \"$@\"\n"
		writeAll(t, dir, map[string]string{
			"bin/sync": sync, "claim/.keep": "", "work/.keep": "", spool.ScriptFile: string(job.Payload.Script), "launch": slurm.Launch(dir, record),
		})
		cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(dir, "launch"))...)
		cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7"}
		said, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 5 {
			t.Errorf("%v: %v, %s", shell, err, said)
		}
		noted, err := os.ReadFile(filepath.Join(dir, "claim/exit"))
		if f := strings.Fields(string(noted)); err != nil || len(f) != 7 || f[0] != "5" || f[2] != "TERM" {
			t.Errorf("%v: it has noted %q, %v", shell, noted, err)
		}
	}
}

// TestTooLateToBegin: a job that its wrapper has claimed in time never begins when it takes too long until
// then. Here the disk takes that time: sync sets the clock.
func TestTooLateToBegin(t *testing.T) {
	t.Parallel()
	const by = 1_795_000_000_000
	for _, shell := range shells(t) {
		for _, reached := range []protocol.Instant{by, by + 1} {
			dir := t.TempDir()
			job := guest("echo ran")
			job.StartBy = by
			job.Payload.Env = []string{"PATH=/nowhere"} // the job's own
			record := spool.NewJob(job, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
			clock := filepath.Join(dir, "clock")
			writeAll(t, dir, map[string]string{
				"bin/date": "#!/bin/sh\ncat " + clock + "\n", "clock": strconv.Itoa(by),
				"bin/sync":    fmt.Sprintf("#!/bin/sh\necho %d >%s\nexec /bin/sync \"$@\"\n", reached, clock),
				"claim/.keep": "", "work/.keep": "", spool.ScriptFile: string(job.Payload.Script), "launch": slurm.Launch(dir, record),
			})
			cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(dir, "launch"))...)
			cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7"}
			said, err := cmd.CombinedOutput()
			out, _ := os.ReadFile(filepath.Join(dir, "out"))
			claim, _ := os.ReadFile(filepath.Join(dir, "claim/started"))
			_, late := os.Stat(filepath.Join(dir, "claim/late"))
			ran := reached == by
			if (err == nil) != ran || len(said) > 0 || (string(out) == "ran\n") != ran || (late == nil) == ran || !strings.HasPrefix(string(claim), "7 0 ") {
				t.Errorf("%v, at %d: %v, %q; it wrote %q, claimed %q, late: %v", shell, reached-by, err, said, out, claim, late)
			}
		}
	}
}

// TestWrapperOnAFullDisk: what has no room for its last words says so by a name.
func TestWrapperOnAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	for _, shell := range shells(t) {
		dir := newDir(t)
		if err := syscall.Mount("none", dir, "tmpfs", 0, "size=128k"); err != nil {
			t.Skip("cannot mount a small disk:", err)
		}
		for _, full := range []bool{true, false} {
			job := guest("dd if=/dev/zero bs=4k 2>/dev/null; exit 0")
			if !full {
				job = guest("exit 0")
			}
			directory := filepath.Join(dir, strconv.FormatBool(full))
			record := spool.NewJob(job, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
			writeAll(t, directory, map[string]string{
				"claim/.keep": "", "work/.keep": "", spool.ScriptFile: string(job.Payload.Script), "launch": slurm.Launch(directory, record),
			})
			cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(directory, "launch"))...)
			cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7"}
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %v, %s", shell, err, said)
			}
			_, marked := os.Stat(filepath.Join(directory, "claim/full"))
			last, ended := os.ReadFile(filepath.Join(directory, "claim/exit"))
			if (marked == nil) != full || (ended == nil) == full {
				t.Errorf("%v: full %t: marked %v; %q, %v", shell, full, marked, last, ended)
			}
			if err := os.Truncate(filepath.Join(directory, "out"), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}
}

// TestOutputOnAFullSpool: a guest whose output found no room has failed and says why, though
// its script ended well.
func TestOutputOnAFullSpool(t *testing.T) {
	needs(t)
	dir := newDir(t)
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m,mode=711"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Dir = filepath.Join(dir, "spool") })
	tag := s.submit(t, guest("head -c 3000000 /dev/zero; exit 0"))
	eventually(t, "the wrapper has no room", func() bool { _, err := os.Stat(s.dir(tag, "claim/full")); return err == nil })
	if err := os.Truncate(s.dir(tag, "out"), 1000); err != nil {
		t.Fatal(err)
	}
	got := s.awaitEnd(t, tag)
	want := "output may be missing: the spool's disk at " + string(s.config.Site) + " was full; the script itself ended with exit code 0"
	if got.State != protocol.Failed || got.ExitCode != 0 || got.Reason != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

// TestSignalOption: Slurm gets the signal in its own words.
func TestSignalOption(t *testing.T) {
	t.Parallel()
	for want, signal := range map[string]protocol.LimitSignal{
		"":                 {},
		"--signal=10@60":   {Signal: 10, Before: protocol.Minute},
		"--signal=B:15@0":  {Signal: 15, ScriptOnly: true},
		"--signal=R:10@1":  {Signal: 10, Before: protocol.Second, OverlapReservation: true},
		"--signal=RB:34@2": {Signal: 34, Before: 2 * protocol.Second, ScriptOnly: true, OverlapReservation: true},
	} {
		if got := strings.Join(slurm.SignalOption(signal), " "); got != want {
			t.Errorf("%+v: %q, want %q", signal, got, want)
		}
	}
}

// TestSignalReachesTheScript: Slurm signals the wrapper alone, and the script gets it, in any shell; how the
// script ends is what counts.
func TestSignalReachesTheScript(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		for _, signal := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT} {
			dir := t.TempDir()
			job := guest(fmt.Sprintf("trap 'echo warned; exit 7' %d; : >ready; while :; do sleep 0.05; done", signal))
			job.Payload.LimitSignal = protocol.LimitSignal{Signal: int(signal), ScriptOnly: true}
			job.Payload.Env = []string{"default=none"} // the wrapper has a variable of that name
			record := spool.NewJob(job, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
			writeAll(t, dir, map[string]string{
				"claim/.keep": "", "work/.keep": "", spool.ScriptFile: string(job.Payload.Script), "launch": slurm.Launch(dir, record),
			})
			cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(dir, "launch"))...)
			cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7"}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the script is ready", func() bool { _, err := os.Stat(filepath.Join(dir, "work/ready")); return err == nil })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			out, _ := os.ReadFile(filepath.Join(dir, "out"))
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 || string(out) != "warned\n" {
				t.Errorf("%v, %v: %v, it wrote %q", shell, signal, err, out)
			}
		}
	}
}

// TestInputAndAppend: a job of this site reads its file, and its output goes behind what is there.
func TestInputAndAppend(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		dir := t.TempDir()
		job := home(dir, "cat; echo error >&2")
		job.Payload.Input, job.Payload.AppendOutput = filepath.Join(dir, "it's in"), true
		job.Payload.Stdout, job.Payload.Stderr = filepath.Join(dir, "out"), filepath.Join(dir, "err")
		record := spool.NewJob(job, spool.Account{Name: "me", Home: dir, Shell: "/bin/sh"}, "north", 0)
		writeAll(t, dir, map[string]string{
			"claim/.keep": "", "out": "before\n", "err": "before\n", "it's in": "data\n",
			spool.ScriptFile: string(job.Payload.Script), "launch": slurm.Launch(dir, record),
		})
		cmd := exec.CommandContext(t.Context(), shell[0], append(shell[1:], filepath.Join(dir, "launch"))...)
		cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SLURM_JOB_ID=7"}
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v, %s", shell, err, said)
		}
		out, _ := os.ReadFile(filepath.Join(dir, "out"))
		fails, _ := os.ReadFile(filepath.Join(dir, "err"))
		if string(out) != "before\ndata\n" || string(fails) != "before\nerror\n" {
			t.Errorf("%v: it wrote %q and %q", shell, out, fails)
		}
	}
}
