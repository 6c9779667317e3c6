package slurm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestParseUsage: what sacct prints of a job and its steps, of which there may be those of an
// earlier job of the number.
func TestParseUsage(t *testing.T) {
	t.Parallel()
	const name = "sy.north.7000000000001.3"
	for out, want := range map[string]protocol.Usage{
		captured(t, "usage.txt"): {CPU: 4166, MemoryMB: 2},
		"":                       {},
		// Without sums for the job its steps are added up, and the largest task counts.
		"7|" + name + "||||2026-11-20T10:00:00\n7.batch|batch|00:01.5|100M|3|2026-11-20T10:00:00\n7.extern|extern|00:00|||2026-11-20T10:00:00\n7.0|a|1-00:00:00|1.5G|4|2026-11-20T10:00:00\n": {CPU: protocol.Day + 1500, MemoryMB: 1536, Energy: 7000},
		"7|" + name + "|01:02:03|2048K|250|2026-11-20T10:00:00\n": {CPU: protocol.Hour + 2*protocol.Minute + 3*protocol.Second, MemoryMB: 2, Energy: 250_000},
		// Another job had the number before.
		"7|other|00:09|1G|9|2026-11-20T10:00:00\n7.batch|batch|00:09|1G|9|2026-11-20T10:00:00\n7|" + name + "|00:01|||2026-11-20T10:00:00\n": {CPU: 1000},
		"7|" + name + "|00:01|||2026-11-20T10:00:00\n7|other|00:09|1G|9|2026-11-20T10:00:00\n7.batch|batch|00:09|1G|9|2026-11-20T10:00:00\n": {CPU: 1000},
		"7.0|a|00:09|1G|9|2026-11-20T10:00:00\n": {},
		// What was not gathered, in the ways of several versions.
		"7|" + name + "|INVALID|-1|18446744073709551614|2026-11-20T10:00:00\n":                             {},
		"7|" + name + "|00:01.x|NaN|1.5|2026-11-20T10:00:00\n7.0|a|UNLIMITED|1e99T||2026-11-20T10:00:00\n": {},
		"7|" + name + "|00:01\n": {},
	} {
		if got, _ := slurm.ParseUsage(out, name); got != want {
			t.Errorf("%s is %+v, want %+v", out, got, want)
		}
	}
}

// TestUsageIsComplete: when the job and all its steps have ended.
func TestUsageIsComplete(t *testing.T) {
	t.Parallel()
	const name = "sy.north.7000000000001.3"
	for out, want := range map[string]bool{
		"":                         false,
		captured(t, "usage.txt"):   true,
		captured(t, "usage.early"): false,
		"7|" + name + "|00:02|||Unknown\n7.0|a|00:02|||2026-11-20T10:00:00\n":                                      false,
		"7|" + name + "|00:02|||2026-11-20T10:00:00\n7.0|a|00:00|||Unknown\n":                                      false,
		"7|" + name + "|00:02|||2026-11-20T10:00:00\n7|other|00:00|||Unknown\n7.0|a|00:00|||Unknown\n":             true, // another has got the number
		"7|other|00:00|||2026-11-20T10:00:00\n7.0|a|00:00|||2026-11-20T10:00:00\n":                                 false,
		"7|other|00:09|||Unknown\n7|" + name + "|00:02|||2026-11-20T10:00:00\n7.0|a|00:00|||2026-11-20T10:00:00\n": true,
	} {
		if _, complete := slurm.ParseUsage(out, name); complete != want {
			t.Errorf("%s\nis complete: %t", out, complete)
		}
	}
}

// TestUsageComesLate: the database knows what a job has done a moment after the queue knows that
// it has ended. Until then its end is not told, which would be learnt from; but not for ever.
func TestUsageComesLate(t *testing.T) {
	t.Parallel()
	const line = `echo "7|$name|00:02.500|200M||$end"; echo "7.batch|batch|00:02.500|200M||$end"`
	for what, c := range map[string]struct {
		patience time.Duration
		sacct    string
		want     func(protocol.Usage, int) bool // usage, and how often it was asked
	}{
		"at the third look": {
			ample, `[ "$(wc -l <@asked)" -ge 3 ] && end=2026-11-20T10:00:00 || end=Unknown; ` + line,
			func(u protocol.Usage, asked int) bool { return u.CPU == 2500 && u.MemoryMB == 200 && asked == 3 },
		},
		"never": {
			time.Millisecond, `exit 1`,
			func(u protocol.Usage, asked int) bool { return u.MemoryMB == 0 && asked >= 1 },
		},
	} {
		dir := newDir(t)
		asked := filepath.Join(dir, "asked")
		s := openSite(t, "siteA", func(config *slurm.Config) {
			slurm.SetAccountPatience(config, c.patience)
			config.Bin = commandsWith(t, `/usr/bin/scontrol "$@" | sed 's,^\(AccountingStorageType *=\).*,\1 accounting_storage/slurmdbd,'`)
		})
		job := guest("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
		script := "#!/bin/sh\nname=" + s.name(job.Tag) + `
case "$*" in *totalcpu*) ;; *) exit 0;; esac
echo x >>` + asked + "\n" + strings.ReplaceAll(c.sacct, "@asked", asked) + "\n"
		testprogram.Write(t, filepath.Join(s.config.Bin, "sacct"), script)
		s.reopen(t)
		s.submit(t, job)
		used := s.awaitEnd(t, job.Tag).Usage
		times, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		if !c.want(used, strings.Count(string(times), "x")) {
			t.Errorf("%s: it has used %+v, asked for %d times", what, used, strings.Count(string(times), "x"))
		}
	}
}

// TestShellTimes: as dash, bash and ksh print them.
func TestShellTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]protocol.Duration{
		"0m0.010000s 0m0.000000s\n1m2.500000s 0m1.000000s": protocol.Minute + 3510,
		"0m0.000s 0m0.001s\n0m0.000s 0m0.000s":             1,
		"0m0,25s 0m0s 0m0s 0m0s":                           250,
		"":                                                 0,
		"0m1s 0m-1s 0m0s 0m0s":                             0,
		"0m1s 0mNaNs 0m0s 0m0s":                            0,
		"1s 1s 1s 1s":                                      0,
		"0m1 0m1 0m1 0m1":                                  0,
	} {
		if got := slurm.ParseTimes(strings.Fields(text)); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// TestUsage: of a job on a Slurm that gathers nothing, its CPU time is what the wrapper has
// seen, and the rest what the job reports.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	job := guest(`(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done)
echo 'operations = 3.2e12' >>"$SWITCHYARD_USAGE"; exit 3`)
	s.submit(t, job)
	outcome := s.awaitEnd(t, job.Tag)
	if used := outcome.Usage; used.Mflop != 3_200_000 || used.CPU < 20 || outcome.State != protocol.Failed || outcome.ExitCode != 3 {
		t.Errorf("outcome %+v", outcome)
	}
	s.reopen(t)
	if again := s.awaitEnd(t, job.Tag); again.Usage != outcome.Usage {
		t.Errorf("after a restart it has used %+v, not %+v", again.Usage, outcome.Usage)
	}
}

// TestSeenByWrapper: a script that calls srun has next to no CPU time of its own.
func TestSeenByWrapper(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cpu, ran    protocol.Duration
		cpus, nodes int
		want        protocol.Duration
	}{
		{60_000, 60_000, 1, 1, 60_000},
		{30_000, 60_000, 4, 0, 30_000},
		{10, 22_000, 2, 1, 0},      // srun
		{20_000, 60_000, 64, 1, 0}, // and one CPU of its own
		{50_000, 60_000, 2, 2, 0},  // on two nodes, of which it sees one
		{0, 0, 0, 0, 0},
	} {
		r := protocol.Request{CPUs: c.cpus, Nodes: c.nodes}
		if got := slurm.SeenByWrapper(c.cpu, c.ran, &r); got != c.want {
			t.Errorf("%v in %v on %d CPUs of %d nodes count as %v, want %v", c.cpu, c.ran, c.cpus, c.nodes, got, c.want)
		}
	}
}

// TestSlowExporter: a node whose exporter hangs does not keep that of another from being read.
func TestSlowExporter(t *testing.T) {
	t.Parallel()
	var hung, other atomic.Int64
	quit := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hung.CompareAndSwap(0, 1) { // the first that is asked for
			<-quit
			return
		}
		fmt.Fprintf(w, "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} %d\n", other.Add(1))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(quit) })
	s := openSite(t, "siteA", func(c *slurm.Config) {
		c.NodeExporter, c.Timeout = server.URL+"/{node}", 2*ample
	})
	for range 2 {
		s.awaitRunning(t, s.submit(t, guest("sleep 300")))
	}
	eventually(t, "the other is asked", func() bool { return hung.Load() == 1 && other.Load() > 0 })
}

// TestWrongReport: a report that makes no sense changes nothing.
func TestWrongReport(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	job := guest(`echo 'operations = lots' >"$SWITCHYARD_USAGE"`)
	s.submit(t, job)
	if outcome := s.awaitEnd(t, job.Tag); outcome.State != protocol.Completed || outcome.Usage.Mflop != 0 {
		t.Errorf("outcome %+v", outcome)
	}
}

// TestNodeExporter: a job has drawn what its node has drawn meanwhile, as its exporter tells, for
// each second of CPU time. Which node that is Slurm says, whatever the job writes in
// its claim.
func TestNodeExporter(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a1" && r.URL.Path != "/a2" {
			t.Errorf("asked for %s, which is no node of Slurm's", r.URL.Path)
		}
		n := asked.Add(1) // each time ten seconds and 40 J more
		fmt.Fprintf(w, "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} %d\n", 10*n)
		fmt.Fprintf(w, "node_rapl_package_joules_total{index=\"0\",path=\"x\"} %d\n", 40*n)
	}))
	t.Cleanup(server.Close)
	s := openSite(t, "siteA", func(c *slurm.Config) { c.NodeExporter = server.URL + "/{node}" })
	dir := homeDir(t)
	job := home(dir, `cd "${SWITCHYARD_USAGE%/*}/claim"; read -r id n node rest <started; echo "$id $n elsewhere $rest" >started; cd "$OLDPWD"
i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; while [ ! -e go ]; do sleep 0.05; done`)
	s.submit(t, job)
	s.awaitRunning(t, job.Tag)
	eventually(t, "the node is asked", func() bool { return asked.Load() > 0 })
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if used := s.awaitEnd(t, job.Tag).Usage; used.CPU < 1 || used.Energy != 4*int64(used.CPU) { // 4 W
		t.Errorf("it has used %+v, and the node was asked %d times", used, asked.Load())
	}
}

func TestExporters(t *testing.T) {
	t.Parallel()
	for pattern, ok := range map[string]bool{
		"": true, "http://{node}:9100/metrics": true, "https://grid/{node}": true, "/shared/{node}.prom": true,
		"{node}:9100": false, "ftp://{node}/x": false, "metrics/{node}": false, "http:///x": false,
	} {
		if err := slurm.CheckExporter(pattern); (err == nil) != ok {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for node, want := range map[string]string{
		"a1": "http://a1:9100", "a-1.example.org": "http://a-1.example.org:9100",
		"": "", "..": "", "a/b": "", "a@b": "", "a?b": "", "a:1": "", "a b": "", "ä": "",
	} {
		if got := slurm.ExporterOf("http://{node}:9100", node); got != want {
			t.Errorf("node %q is asked at %q, want %q", node, got, want)
		}
	}
}
