package workload_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestMerge keeps every job, under its origin, in an order that the order of
// the jobs given does not change.
func TestMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var workloads, shuffled [][]workload.Job
		total := 0
		for range rapid.IntRange(0, 4).Draw(t, "workloads") {
			var jobs []workload.Job
			for id := range rapid.IntRange(0, 12).Draw(t, "jobs") {
				submit := protocol.Instant(rapid.IntRange(0, 5).Draw(t, "submit"))
				jobs = append(jobs, workload.Job{ID: int64(id), Origin: 9, Submit: submit})
			}
			total += len(jobs)
			workloads = append(workloads, jobs)
			shuffled = append(shuffled, rapid.Permutation(jobs).Draw(t, "order"))
		}
		merged := workload.Merge(workloads...)
		if len(merged) != total || !slices.Equal(merged, workload.Merge(shuffled...)) {
			t.Fatalf("merged %v", merged)
		}
		for i, job := range merged {
			if !slices.ContainsFunc(workloads[job.Origin], func(j workload.Job) bool {
				return j.ID == job.ID && j.Submit == job.Submit
			}) {
				t.Fatalf("%+v is not of its origin", job)
			}
			if i > 0 {
				last := merged[i-1]
				if cmp.Or(cmp.Compare(last.Submit, job.Submit), cmp.Compare(last.Origin, job.Origin),
					cmp.Compare(last.ID, job.ID)) >= 0 {
					t.Fatalf("%+v before %+v", last, job)
				}
			}
		}
	})
}

// TestSplitLCG finds the 170 sites of the LCG grid in the partition column, and
// TestSplitXSEDE the 8 systems in the 19th field.
func TestSplitLCG(t *testing.T) {
	t.Parallel()
	trace := readShared(t, "LCG.swf.gz")
	parts := workload.Split(trace, workload.SplitPartition)
	total := 0
	for i, part := range parts {
		total += len(part.Trace.Records)
		if part.Number != i+1 || part.Name == "" || len(part.Trace.Header) != len(trace.Header) {
			t.Errorf("part %d: number %d, name %q", i, part.Number, part.Name)
		}
	}
	if len(parts) != 170 || total != 188_041 || parts[1].Name != "lancs.ac.uk" {
		t.Errorf("%d sites, %d records", len(parts), total)
	}
}

func TestSplitXSEDE(t *testing.T) {
	t.Parallel()
	parts := workload.Split(readShared(t, "xsede-sample-4100.swf.gz"), workload.SplitExtra)
	if len(parts) != 8 || parts[0].Number != 1 || parts[7].Name != "8" {
		t.Errorf("%d sites, %+v", len(parts), parts)
	}
}

// TestScheduledOne fills waits into the records of one trace and keeps its
// header, its job numbers and its clock.
func TestScheduledOne(t *testing.T) {
	t.Parallel()
	trace := readTrace(t, "excerpt", excerpt(t, "SDSC-BLUE-2002-08.swf"))
	from := trace.Records[3].Submit
	jobs, _ := workload.Clean(trace, workload.CleanOptions{From: from})
	var outcomes []workload.Outcome
	for i, job := range slices.Backward(jobs) {
		start := job.Submit.Add(protocol.Duration(i) * protocol.Second)
		if i == 1 {
			start = workload.Unknown
		}
		outcomes = append(outcomes, workload.Outcome{Job: job, Start: start, Run: job.Run})
	}
	got := workload.Scheduled([]workload.Origin{{Name: "blue", Trace: trace}}, outcomes, "EASY")
	if !slices.Equal(got.Header, append(slices.Clone(trace.Header), " Note: EASY")) {
		t.Errorf("header ends in %q", got.Header[len(got.Header)-1])
	}
	if len(got.Records) != len(jobs) {
		t.Fatalf("%d records of %d jobs", len(got.Records), len(jobs))
	}
	for i, r := range got.Records {
		old := trace.Records[i+3]
		want := old
		want.Wait, want.Run, want.Status = protocol.Duration(i)*protocol.Second, jobs[i].Run, workload.StatusCompleted
		if i == 1 {
			want.Wait, want.Run, want.Status = -1, -1, workload.StatusCancelled
		}
		want.CPUTime, want.Memory, want.ReqTime = -1, -1, jobs[i].Estimate
		if r != want {
			t.Fatalf("record %d\n%+v\nwant\n%+v", i, r, want)
		}
	}
}

// TestScheduledGrid writes a grid's schedule: numbered anew, where each job ran
// and where it came from.
func TestScheduledGrid(t *testing.T) {
	t.Parallel()
	trace := readTrace(t, "excerpt", excerpt(t, "SDSC-BLUE-2002-08.swf"))
	trace.Header = trace.Header.With(" Copyright: all rights", "   reserved", "", " of nobody")
	jobs, _ := workload.Clean(trace, workload.CleanOptions{From: trace.Records[0].Submit})
	const s = protocol.Second
	merged := workload.Merge([]workload.Job{{ID: 1, User: -1, Submit: 0, Run: s, Estimate: 2 * s, CPUs: 3}}, jobs[:1])
	got := workload.Scheduled([]workload.Origin{{Name: "model"}, {Name: "blue", Trace: trace}}, []workload.Outcome{
		{Job: merged[1], Site: 0, Start: 5000, Run: 7 * s},
		{Job: merged[0], Site: 1, Start: 1000, Run: s},
	}, "S-I")
	if names := got.Header.Names("Site"); names[1] != "model" || names[2] != "blue" {
		t.Errorf("sites %v", names)
	}
	want := workload.Header{
		" Version: 2.2",
		" Note: site blue is a trace with the following credits",
		" Installation: SDSC Blue Horizon",
		" Acknowledge: Travis Earheart and Nancy Wilkins-Diehr",
		" Copyright: all rights",
		"   reserved",
		" Partition: 1 model",
		" Partition: 2 blue",
		" Site: 1 model",
		" Site: 2 blue",
		" Note: S-I",
	}
	if !slices.Equal(got.Header, want) {
		t.Errorf("header %q", got.Header)
	}
	a, b := got.Records[0], got.Records[1]
	if a.ID != 1 || a.Wait != s || a.Partition != 2 || a.Extra != 1 || a.Queue != workload.Unknown || a.CPUs != 3 {
		t.Errorf("the model's job %+v", a)
	}
	if b.ID != 2 || b.Submit != 0 || b.Wait != 5*s || b.Run != 7*s || b.Partition != 1 || b.Extra != 2 ||
		b.Queue != trace.Records[0].Queue {
		t.Errorf("the trace's job %+v", b)
	}
}
