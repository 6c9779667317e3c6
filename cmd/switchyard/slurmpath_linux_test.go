package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestJobsFindSlurmCommands: a job of the built-in batch system looks at itself, submits a job and cancels itself with
// Slurm's commands, which are in no other directory of its PATH. As a guest it sees itself, and is refused with the reason if it
// submits or cancels.
func TestJobsFindSlurmCommands(t *testing.T) {
	t.Parallel()
	program := programOfAll(t)
	g := makeGridFrom(t, testbed.Config{Binary: program, QuoteTimeout: quoteTimeout, Sites: []testbed.Machine{{Name: "aurora", CPUs: 2}, {Name: "borealis", CPUs: 1}}})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	resubmits(t, g, program)
	looksAsGuest(t, g)
	noticesOfSlurm(t, g)
}

// programOfAll is a copy of the program that jobs' accounts can run, too.
func programOfAll(t *testing.T) string {
	t.Helper()
	dir := shortDir(t)
	program := filepath.Join(dir, "switchyard")
	if out, err := exec.CommandContext(t.Context(), "cp", ownBinary(t), program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(program, 0o755)); err != nil { // jobs' accounts run the program
		t.Fatal(err)
	}
	return program
}

// submitAsOwner submits a script as the account that its job has at its own site, with a PATH in which there is nothing.
func submitAsOwner(t *testing.T, g *grid, program, script string, args ...string) protocol.JobID {
	t.Helper()
	path := filepath.Join(g.work, "job.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(patience(t), program, append(append([]string{"submit", "--parsable"}, args...), path)...)
	cmd.Dir = g.work
	cmd.Env = []string{"PATH=/nowhere", asBinary + "=" + testCommit, "SWITCHYARD_SOCKET=" + g.Sites[0].Socket}
	if os.Geteuid() == 0 {
		account, err := testbed.JobAccount(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account.UID, Gid: account.GID}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	id, err := protocol.ParseJobID(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func resubmits(t *testing.T, g *grid, program string) {
	t.Helper()
	id := submitAsOwner(t, g, program, `
echo "round ${ROUND:-1} of $SLURM_JOB_ID"
until [ "$(squeue -h -j $SLURM_JOB_ID -o %T)" = RUNNING ]; do :; done # the peer hears of the start a little later
squeue -h -j $SLURM_JOB_ID -o "%i %T"
[ -z "$ROUND" ] || exit 0
scontrol -o show job $SLURM_JOB_ID
ROUND=2 sbatch --sites=aurora -J second -o out-%j job.sh
scancel $SLURM_JOB_ID
exec /bin/sleep 1000
`, "--sites=aurora", "-J", "first", "-o", "out-%j")
	first := g.until(t, g.Sites[0], id, ended)
	got := g.output(t, first)
	parts := regexp.MustCompile(`^round 1 of (\d+)\n(\d+) RUNNING\nJobId=(\d+) JobName=first .*\nSubmitted batch job (\d+)\n$`).FindStringSubmatch(got)
	if parts == nil || first.State != protocol.Cancelled {
		t.Fatalf("the job is %v: %s, and its output %q", first.State, first.Reason, got)
	}
	for _, own := range parts[1:4] {
		if own != id.String() {
			t.Errorf("the job is %v, and finds in %q", id, got)
		}
	}
	next, err := protocol.ParseJobID(parts[4])
	if err != nil {
		t.Fatal(err)
	}
	second := g.until(t, g.Sites[0], next, ended)
	if got, want := g.output(t, second), "round 2 of "+next.String()+"\n"+next.String()+" RUNNING\n"; second.State != protocol.Completed || second.Name != "second" || got != want {
		t.Errorf("the second job is %+v, and its output %q, want %q", second, got, want)
	}
}

// noticesOfSlurm: what is not the same under a real Slurm is only said of a job that may leave for one.
func noticesOfSlurm(t *testing.T, g *grid) {
	t.Helper()
	const script, notice = "#!/bin/sh\nscontrol show job $SLURM_JOB_ID\n", "stdin:2: at a site with Slurm scontrol shows the JobName"
	for sites, said := range map[string]bool{"aurora": false, "aurora,borealis": true} {
		if got := g.at(t, g.Sites[0], script, "submit", "--test-only", "--sites="+sites); got.code != 0 || strings.Contains(got.stderr, notice) != said {
			t.Errorf("%s: %+v, want the notice: %t", sites, got, said)
		}
	}
}

// looksAsGuest: the account of the job has another name than its user where root runs the test.
func looksAsGuest(t *testing.T, g *grid) {
	t.Helper()
	id := g.submit(t, g.Sites[0], `#!/bin/sh
PATH=${PATH##*:} # this machine may have a Slurm, whose commands come first
until [ "$(squeue -h -u $USER -o %T)" = RUNNING ]; do :; done
squeue -h -u $USER -o "%i %T"
sbatch "$0"
echo "code $?"
scancel $SLURM_JOB_ID
exec /bin/sleep 1000
`, "--sites=borealis", "--export-remote="+asBinary, "-o", "guest-%j")
	job := g.until(t, g.Sites[0], id, ended)
	got := g.output(t, job)
	for _, want := range []string{id.String() + " RUNNING\n", "is of site aurora and runs at borealis, where its user cannot submit jobs", "\ncode 1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the job is %v, and its output %q, want %q", job.State, got, want)
		}
	}
	if job.State != protocol.Cancelled || !strings.HasPrefix(job.Reason, "cancelled at borealis by its account there, ") {
		t.Errorf("the job is %v: %s", job.State, job.Reason)
	}
}
