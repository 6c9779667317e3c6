package wait

import (
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Past is a job whose fate is known.
type Past struct {
	Job       Job
	Submit    protocol.Instant
	Wait      protocol.Duration // until it started, or was withdrawn
	Run       protocol.Duration // 0 if it was withdrawn
	Withdrawn bool
	Completed bool // it ran to its end by itself: neither failed nor cancelled
}

// Response is how long the job took from its submission to its end.
func (p Past) Response() protocol.Duration { return p.Wait + p.Run }

// PastOptions says what of a trace's records is believed.
type PastOptions struct {
	// OneQueue takes the queues together, for a system whose queues share its CPUs
	// without an order of their own.
	OneQueue bool
}

// Left counts the records of a trace that tell no fate, each for the first reason
// that applies.
type Left struct {
	Records  int // there were
	NoSubmit int // the submit time is not known
	NoWait   int // the wait is not known
	NoCPUs   int // neither allocated nor requested CPUs are known
}

// PastOf makes jobs of a trace's records, in their order. CPUs are those
// allocated, else those requested. The estimate is the requested time, never the
// run time, which is unknown at the submission: without one it is 0. A record
// that was cancelled and never ran was withdrawn after its wait.
func PastOf(t *workload.Trace, o PastOptions) ([]Past, Left) {
	left := Left{Records: len(t.Records)}
	past := make([]Past, 0, len(t.Records))
	for i := range t.Records {
		r := &t.Records[i]
		cpus := r.CPUs
		if cpus < 1 {
			cpus = r.ReqCPUs
		}
		switch {
		case r.Submit < 0:
			left.NoSubmit++
			continue
		case r.Wait < 0:
			left.NoWait++
			continue
		case cpus < 1:
			left.NoCPUs++
			continue
		}
		job := Job{ID: int64(len(past)) + 1, User: r.User, Queue: r.Queue, CPUs: cpus, Estimate: max(r.ReqTime, 0)}
		if o.OneQueue {
			job.Queue = 0
		}
		past = append(past, Past{
			Job: job, Submit: r.Submit, Wait: r.Wait, Run: max(r.Run, 0),
			Withdrawn: r.Status == workload.StatusCancelled && r.Run <= 0,
			Completed: r.Status == workload.StatusCompleted,
		})
	}
	return past, left
}
