package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// CleanOptions says which records of a trace become jobs, and how.
type CleanOptions struct {
	// Perfect makes every estimate the run time. Otherwise it is what the user
	// requested, as far as the trace tells.
	Perfect bool

	// From and To bound the submissions, in the time of the trace: From is in, To
	// is out; 0: no end. An end before the trace's beginning leaves nothing. From is
	// where the workload's time begins, so that workloads cut to one span start
	// together. See [Header.At].
	From, To protocol.Instant

	Queues   []int // to leave out; 0 is by convention the interactive one
	Statuses []int // to leave out

	// ZeroRuns leaves out the records whose run time is 0, which the format uses
	// for less than half a second. Otherwise they run for a second.
	ZeroRuns bool
}

// Cleaning tells what became of the records of a trace: each is a job or was
// left out for the first reason that applies, in this order.
type Cleaning struct {
	Records int // there were
	Jobs    int // there are

	NoSubmit int // left out: the submit time is not known
	Window   int // left out: submitted outside the window
	Queue    int // left out: its queue
	Status   int // left out: its status
	NoRun    int // left out: the run time is not known
	ZeroRun  int // left out: the run time is 0
	NoCPUs   int // left out: neither allocated nor requested CPUs are known
	Repeated int // left out: a record kept before has the same job number, or this one has none

	Cut        int // jobs whose run time was cut to the requested time
	Lengthened int // jobs whose run time was raised to a second
	Raised     int // jobs whose estimate was raised to the run time, or to a second
	Assumed    int // jobs without a requested time, whose estimate is the run time
}

// Clean makes jobs of a trace's records, in order, with the rule of the
// reference schedules: CPUs = allocated, else requested; estimate =
// max(requested, run, 1 s); run = max(min(requested, run), 1 s). Where no time
// (or none above 0) was requested the estimate is the run time. Run times are
// the same with perfect estimates and with those of the trace.
func Clean(t *Trace, o CleanOptions) ([]Job, Cleaning) {
	c := Cleaning{Records: len(t.Records)}
	jobs := make([]Job, 0, len(t.Records))
	ids := cleanIDs{}
	for i := range t.Records {
		r := &t.Records[i]
		cpus := r.CPUs
		if cpus <= 0 {
			cpus = r.ReqCPUs
		}
		reason := cleanReason(&c, r, &o)
		switch {
		case reason != nil:
		case cpus <= 0:
			reason = &c.NoCPUs
		case !ids.add(r.ID, jobs):
			reason = &c.Repeated
		}
		if reason != nil {
			*reason++
			continue
		}
		job := Job{ID: r.ID, User: r.User, Submit: r.Submit - o.From, CPUs: cpus}
		job.Run, job.Estimate = cleanTimes(&c, r.Run, r.ReqTime)
		if o.Perfect {
			job.Estimate = job.Run
		}
		jobs = append(jobs, job)
	}
	c.Jobs = len(jobs)
	if o.Perfect {
		c.Raised, c.Assumed = 0, 0
	}
	return jobs, c
}

// cleanReason returns the count of what forbids a record, or nil.
func cleanReason(c *Cleaning, r *Record, o *CleanOptions) *int {
	switch {
	case r.Submit < 0:
		return &c.NoSubmit
	case r.Submit < o.From || o.To != 0 && r.Submit >= o.To:
		return &c.Window
	case slices.Contains(o.Queues, r.Queue):
		return &c.Queue
	case slices.Contains(o.Statuses, r.Status):
		return &c.Status
	case r.Run < 0:
		return &c.NoRun
	case r.Run == 0 && o.ZeroRuns:
		return &c.ZeroRun
	}
	return nil
}

// cleanTimes applies the rule of [Clean].
func cleanTimes(c *Cleaning, run, requested protocol.Duration) (ran, estimate protocol.Duration) {
	if requested <= 0 {
		requested = run
		c.Assumed++
	} else if requested < max(run, protocol.Second) {
		c.Raised++
	}
	ran, estimate = min(requested, run), max(requested, run, protocol.Second)
	if ran < run {
		c.Cut++
	}
	if ran < protocol.Second {
		ran = protocol.Second
		c.Lengthened++
	}
	return ran, estimate
}

// Dropped is how many records were left out.
func (c Cleaning) Dropped() int { return c.Records - c.Jobs }

// AsIs tells whether every record is a job and no job differs from its record.
func (c Cleaning) AsIs() bool { return c == Cleaning{Records: c.Records, Jobs: c.Records} }

// LeftOut returns the records that are no jobs by reason, as JSON has them. They
// add up to those dropped.
func (c Cleaning) LeftOut() map[string]int {
	return map[string]int{
		"no_submit": c.NoSubmit, "window": c.Window, "queue": c.Queue, "status": c.Status, "no_run": c.NoRun,
		"zero_run": c.ZeroRun, "no_cpus": c.NoCPUs, "repeated": c.Repeated,
	}
}

// Changed returns how many jobs differ from their records by what differs, as
// JSON has them. A job may be in several.
func (c Cleaning) Changed() map[string]int {
	return map[string]int{"cut": c.Cut, "lengthened": c.Lengthened, "raised": c.Raised, "assumed": c.Assumed}
}

// String tells the counts that are not zero.
func (c Cleaning) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d jobs of %d records", c.Jobs, c.Records)
	for _, part := range []struct {
		count int
		text  string
	}{
		{c.NoSubmit, "left out without a submit time"},
		{c.Window, "left out as outside the window"},
		{c.Queue, "left out by their queue"},
		{c.Status, "left out by their status"},
		{c.NoRun, "left out without a run time"},
		{c.ZeroRun, "left out with run time 0"},
		{c.NoCPUs, "left out without CPUs"},
		{c.Repeated, "left out for a job number that came before or is missing"},
		{c.Cut, "run times cut to the requested time"},
		{c.Lengthened, "run times raised to a second"},
		{c.Raised, "estimates raised to the recorded run time"},
		{c.Assumed, "estimates not in the trace, taken from the run time"},
	} {
		if part.count > 0 {
			fmt.Fprintf(&b, "; %d %s", part.count, part.text)
		}
	}
	return b.String()
}

// cleanIDs knows the job numbers of the jobs kept. Most traces number their jobs
// in rising order, where the last number is enough.
type cleanIDs struct {
	known map[int64]bool // nil as long as they rise
}

// add tells whether a number is one and is not that of a job kept.
func (ids *cleanIDs) add(id int64, kept []Job) bool {
	switch {
	case id < 0 || ids.known[id]:
		return false
	case ids.known != nil:
		ids.known[id] = true
		return true
	case len(kept) == 0 || id > kept[len(kept)-1].ID:
		return true
	}
	ids.known = make(map[int64]bool, 2*len(kept))
	for i := range kept {
		ids.known[kept[i].ID] = true
	}
	return ids.add(id, kept)
}
