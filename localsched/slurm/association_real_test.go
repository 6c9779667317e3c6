package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// needsDatabase skips a test without slurmdbd, which on CI is there.
func needsDatabase(t *testing.T) {
	t.Helper()
	needs(t)
	for _, name := range []string{"mariadbd", "slurmdbd"} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "true" {
			t.Fatal(err)
		} else if err != nil {
			t.Skip(err)
		}
	}
}

// TestAssociationsOfSlurm: a job has the account, the partition and the QOS of its association, in the queue,
// in its environment and in the accounts of the database; without one it has the configured and Slurm's
// defaults; and what Slurm does not have, or not for the account, it refuses in its words.
func TestAssociationsOfSlurm(t *testing.T) {
	t.Parallel()
	needsDatabase(t)
	s := openSite(t, "siteI", func(c *slurm.Config) {
		c.Partitions, c.Extra = []string{"batch", "small"}, []string{"--account=grid"}
	})
	for _, args := range []string{
		"add qos low", "add account phys", "add account grid", "add account closed",
		"add user nobody account=phys defaultaccount=phys qos=normal,low", "add user nobody account=grid qos=normal",
	} {
		s.cluster.must(t, "sacctmgr", append([]string{"-i"}, strings.Fields(args)...)...)
	}
	for name, c := range map[string]struct {
		of   protocol.Association
		want string // account, partition and QOS
	}{
		"all":     {protocol.Association{Account: "phys", Partition: "small", QOS: "low"}, "phys small low"},
		"capital": {protocol.Association{Account: "PHYS", Partition: "small", QOS: "LOW"}, "phys small low"},
		"list":    {protocol.Association{Account: "phys", Partition: "closed,small"}, "phys small normal"},
		"none":    {protocol.Association{}, "grid batch,small normal"},
		"account": {protocol.Association{Account: "phys"}, "phys batch,small normal"},
	} {
		dir := homeDir(t)
		job := home(dir, `echo "$SLURM_JOB_ACCOUNT $SLURM_JOB_PARTITION $SLURM_JOB_QOS"; while ! [ -e go ]; do sleep 0.1; done`)
		job.Spec.Association = c.of
		query := localsched.Query{}
		query.Add(job.Spec.Request, c.of)
		if quote := s.quote(t, query)[0]; quote.Declined != "" {
			t.Errorf("%s: %+v", name, quote)
		}
		s.awaitRunning(t, s.submit(t, job))
		if c.of.Partition == "" { // of several Slurm shows the one in which it runs
			c.want = strings.ReplaceAll(c.want, "batch,small", s.cluster.must(t, "squeue", "-h", "-n", s.jobName(job.Tag), "-o", "%P"))
		}
		if got := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(job.Tag), "-o", "%a %P %q"); got != c.want {
			t.Errorf("%s: squeue shows %q, want %q", name, got, c.want)
		}
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if outcome := s.awaitEnd(t, job.Tag); outcome.State != protocol.Completed {
			t.Errorf("%s: %+v", name, outcome)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "stdout")); strings.TrimSpace(string(got)) != c.want {
			t.Errorf("%s: the job finds %q, want %q", name, got, c.want)
		}
		want := strings.ReplaceAll(c.want, " ", "|")
		eventually(t, "the database has "+want, func() bool {
			got, err := s.cluster.run("sacct", "-n", "-P", "-X", "--name="+s.jobName(job.Tag), "-o", "account,partition,qos")
			return err == nil && strings.TrimSpace(got) == want
		})
	}
	// A promise elsewhere takes no room of the partitions that the peer's jobs are put in.
	promise := localsched.Tentative{
		Tag: guest("").Tag, Request: protocol.Request{CPUs: allCPUs, WallTime: protocol.Hour}, Association: protocol.Association{Partition: "closed"},
	}
	query := localsched.Query{Jobs: []protocol.Request{{CPUs: 1, WallTime: protocol.Minute}}, Ahead: []localsched.Tentative{promise}}
	if quote := s.quote(t, query)[0]; quote.AWT != 0 || quote.Declined != "" {
		t.Errorf("behind a promise elsewhere: %+v", quote)
	}
	// sbatch --test-only asks as root, whom Slurm refuses any account, so that it looks at the rights of the job only
	// when that is submitted.
	for _, c := range []struct {
		of          protocol.Association
		quoted, sub string // words of the quote that declines, and of the refusal
	}{
		{protocol.Association{Account: "closed"}, "", "Invalid account or account/partition combination specified"},
		{protocol.Association{Account: "grid", QOS: "low"}, "", "Invalid qos specification"},
		{protocol.Association{Account: "phys", QOS: "none"}, "", "Invalid qos specification"},
		{protocol.Association{Account: "phys", Partition: "closed"}, "not in partition closed", "not in partition closed"},
	} {
		job := guest("true")
		job.Spec.Association = c.of
		query := localsched.Query{}
		query.Add(job.Spec.Request, c.of)
		if quote := s.quote(t, query)[0]; !strings.Contains(quote.Declined, c.quoted) || (quote.Declined == "") != (c.quoted == "") {
			t.Errorf("%+v: %+v, want %q", c.of, quote, c.quoted)
		}
		_, err := s.Submit(t.Context(), job)
		if err == nil {
			err = &localsched.RefusedError{Reason: s.awaitEnd(t, job.Tag).Reason}
		}
		if !strings.Contains(err.Error(), c.sub) {
			t.Errorf("%+v: %v, want %q", c.of, err, c.sub)
		}
	}
}
