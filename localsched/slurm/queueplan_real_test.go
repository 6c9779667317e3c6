package slurm_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// siteG is for one test with jobs at a time: those that wait would wait for each other.
var siteG sync.Mutex

// TestOutlookOfSlurm has a machine for itself, one case after another.
func TestOutlookOfSlurm(t *testing.T) { //nolint:tparallel // the cases share one machine
	t.Parallel()
	siteG.Lock()
	defer siteG.Unlock()
	t.Run("another partition's jobs have the nodes", otherPartition)
	t.Run("another partition's jobs wait for the nodes", otherPartitionWaits)
	t.Run("the earliest partition", earliestPartition)
	t.Run("a throttled array", throttledArray)
	t.Run("all memory is taken", memoryTaken)
	t.Run("free CPUs on different nodes", packing)
	t.Run("a node drains", draining)
	t.Run("maintenance", maintenance)
}

// job submits a job that is not a peer's and waits until it is in a state.
func (c cluster) job(t *testing.T, state string, args ...string) {
	t.Helper()
	id := c.must(t, "sbatch", append([]string{"--parsable", "-o", "/dev/null", "--wrap", "exec sleep 1000"}, args...)...)
	t.Cleanup(func() {
		c.run("scancel", id)
		eventually(t, "job "+id+" is gone", func() bool { out, _ := c.run("squeue", "-h", "-j", id); return out == "" })
	})
	eventually(t, "job "+id+" is "+state, func() bool {
		out, _ := c.run("squeue", "-h", "-r", "-j", id, "-o", "%T %r")
		return strings.Contains(out, state)
	})
}

// awaitQuote waits until a quote for a job is as long as is said, at least and at most, by the
// plan alone: Slurm is not asked.
func (s *site) awaitQuote(t *testing.T, r protocol.Request, least, most protocol.Duration) {
	t.Helper()
	r.Job = protocol.NewJobID(7, 1)
	var got protocol.Quote
	defer func() {
		if t.Failed() {
			t.Logf("the last quote for %+v: %+v; want %v to %v", r, got, least, most)
		}
	}()
	eventually(t, "the quote", func() bool {
		got = s.quote(t, localsched.Query{Jobs: []protocol.Request{r}})[0]
		return got.Declined == "" && got.AWT >= least && got.AWT <= most
	})
}

// silent has a site not ask Slurm for its own estimates.
func silent(c *slurm.Config) { slurm.SetAskPatience(c, 1) }

const (
	soon = 20 * protocol.Second // what a start at once may be late by
	half = 30 * protocol.Minute
)

func small(cpus int) protocol.Request {
	return protocol.Request{CPUs: cpus, WallTime: 10 * protocol.Minute}
}

// otherPartition (K1): the nodes are full, with jobs of a partition that the site does not use.
func otherPartition(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.cluster.job(t, "RUNNING", "-p", "other", "-n", strconv.Itoa(allCPUs), "-t", "30")
	s.awaitQuote(t, small(4), half-2*protocol.Minute, half+protocol.Minute)
}

// otherPartitionWaits (K1): a job of that partition waits before ours, for nodes that are ours.
func otherPartitionWaits(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.cluster.job(t, "RUNNING", "-p", "batch", "-n", strconv.Itoa(allCPUs-4), "-t", "30")
	s.cluster.job(t, "PENDING Resources", "-p", "other", "-n", strconv.Itoa(allCPUs), "-t", "30")
	r := small(4)
	r.WallTime = protocol.Hour // in nobody's way it would start now
	s.awaitQuote(t, r, 2*half-3*protocol.Minute, 2*half+2*protocol.Minute)
}

// earliestPartition (K2): the first partition is full, the second is not.
func earliestPartition(t *testing.T) {
	s := openSite(t, "siteG", func(c *slurm.Config) { silent(c); c.Partitions = []string{"left", "right"} })
	s.cluster.job(t, "RUNNING", "-p", "left", "-n", strconv.Itoa(nodeCPUs), "-t", "30")
	s.awaitQuote(t, small(nodeCPUs), 0, soon)
	job := guest("true")
	job.Spec.CPUs = nodeCPUs
	s.submit(t, job)
	s.awaitRunning(t, job.Tag)
	s.awaitEnd(t, job.Tag)
	s.awaitQuote(t, small(nodeCPUs), 0, soon)
	s.cluster.job(t, "RUNNING", "-p", "right", "-n", strconv.Itoa(nodeCPUs), "-t", "60")
	s.awaitQuote(t, small(1), half-2*protocol.Minute, half+protocol.Minute)
}

// throttledArray (K4): one task at a time is no reason for others to wait.
func throttledArray(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.cluster.job(t, "RUNNING", "-p", "batch", "-n", "1", "-t", "60", "-a", "1-50%1")
	eventually(t, "the others wait for it", func() bool {
		load, err := s.Load(t.Context())
		return err == nil && load.QueuedJobs == 49
	})
	s.awaitQuote(t, small(allCPUs-1), 0, soon)
}

// memoryTaken (K5): CPUs are free, and no memory is.
func memoryTaken(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.cluster.job(t, "RUNNING", "-p", "batch", "-N", strconv.Itoa(nodes), "-n", strconv.Itoa(nodes), "--mem=0", "-t", "30")
	s.awaitQuote(t, small(1), half-2*protocol.Minute, half+protocol.Minute)
}

// packing (K5): as many CPUs as one node has are free, but not on one node.
func packing(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.cluster.job(t, "RUNNING", "-p", "batch", "-N", strconv.Itoa(nodes), "-n", strconv.Itoa(allCPUs/2), "-t", "30",
		"--ntasks-per-node", strconv.Itoa(nodeCPUs/2))
	r := small(nodeCPUs)
	s.awaitQuote(t, r, 0, soon)
	r.Nodes = 1
	s.awaitQuote(t, r, half-2*protocol.Minute, half+protocol.Minute)
}

// draining (K9): what is free on a node that drains is no capacity, nor is what will be.
func draining(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.cluster.job(t, "RUNNING", "-p", "right", "-n", "1", "-t", "10")
	s.cluster.job(t, "RUNNING", "-p", "left", "-n", strconv.Itoa(nodeCPUs), "-t", "30")
	s.cluster.drain(t, "a2")
	s.awaitQuote(t, small(1), half-2*protocol.Minute, half+protocol.Minute)
	r := small(allCPUs)
	r.Job = protocol.NewJobID(7, 1)
	if got := s.quote(t, localsched.Query{Jobs: []protocol.Request{r}})[0]; got.Declined == "" {
		t.Errorf("a job for both nodes is quoted %+v", got)
	}
}

func (c cluster) drain(t *testing.T, node string) {
	t.Helper()
	c.must(t, "scontrol", "update", "NodeName="+node, "State=DRAIN", "Reason=test")
	t.Cleanup(func() {
		c.run("scontrol", "update", "NodeName="+node, "State=RESUME")
	})
}

// maintenance (D2): after one look at Slurm no quote has a job start that would run into it.
func maintenance(t *testing.T) {
	s := openSite(t, "siteG", silent)
	s.awaitQuote(t, small(1), 0, soon)
	s.cluster.must(t, "scontrol", "create", "reservation", "ReservationName=maint", "StartTime=now+3minutes", "Duration=60",
		"Flags=MAINT,IGNORE_JOBS", "Nodes=ALL", "Users=root")
	t.Cleanup(func() { s.cluster.run("scontrol", "delete", "ReservationName=maint") })
	if err := s.Look(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	query := localsched.Query{Jobs: []protocol.Request{small(1), small(allCPUs)}}
	for _, got := range s.quote(t, query) {
		if !near(got.AWT, 63*protocol.Minute) {
			t.Errorf("before maintenance: %+v", got)
		}
	}
	r := small(1)
	r.WallTime = protocol.Minute
	if got := s.quote(t, localsched.Query{Jobs: []protocol.Request{r}})[0]; got.AWT > soon {
		t.Errorf("a job that is over before: %+v", got)
	}
}
