package slurm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestWithdrawnAndSubmittedAgain: what Slurm still has of a job that was withdrawn and forgotten is
// gone before it gets the job once more, and what was cancelled is not taken for the new one.
func TestWithdrawnAndSubmittedAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) {
		slurm.SetGathering(c, time.Hour)
		c.Extra = []string{"--hold"}
	})
	job := home(homeDir(t), "")
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	first := s.numbers(t, job.Tag)
	if became, err := s.Withdraw(t.Context(), job.Tag); err != nil || became != localsched.Withdrawn {
		t.Fatalf("withdrawn: %v, %v", became, err)
	}
	if err := s.Forget(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	second := s.numbers(t, job.Tag)
	if len(first) != 1 || len(second) != 1 || first[0] == second[0] {
		t.Fatalf("Slurm had %v, and now %v", first, second)
	}
	s.CarryOutCancels(t.Context())
	s.cluster.must(t, "scontrol", "release", second[0])
	if end := s.awaitEnd(t, job.Tag); end.State != protocol.Completed {
		t.Errorf("it ended %+v", end)
	}
}

// numbers are those of the jobs in Slurm's queue that have not ended.
func (s *site) numbers(t *testing.T, tag protocol.Tag) []string {
	t.Helper()
	return strings.Fields(s.cluster.must(t, "squeue", "-h", "-o", "%A", "-t", "PD,R,CF", "-n", s.jobName(tag)))
}
