package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestRequestsReachTheSimulation: what is written is read, and of two jobs that need all the memory of a node the
// second waits for the first.
func TestRequestsReachTheSimulation(t *testing.T) {
	t.Parallel()
	trace := write(t, "jobs.swf", "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n2 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
	big := protocol.Spec{Request: protocol.Request{
		MemoryMB: 900, Features: "a|b", Exclusive: true,
		Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 2, Per: protocol.PerNode}, protocol.NewLicense("ansys", 2), {Name: "x", Count: 1, Per: protocol.PerTask}},
	}, Sites: []protocol.SiteName{"one"}, Association: protocol.Association{QOS: "fast"}, Data: 5}
	var text strings.Builder
	if err := (experiment.Requests{1: big, 2: {Request: protocol.Request{MemoryMB: 200, Nodes: 1, MinTime: protocol.Minute}}}).Write(&text); err != nil {
		t.Fatal(err)
	}
	if want := "job_id,nodes,max_nodes,tasks,tasks_per_node,cpus_per_task,memory_mb,power_ppm,data_bytes,data_out_bytes,sites,qos,resources,features,exclusive,min_time_ms\n" +
		"1,,,,,,900,,5,,one,fast,\"gpu:a100:2 per node,license:ansys:2 per job,x:1 per task\",a|b,true,\n2,1,,,,,200,,,,,,,,,60000\n"; text.String() != want {
		t.Errorf("written as %q, want %q", text.String(), want)
	}
	for requests, second := range map[string]int64{
		"":                                        0,
		"job_id,memory_mb\n1,900\n2,200\n":        10_000,
		"job_id,memory_mb\n1,500\n2,200\n":        0,
		"job_id,sites,memory_mb\n1,one,900\n":     10_000, // more than a CPU's share of the memory takes more CPUs
		"job_id,nodes,memory_mb\n2,,200\n1,1,900": 10_000,
	} {
		key := ""
		if requests != "" {
			key = fmt.Sprintf("requests = %q", write(t, "requests.csv", requests))
		}
		plan := opened(t, strings.Replace(fmt.Sprintf(slowPlan, trace, key), "cpus = 1\n", "cpus = 2\nmemory = \"1GB\"\n", 1))
		got := run(t, plan, experiment.Local, 1).Result.Placements
		if got[0].Start != 0 || int64(got[1].Start) != second {
			t.Errorf("%q: starts at %d and %d, want 0 and %d", requests, got[0].Start, got[1].Start, second)
		}
	}
}

// TestLeastTimesAreSimulated: a job that takes a shorter limit starts before a large one that waits, and ends in time for that, by itself
// or by the limit. With the whole limit it waits for the large one.
func TestLeastTimesAreSimulated(t *testing.T) {
	t.Parallel()
	const whole = 200_000
	for _, tt := range []struct {
		run        int64 // of the small job, in seconds
		least      string
		start, end protocol.Instant
	}{
		{50, "", whole, whole + 50_000},
		{50, "60000", 2000, 52_000},
		{150, "60000", 2000, 100_000}, // with the limit of 98 s
		{50, "98000", 2000, 52_000},
		{50, "98001", whole, whole + 50_000},
	} {
		trace := write(t, "jobs.swf", fmt.Sprintf("1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1\n"+
			"3 2 -1 %d 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n", tt.run))
		requests := fmt.Sprintf("requests = %q", write(t, "requests.csv", "job_id,min_time_ms\n3,"+tt.least+"\n"))
		plan := opened(t, strings.Replace(fmt.Sprintf(slowPlan, trace, requests), "cpus = 1\n", "cpus = 2\n", 1))
		got := run(t, plan, experiment.Local, 1).Result.Placements
		if got[2].Start != tt.start || got[2].End != tt.end || got[1].Start != 100_000 {
			t.Errorf("with least time %q the small job is there from %d to %d, want %d to %d, and the large one starts at %d",
				tt.least, got[2].Start, got[2].End, tt.start, tt.end, got[1].Start)
		}
	}
}

// TestGPUExample: no job of examples/experiments/gpus.toml that needs GPUs or a feature runs at a site without, and
// the GPUs that run at one time are no more than there are. A job that no site can run is not placed.
func TestGPUExample(t *testing.T) {
	t.Parallel()
	plan, err := experiment.Read("../../examples/experiments/gpus.toml")
	if err == nil {
		err = plan.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []experiment.Scheme{experiment.Sender, experiment.Receiver, experiment.Symmetric, experiment.Central} {
		got := run(t, plan, scheme, 1)
		requests, err := plan.RequestsOf(got.Jobs)
		if err != nil {
			t.Fatal(err)
		}
		withGPUs, moved := 0, 0
		for i, p := range got.Result.Placements {
			site := plan.Sites[p.Site].Name
			switch r := requests[i]; {
			case p.End == 0:
				t.Errorf("%s: job %d never ran", scheme, got.Jobs[i].ID)
			case r == nil:
				if site != "ours" {
					moved++
				}
			case len(r.Resources) > 0 && site != "south", r.Features != "" && site == "ours":
				t.Errorf("%s: job %d, which needs %v %s, ran at %s", scheme, got.Jobs[i].ID, r.Resources, r.Features, site)
			case len(r.Resources) > 0:
				withGPUs++
				if used := gpusAt(p.Start, got.Result.Placements, requests); used > 8 {
					t.Errorf("%s: %d GPUs are in use at %v", scheme, used, p.Start)
				}
			}
		}
		if withGPUs < 20 {
			t.Errorf("%s: %d jobs with GPUs ran", scheme, withGPUs)
		}
		t.Logf("%s: %d jobs with GPUs, %d others moved", scheme, withGPUs, moved)
	}
}

// gpusAt is how many GPUs jobs have at an instant.
func gpusAt(at protocol.Instant, placements []sim.Placement, requests []*protocol.Spec) (used int) {
	for i, p := range placements {
		if requests[i] == nil || p.Start > at || p.End <= at {
			continue
		}
		for _, one := range requests[i].Resources {
			used += one.Count
		}
	}
	return used
}

// TestWayOfRequestedDataIsPaid: what requests state of data travels by [data] and costs what it says.
func TestWayOfRequestedDataIsPaid(t *testing.T) {
	t.Parallel()
	trace := write(t, "jobs.swf", "1 0 -1 100 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1\n")
	text := strings.Replace(fmt.Sprintf(slowPlan, trace, fmt.Sprintf("requests = %q", write(t, "requests.csv", "job_id,data_bytes,data_out_bytes\n1,1000000000,500000000\n"))),
		"[[workload]]", "[[site]]\nname = \"two\"\n[site.localsched]\ncpus = 2\nnodes = 1\n[data]\nbandwidth = \"100MB/s\"\nlatency = \"2s\"\nper_gb = 1.0\nper_hour = 36.0\n[[workload]]", 1)
	ran := run(t, opened(t, text), experiment.Sender, 1)
	if got := ran.Result.Placements[0]; got.Site != 1 || got.End-got.Start != 112_000 {
		t.Errorf("placed %+v", got)
	}
	// 12 s there and 7 s back.
	if users, sites := ran.Paid(); users != 1.69 || !slices.Equal(sites, []float64{0, 0}) {
		t.Errorf("users pay %v and sites earn %v", users, sites)
	}
}

// TestRequestsThatAreNone: what is wrong with a file has its line, and with a request by its job.
func TestRequestsThatAreNone(t *testing.T) {
	t.Parallel()
	trace := write(t, "jobs.swf", "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
	refused := func(requests string) error {
		plan, err := experiment.Read(write(t, "plan.toml", fmt.Sprintf(slowPlan, trace, "requests = "+fmt.Sprintf("%q", write(t, "requests.csv", requests)))))
		if err == nil {
			err = plan.Open()
		}
		if err == nil {
			_, err = plan.Run(t.Context(), plan.Scheme, 1, nil)
		}
		return err
	}
	at := func(line int, word string) problemstest.Want {
		return problemstest.At("requests.csv", line, "", word)
	}
	for text, want := range map[string]problemstest.Want{
		"":                            at(1, "job_id"),
		"nodes\n1\n":                  at(1, "job_id"),
		"job_id,memory\n1,5\n":        at(1, "use nodes, max_nodes"),
		"job_id,nodes,nodes\n1,5,5\n": at(1, "nodes"),
		"job_id,nodes\nx,5\n":         at(2, `job_id "x"`),
		"job_id,nodes\n1,5\n1,5\n":    at(3, "twice"),
		"job_id,nodes\n1,-5\n":        at(2, `nodes "-5"`),
		"job_id,sites\n1,No Site\n":   at(2, `sites "No Site"`),
		"job_id,resources\n1,license:a:x per job\n": at(2, `resources "license:a:x per job"`),
		"job_id,tasks_per_node\n1,-1\n":             at(2, "whole number"),

		"job_id,resources\n1,gpu:x:y:1\n":      at(2, `resources "gpu:x:y:1"`),
		"job_id,resources\n1,gpu:1 per rack\n": at(2, `"rack" is not "node", "task" or "job"`),
		"job_id,features\n1,a&\n":              at(2, `features "a&"`),
		"job_id,exclusive\n1,no\n":             at(2, "is not true"),
	} {
		problemstest.Check(t, refused(text), want)
	}
	for text, want := range map[string]string{
		"job_id,sites\n1,two\n":            "requests of job 1 of site one: sites: two is no [[site]]",
		"job_id,power_ppm\n1,4000000000\n": "requests of job 1 of site one: ",
		"job_id,min_time_ms\n1,20001\n":    "the least time limit that the job takes is 0:00:21",
	} {
		if err := refused(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
	for _, key := range []string{"latency = \"1s\"", "per_gb = 1.0", "per_hour = 1.0"} {
		_, err := experiment.Read(write(t, "plan.toml", "[data]\n"+key+fmt.Sprintf(slowPlan, trace, "requests = \"x.csv\"")))
		problemstest.Check(t, err, problemstest.At("plan.toml", 0, "data.bandwidth", "missing"))
	}
	const second = "\n[[workload]]\nsite = \"one\"\nmodel = \"M1\"\n"
	_, err := experiment.Read(write(t, "plan.toml", fmt.Sprintf(slowPlan, trace, "requests = \"x.csv\""+second)))
	problemstest.Check(t, err, problemstest.At("plan.toml", 0, "workload[1].requests", "one workload"))
}
