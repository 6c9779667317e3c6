package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/recordedgrid"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var (
	simDayJobs  = flag.Int("simday.jobs", 0, "the number of jobs of each grid of TestSimulatedDay; 0: it is left out")
	simDaySeed  = flag.Uint64("simday.seed", 1, "the seed of its jobs")
	simDayScale = flag.Int("simday.scale", 4, "the factor of its times: jobs of 1 to 10 seconds, one in a second")
	simDayKeep  = flag.String("simday.keep", "", "a directory for its recordings and configurations; empty: they are removed")
)

// simDayLead is the time before the first submission, in which each peer checks its load.
const simDayLead = 6 * time.Second

// liveDay is one of the grids of TestSimulatedDay.
type liveDay struct {
	name, initiation, policy string
}

// TestSimulatedDay is the differential test of the simulator: for each policy three real peers run a day that
// is scaled to minutes, and sim from-record simulates their recordings and compares each job. What it
// prints depends on the machine's load, so it fails only if a job does not complete, if a recording
// does not replay, or if a difference is not explained.
func TestSimulatedDay(t *testing.T) {
	t.Parallel()
	if *simDayJobs == 0 {
		t.Skip("minutes by the clock, whose outcome depends on the machine's load: give -simday.jobs")
	}
	for _, day := range []liveDay{
		{"sender", "sender", "tc"},
		{"receiver", "receiver", "tc"},
		{"symmetric", "symmetric", "tc"},
		{"mcmf", "cycle", "mcmf"},
		{"iss", "cycle", "iss"},
	} {
		t.Run(day.name, func(t *testing.T) {
			t.Parallel()
			args := day.record(t, *simDayJobs, *simDayScale)
			got := simulate(t, append([]string{"from-record"}, args...)...)
			t.Logf("-simday.jobs=%d -simday.seed=%d -simday.scale=%d\n%s", *simDayJobs, *simDaySeed, *simDayScale, got.stdout)
			if got.code != 0 {
				t.Errorf("%+v", got)
			}
			replayAll(t, args)
		})
	}
}

// TestLiveGridIsCompared: a short live grid is recorded, simulated and compared, whatever its differences, and
// the experiment that is written gives what was compared.
func TestLiveGridIsCompared(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("half a minute by the clock")
	}
	day := liveDay{"symmetric", "symmetric", "tc"}
	const jobs = 20
	args := day.record(t, jobs, 1)
	out := filepath.Join(t.TempDir(), "out")
	got := simulate(t, append([]string{"from-record", "--json", "--out", out}, args...)...)
	var report recordedgrid.Report
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	classed := 0
	for _, count := range report.Classes {
		classed += count
	}
	if report.Jobs != jobs || report.Same+len(report.Each) != jobs || classed != len(report.Each) || report.SameSite < report.Same {
		t.Errorf("%+v", report)
	}
	if (got.code == exitFailed) != (report.Classes[string(recordedgrid.Other)] > 0) {
		t.Errorf("exit code %d for %+v", got.code, report.Classes)
	}
	wait := 0.0
	rows, err := csv.NewReader(strings.NewReader(simulate(t, "run", filepath.Join(out, recordedgrid.File), "--starts", "-").stdout)).ReadAll()
	if err != nil || len(rows) != jobs+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if simulated := simulate(t, "run", filepath.Join(out, recordedgrid.File), "--json"); simulated.code != 0 {
		t.Errorf("%+v", simulated)
	} else if err := json.Unmarshal([]byte(simulated.stdout), &struct {
		Wait *float64 `json:"mean_wait_s"`
	}{&wait}); err != nil || math.Abs(wait-report.Simulated.MeanWait) > 1e-3 {
		t.Errorf("mean wait %g, compared was %g: %v", wait, report.Simulated.MeanWait, err)
	}
	replayAll(t, args)
}

// replayAll replays the recordings among the options of sim from-record.
func replayAll(t *testing.T, args []string) {
	t.Helper()
	for _, arg := range args {
		if strings.HasSuffix(arg, ".rec") {
			if got := simulate(t, "replay", arg); got.code != 0 {
				t.Errorf("%+v", got)
			}
		}
	}
}

// dayJob is a job of the day.
type dayJob struct {
	site *testbed.Site // where it is submitted
	at   time.Duration
	run  time.Duration
	cpus int
}

// record runs the grid and returns the options of sim from-record for it.
func (d *liveDay) record(t *testing.T, count, scale int) (args []string) {
	t.Helper()
	dir := t.TempDir()
	if *simDayKeep != "" {
		dir = filepath.Join(*simDayKeep, d.name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	machines := []testbed.Machine{{Name: "north", CPUs: 4}, {Name: "south", CPUs: 4}, {Name: "west", CPUs: 8}}
	for i := range machines {
		machines[i].Recording = filepath.Join(dir, string(machines[i].Name)+".rec")
		if d.policy == "iss" {
			machines[i].Currency, machines[i].More = "CHF", fmt.Sprintf(dayCosts, 2+i)
		}
	}
	g := makeGridFrom(t, testbed.Config{
		Binary: ownBinary(t), Sites: machines, Initiation: d.initiation, Policy: d.policy,
		CheckInterval: 5 * protocol.Second * protocol.Duration(scale), CycleInterval: 2 * protocol.Second * protocol.Duration(scale),
	})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var waiting sync.WaitGroup
	for _, job := range drawDay(g, count, scale) {
		time.Sleep(time.Until(begun.Add(job.at)))
		waiting.Go(func() { g.runDay(t, job) })
	}
	waiting.Wait()
	if err := g.Stop(stopPatience); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	for i, site := range g.Sites {
		text := strings.ReplaceAll(content(t, site.Config), filepath.Dir(site.Config), dir)
		config := filepath.Join(dir, string(site.Name)+".toml")
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, machines[i].Recording, "--site", config)
	}
	return args
}

// dayCosts are what iss weighs.
const dayCosts = `
[prices]
time_zone = "UTC"

[cost.cpu]
price = %d

[[waiting_cost]]
name = "salary"
kind = "salary"
rate = 60.0
days = "mon-sun"
hours = "00:00-24:00"

[default_weights]
waiting_cost = "salary"
`

// drawDay makes the jobs of a day, of which users of the sites submit 60, 25 and 15 percent.
func drawDay(g *grid, count, scale int) (jobs []dayJob) {
	rng := rand.New(rand.NewPCG(*simDaySeed, 5))
	shares := []int{60, 25, 15}
	at := simDayLead
	scaled := func(seconds float64) time.Duration {
		return time.Duration(float64(scale) * seconds * float64(time.Second))
	}
	for range count {
		job := dayJob{at: at, run: scaled(1 + float64(rng.Int64N(int64(9*time.Second)))/float64(time.Second)), cpus: 1 << rng.IntN(3)}
		from, share := 0, rng.IntN(100)
		for share >= shares[from] {
			share -= shares[from]
			from++
		}
		job.site = g.Sites[from]
		jobs = append(jobs, job)
		at += scaled(rng.ExpFloat64())
	}
	return jobs
}

// runDay submits a job and waits until it has ended.
func (g *grid) runDay(t *testing.T, job dayJob) {
	t.Helper()
	client := job.site.Client()
	defer client.Close()
	out := filepath.Join(g.work, "%j.out")
	submitted, err := client.Submit(t.Context(), api.Submission{Jobs: []protocol.Job{{
		Spec: protocol.Spec{
			Request: protocol.Request{CPUs: job.cpus, WallTime: protocol.Duration(2 * job.run.Milliseconds())}, Name: "day",
		},
		Payload: &protocol.Payload{
			Script: fmt.Appendf(nil, "#!/bin/sh\nexec sleep %.3f\n", job.run.Seconds()), WorkDir: g.work, Stdout: out, Stderr: out,
		},
	}}})
	if err != nil {
		t.Error(err)
		return
	}
	ended, err := client.Wait(t.Context(), protocol.JobName{Job: submitted.Jobs[0]})
	if err != nil || ended.State != protocol.Completed {
		t.Errorf("%+v, %v", ended, err)
	}
}
