package slurmtext_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// columnsOf prints columns of squeue by their names, with a bar between them.
func columnsOf(j *slurmtext.Job, names ...string) string {
	f, _ := slurmtext.ParseNames(slurmtext.QueueColumns(), strings.Join(names, ":0|,")+":0")
	return f.Line(j)
}

// oneLine is how scontrol -o prints records.
var oneLine = slurmtext.RecordStyle{OneLine: true}

// TestMegabytes prints amounts of memory as a real Slurm 22.05 has printed them.
func TestMegabytes(t *testing.T) {
	t.Parallel()
	for mb, want := range map[int64]string{
		0: "0", 1: "1M", 512: "512M", 1000: "1000M", 1023: "1023M", 1024: "1G", 1025: "1025M", 1536: "1.50G", 2560: "2.50G", 3000: "3000M",
		64000: "62.50G", 1048576: "1T", 1049088: "1.00T",
	} {
		if got := slurmtext.Megabytes(mb, 0); got != want {
			t.Errorf("%d MB: %s, want %s", mb, got, want)
		}
	}
	for unit, want := range map[byte]string{'K': "1572864K", 'M': "1536M", 'G': "1.50G", 'T': "0.00T"} {
		if got := slurmtext.Megabytes(1536, unit); got != want {
			t.Errorf("1536 MB: %s, want %s", got, want)
		}
	}
}

// TestOutOfMemory prints how a job ended that ran out of memory, but for the state as a real Slurm 22.05 does.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	j := job()
	j.State, j.Started, j.Ended, j.Signal, j.Reason = protocol.Failed, instant(), instant().Add(protocol.Minute), protocol.SignalOutOfMemory, "out of memory: limit 2 GiB (--mem)"
	if got, want := columnsOf(j, "State", "Reason", "exit_code"), "FAILED|OutOfMemory|125"; got != want {
		t.Errorf("squeue: %s, want %s", got, want)
	}
	f, _ := slurmtext.ParseAccounting("state,exitcode", "|", false)
	if got, want := f.Line(&slurmtext.Record{Job: *j}), "FAILED|0:125"; got != want {
		t.Errorf("sacct: %s, want %s", got, want)
	}
}

// TestConditions prints what a job waits for, as a real Slurm 22.05 does.
func TestConditions(t *testing.T) {
	t.Parallel()
	minute := protocol.Minute
	term := func(kind protocol.DependencyKind, job protocol.JobID) protocol.DependencyTerm {
		return protocol.DependencyTerm{Kind: kind, Job: job}
	}
	never, met, delayed := term(protocol.AfterOK, 1000000000002), term(protocol.AfterAny, 1000000000003), term(protocol.After, 1000000000004)
	never.Never, met.Met, delayed.Delay = "it failed", instant().Add(minute), 5*minute
	for _, one := range []struct {
		conditions protocol.Conditions
		want       string // dependency, eligible, deadline
	}{
		{protocol.Conditions{}, "(null)|2026-11-28T09:05:07|N/A"},
		{protocol.Conditions{Hold: protocol.HeldByUser}, "(null)|N/A|N/A"},
		{
			protocol.Conditions{Begin: instant().Add(2 * protocol.Hour), Deadline: instant().Add(protocol.Day)},
			"(null)|2026-11-28T11:05:07|2026-11-29T09:05:07",
		},
		{
			protocol.Conditions{Dependency: &protocol.Dependency{Terms: []protocol.DependencyTerm{never, met, delayed, {Kind: protocol.Singleton}}}},
			"afterok:1000000000002(failed),after:1000000000004+5(unfulfilled),singleton(unfulfilled)|N/A|N/A",
		},
		{
			protocol.Conditions{Dependency: &protocol.Dependency{Any: true, Terms: []protocol.DependencyTerm{never, delayed}}},
			"afterok:1000000000002(failed)?after:1000000000004+5(unfulfilled)|N/A|N/A",
		},
		{
			protocol.Conditions{Dependency: &protocol.Dependency{Any: true, Terms: []protocol.DependencyTerm{never, met}}},
			"(null)|2026-11-28T09:06:07|N/A",
		},
	} {
		j := job()
		j.Conditions = one.conditions
		if got := columnsOf(j, "Dependency", "EligibleTime", "Deadline"); got != one.want {
			t.Errorf("%+v: %s, want %s", one.conditions, got, one.want)
		}
		fields := strings.Split(one.want, "|")
		shown := slurmtext.ShowJob(j, oneLine)
		for name, value := range map[string]string{
			"Dependency=": fields[0], "EligibleTime=": strings.Replace(fields[1], "N/A", "Unknown", 1), "Deadline=": fields[2],
		} {
			if !strings.Contains(shown, " "+name+value+" ") {
				t.Errorf("scontrol has not %s%s: %s", name, value, shown)
			}
		}
		if got, want := j.JSON()["dependency"], strings.TrimPrefix(fields[0], "(null)"); got != want {
			t.Errorf("JSON: %s, want %s", got, want)
		}
	}
}

// TestLimits: the time limit is the one that the job has got.
func TestLimits(t *testing.T) {
	t.Parallel()
	j := job()
	j.State, j.Started = protocol.Running, instant()
	j.MinTime, j.TimeLimit = 2*protocol.Hour, 3*protocol.Hour
	if got, want := columnsOf(j, "TimeLimit", "TimeLeft", "EndTime", "MinTime"), "3:00:00|2:00:00|2026-11-28T12:05:07|2:00:00"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if shown := slurmtext.ShowJob(j, oneLine); !strings.Contains(shown, " TimeLimit=03:00:00 TimeMin=02:00:00 ") {
		t.Error(shown)
	}
	f, _ := slurmtext.ParseAccounting("timelimit,timelimitraw", "|", false)
	if got := f.Line(&slurmtext.Record{Job: *j}); got != "03:00:00|180" {
		t.Error(got)
	}
	if out := j.JSON(); out["time_limit"] != int64(180) || out["time_minimum"] != int64(120) {
		t.Errorf("%+v", out)
	}
}

// TestArrays prints elements of arrays, and several pending ones in one line, as a real Slurm 22.05 does.
func TestArrays(t *testing.T) {
	t.Parallel()
	const array = protocol.JobID(1000000000042)
	several, element := job(), job()
	several.Array = &view.Array{ID: array, Elements: protocol.IndexesOf(3, 4, 5, 9), Throttle: 2}
	several.Stdout = "/home/ada/slurm-%A_%a.out"
	element.Element = &protocol.Element{Array: array, Index: 7}
	element.ID, element.State, element.Started = element.Element.ID(), protocol.Cancelled, instant()
	for _, one := range []struct {
		job              *slurmtext.Job
		queue, shown     string
		accounting, step string
	}{
		{
			several, "1000000000042_[3-5,9%2]|1000000000042|1000000000042|3-5,9%2|/home/ada/slurm-1000000000042_%a.out",
			"JobId=1000000000042 ArrayJobId=1000000000042 ArrayTaskId=3-5,9%2 ArrayTaskThrottle=2 JobName=tides ",
			"1000000000042_[3-5,9%2]|1000000000042|PENDING", "1000000000042_[3-5,9%2].batch|1000000000042.batch|PENDING",
		},
		{
			element, "1000000000042_7|1000000000050|1000000000042|7|/home/ada/out-1000000000050",
			"JobId=1000000000050 ArrayJobId=1000000000042 ArrayTaskId=7 JobName=tides ",
			"1000000000042_7|1000000000050|CANCELLED by 1000", "1000000000042_7.batch|1000000000050.batch|CANCELLED",
		},
		{
			job(), "1000000000042|1000000000042|1000000000042|N/A|/home/ada/out-1000000000042", "JobId=1000000000042 JobName=tides ",
			"1000000000042|1000000000042|PENDING", "1000000000042.batch|1000000000042.batch|PENDING",
		},
	} {
		if got := columnsOf(one.job, "JobArrayID", "JobID", "ArrayJobID", "ArrayTaskID", "StdOut"); got != one.queue {
			t.Errorf("squeue: %s, want %s", got, one.queue)
		}
		if got := slurmtext.ShowJob(one.job, oneLine); !strings.HasPrefix(got, one.shown) {
			t.Errorf("scontrol: %s, want %s", got, one.shown)
		}
		f, _ := slurmtext.ParseAccounting("jobid,jobidraw,state", "|", false)
		for batch, want := range map[bool]string{false: one.accounting, true: one.step} {
			if got := f.Line(&slurmtext.Record{Job: *one.job, Batch: batch, Canceller: "1000"}); got != want {
				t.Errorf("sacct: %s, want %s", got, want)
			}
		}
	}
	if out := several.JSON(); out["job_id"] != array || out["array_task_id"] != nil || out["array_task_string"] != "3-5,9%2" || out["array_max_tasks"] != 2 {
		t.Errorf("%+v", out)
	}
	if out := element.JSON(); out["array_job_id"] != array || out["array_task_id"] != 7 {
		t.Errorf("%+v", out)
	}
}
