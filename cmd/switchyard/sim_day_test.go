package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var (
	simDayJobs = flag.Int("simday.jobs", 0, "how many jobs TestSimulatedDay submits; 0: it is left out")
	simDaySeed = flag.Uint64("simday.seed", 1, "the seed of its jobs")
)

// simDaySeeds is how many seeds the simulation has. Chance decides when peers volunteer.
const simDaySeeds = 8

// simDayLead is the time before the first submission, in which each peer checks its load once.
const simDayLead = 6 * time.Second

// closeStart is how far apart the starts of a job may be that are the same decision: what a peer, a shim
// and two shared cores need for a start.
const closeStart = 500 * protocol.Millisecond

// simDayEpsilon is within what turnarounds are the same to the policy tc at the sites of the testbed.
const simDayEpsilon = protocol.Second

// TestSimulatedDay is the differential test of the simulator: three real peers run a day that is scaled
// to minutes, and sim run --site simulates their configurations on the trace of that day. It prints what
// became of each job in both, and why the outcomes differ. How many do depends on the machine's load, so
// it fails only if a job does not complete in both, or if a peer's recording does not replay.
func TestSimulatedDay(t *testing.T) { //nolint:tparallel // one day at a time has the machine
	t.Parallel()
	if *simDayJobs == 0 {
		t.Skip("minutes by the clock, whose outcome depends on the machine's load: give -simday.jobs")
	}
	for _, initiation := range []string{"sender", "receiver", "symmetric"} {
		t.Run(initiation, func(t *testing.T) {
			day := runLiveDay(t, initiation)
			simulated := day.simulate(t)
			t.Logf("-simday.seed=%d, initiation %s\n%s\n%s", *simDaySeed, initiation, day.compare(simulated[0]), day.means(simulated))
			day.replay(t)
		})
	}
}

// dayJob is a job of the day and what became of it.
type dayJob struct {
	site *testbed.Site // where it is submitted
	at   time.Duration
	run  time.Duration
	cpus int

	number int64 // in the trace of its site
	view.Job
	events []event.LogEvent
}

type liveDay struct {
	*grid

	initiation string
	begin      protocol.Instant // a whole second, simDayLead before the first submission
	jobs       []*dayJob        // by their submission
	recordings []string
}

// dayMachines are the sites and the share of the jobs that each one's users submit, in percent.
func dayMachines(dir string) ([]testbed.Machine, []int) {
	machines := []testbed.Machine{{Name: "north", CPUs: 4}, {Name: "south", CPUs: 4}, {Name: "west", CPUs: 8}}
	for i := range machines {
		machines[i].Recording = filepath.Join(dir, string(machines[i].Name)+".rec")
	}
	return machines, []int{60, 25, 15}
}

func runLiveDay(t *testing.T, initiation string) *liveDay {
	t.Helper()
	machines, shares := dayMachines(t.TempDir())
	g := makeGridFrom(t, testbed.Config{Binary: ownBinary(t), Sites: machines, Initiation: initiation, Sigma: 5 * protocol.Second})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	day := &liveDay{grid: g, initiation: initiation}
	for _, machine := range machines {
		day.recordings = append(day.recordings, machine.Recording)
	}
	rng := rand.New(rand.NewPCG(*simDaySeed, 5))
	at := simDayLead
	for range *simDayJobs {
		job := &dayJob{at: at, run: time.Second + time.Duration(rng.Int64N(int64(9*time.Second))), cpus: 1 << rng.IntN(3)}
		from, share := 0, rng.IntN(100)
		for share >= shares[from] {
			share -= shares[from]
			from++
		}
		job.site = g.Sites[from]
		day.jobs = append(day.jobs, job)
		at += time.Duration(rng.ExpFloat64() * float64(time.Second))
	}
	begun := time.Now()
	var waiting sync.WaitGroup
	for _, job := range day.jobs {
		time.Sleep(time.Until(begun.Add(job.at)))
		waiting.Go(func() { day.run(t, job) })
	}
	waiting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	day.begin = day.jobs[0].Submitted.Add(-protocol.DurationOf(simDayLead)) / 1000 * 1000
	return day
}

// run submits the job and waits until it has ended.
func (d *liveDay) run(t *testing.T, job *dayJob) {
	t.Helper()
	client := job.site.Client()
	defer client.Close()
	out := filepath.Join(d.work, "%j.out")
	submitted, err := client.Submit(t.Context(), api.Submission{Jobs: []protocol.Job{{
		Spec: protocol.Spec{
			Request: protocol.Request{CPUs: job.cpus, WallTime: protocol.Duration(2 * job.run.Milliseconds())}, Name: "day",
		},
		Payload: &protocol.Payload{
			Script: fmt.Appendf(nil, "#!/bin/sh\nexec sleep %.3f\n", job.run.Seconds()), WorkDir: d.work, Stdout: out, Stderr: out,
		},
	}}})
	if err != nil {
		t.Error(err)
		return
	}
	if job.Job, err = client.Wait(t.Context(), submitted.Jobs[0]); err != nil || job.State != protocol.Completed {
		t.Errorf("%+v, %v", job.Job, err)
		return
	}
	if job.events, err = client.Explain(t.Context(), job.ID); err != nil {
		t.Error(err)
	}
}

// traces writes the trace of each site as its peer has it: submissions, and how long the runs took.
func (d *liveDay) traces(t *testing.T, dir string) []string {
	t.Helper()
	var args []string
	for _, site := range d.Sites {
		trace := workload.Trace{Header: workload.Header{
			workload.HeaderField("UnixStartTime", strconv.FormatInt(int64(d.begin/1000), 10)),
			workload.HeaderField("MaxProcs", strconv.Itoa(site.CPUs)),
		}}
		for _, job := range d.jobs {
			if job.site != site {
				continue
			}
			job.number = int64(job.ID.Seq())
			record := workload.UnknownRecord()
			record.ID, record.Submit, record.Run, record.CPUs, record.ReqTime = job.number, job.Submitted-d.begin,
				protocol.Duration(job.Ended-job.Started), job.cpus, job.WallTime
			record.Status = workload.StatusCompleted
			trace.Records = append(trace.Records, record)
		}
		path := filepath.Join(dir, string(site.Name)+".swf")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := workload.WriteSWF(file, &trace); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--site", site.Config, "--trace", string(site.Name)+"="+path)
	}
	return args
}

// outcome is where and when a job has run.
type outcome struct {
	site       protocol.SiteName
	start, end protocol.Instant
}

func (j dayJob) outcome() outcome { return outcome{j.Site, j.Started, j.Ended} }

// replay replays each peer's recording, which its stop completes.
func (d *liveDay) replay(t *testing.T) {
	t.Helper()
	if err := d.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	for _, recording := range d.recordings {
		if got := simulate(t, "replay", recording); got.code != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// simulate runs the day again by sim run --site, with the seeds from 1.
func (d *liveDay) simulate(t *testing.T) (all []map[protocol.JobID]outcome) {
	t.Helper()
	args := append([]string{"run", "--starts", "-"}, d.traces(t, t.TempDir())...)
	for seed := range simDaySeeds {
		got := simulate(t, append(args, "--seed", strconv.Itoa(seed+1))...)
		if got.code != 0 {
			t.Fatalf("%+v", got)
		}
		all = append(all, d.outcomes(t, got.stdout))
	}
	return all
}

// outcomes reads the CSV of sim run --starts.
func (d *liveDay) outcomes(t *testing.T, starts string) map[protocol.JobID]outcome {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(starts)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	simulated := map[protocol.JobID]outcome{}
	for _, line := range lines[1:] { // job_id, start, end, origin, site
		var instants [2]protocol.Instant
		for i, text := range line[1:3] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			instants[i] = protocol.Instant(math.Round(seconds * 1000))
		}
		for _, job := range d.jobs {
			if string(job.Origin) == line[3] && strconv.FormatInt(job.number, 10) == line[0] {
				simulated[job.ID] = outcome{protocol.SiteName(line[4]), d.begin + instants[0], d.begin + instants[1]}
			}
		}
	}
	if len(simulated) != len(d.jobs) {
		t.Fatalf("%d of %d jobs have run in the simulation", len(simulated), len(d.jobs))
	}
	return simulated
}

// compare has a line for each job with both outcomes, and then how far apart they are.
func (d *liveDay) compare(simulated map[protocol.JobID]outcome) string {
	table := console.NewTable("JOB", "ORIGIN", " CPUS", " SUBMITTED", " RUN", "SITE", " WAIT", "SIMULATED", " WAIT", " LATER", "WHY")
	var later []protocol.Duration
	var differ []*dayJob
	for _, job := range d.jobs {
		live, other := job.outcome(), simulated[job.ID]
		apart := protocol.Duration(live.start - other.start)
		why := ""
		if live.site == other.site && max(apart, -apart) <= closeStart {
			later = append(later, apart)
		} else {
			why = d.whyApart(job, simulated, differ)
			differ = append(differ, job)
		}
		table.Add(job.ID.String(), string(job.Origin), strconv.Itoa(job.cpus), inSeconds(protocol.Duration(job.Submitted-d.begin)),
			inSeconds(protocol.Duration(live.end-live.start)), string(live.site), inSeconds(protocol.Duration(live.start-job.Submitted)),
			string(other.site), inSeconds(protocol.Duration(other.start-job.Submitted)), inSeconds(apart), why)
	}
	text := table.Text("", true) + fmt.Sprintf("%d of %d jobs ran at the same site and started within %s s",
		len(later), len(d.jobs), inSeconds(closeStart))
	if n := len(later); n > 0 {
		slices.Sort(later)
		text += fmt.Sprintf(": %s s later than simulated in the median, %s to %s in all", inSeconds(later[n/2]), inSeconds(later[0]), inSeconds(later[n-1]))
	}
	return text
}

// means are the mean wait and the moved jobs, live and simulated with each seed.
func (d *liveDay) means(simulated []map[protocol.JobID]outcome) string {
	mean := func(of func(dayJob) outcome) string {
		wait, moved := 0.0, 0
		for _, job := range d.jobs {
			one := of(*job)
			wait += float64(one.start-job.Submitted) / 1000 / float64(len(d.jobs))
			if one.site != job.Origin {
				moved++
			}
		}
		return fmt.Sprintf("%.2f s, %d moved", wait, moved)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Mean wait %s; simulated", mean(dayJob.outcome))
	for _, one := range simulated {
		fmt.Fprintf(&text, " %s;", mean(func(j dayJob) outcome { return one[j.ID] }))
	}
	return text.String()
}

func inSeconds(d protocol.Duration) string { return fmt.Sprintf("%.3f", float64(d)/1000) }

// whyApart explains why the outcomes of a job differ:
//   - it follows an earlier job whose outcomes differ and that had not ended when this one was submitted,
//   - the quotes are so close that the delays decide,
//   - a job ended at so nearly the same instant that the delays decide which comes first,
//   - peers volunteer at other instants, which chance decides.
func (d *liveDay) whyApart(job *dayJob, simulated map[protocol.JobID]outcome, earlier []*dayJob) string {
	for _, other := range slices.Backward(earlier) {
		if max(other.Ended, simulated[other.ID].end) > job.Submitted {
			return "follows " + other.ID.String() + quotesText(job)
		}
	}
	other := simulated[job.ID].site
	if quotes := lastQuotes(job.events); job.Site != other && areClose(quotes, job.Site, other) {
		return "close" + quotesText(job)
	}
	for _, one := range d.jobs {
		if after := protocol.Duration(job.Submitted - one.Ended); max(after, -after) <= closeStart {
			return fmt.Sprintf("%s s after the end of %s%s", inSeconds(after), one.ID, quotesText(job))
		}
	}
	if d.initiation != "sender" {
		return "volunteers" + quotesText(job)
	}
	return "unknown" + quotesText(job)
}

// areClose reports whether the turnarounds of two sites are about the same, or about the tolerance apart.
func areClose(quotes []view.Quote, one, other protocol.SiteName) bool {
	at := func(name protocol.SiteName) int {
		return slices.IndexFunc(quotes, func(q view.Quote) bool { return q.Site == name })
	}
	a, b := at(one), at(other)
	if a < 0 || b < 0 {
		return false
	}
	margin := quotes[b].ATT() - quotes[a].ATT()
	return slices.ContainsFunc([]protocol.Duration{-simDayEpsilon, 0, simDayEpsilon}, func(edge protocol.Duration) bool {
		return max(margin-edge, edge-margin) <= closeStart
	})
}

// lastQuotes are those of the job's last round; none if it was placed without one.
func lastQuotes(events []event.LogEvent) (quotes []view.Quote) {
	for _, e := range events {
		switch e.Kind { //nolint:exhaustive // what places a job
		case event.LogJobPlacedLocally:
			quotes = nil
		case event.LogRoundDecided:
			quotes = e.Quotes
		}
	}
	return quotes
}

func quotesText(job *dayJob) string {
	text := ": placed at once"
	for i, q := range lastQuotes(job.events) {
		if i == 0 {
			text = ":"
		}
		text += fmt.Sprintf(" %s %s (%s)", q.Site, inSeconds(q.ATT()), console.Percent(q.RUS))
	}
	return text
}
