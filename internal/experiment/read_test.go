package experiment_test

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAllProblemsAreReportedAtOnce, each with its file, line and key.
func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	const text = `scheme = "sendr"
seeds = 0
estimates = "rough"
colour = "red"

[rounds]
volunteer_below = 7
local_wait_threshold = "0s"

[[site]]
name = "a"

[site.localsched]
cpus = 0
nodes = 0
policy = "lottery"

[[site]]
name = "a"

[site.localsched]
cpus = 4
nodes = 4
machine = 1

[[workload]]
site = "b"
model = "M9"
from = "2002-03-01"

[[workload]]
site = "a"
trace = "x.swf"
bias = 0.5
to = "yesterday"

[[workload]]
site = "a"
model = "M1"
model_file = "x.toml"

[network]
loss = 1.0

[[cut]]
a = "a"
b = "a"
until = "0s"

[[crash]]
site = "z"
`
	path := write(t, "bad.toml", text)
	_, err := experiment.Read(path)
	at := func(line int, key, word string) problemstest.Want {
		return problemstest.At("bad.toml", line, key, word)
	}
	problemstest.Check(t, err,
		at(1, "scheme", "sendr"), at(2, "seeds", "1 or more"), at(3, "estimates", ""), at(4, "colour", "unknown key"),
		at(7, "rounds.volunteer_below", "0 to 1"), at(8, "rounds.local_wait_threshold", "1ms or more"),
		at(14, "site[a].localsched.cpus", "missing"), at(15, "site[a].localsched.nodes", "1 or more"),
		at(16, "site[a].localsched.policy", `allowed are "easy", `), at(19, "site[a].name", "another site"),
		at(24, "site[a].localsched.machine", "number"), at(27, "workload[1].site", `"b"`), at(28, "workload[1].model", "M9"),
		at(29, "workload[1].from", "model"), at(34, "workload[2].bias", "trace"), at(35, "workload[2].to", "yesterday"),
		at(37, "workload[3]", "2 times"), at(43, "network.loss", "probability"), at(47, "cut[1].b", "same site"),
		at(48, "cut[1].until", "later than from"), at(51, "crash[1].site", `"z"`), at(50, "crash[1].for", "1ms"))
	if n := len(problems.Of(err)); n != 22 {
		t.Errorf("%d problems:\n%v", n, err)
	}
}

// TestASitesTablesArePasted as they stand in its configuration.
func TestASitesTablesArePasted(t *testing.T) {
	t.Parallel()
	const text = `[rounds]
initiation = "symmetric"
cycle_interval = "2m"
max_jobs_per_cycle = 3
local_wait_threshold = "2m"
check_interval = "4m"
volunteer_below = 0.5
recheck_jobs = 10
jobs_per_volunteer = 1
stay_local = true
quote_timeout = "3s"
round_jobs = 32
partners_per_round = 4

[policy]
name = "tc"
fallback = "local"

[policy.tc]
turnaround_tolerance = "1m"

[guest_limits]
max_owner_delay = "10m"
max_cpu_share = 0.4
`
	plan, err := experiment.Read(write(t, "pasted.toml", text+"[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 4\nnodes = 4\n[[workload]]\nsite = \"a\"\nmodel = \"M1\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Scheme != experiment.Symmetric || plan.Rounds.RecheckJobs != 10 || plan.Policy.Fallback != "local" || plan.GuestLimits.MaxCPUShare != 400_000 {
		t.Errorf("got %s, %+v, %+v, %+v", plan.Scheme, plan.Rounds, plan.Policy, plan.GuestLimits)
	}
}

// TestOldKeysAreAnsweredWithTheNewOnes: each with its line.
func TestOldKeysAreAnsweredWithTheNewOnes(t *testing.T) {
	t.Parallel()
	_, err := experiment.Read(write(t, "old.toml", "[peer]\npolicy = \"mcmf\"\nrecheck = 1\nwhatever = 3\npartners = 2\n[[site]]\nname = \"a\"\n\n[site.localsched]\ncpus = 4\nnodes = 4\n"))
	at := func(line int, key, word string) problemstest.Want {
		return problemstest.At("old.toml", line, key, word)
	}
	problemstest.Check(t, err, at(2, "peer.policy", "name in [policy]"), at(3, "peer.recheck", "recheck_jobs in [rounds]"),
		at(5, "peer.partners", "key partners"), at(4, "peer.whatever", "unknown key"))
}

func TestAnEmptyFileIsAnsweredWithWhatItNeeds(t *testing.T) {
	t.Parallel()
	_, err := experiment.Read(write(t, "empty.toml", ""))
	problemstest.Check(t, err, problemstest.Key("site", "[[site]]"), problemstest.Key("workload", "[[workload]]"))
}

func TestPresetUnknown(t *testing.T) {
	t.Parallel()
	if _, err := experiment.Preset("../plan"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "heavy") {
		t.Errorf("the error is %v", err)
	}
}

func TestExamplesAreRight(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/experiments/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		plan, err := experiment.Read(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if plan.About == "" {
			t.Errorf("%s does not say what it is", file)
		}
	}
}

// TestPathsBeginAtTheFile: relative paths of traces and models.
func TestPathsBeginAtTheFile(t *testing.T) {
	t.Parallel()
	path := write(t, "plan.toml", "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 1\n[[workload]]\nsite = \"a\"\ntrace = \"sub/x.swf\"\n")
	plan, err := experiment.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(path), "sub", "x.swf"); string(plan.Workloads[0].Trace) != want {
		t.Errorf("the trace is %s, want %s", plan.Workloads[0].Trace, want)
	}
	if err := plan.Open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing trace: %v", err)
	}
}

// TestModelsRoundTrip: what is written reads back as the same.
func TestModelsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, model := range []workload.Model{workload.M1(), workload.M2(), workload.M3()} {
		var text bytes.Buffer
		if err := experiment.WriteModel(&text, model, "a comment\nof two lines\x00", ""); err != nil {
			t.Fatal(err)
		}
		got, err := experiment.ReadModel(write(t, "model.toml", text.String()))
		if err != nil || !reflect.DeepEqual(got, model) {
			t.Errorf("%v\n%+v\nwant\n%+v", err, got, model)
		}
	}
	_, err := experiment.ReadModel(write(t, "bad.toml", "[machine]\nnodes = 3\ncpus_per_node = 0\nmhz = 1\n"))
	problemstest.Check(t, err, problemstest.At("bad.toml", 3, "machine.cpus_per_node"))
}

// TestTraceWorkload: the window, the queue, the estimates and the load of a trace.
func TestTraceWorkload(t *testing.T) {
	t.Parallel()
	trace, err := filepath.Abs("../workload/testdata/SDSC-BLUE-2002-08.swf")
	if err != nil {
		t.Fatal(err)
	}
	base := "[[site]]\nname = \"blue\"\n[site.localsched]\ncpus = 1152\nnodes = 144\n[[workload]]\nsite = \"blue\"\ntrace = '" + trace + "'\n"
	jobs := func(text string) []workload.Job {
		got, err := opened(t, text).Jobs(1)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all := jobs(base)
	perfect := jobs("estimates = \"perfect\"\n" + base)
	if len(perfect) != len(all) {
		t.Fatalf("%d jobs with perfect estimates, %d with those of the trace", len(perfect), len(all))
	}
	longer := 0
	for i := range all {
		if perfect[i].Estimate != perfect[i].Run || perfect[i].Run != all[i].Run {
			t.Fatalf("job %+v has a perfect estimate %+v", all[i], perfect[i])
		}
		if all[i].Estimate > all[i].Run {
			longer++
		}
	}
	if longer == 0 {
		t.Error("the trace's estimates are not used")
	}
	denser := jobs("load = 2\n" + base + "load = 2\n")
	for i := range all {
		if want := all[i].Submit / 4; denser[i].Submit < want-1 || denser[i].Submit > want+1 {
			t.Fatalf("at four times the load, job %d comes at %d, not at %d", i, denser[i].Submit, want)
		}
	}
	if some := jobs(base + "skip_queues = [0, 1, 2]\n"); len(some) >= len(all) {
		t.Errorf("%d of %d jobs without the queues 0, 1 and 2", len(some), len(all))
	}
	if one := jobs(base + "[[workload]]\nsite = \"blue\"\nmodel = \"M3\"\nspan = \"1d\"\n"); !uniqueIDs(one) || len(one) <= len(all) {
		t.Errorf("%d jobs of a trace and a model together, with unique numbers: %t", len(one), uniqueIDs(one))
	}
}

// TestPlanTellsWhatBecameOfRecords in its notes and outcomes, under the estimates
// that are asked for when it runs.
func TestPlanTellsWhatBecameOfRecords(t *testing.T) {
	t.Parallel()
	base := "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 9\nnodes = 9\n[[workload]]\nsite = \"a\"\nlenient = true\ntrace = '" + write(t, "odd.swf", `1 0 -1 5 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1
x
2 1 -1 -1 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1
`) + "'\n"
	plan := opened(t, base)
	notes := strings.Join(plan.Notes(), "\n")
	for _, want := range []string{
		"odd.swf: malformed lines left out: 1, the first is line 2: ",
		"odd.swf: 1 jobs of 2 records; 1 left out without a run time; 1 estimates not in the trace",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("missing %q in\n%s", want, notes)
		}
	}
	if perfect := opened(t, "estimates = \"perfect\"\n"+base).Notes(); strings.Contains(perfect[1], "estimates") {
		t.Errorf("perfect estimates are told as changed: %q", perfect)
	}
	records := run(t, plan, experiment.Local, 1).Records
	if len(records) != 1 || records[0].Site != "a" || records[0].Changed["assumed"] != 1 || records[0].LeftOut["no_run"] != 1 || records[0].Read.Skipped != 1 {
		t.Errorf("records %+v", records)
	}
	if plain := opened(t, smallPlan); len(plan.Notes()) != 2 || plain.Notes() != nil || run(t, plain, experiment.Local, 1).Records != nil {
		t.Errorf("a plan without traces tells of records; notes %q", plain.Notes())
	}
}

// TestEstimatesAreSweptAfterOpening: what users asked for is not lost by then.
func TestEstimatesAreSweptAfterOpening(t *testing.T) {
	t.Parallel()
	text := write(t, "x.swf", "1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n")
	base := "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 9\nnodes = 9\n[[workload]]\nsite = \"a\"\ntrace = '" + text + "'\n"
	for _, begin := range []string{experiment.Perfect, experiment.FromTrace} {
		plan := opened(t, "estimates = \""+begin+"\"\n"+base)
		for value, want := range map[string]protocol.Duration{"perfect": 5 * protocol.Second, "trace": 9 * protocol.Second} {
			changed, err := plan.With(experiment.Setting{Key: "estimates", Value: value})
			if err != nil {
				t.Fatal(err)
			}
			if jobs, err := changed.Jobs(1); err != nil || jobs[0].Estimate != want {
				t.Errorf("opened with %s, estimates = %s: %+v, %v", begin, value, jobs, err)
			}
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	trace := &workload.Trace{Header: workload.Header{" UnixStartTime: 86400"}} // 1970-01-02
	const day = protocol.Instant(protocol.Day)
	for _, c := range []struct {
		from, to   string
		begin, end protocol.Instant
		key, word  string // of the error
	}{
		{"", "", 0, 0, "", ""},
		{"1970-01-03", "", day, 0, "", ""},
		{"1970-01-01", "1970-01-02 00:00:01", -day, 1000, "", ""},
		{"", "1970-01-02", 0, 0, "to", "begins at 1970-01-02 00:00:00"},
		{"", "0001-01-01", 0, 0, "to", "begins at 1970-01-02 00:00:00"},
		{"1970-01-03", "1970-01-03 00:00:00", 0, 0, "to", "begins at 1970-01-03"},
		{"May", "", 0, 0, "from", `date "May"`},
		{"", "June", 0, 0, "to", `date "June"`},
	} {
		begin, end, err := experiment.Window(trace, experiment.Setting{Key: "from", Value: c.from}, experiment.Setting{Key: "to", Value: c.to})
		var want []problemstest.Want
		if c.key != "" {
			want = append(want, problemstest.Key(c.key, c.word))
		}
		if ok := problemstest.Check(t, err, want...); !ok || begin != c.begin || end != c.end {
			t.Errorf("from %q to %q: %d, %d, %v", c.from, c.to, begin, end, err)
		}
	}
}

func uniqueIDs(jobs []workload.Job) bool {
	seen := map[int64]bool{}
	for _, job := range jobs {
		if seen[job.ID] {
			return false
		}
		seen[job.ID] = true
	}
	return true
}
