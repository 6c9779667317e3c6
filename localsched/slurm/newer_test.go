package slurm_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
)

// newer says which tests run on the newer Slurm as well.
var newer = flag.String("newer", newerByDefault, "run the tests that match `regexp`, as for -run, on the newer Slurm as well")

// newerByDefault is the part of the conformance suite that reads the most of what Slurm's commands print. All
// of it takes minutes of CPU time.
const newerByDefault = "^(TestConformance|TestTimeMinOfSlurm)$/" +
	"^(the_load_counts_what_runs_and_what_waits|quotes_change_nothing|a_job_runs_to_its_end|submit_refuses_what_never_fits|" +
	"a_withdrawn_job_never_runs|a_killed_job_is_cancelled|exit_codes_and_signals_are_reported|environment_and_arguments_arrive|" +
	"held_room_is_kept_for_its_job|jobs_that_ended_meanwhile_are_reported_after_a_restart)$"

// TestOnNewerSlurm runs tests of this package in a second process, to which Debian 13's Slurm 24.11 is what is
// installed. make newer-slurm has unpacked it. The clusters of both versions are not up at the same time.
func TestOnNewerSlurm(t *testing.T) { //nolint:paralleltest // see above
	needs(t)
	under, err := testbed.NewerSlurm()
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(under, this, "-test.run", *newer, "-test.skip", "^"+t.Name()+"$", "-test.v", "-test.short="+strconv.FormatBool(testing.Short()))
	if deadline, ok := t.Deadline(); ok {
		const cleanup = 30 * time.Second
		args = append(args, "-test.timeout", (time.Until(deadline) - cleanup).String())
	}
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: ") {
		t.Errorf("on the newer Slurm: %v\n%s", err, out)
	}
}

// TestNewerOutput reads what commands of Slurm 24.11.5 printed after the submissions of the other tests' files.
func TestNewerOutput(t *testing.T) {
	t.Parallel()
	read := func(name string) string { return printed(t, "24.11", name) }
	const name = "sy.north.7000000000001.3"
	const times = " submit=1795687056000 start=1795687057000 end=1795687058000 "
	queue, err := slurm.ParseQueue(read("squeue.txt"), "MARK")
	for _, want := range []string{
		`67108865 uid=65534 batch FAILED reason="NonZeroExitCode"` + times + `limit=2m0s cpus=1 on=1 mb=100 priority=4294901759 ` +
			`waits=false over=true placed=true nodes="a1" name="` + name + `"`,
		`67108869 uid=65534 batch PENDING reason="ReqNodeNotAvail, UnavailableNodes:a2" submit=1795687057000 start=0 end=0 limit=5m0s cpus=8 on=2 ` +
			`mb=800 priority=4294901755 waits=true over=false placed=false nodes="" name="sy.north.7000000000003.1"`,
	} {
		if err != nil || len(queue) != 9 || !slices.Contains(queue, want) {
			t.Errorf("%v: no line %s in %s", err, want, strings.Join(queue, "\n"))
		}
	}
	ended := slurm.ParseAccounted(read("sacct.txt"), name)
	for line := range strings.Lines(read("jobcomp.txt")) {
		if e, ok := slurm.ParseEnding(line); ok {
			ended = append(ended, e)
		}
	}
	if want := "67108865 uid=65534 FAILED" + times + "3:0"; !slices.Equal(ended, []string{want, want}) {
		t.Errorf("it ended as %q, want %q from sacct and from the log", ended, want)
	}
	if code, signal := slurm.ParseStatus(read("job.txt"), name); code != 3 || signal != 0 {
		t.Errorf("its exit code is %d, its signal %d", code, signal)
	}
	if _, complete := slurm.ParseUsage(read("usage.txt"), name); !complete {
		t.Error("its usage is not complete")
	}
	nodes, machine, err := slurm.ParseNodes(read("sinfo.txt"), []string{"batch"})
	if err != nil || !strings.HasPrefix(machine, "{nodes:2 cpus:8 idle:4 memoryMB:4000 nodeCPUs:4 groups:[{Nodes:2 CPUs:4 MemoryMB:4000 ") {
		t.Errorf("%v: the nodes are %s, %s", err, nodes, machine)
	}
	partitions, err := slurm.ParsePartitions(read("partition.txt"))
	if want := "{name:closed isDefault:false state:DOWN maxTime:0 maxNodes:0 cpus:4 nodes:1 cpusPerNode:2 memPerNodeMB:2000 wholeNode:true tier:3 " +
		"defCPUMB:0 defNodeMB:0}"; err != nil || len(partitions) != 3 || partitions[2] != want {
		t.Errorf("%v: the partitions are %s, want %s", err, partitions, want)
	}
	reservations, err := slurm.ParseReservations(read("reservation.txt"))
	if want := "maint from 2026-11-26T10:27:38 to 2026-11-26T11:27:38 every 24h0m0s: [a1 a2], 8 cores map[] for maintenance"; err != nil || len(reservations) != 2 ||
		reservations[0] != "sy.north.1.1 from 2026-11-26T10:07:37 to 2026-11-26T10:12:37 every 0s: [a1], 2 cores map[a1:2]" || reservations[1] != want {
		t.Errorf("%v: the reservations are %q", err, reservations)
	}
	config := slurm.ParseConfig(read("config.txt"))
	for key, want := range map[string]string{"SLURM_VERSION": "24.11.5", "JobCompType": "jobcomp/filetxt", "MinJobAge": "300 sec", "EnforcePartLimits": "ALL"} {
		if config[key] != want {
			t.Errorf("%s is %q", key, config[key])
		}
	}
}
