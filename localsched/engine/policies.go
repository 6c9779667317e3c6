package engine

import (
	"fmt"
	"strings"
)

// Names are the names of the policies that [Named] knows, without its aliases.
func Names() []string {
	return []string{"easy", "fcfs", "conservative", "firstfit", "sjf", "sjffit", "easysjbf", MultifactorName}
}

// Named is the policy of a name. The aliases fcfsbf and ff, after [SS 3], are
// easy and firstfit. The error names the choices.
func Named(name string) (Policy, error) {
	switch name {
	case "easy", "fcfsbf":
		return EASY(), nil
	case "fcfs":
		return FCFS(), nil
	case "conservative":
		return Conservative(), nil
	case "firstfit", "ff":
		return FirstFit(), nil
	case "sjf":
		return SJF(), nil
	case "sjffit":
		return SJFFit(), nil
	case "easysjbf":
		return EASYSJBF(), nil
	case MultifactorName:
		return Multifactor(), nil
	}
	return nil, fmt.Errorf("no local policy is called %q; choose one of %s (or fcfsbf, ff)",
		name, strings.Join(Names(), ", "))
}

// bySubmission is the order of jobs that come first served.
type bySubmission struct{}

func (bySubmission) Rank(PendingJob) int64 { return 0 }

// byTime puts the shortest estimate first.
type byTime struct{}

func (byTime) Rank(w PendingJob) int64 { return int64(w.Time) }

// FCFS is plain first come first served: nothing overtakes a job that waits.
func FCFS() Policy { return fcfs{} }

type fcfs struct{ bySubmission }

func (fcfs) PlanMode() PlanMode { return PlanLookup }

func (fcfs) Pass(f *ClusterState) BackfillWindow { return startInOrder(f) }

// startInOrder starts jobs until one does not fit.
func startInOrder(f *ClusterState) BackfillWindow {
	f.StartHeads()
	if _, blocked := f.Head(); blocked {
		return BackfillWindow{}
	}
	return Open(f.FreeSet().Free())
}

// SJF is shortest job first by estimates, without overtaking: the shortest job
// waits until it fits, and the others with it.
func SJF() Policy { return sjf{} }

type sjf struct{ byTime }

func (sjf) PlanMode() PlanMode { return PlanInOrder }

func (sjf) Pass(f *ClusterState) BackfillWindow { return startInOrder(f) }

// FirstFit starts whatever fits, in the order of submission. Wide jobs may
// starve. FF of [SS 3].
func FirstFit() Policy { return firstFit{} }

type firstFit struct{ bySubmission }

func (firstFit) PlanMode() PlanMode { return PlanLookup }

func (firstFit) Pass(f *ClusterState) BackfillWindow {
	return startFitting(f, func(BackfillWindow, PendingJob) {})
}

// SJFFit starts whatever fits, the shortest estimate first. Wide and long jobs
// may starve.
func SJFFit() Policy { return sjfFit{} }

type sjfFit struct{ byTime }

func (sjfFit) PlanMode() PlanMode { return PlanLookup }

func (sjfFit) Pass(f *ClusterState) BackfillWindow {
	return startFitting(f, func(left BackfillWindow, job PendingJob) { f.AddWindow(left, job.Time) })
}

// startFitting starts all that fits, in the order of the queue, and tells of
// each job before it starts.
func startFitting(f *ClusterState, starting func(left BackfillWindow, job PendingJob)) BackfillWindow {
	left := f.window()
	for c, ok := f.Next(Cursor{}, left); ok; c, ok = f.Next(c, left) {
		job := f.At(c)
		place, fits := f.Find(&job, nil)
		starting(left, job)
		if fits {
			f.Start(c, place)
		} else if !f.StartShorter(c, lastInstant) {
			c = c.After()
			continue
		}
		left = f.window()
	}
	return left
}

// EASY is first come first served with EASY backfilling: jobs start in the order
// of submission; the first that does not fit is given a reservation at the
// earliest time at which enough is free by estimates (the shadow time), and later
// jobs may start before it if they do not delay that. No other job has a
// reservation. [Lifka, The ANL/IBM SP scheduling system, JSSPP 1995] FCFS+BF of
// [SS 3].
func EASY() Policy { return easy{} }

type easy struct{ bySubmission }

func (easy) PlanMode() PlanMode { return PlanLookup }

func (easy) Pass(f *ClusterState) BackfillWindow {
	left, beside, blocked := startHeads(f)
	if !blocked {
		return left
	}
	c, ok := f.Next(Cursor{}.After(), left)
	for ; ok; c, ok = f.Next(c, left) {
		if !backfill(f, c, left, beside) {
			c = c.After()
			continue
		}
		left.Free, left.Extra = f.FreeSet().Free(), beside.Free()
	}
	return left
}

// EASYSJBF is EASY whose later jobs overtake the shortest estimate first.
// [Tsafrir, Etsion, Feitelson, Backfilling using system-generated predictions
// rather than user runtime estimates, TPDS 2007]
func EASYSJBF() Policy { return easySJBF{} }

type easySJBF struct{ bySubmission }

func (easySJBF) PlanMode() PlanMode { return PlanLookup }

func (easySJBF) Overtake(w PendingJob) int64 { return int64(w.Time) }

func (easySJBF) Pass(f *ClusterState) BackfillWindow {
	left, beside, blocked := startHeads(f)
	if !blocked {
		return left
	}
	c, ok := f.NextOver(Cursor{}, left)
	for ; ok; c, ok = f.NextOver(c, left) {
		job, at := f.AtOver(c)
		if at == (Cursor{}) || !backfill(f, at, left, beside) { // the head has its reservation
			c = c.After()
			continue
		}
		f.AddWindow(left, job.Time)
		left.Free, left.Extra = f.FreeSet().Free(), beside.Free()
	}
	return left
}

// MultifactorName is the name of [Multifactor].
const MultifactorName = "multifactor"

// Multifactor is EASY in the order of [protocol.Request.Priority], the highest first, and jobs of the same priority in
// the order of submission. Whoever submits jobs states their priorities, and changes them later by
// [Engine.SetPriorities]. A job that comes or rises later may be the head, and have the reservation, in place of another.
func Multifactor() Policy { return multifactor{} }

type multifactor struct{ easy }

func (multifactor) Rank(w PendingJob) int64 { return -w.priority }

func (multifactor) PlanMode() PlanMode { return PlanSimulate }

// startHeads starts jobs from the head of the queue and reserves for the first
// that does not fit, if there is one.
func startHeads(f *ClusterState) (left BackfillWindow, beside FreeSet, blocked bool) {
	f.StartHeads()
	head, blocked := f.Head()
	if !blocked {
		return Open(f.FreeSet().Free()), nil, false
	}
	at, beside := f.Reserve(head)
	return BackfillWindow{Free: f.FreeSet().Free(), Extra: beside.Free(), Shadow: at}, beside, true
}

// backfill starts the job at c if it has a place. A short job is over by the
// shadow, perhaps with a shorter time than it asks for; another one must leave the head's place alone.
func backfill(f *ClusterState, c Cursor, left BackfillWindow, beside FreeSet) bool {
	job := f.At(c)
	if left.Shadow.Sub(f.Now()) >= job.Time {
		beside = nil
	}
	if place, ok := f.Find(&job, beside); ok {
		f.Start(c, place)
		return true
	}
	return f.StartShorter(c, left.Shadow)
}

// Conservative is conservative backfilling: every job gets a reservation when
// it comes, and none may delay another's. When a job leaves, the reservations of those
// that wait are planned again in the order of submission, never later.
// [Mu'alem, Feitelson, Utilization, predictability, workloads, and user runtime
// estimates in scheduling the IBM SP2 with backfilling, TPDS 2001]
func Conservative() Policy { return conservative{} }

type conservative struct{ bySubmission }

func (conservative) PlanMode() PlanMode { return PlanReserved }

func (conservative) Pass(f *ClusterState) BackfillWindow {
	f.ReserveAll()
	return BackfillWindow{}
}
