package slurm_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestGuestRuns(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	job := guest(`pwd; id -un; echo "$1|$2|$GREETING|$HOME|$SWITCHYARD_JOB_ID|$SWITCHYARD_EXEC_SITE|$SLURM_JOB_NAME|$SLURM_NTASKS"
echo "$SLURM_JOB_ID" >number; echo complaint >&2; exit 3
#SBATCH --nodes=99`)
	job.Payload.Args = []string{"it's", "a b\nc"}
	job.Payload.Env = []string{"GREETING=hello 'world'", "SLURM_NTASKS=77", "odd%%=1"}
	job.Spec.CPUs = 2
	id, err := s.Submit(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Submit(t.Context(), job); err != nil || again != id {
		t.Errorf("submitted again: %v %v, want %v", again, err, id)
	}
	outcome := s.awaitEnd(t, job.Tag)
	if outcome.State != protocol.Failed || outcome.ExitCode != 3 || outcome.Signal != 0 || outcome.Ran <= 0 || outcome.Waited < 0 {
		t.Errorf("outcome %+v", outcome)
	}
	want := s.dir(job.Tag, "work") + "\nnobody\nit's|a b\nc|hello 'world'|/nonexistent|" + job.Tag.Job.String() + "|" +
		string(s.config.Site) + "|test|2\n"
	if got := s.read(t, job.Tag, protocol.Stdout); got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if number, err := os.ReadFile(s.dir(job.Tag, "work/number")); err != nil || strings.TrimSpace(string(number)) != string(id) {
		t.Errorf("SLURM_JOB_ID is %q, %v, want Slurm's %v", number, err, id)
	}
	if len(outcome.Files) != 2 || outcome.Files[0].Size != int64(len(want)) || outcome.Files[0].SHA256 != sha256.Sum256([]byte(want)) {
		t.Errorf("files %+v", outcome.Files)
	}
	if got := s.read(t, job.Tag, protocol.Stderr); got != "complaint\n" {
		t.Errorf("stderr %q", got)
	}
	if err := s.Forget(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Fetch(t.Context(), job.Tag, protocol.Stdout, 0, 10); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Error(err)
	}
	if presence, _, err := s.FindByTag(t.Context(), job.Tag); err != nil || presence != localsched.Absent {
		t.Errorf("forgotten job is %v, %v", presence, err)
	}
}

// TestNamesInSlurm: whoever looks at Slurm's queue finds what the user calls the job, whose it is, and
// what it is to Switchyard.
func TestNamesInSlurm(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Extra = []string{"--hold"} })
	job := guest("true")
	job.Spec.Name = "train U|net\n/x.sy"
	id, err := s.Submit(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	want := "train_U_net__x.sy." + s.name(job.Tag)
	if got := s.cluster.must(t, "squeue", "-h", "-j", string(id), "-o", "%j"); got != want {
		t.Errorf("its name is %q, want %q", got, want)
	}
	comment := "Comment=Switchyard job " + job.Tag.Job.String() + " (train_U_net__x.sy) of alice from site south, here " + s.name(job.Tag)
	if got := s.cluster.must(t, "scontrol", "show", "job", string(id)); !strings.Contains(got, comment) {
		t.Errorf("%s\nhas not %q", got, comment)
	}
	s.reopen(t)
	if presence, again, err := s.FindByTag(t.Context(), job.Tag); err != nil || presence != localsched.Present || again != id {
		t.Errorf("after a restart: %v %v %v", presence, again, err)
	}
	if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Withdrawn {
		t.Errorf("%v %v", got, err)
	}
	eventually(t, "it leaves the queue", func() bool { return s.cluster.must(t, "squeue", "-h", "-n", want) == "" })
}

// TestCommentInSlurm: Slurm's comment begins with the user's, of which nothing breaks a line.
func TestCommentInSlurm(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Extra = []string{"--hold"} })
	job := guest("true")
	job.Spec.Comment = "weekly \"run\": JobName=x ä\n$y"
	id, err := s.Submit(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	want := `Comment=weekly "run": JobName=x ä\u000a$y; Switchyard job ` + job.Tag.Job.String() + " "
	if got := s.cluster.must(t, "scontrol", "show", "job", string(id)); !strings.Contains(got, want) {
		t.Errorf("%s\nhas not %q", got, want)
	}
	if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Withdrawn {
		t.Errorf("%v %v", got, err)
	}
}

func TestKnownAs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"sy.north.7.3": "sy.north.7.3", "x.sy.north.7.3": "sy.north.7.3", "a.sy.north.1.1.sy.north.7.3": "sy.north.7.3",
		"sy.north.7": "sy.north.7", "x.sy.north.07.3": "x.sy.north.07.3", "xsy.north.7.3": "xsy.north.7.3", "": "",
		"sy.north.7.3.x": "sy.north.7.3.x", "x.my.north.7.3": "x.my.north.7.3",
	} {
		if got := slurm.KnownAs(name); got != want {
			t.Errorf("%q is known as %q, want %q", name, got, want)
		}
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	dir := homeDir(t)
	nowhere := home(filepath.Join(dir, "no", "such"), "true")
	unwritable := home(dir, "true")
	unwritable.Payload.Stdout = "/proc/out"
	silent := home(dir, "echo lost")
	silent.Payload.Stdout, silent.Payload.Stderr = "", ""
	for _, c := range []struct {
		job    localsched.Submission
		state  protocol.State
		code   int
		signal int
		reason string
	}{
		{home(dir, "exit 0"), protocol.Completed, 0, 0, ""},
		{home(dir, "exit 7"), protocol.Failed, 7, 0, "exit code 7"},
		{home(dir, "kill -9 $$"), protocol.Failed, 0, 9, "signal 9"},
		{home(dir, "kill -TERM $$"), protocol.Failed, 0, 15, "signal 15"},
		{nowhere, protocol.Failed, 126, 0, "no/such"},
		{unwritable, protocol.Failed, -1, 0, "/proc/out"},
		{silent, protocol.Completed, 0, 0, ""},
	} {
		s.submit(t, c.job)
		got := s.awaitEnd(t, c.job.Tag)
		if got.State != c.state || c.code >= 0 && got.ExitCode != c.code || got.Signal != c.signal || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: got %+v, want %+v", c.job.Payload.Script, got, c)
		}
		if len(got.Files) > 0 {
			t.Errorf("a local job's files are listed: %+v", got.Files)
		}
	}
}

func TestLocalOutput(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	dir := homeDir(t)
	job := home(dir, "echo out; echo err >&2")
	job.Payload.Stdout = filepath.Join(dir, `100% 'odd' \ name %j`)
	job.Payload.Stderr = job.Payload.Stdout
	s.submit(t, job)
	s.awaitEnd(t, job.Tag)
	if got, err := os.ReadFile(job.Payload.Stdout); err != nil || string(got) != "out\nerr\n" {
		t.Errorf("%q %v", got, err)
	}
}

// TestFetchReadsNoOtherUsersFiles has a job name a file of root's as its output, which it
// cannot write, and the peer could read.
func TestFetchReadsNoOtherUsersFiles(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	secret := filepath.Join(newDir(t), "secret")
	if err := os.WriteFile(secret, []byte("root's\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := home(homeDir(t), "true")
	job.Payload.Stdout = secret
	s.submit(t, job)
	s.awaitEnd(t, job.Tag)
	if got, err := s.Fetch(t.Context(), job.Tag, protocol.Stdout, 0, 100); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Errorf("fetched %q, %v", got, err)
	}
}

// TestHostileOutput has guests whose output is endless or sparse: it ends at the limit.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s := openSite(t, "siteA", func(c *slurm.Config) { c.MaxOutput = limit })
	endless, sparse := guest("yes"), guest("truncate -s 4T /proc/self/fd/1; exit 0")
	s.submit(t, endless)
	s.submit(t, sparse)
	got := s.awaitEnd(t, endless.Tag)
	if got.State != protocol.Failed || !strings.Contains(got.Reason, "stdout ended at 1 MiB, [localsched] max_output") ||
		len(got.Files) != 2 || got.Files[0].Size != limit {
		t.Errorf("%+v", got)
	}
	if got = s.awaitEnd(t, sparse.Tag); got.State != protocol.Completed || len(got.Files) != 2 || got.Files[0].Size != 0 {
		t.Errorf("%+v", got)
	}
}

// TestCloseWhileOutputIsRead stops the peer while it reads an output that takes hours: it
// ends soon, and reads it again at its next start.
func TestCloseWhileOutputIsRead(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.MaxOutput = 8 << 40 })
	job := guest(": >begun; while [ ! -e go ]; do sleep .1; done")
	s.submit(t, job)
	eventually(t, "the job has begun", func() bool { _, err := os.Stat(s.dir(job.Tag, "work/begun")); return err == nil })
	out := s.dir(job.Tag, "out")
	if err := os.Truncate(out, 4<<40); err != nil {
		t.Skip("no sparse file of this size can be made here:", err)
	}
	if err := os.WriteFile(s.dir(job.Tag, "work/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the output is read", func() bool { return isOpen(out) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(out, 5); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	got := s.awaitEnd(t, job.Tag)
	if got.State != protocol.Completed || got.Reason != "" || len(got.Files) != 2 || got.Files[0].Size != 5 {
		t.Errorf("%+v", got)
	}
}

// isOpen reports whether this process has a file open.
func isOpen(path string) bool {
	files, _ := filepath.Glob("/proc/self/fd/*")
	for _, file := range files {
		if name, err := os.Readlink(file); err == nil && name == path {
			return true
		}
	}
	return false
}
