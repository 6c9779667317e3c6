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
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// TestEveryProblemIsToldAtOnce, each with its file, line and key.
func TestEveryProblemIsToldAtOnce(t *testing.T) {
	t.Parallel()
	const text = `scheme = "sendr"
seeds = 0
estimates = "rough"
colour = "red"

[peer]
delta = 7
phi = "0s"

[[site]]
name = "a"
nodes = 0
policy = "lottery"

[[site]]
name = "a"
nodes = 4
whole_node = 1

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
	var problems settings.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("the error is %v", err)
	}
	got := strings.ReplaceAll(err.Error(), path, "bad.toml")
	for _, want := range []string{
		`bad.toml:1: scheme: "sendr" is no scheme`,
		"bad.toml:2: seeds: 0 is less than 1",
		"bad.toml:3: estimates: ",
		"bad.toml:4: colour: unknown key",
		"bad.toml:7: peer.delta: 7 is not",
		"bad.toml:8: peer.phi: ",
		"bad.toml:12: site[a].nodes: 0 is less than 1",
		`bad.toml:13: site[a].policy: no local policy is called "lottery"`,
		`bad.toml:16: site[a].name: "a" is the name of another site too`,
		"bad.toml:18: site[a].whole_node: is a number",
		`bad.toml:21: workload[1].site: there is no [[site]] with the name "b"`,
		`bad.toml:22: workload[1].model: "M9" is no built-in model`,
		"bad.toml:23: workload[1].from: has no effect with a model",
		"bad.toml:28: workload[2].bias: has no effect with a trace",
		`bad.toml:29: workload[2].to: "yesterday" is no date`,
		"bad.toml:31: workload[3]: says 2 times where its jobs come from",
		"bad.toml:37: network.loss: 1 is not a probability",
		"bad.toml:41: cut[1].b: is the same site as a",
		"bad.toml:42: cut[1].until: must be later than from",
		`bad.toml:45: crash[1].site: there is no [[site]] with the name "z"`,
		"bad.toml:44: crash[1].for: 0s is less than 1ms",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in\n%s", want, got)
		}
	}
	if n := len(problems); n != 21 {
		t.Errorf("%d problems:\n%s", n, got)
	}
}

func TestAnEmptyFileIsToldWhatItNeeds(t *testing.T) {
	t.Parallel()
	_, err := experiment.Read(write(t, "empty.toml", ""))
	if err == nil || !strings.Contains(err.Error(), "[[site]]") || !strings.Contains(err.Error(), "[[workload]]") {
		t.Errorf("the error is %v", err)
	}
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
	path := write(t, "plan.toml", "[[site]]\nname = \"a\"\nnodes = 1\n[[workload]]\nsite = \"a\"\ntrace = \"sub/x.swf\"\n")
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
	if err == nil || !strings.Contains(err.Error(), "bad.toml:3: machine.cpus_per_node: ") {
		t.Errorf("the error is %v", err)
	}
}

// TestTraceWorkload: the window, the queue, the estimates and the load of a trace.
func TestTraceWorkload(t *testing.T) {
	t.Parallel()
	trace, err := filepath.Abs("../workload/testdata/SDSC-BLUE-2002-08.swf")
	if err != nil {
		t.Fatal(err)
	}
	base := "[[site]]\nname = \"blue\"\nnodes = 144\ncpus_per_node = 8\n[[workload]]\nsite = \"blue\"\ntrace = '" + trace + "'\n"
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
