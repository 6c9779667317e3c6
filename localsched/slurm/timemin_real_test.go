package slurm_test

import (
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestTimeMinOfSlurm: a job with a least time starts before a large one that waits, with a limit that ends before that one's start, and
// the peer knows the limit, after a restart too. One like it without a least time waits.
func TestTimeMinOfSlurm(t *testing.T) {
	t.Parallel()
	siteG.Lock()
	defer siteG.Unlock()
	s := openSite(t, "siteG", nil)
	s.cluster.job(t, "RUNNING", "-p", "batch", "-n", strconv.Itoa(allCPUs-1), "-t", "30")
	s.cluster.job(t, "PENDING", "-p", "batch", "-n", strconv.Itoa(allCPUs), "-t", "30")
	whole := guest("exit 0")
	whole.Spec.WallTime = 10 * protocol.Hour
	s.submit(t, whole)
	short := guest("exec sleep 3000")
	short.Spec.WallTime, short.Spec.MinTime = 10*protocol.Hour, 5*protocol.Minute
	s.submit(t, short)
	s.awaitRunning(t, short.Tag)
	limit := s.await(t, short.Tag, func(c localsched.Change) bool { return c.TimeLimit != 0 }).TimeLimit // Slurm may raise it right after the start
	if limit < short.Spec.MinTime || limit > half {
		t.Errorf("started with a limit of %s, want %s to %s", limit.Text(), short.Spec.MinTime.Text(), half.Text())
	}
	if got := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(whole.Tag), "-o", "%T"); got != "PENDING" {
		t.Errorf("the job without a least time is %s", got)
	}
	minutes := func() string { return s.cluster.must(t, "squeue", "-h", "-n", s.jobName(short.Tag), "-O", "TimeLimit") }
	eventually(t, "the peer knows the limit that Slurm has: "+minutes(), func() bool {
		s.seen, s.cursor = nil, ""
		s.reopen(t)
		limit = s.awaitRunning(t, short.Tag).TimeLimit
		said, err := quantity.ParseTimeLimit(minutes())
		return err == nil && limit == said
	})
	if err := s.Kill(t.Context(), short.Tag); err != nil {
		t.Fatal(err)
	}
	if got := s.awaitEnd(t, short.Tag); got.State != protocol.Cancelled {
		t.Errorf("%+v", got)
	}
}
