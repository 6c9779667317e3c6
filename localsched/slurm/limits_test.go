package slurm_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for partition, want := range map[string]protocol.Duration{"batch": 0, "small": 30 * protocol.Minute} {
		s := openSite(t, "siteA", func(c *slurm.Config) { c.Partitions = []string{partition} })
		got, err := s.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		capacity := protocol.Capacity{
			CPUs: allCPUs, Nodes: nodes, NodeCPUs: nodeCPUs, MemoryMB: 4000, MaxWallTime: want, Exclusive: true,
			Groups: []protocol.NodeGroup{{Nodes: nodes, CPUs: nodeCPUs, MemoryMB: 4000}},
		}
		if got.Name != "slurm" || !reflect.DeepEqual(got.Capacity, capacity) {
			t.Errorf("%+v, want %+v", got, capacity)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Partitions = []string{"small"} })
	change := func(f func(*localsched.Submission)) localsched.Submission {
		job := guest("true")
		f(&job)
		return job
	}
	for reason, job := range map[string]localsched.Submission{
		"PartitionTimeLimit": change(func(j *localsched.Submission) { j.Spec.WallTime = protocol.Hour }),
		"PartitionNodeLimit": change(func(j *localsched.Submission) { j.Spec.Nodes = 2 }),
		"PartitionConfig":    change(func(j *localsched.Submission) { j.Spec.CPUs = allCPUs + 1 }),
		"4001 MB":            change(func(j *localsched.Submission) { j.Spec.MemoryMB = 4001 }),
		"no wall-time limit": change(func(j *localsched.Submission) { j.Spec.WallTime = 0 }),
		"no script":          change(func(j *localsched.Submission) { j.Payload.Script = nil }),
		"NUL":                change(func(j *localsched.Submission) { j.Payload.Args = []string{"a\x00b"} }),
		"uid 0":              change(func(j *localsched.Submission) { j.Account = "root" }),
		"no such account":    change(func(j *localsched.Submission) { j.Account = "no-such-account" }),
		// Only Slurm knows: one node has less than these CPUs.
		"Slurm: ": change(func(j *localsched.Submission) { j.Spec.CPUs = nodeCPUs + 1 }),
	} {
		refused := new(localsched.RefusedError)
		if _, err := s.Submit(t.Context(), job); !errors.As(err, &refused) || !strings.Contains(refused.Reason, reason) {
			t.Errorf("%s: %v", reason, err)
		}
		if presence, _, err := s.FindByTag(t.Context(), job.Tag); err != nil || presence != localsched.Absent {
			t.Errorf("%s: %v %v", reason, presence, err)
		}
		if _, err := os.Stat(s.dir(job.Tag, "")); err == nil {
			t.Errorf("%s: its directory is still there", reason)
		}
	}
}

func TestPartitionsOfTheSite(t *testing.T) {
	t.Parallel()
	const here = cluster("siteA")
	here.up(t)
	config := slurm.Config{Dir: newDir(t) + "/spool", Site: "north", Conf: here.conf(), Partitions: []string{"nope"}}
	if _, err := slurm.Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), `"nope"; there are: batch, small, closed`) {
		t.Error(err)
	}
	s := openSite(t, "siteA", func(c *slurm.Config) { c.Partitions = []string{"closed"} })
	if _, err := s.Submit(t.Context(), guest("true")); !errors.As(err, new(*localsched.RefusedError)) || !strings.Contains(err.Error(), "PartitionDown") {
		t.Error(err)
	}
	// All that take the job are used.
	s = openSite(t, "siteA", func(c *slurm.Config) {
		c.Partitions = []string{"closed", "small", "batch"}
		c.Extra = []string{"--hold"}
	})
	short, long := guest("true"), guest("true")
	long.Spec.WallTime = protocol.Hour
	for job, want := range map[*localsched.Submission]string{&short: "small,batch", &long: "batch"} {
		s.submit(t, *job)
		if got := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(job.Tag), "-o", "%P"); got != want {
			t.Errorf("in the partition %s, want %s", got, want)
		}
		if _, err := s.Withdraw(t.Context(), job.Tag); err != nil {
			t.Error(err)
		}
	}
}

func TestWrongConfiguration(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	good := slurm.Config{Dir: dir + "/spool", Site: "north", Conf: "/nowhere/slurm.conf", Timeout: time.Second}
	for words, change := range map[string]func(*slurm.Config){
		"absolute path":       func(c *slurm.Config) { c.Dir = "spool" },
		"sbatch cannot take":  func(c *slurm.Config) { c.Dir = "/tmp/100%" },
		"site name":           func(c *slurm.Config) { c.Site = "North" },
		"one partition":       func(c *slurm.Config) { c.Partitions = []string{"a,b"} },
		"does not begin with": func(c *slurm.Config) { c.Extra = []string{"account", "grid"} },
		"is missing":          func(c *slurm.Config) { c.Bin = dir },
	} {
		config := good
		change(&config)
		if _, err := slurm.Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// TestOldSlurm has a command that says that it is of 2019.
func TestOldSlurm(t *testing.T) {
	t.Parallel()
	bin := newDir(t)
	for _, name := range []string{"sbatch", "squeue", "sinfo", "scontrol", "scancel"} {
		testprogram.Write(t, filepath.Join(bin, name), "#!/bin/sh\necho slurm 19.05.5\n")
	}
	config := slurm.Config{Dir: newDir(t) + "/spool", Site: "north", Bin: bin}
	_, err := slurm.Open(t.Context(), config)
	for _, err := range append(slurm.Check(t.Context(), config), err) {
		if err == nil || !strings.Contains(err.Error(), "19.05.5, which is too old; the adapter needs 20.11") {
			t.Error(err)
		}
	}
}

// TestCheck: a spool that no account of a job reaches, and partitions that Slurm does not have, are found before a start. A
// controller that does not answer is no error.
func TestCheck(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only the peer of root starts jobs of other accounts")
	}
	bin, down := newDir(t), newDir(t)
	for _, name := range []string{"sbatch", "squeue", "sinfo", "scontrol", "scancel"} {
		version := "#!/bin/sh\n[ \"$1\" = --version ] && exec echo slurm 22.05.8\n"
		testprogram.Write(t, filepath.Join(bin, name), version+"echo PartitionName=batch State=UP Default=YES MaxTime=UNLIMITED\n")
		testprogram.Write(t, filepath.Join(down, name), version+"exit 1\n")
	}
	private := filepath.Join(newDir(t), "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bin, spool string
		partitions []string
		want       string
	}{
		{bin, "/spool", nil, ""},
		{bin, "/spool", []string{"batch", "nosuch"}, `no partition of Slurm is called "nosuch"; there are: batch`},
		{down, "/spool", []string{"nosuch"}, ""},
		{down, private + "/spool", nil, "chmod o+x " + private},
	} {
		said := fmt.Sprint(errors.Join(slurm.Check(t.Context(), slurm.Config{Dir: c.spool, Site: "north", Bin: c.bin, Partitions: c.partitions})...))
		if c.want == "" && said != "<nil>" || !strings.Contains(said, c.want) {
			t.Errorf("%+v: %s", c, said)
		}
	}
}

// TestAfterFailures: a job that Slurm cannot launch says so while it waits, and so does the site.
func TestAfterFailures(t *testing.T) {
	t.Parallel()
	of, all := slurm.AfterFailures(2, "FAILED, JobLaunchFailure", "Resources")
	if !strings.HasPrefix(of, "Slurm ended it before it started (FAILED, JobLaunchFailure), 2 times of 9; see whether its account reaches the spool /spool") ||
		!strings.HasSuffix(of, "; it waits: Resources") || !strings.HasPrefix(all, "Slurm ended 1 waiting job before the start") {
		t.Errorf("got %q and %q", of, all)
	}
	if of, all = slurm.AfterFailures(0, "", "Resources"); of != "Resources" || all != "" {
		t.Errorf("without a failure: %q and %q", of, all)
	}
}

// TestForeignJobs has others fill the queue under odd names.
func TestForeignJobs(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	before, err := s.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mine := s.held(t, guest("echo mine"))
	for i, name := range []string{"with | and : and /", "line\nbreak", s.name(mine), "JobState=COMPLETED Name=" + s.name(mine), strings.Repeat("long", 75)} {
		// The account of the peer's jobs is nobody; these are of another one.
		id := s.cluster.must(t, "sbatch", "--parsable", "--uid=daemon", "--hold", "-n", "2", "-t", "7", "-o", "/dev/null", "-J", name, "--wrap", "exit 1")
		t.Cleanup(func() { s.cluster.run("scancel", id) })
		eventually(t, fmt.Sprintf("job %d counts", i), func() bool {
			load, err := s.Load(t.Context())
			return err == nil && load.QueuedJobs >= before.QueuedJobs+1
		})
	}
	if presence, id, err := s.FindByTag(t.Context(), mine); err != nil || presence != localsched.Present || id == "" {
		t.Errorf("%v %v %v", presence, id, err)
	}
	s.cluster.must(t, "scontrol", "release", s.cluster.must(t, "squeue", "-h", "-u", jobAccount, "-n", s.jobName(mine), "-o", "%A"))
	if got := s.awaitEnd(t, mine); got.State != protocol.Completed {
		t.Errorf("%+v", got)
	}
}
