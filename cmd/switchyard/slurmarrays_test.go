package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSlurmArrays submits, lists, holds, shows and ends elements of an array by Slurm's commands, and does what needs no
// array beside: sbatch --wait and --test-only, squeue --json, and a hold.
func TestSlurmArrays(t *testing.T) {
	t.Parallel()
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	site := g.Sites[0]
	says := func(line, want string, code int) {
		t.Helper()
		if got, rc := g.slurmLine(t, site, line); strings.Join(strings.Fields(got), " ") != want || rc != code {
			t.Errorf("%s: %q (%d), want %q (%d)", line, got, rc, want, code)
		}
	}
	out, code := g.slurmLine(t, site, "sbatch --parsable -a 1-7%2 -t 10 -J arr -D "+g.work+" --wrap 'sleep 3000'")
	array, err := protocol.ParseJobID(strings.TrimSpace(out))
	if err != nil || code != 0 {
		t.Fatal(out, code)
	}
	g.until(t, site, array, func(job view.Job) bool { return job.Array.Running == 2 })
	id := func(index int) protocol.JobID { return protocol.Element{Array: array, Index: index}.ID() }
	say := func(format string) string { return strings.ReplaceAll(format, "ID", array.String()) }

	says("squeue -h -S i -o '%i|%F|%K|%t'", say("ID_[3-7%2]|ID|3-7%2|PD ID_1|ID|1|R ID_2|ID|2|R"), 0)
	says(say("squeue -h -r -S i -j ID_4,ID_[6-7] -o '%i|%A|%K'"), fmt.Sprintf("%v_4|%v|4 %v_6|%v|6 %v_7|%v|7", array, id(4), array, id(6), array, id(7)), 0)
	says(say("squeue -h -j ID_4 -o %i"), say("ID_4"), 0)
	says(fmt.Sprintf("squeue -h -j %v -o %%i", id(4)), say("ID_4"), 0)
	says(say("squeue -h -S i -j ID -o %i"), say("ID_[3-7%2] ID_1 ID_2"), 0)
	says(say("squeue -h -j ID_99 -o %i"), "", 0)
	says(say("sacct -n -X -P -o jobid,jobidraw,state -j ID_1,ID_3"),
		fmt.Sprintf("%v_1|%v|RUNNING %v_3|%v|PENDING", array, id(1), array, id(3)), 0)
	says(say("scontrol show job ID_99"), say("Job ID_99 not found"), 1)
	says(say("scontrol hold ID_99"), say("ID_99: Invalid job id specified"), 1)

	says(say("scontrol hold ID_[3,4]"), "", 0)
	says(say("scontrol hold ID_5"), "", 0)
	says(say("scontrol release ID_4"), "", 0)
	held, _ := g.slurmLine(t, site, say("squeue -h -r -S i -t PD -j ID_3,ID_4,ID_5 -o '%K %r'"))
	if !strings.HasPrefix(held, "3 JobHeld") || !strings.Contains(held, "5 JobHeld") || strings.Contains(held, "4 JobHeld") {
		t.Errorf("held are %q", held)
	}
	shown, _ := g.slurmLine(t, site, say("scontrol -o show job ID_[1,3]"))
	if want := fmt.Sprintf("JobId=%v ArrayJobId=%v ArrayTaskId=1 JobName=arr ", id(1), array); !strings.HasPrefix(shown, want) || !strings.Contains(shown, " EligibleTime=Unknown ") {
		t.Errorf("shown are %q, want %q", shown, want)
	}

	says(say("scancel ID_6"), "", 0)
	says(say("scancel ID_[2,7]"), "", 0)
	g.until(t, site, id(2), ended)
	says(say("sacct -n -X -P -o jobid,state -j ID_2"), say("ID_2|CANCELLED by ")+strconv.Itoa(os.Getuid()), 0)
	says(say("sacct -n -X -P -o jobid,state -j ID_6"), say("ID_6|CANCELLED by ")+strconv.Itoa(os.Getuid()), 0)
	if out, _ := g.slurmLine(t, site, say("squeue -h -r -t all -S i -j ID_6,ID_7 -o '%i %t'")); strings.Contains(out, "PD") {
		t.Errorf("the cancelled elements are %q", out)
	}
	says("scancel -n arr -t PENDING", "", 0)
	says(say("scancel ID"), "", 0)
	if job := g.until(t, site, array, ended); job.Array.Cancelled != 7 {
		t.Errorf("%+v", job.Array)
	}
	says("squeue -h", "", 0)
	ends, _ := g.slurmLine(t, site, say("sacct -n -X -P -o jobid -j ID"))
	listed := 0
	for label := range strings.FieldsSeq(ends) {
		name, err := protocol.ParseJobName(label)
		if err != nil || name.Job != array {
			t.Errorf("sacct lists %s: %v", label, err)
		}
		listed += name.Elements.Len()
	}
	if listed != 7 {
		t.Errorf("sacct of the array lists %q", ends)
	}
	testSlurmQuickly(t, g, site, says)
}

// testSlurmQuickly checks what no recording of a real Slurm has.
func testSlurmQuickly(t *testing.T, g *grid, site *testbed.Site, says func(line, want string, code int)) {
	t.Helper()
	if out, code := g.slurmLine(t, site, "sbatch --wait -t 5 -o "+filepath.Join(g.work, "w-%j.out")+" --wrap 'exit 3'"); code != 3 || !strings.Contains(out, "Submitted batch job ") {
		t.Errorf("sbatch --wait: %q (%d)", out, code)
	}
	if out, code := g.slurmLine(t, site, "sbatch --test-only -n 2 -t 5 --wrap true"); code != 0 ||
		!strings.HasPrefix(out, "sbatch: Job 0 to start at 20") || !strings.HasSuffix(out, " using 2 processors on nodes aurora in partition grid\n") {
		t.Errorf("sbatch --test-only: %q (%d)", out, code)
	}
	if out, code := g.slurmLine(t, site, "sbatch --test-only -n 200 -t 5 --wrap true"); code != 1 ||
		!strings.HasPrefix(out, "allocation failure: Requested node configuration is not available\n") {
		t.Errorf("sbatch --test-only of a job that fits nowhere: %q (%d)", out, code)
	}
	out, _ := g.slurmLine(t, site, "sbatch --parsable -b now+1hour --deadline=now+3hours -t 20 --time-min=10 -J later --wrap true")
	id := strings.TrimSpace(out)
	says("squeue -h -o '%i %r %l'", id+" BeginTime 20:00", 0)
	says("scontrol hold "+id, "", 0)
	says("squeue -h -o %i", id, 0)
	if out, _ = g.slurmLine(t, site, "squeue -h -o %r"); !strings.HasPrefix(out, "JobHeld") {
		t.Errorf("it waits for %q", out)
	}
	says("scontrol release "+id, "", 0)
	says("squeue -h -o %r", "BeginTime", 0)
	out, _ = g.slurmLine(t, site, "squeue --json -t PD")
	var queue struct {
		Jobs []struct {
			JobID        uint64 `json:"job_id"`
			Name         string `json:"name"`
			JobState     string `json:"job_state"`
			TimeLimit    int64  `json:"time_limit"`
			TimeMinimum  int64  `json:"time_minimum"`
			Deadline     int64  `json:"deadline"`
			SubmitTime   int64  `json:"submit_time"`
			EligibleTime int64  `json:"eligible_time"`
		}
	}
	if err := json.Unmarshal([]byte(out), &queue); err != nil || len(queue.Jobs) != 1 {
		t.Fatalf("squeue --json: %v\n%s", err, out)
	}
	job := queue.Jobs[0]
	if strconv.FormatUint(job.JobID, 10) != id || job.Name != "later" || job.JobState != "PENDING" || job.TimeLimit != 20 || job.TimeMinimum != 10 ||
		job.Deadline-job.SubmitTime < 10000 || job.EligibleTime-job.SubmitTime < 3500 {
		t.Errorf("squeue --json: %+v", job)
	}
	says("scancel "+id, "", 0)
}

// TestScancelOwnJobs: without users or IDs only root ends jobs of others.
func TestScancelOwnJobs(t *testing.T) {
	t.Parallel()
	me, err := userName(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		uid  int
		line string
		want []string
	}{
		{1000, "-t PENDING", []string{me}},
		{1000, "-n tides", []string{me}},
		{0, "-n tides", nil},
		{1000, "-n tides -u root", []string{"root"}},
		{1000, "-n tides 1000000000042", nil},
	} {
		call := &slurmCall{app: &app{getenv: func(string) string { return "" }}, uid: one.uid}
		if call.given, call.rest, err = slurmtext.Parse(slurmtext.CommandFlags()["scancel"], strings.Fields(one.line), false); err != nil {
			t.Fatal(err)
		}
		f, filtered, err := call.cancelFilter(t.Context())
		if err != nil || !filtered || !slices.Equal(f.users, one.want) {
			t.Errorf("user %d, scancel %s: users %q, want %q (%v, %v)", one.uid, one.line, f.users, one.want, filtered, err)
		}
	}
}

// TestScancelNodes: scancel -w has a host list, and refuses a site that does not exist instead of ending nothing.
func TestScancelNodes(t *testing.T) {
	t.Parallel()
	sites := view.Sites{Sites: []view.Site{{Site: "a1"}, {Site: "a2"}}}
	job := func(id protocol.JobID, site protocol.SiteName) view.Job {
		return view.Job{ID: id, State: protocol.Running, Started: 1, Site: site, User: "root"}
	}
	for nodes, want := range map[string]struct {
		cancelled int
		said      string
	}{
		"a[1-2]": {2, ""}, "a2": {1, ""}, "a1,zz": {0, "scancel: error: Invalid node name zz\n"},
	} {
		n := &fakeNode{replyF: func(ev event.Event) (view.Reply, error) {
			if _, ok := ev.(event.AskSites); ok {
				return sites, nil
			}
			if _, ok := ev.(event.AskQueue); ok {
				return view.Queue{Jobs: []view.Job{job(someID, "a1"), job(someID+1, "a2")}}, nil
			}
			return view.Done{}, nil
		}}
		out, code := new(grid).slurmLine(t, &testbed.Site{Socket: serve(t, n)}, "scancel -w "+nodes)
		cancelled := 0
		for _, ev := range n.asked {
			if _, is := ev.(event.Cancel); is {
				cancelled++
			}
		}
		if cancelled != want.cancelled || out != want.said || code == 0 != (want.said == "") {
			t.Errorf("-w %s: %d cancelled, %q (%d)", nodes, cancelled, out, code)
		}
	}
}
