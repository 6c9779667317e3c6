package process_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// report has a job say what it has done.
const report = `
cat >>"$SWITCHYARD_USAGE" <<-END
	operations = 3.2e12
	sent = 7
END
`

// TestUsage: a job that works and holds memory is measured, its orphan as well, and heard; a
// guest as well as a job of this site.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	const work = `x=$(head -c 80000000 /dev/zero | tr '\0' x)
(sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; times; : >done' &)
while [ ! -e done ]; do sleep 0.1; done; sleep 0.5; echo ${#x} >/dev/null; rm done` + "\n" + report
	for _, job := range []protocol.Tag{s.submit(t, guest(t, work)), s.submit(t, home(t, homeDir(t), work))} {
		outcome := s.awaitEnd(t, job)
		used := outcome.Usage
		if outcome.State != protocol.Completed || used.Mflop != 3_200_000 || used.Sent != 7 {
			t.Errorf("job %v: %+v", job, outcome)
		}
		if worker := usedBy(t, s.read(t, job, protocol.Stdout)); used.CPU < worker || worker < 10 {
			t.Errorf("the orphan has used %v of the processor, its job %v", worker, used.CPU)
		}
		if reported := usage.Kernel().MHz(); (used.MHz > 0) != (reported > 0) {
			t.Errorf("its CPUs ran at %d MHz, those of the machine run at %d", used.MHz, reported)
		}
		if used.MemoryMB < 76 || used.MemoryMB > 4000 {
			t.Errorf("a job that holds 80 MB is measured to hold %d MB", used.MemoryMB)
		}
	}
}

// TestUsageSurvivesRestart: of a job that ended while the peer was down, and of one that it
// has heard of before.
func TestUsageSurvivesRestart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.OnStop = process.LeaveJobs })
	dir := homeDir(t)
	job := home(t, dir, "while [ ! -e go ]; do sleep 0.05; done"+report)
	s.awaitRunning(t, s.submit(t, job))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job has ended", func() bool {
		_, err := os.Stat(s.dir(job.Tag, "exit"))
		return err == nil
	})
	for range 2 {
		s.open(t)
		s.cursor = ""
		if used := s.awaitEnd(t, job.Tag).Usage; used.Mflop != 3_200_000 || used.CPU < 1 {
			t.Errorf("after a restart it has used %+v", used)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWrongReports: whatever a job writes in place of its report, it is measured and ends as
// it would; the log says what is wrong.
func TestWrongReports(t *testing.T) {
	t.Parallel()
	log := new(testlog.Buffer)
	s := openSite(t, func(c *process.Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	for script, words := range map[string]string{
		`echo flops = 3 >"$SWITCHYARD_USAGE"`:                    `line 1: the key \"flops\" is unknown`,
		`head -c 9000000 /dev/zero >"$SWITCHYARD_USAGE"`:         "longer than 4096 bytes",
		`truncate -s 900M "$SWITCHYARD_USAGE"`:                   "longer than 4096 bytes",
		`: >"$SWITCHYARD_USAGE"`:                                 "", // no report
		`chmod 0 "$SWITCHYARD_USAGE"; rm -f "$SWITCHYARD_USAGE"`: "",
		// Where the directory is not the job's, it can only write.
		`{ rm -f "$SWITCHYARD_USAGE" && ln -s /etc/passwd "$SWITCHYARD_USAGE"; } || echo = >"$SWITCHYARD_USAGE"`: "usage_report_refused",
		`{ rm -f "$SWITCHYARD_USAGE" && mkfifo "$SWITCHYARD_USAGE"; } || echo = >"$SWITCHYARD_USAGE"`:            "usage_report_refused",
	} {
		job := guest(t, script)
		outcome := s.awaitEnd(t, s.submit(t, job))
		if used := outcome.Usage; outcome.Signal != 0 || used.CPU < 1 || used.Mflop != 0 {
			t.Errorf("%s: %+v", script, outcome)
		}
		said := ""
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "usage_report_refused") && strings.Contains(line, job.Tag.String()) {
				said = line
			}
		}
		if !strings.Contains(said, words) || (said == "") != (words == "") {
			t.Errorf("%s: the log says %q, not %q", script, said, words)
		}
	}
}
