package experiment_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
)

// smallPlan is two machines, one of them too small for its jobs, for half a day.
const smallPlan = `
name = "small"
scheme = "sender"
compare = ["local", "central"]
seeds = 3

[[site]]
name = "busy"

[site.localsched]
cpus = 1024
nodes = 64
mhz = 375
machine = "whole-node"

[[site]]
name = "idle"

[site.localsched]
cpus = 1220
nodes = 305
mhz = 332
machine = "whole-node"

[[workload]]
site = "busy"
model = "M1"
span = "12h"
scale = true

[[workload]]
site = "idle"
model = "M2"
span = "12h"
jobs = 20
`

// write puts a text into a file of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// opened reads a plan and its files.
func opened(t *testing.T, text string) *experiment.Plan {
	t.Helper()
	plan, err := experiment.Read(write(t, "plan.toml", text))
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	return plan
}

func run(t *testing.T, plan *experiment.Plan, scheme experiment.Scheme, seed uint64) *experiment.Outcome {
	t.Helper()
	outcome, err := plan.Run(t.Context(), scheme, seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// TestRunAppliesTheScheme: under local nothing moves, and a partner helps the busy
// site under all others.
func TestRunAppliesTheScheme(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	local := run(t, plan, experiment.Local, 1)
	if local.Transferred != 0 || local.Metrics.Jobs == 0 || local.Unplaced != 0 {
		t.Errorf("local: %+v", local.Metrics)
	}
	for _, scheme := range experiment.Schemes()[1:] {
		if scheme == experiment.Cycle || scheme == experiment.Portal {
			continue // not for tc; see TestCyclesPlaceByCost
		}
		got := run(t, plan, scheme, 1)
		if got.Metrics.Jobs != local.Metrics.Jobs {
			t.Errorf("%s ran %d jobs, local %d", scheme, got.Metrics.Jobs, local.Metrics.Jobs)
		}
		if got.MeanResponse >= local.MeanResponse {
			t.Errorf("%s: mean response %g s, local %g s", scheme, got.MeanResponse, local.MeanResponse)
		}
		if got.Hash == local.Hash {
			t.Errorf("%s has the hash of local", scheme)
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	if a, b := run(t, plan, experiment.Sender, 1), run(t, plan, experiment.Sender, 2); a.Hash == b.Hash {
		t.Error("two seeds have one hash")
	}
}

// TestSettingsReachTheSimulation: each key that changes what happens changes the
// outcome.
func TestSettingsReachTheSimulation(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	base := run(t, plan, experiment.Symmetric, 1)
	for _, setting := range []experiment.Setting{
		{Key: "local_wait_threshold", Value: "3h"},
		{Key: "check_interval", Value: "1h"},
		{Key: "volunteer_below", Value: "0.01"},
		{Key: "load", Value: "2"},
		{Key: "bias", Value: "-1"},
		{Key: "service", Value: "0.5"},
		{Key: "policy", Value: "fcfs"},
		{Key: "latency", Value: "30s"},
		{Key: "loss", Value: "0.5"},
	} {
		changed, err := plan.With(setting)
		if err != nil {
			t.Errorf("%v: %v", setting, err)
			continue
		}
		if got := run(t, changed, experiment.Symmetric, 1); got.Hash == base.Hash {
			t.Errorf("%s = %s changes nothing", setting.Key, setting.Value)
		}
	}
	if again := run(t, plan, experiment.Symmetric, 1); again.Hash != base.Hash {
		t.Error("the settings changed the plan that they were made from")
	}
}

func swept(t *testing.T, sweep experiment.Sweep) string {
	t.Helper()
	result, err := sweep.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSweepIsTheSameOnAnyNumberOfWorkers, to the byte.
func TestSweepIsTheSameOnAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	sweep := experiment.Sweep{
		Plan: opened(t, smallPlan), Seeds: 3, Workers: 1,
		Axes: []experiment.Axis{{Key: "load", Values: []string{"0.8", "1.2"}}, {Key: "local_wait_threshold", Values: []string{"1m", "1h"}}},
	}
	one := swept(t, sweep)
	for _, workers := range []int{2, 7, runtime.GOMAXPROCS(0)} {
		sweep.Workers = workers
		if got := swept(t, sweep); got != one {
			t.Errorf("%d workers print other bytes", workers)
		}
	}
}

// TestSweepPoints: the order of the points, and that a point is the mean of single
// runs.
func TestSweepPoints(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	var observed [3]atomic.Int32
	sweep := experiment.Sweep{
		Plan: plan, Seeds: 3, Axes: []experiment.Axis{{Key: "load", Values: []string{"1", "1.5"}}},
		Observe: func(seed int, o *experiment.Outcome) {
			if o.Seed == uint64(seed)+1 && len(o.Jobs) > 0 {
				observed[seed].Add(1)
			}
		},
	}
	got, err := sweep.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range observed {
		if n := observed[seed].Load(); n != 6 {
			t.Errorf("%d outcomes of seed %d are observed, want 6", n, seed+1)
		}
	}
	var order []string
	for _, p := range got.Points {
		order = append(order, p.Settings["load"]+" "+string(p.Scheme))
	}
	want := "1 local,1 sender,1 central,1.5 local,1.5 sender,1.5 central"
	if strings.Join(order, ",") != want {
		t.Errorf("points %v", order)
	}
	wait := got.Points[1].Metrics["mean_wait_s"]
	sum := 0.0
	for seed := range uint64(3) {
		one := run(t, plan, experiment.Sender, seed+1).MeanWait
		if wait.Values[seed] != one {
			t.Errorf("seed %d waits %g, run alone %g", seed+1, wait.Values[seed], one)
		}
		sum += one
	}
	mean := sum / 3
	squares := 0.0
	for _, value := range wait.Values {
		squares += (value - mean) * (value - mean)
	}
	const student = 4.302652730 // two degrees of freedom, 97.5 %
	half := student * math.Sqrt(squares/2/3)
	if math.Abs(wait.Mean-mean) > 1e-6*mean || math.Abs(*wait.CI95-half) > 1e-6*half {
		t.Errorf("mean wait %g ± %g, by hand %g ± %g", wait.Mean, *wait.CI95, mean, half)
	}
}

// TestJoining: apart, the others are the grid that they are without the new site,
// and the new site is alone.
func TestJoining(t *testing.T) {
	t.Parallel()
	plan := opened(t, smallPlan)
	joined, err := plan.Join("mine=64×16@375,model=M1,jobs=60")
	if err != nil {
		t.Fatal(err)
	}
	if err = joined.Open(); err != nil {
		t.Fatal(err)
	}
	sweep := experiment.Sweep{Plan: joined, Joining: []string{"mine"}, Seeds: 2}
	got, err := sweep.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var apart, together *experiment.Point
	for i := range got.Points {
		p := &got.Points[i]
		if p.Scheme == experiment.Sender && p.Membership == experiment.Apart {
			apart = p
		}
		if p.Scheme == experiment.Sender && p.Membership == experiment.Joined {
			together = p
		}
		if p.Scheme == experiment.Local && p.Membership != experiment.Apart {
			t.Error("local has a membership that means nothing")
		}
	}
	if apart == nil || together == nil {
		t.Fatalf("points %+v", got.Points)
	}
	for seed := range uint64(2) {
		before := run(t, plan, experiment.Sender, seed+1)
		for site := range before.Sites {
			if is, want := apart.Sites[site].Metrics["mean_wait_s"].Values[seed], before.Sites[site].MeanWait; is != want {
				t.Errorf("seed %d: site %s waits %g apart, and %g in a grid without the new one",
					seed+1, before.Sites[site].Site, is, want)
			}
		}
	}
	mine := 2
	if sent := apart.Sites[mine].Metrics["jobs_sent"].Mean; sent != 0 {
		t.Errorf("apart, the new site sends %g jobs away", sent)
	}
	if ran := together.Sites[mine].Metrics["jobs_run"].Mean; ran == apart.Sites[mine].Metrics["jobs_run"].Mean {
		t.Errorf("joined, the new site runs no other number of jobs: %g", ran)
	}
	difference := together.Sites[0].Metrics["mean_wait_s"].Mean - apart.Sites[0].Metrics["mean_wait_s"].Mean
	if gain := together.Sites[0].Gain["mean_wait_s"].Mean; gain < difference-1e-6 || gain > difference+1e-6 {
		t.Errorf("gain %g, difference of the means %g", gain, difference)
	}
}
