package experiment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/internal/sim"
)

// slowPlan is a site of one CPU with three jobs of ten seconds.
const slowPlan = `
[[site]]
name = "one"

[site.localsched]
cpus = 1
nodes = 1

[[workload]]
site = "one"
trace = %q
%s
`

// TestLatenciesReachTheSimulation: those of the site, and those of single jobs in their place.
func TestLatenciesReachTheSimulation(t *testing.T) {
	t.Parallel()
	trace := write(t, "jobs.swf", "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n2 100 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
	own := experiment.JobLatencies{2: sim.JobLatencies{Submit: 1, Start: 2500, End: 3}}
	var text strings.Builder
	if err := own.Write(&text); err != nil {
		t.Fatal(err)
	}
	if want := "job_id,submit,start,end\n2,0.001,2.500,0.003\n"; text.String() != want {
		t.Errorf("written as %q, want %q", text.String(), want)
	}
	const slow = "[site.latency]\nstart = \"1s\"\n"
	latencies := "latencies = " + fmt.Sprintf("%q", write(t, "jobs.csv", text.String())) + "\n"
	for _, one := range []struct {
		of, site string
		starts   [2]int64
	}{
		{"", "", [2]int64{0, 100_000}},
		{"", slow, [2]int64{1000, 101_000}},
		{latencies, slow, [2]int64{1000, 102_501}},
	} {
		plan := opened(t, strings.Replace(fmt.Sprintf(slowPlan, trace, one.of), "[[workload]]", one.site+"[[workload]]", 1))
		got := run(t, plan, experiment.Local, 1).Result.Placements
		if starts := [2]int64{int64(got[0].Start), int64(got[1].Start)}; starts != one.starts {
			t.Errorf("%s%sstarts %v, want %v", one.of, one.site, starts, one.starts)
		}
	}
}

// TestLatenciesThatAreNone: what is wrong with a file is told with its line.
func TestLatenciesThatAreNone(t *testing.T) {
	t.Parallel()
	trace := write(t, "jobs.swf", "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")
	at := func(line int, word string) problemstest.Want { return problemstest.At("jobs.csv", line, "", word) }
	for text, want := range map[string]problemstest.Want{
		"":                                   at(1, "job_id,submit,start,end"),
		"job,submit,start,end\n":             at(1, "job_id,submit,start,end"),
		"job_id,submit,start,end\nx,1,1,1\n": at(2, `"x"`),
		"job_id,submit,start,end\n1,1,1,1\n1,1,1,1\n": at(3, "twice"),
		"job_id,submit,start,end\n1,1,0.0001,1\n":     at(2, `start "0.0001"`),
		"job_id,submit,start,end\n1,1,1,-1\n":         at(2, `end "-1"`),
		"job_id,submit,start,end\n1,1,1\n":            at(2, "fields"),
	} {
		plan, err := experiment.Read(write(t, "plan.toml", fmt.Sprintf(slowPlan, trace, "latencies = "+fmt.Sprintf("%q", write(t, "jobs.csv", text)))))
		if err == nil {
			err = plan.Open()
		}
		problemstest.Check(t, err, want)
	}
	const second = "\n[[workload]]\nsite = \"one\"\nmodel = \"M1\"\n"
	_, err := experiment.Read(write(t, "plan.toml", fmt.Sprintf(slowPlan, trace, "latencies = \"x.csv\""+second)))
	problemstest.Check(t, err, problemstest.At("plan.toml", 0, "workload[1].latencies", "one workload"))
	_, err = experiment.Read(write(t, "plan.toml", strings.Replace(fmt.Sprintf(slowPlan, trace, ""), "[[workload]]", "[site.latency]\ncall = \"-1s\"\n[[workload]]", 1)))
	problemstest.Check(t, err, problemstest.At("plan.toml", 0, "site[one].latency.call"))
}
