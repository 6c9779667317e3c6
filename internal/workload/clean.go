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

	// KeepOverruns has jobs run as long as they did where that was longer than they
	// asked for. Otherwise they are cut there, as a batch system does that keeps its
	// limits.
	KeepOverruns bool
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
	Kept       int // jobs that ran longer than requested and keep their run time
	Lengthened int // jobs whose run time was raised to a second
	Raised     int // jobs whose estimate was raised to the run time, or to a second
	Assumed    int // jobs without a requested time, whose estimate is the run time

	Work    float64 // of the jobs as recorded, in CPU·ms
	Overrun float64 // of that, what is beyond the requested times
}

// Clean makes jobs of a trace's records, in order, with the rule of the
// reference schedules: CPUs = allocated, else requested; estimate =
// max(requested, run, 1 s); run = max(min(requested, run), 1 s), or with
// [CleanOptions.KeepOverruns] max(run, 1 s). Where no time (or none above 0) was
// requested the estimate is the run time. Run times are the same with perfect
// estimates and with those of the trace.
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
		job.Run, job.Estimate = cleanTimes(&c, r, cpus, o.KeepOverruns)
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
func cleanTimes(c *Cleaning, r *Record, cpus int, keep bool) (run, estimate protocol.Duration) {
	requested := r.ReqTime
	if requested <= 0 {
		requested = r.Run
		c.Assumed++
	} else if requested < max(r.Run, protocol.Second) {
		c.Raised++
	}
	c.Work += float64(cpus) * float64(r.Run)
	run, estimate = r.Run, max(requested, r.Run, protocol.Second)
	if run > requested {
		c.Overrun += float64(cpus) * float64(run-requested)
		if keep {
			c.Kept++
		} else {
			c.Cut++
			run = requested
		}
	}
	if run < protocol.Second {
		run = protocol.Second
		c.Lengthened++
	}
	return run, estimate
}

// Dropped is how many records were left out.
func (c Cleaning) Dropped() int { return c.Records - c.Jobs }

// AsIs tells whether every record is a job and no job differs from its record.
func (c Cleaning) AsIs() bool {
	return c == Cleaning{Records: c.Records, Jobs: c.Records, Kept: c.Kept, Work: c.Work, Overrun: c.Overrun}
}

// Overran is the part of the jobs' recorded work that is beyond what they asked
// for, whether it was cut or kept.
func (c Cleaning) Overran() float64 {
	if c.Work == 0 {
		return 0
	}
	return c.Overrun / c.Work
}

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
	return map[string]int{"cut": c.Cut, "kept": c.Kept, "lengthened": c.Lengthened, "raised": c.Raised, "assumed": c.Assumed}
}

// String tells the counts that are not zero.
func (c Cleaning) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d jobs of %d records", c.Jobs, c.Records)
	tell := func(count int, text string) {
		if count > 0 {
			fmt.Fprintf(&b, "; %d %s", count, text)
		}
	}
	tell(c.NoSubmit, "left out without a submit time")
	tell(c.Window, "left out as outside the window")
	tell(c.Queue, "left out by their queue")
	tell(c.Status, "left out by their status")
	tell(c.NoRun, "left out without a run time")
	tell(c.ZeroRun, "left out with run time 0")
	tell(c.NoCPUs, "left out without CPUs")
	tell(c.Repeated, "left out for a job number that came before or is missing")
	over := c.Cut + c.Kept
	if over > 0 {
		b.WriteString("; " + c.overruns())
	}
	tell(c.Lengthened, "run times raised to a second")
	if c.Raised > over {
		tell(c.Raised-over, "estimates raised to a second")
	}
	tell(c.Assumed, "estimates not in the trace, taken from the run time")
	return b.String()
}

// overruns tells once of the jobs that ran longer than they asked for: that run
// times are cut and estimates raised would read as if of different jobs.
func (c Cleaning) overruns() string {
	over := c.Cut + c.Kept
	text := fmt.Sprintf("%d (%.1f %%) that ran longer than requested: ", over, 100*float64(over)/float64(c.Jobs))
	remedy := ""
	if c.Kept > 0 {
		text += fmt.Sprintf("not cut, with %.1f %% of the work beyond the requests", 100*c.Overran())
	} else {
		text += fmt.Sprintf("cut to the request, without %.1f %% of the work", 100*c.Overran())
		remedy = " (--keep-overruns or keep_overruns = true keeps it)"
	}
	if c.Raised > 0 {
		text += ", and planned with the recorded run time"
	}
	return text + remedy
}

// plus sums up the counts of two parts of a trace.
func (c Cleaning) plus(o Cleaning) Cleaning {
	return Cleaning{
		Records: c.Records + o.Records, Jobs: c.Jobs + o.Jobs,
		NoSubmit: c.NoSubmit + o.NoSubmit, Window: c.Window + o.Window, Queue: c.Queue + o.Queue, Status: c.Status + o.Status,
		NoRun: c.NoRun + o.NoRun, ZeroRun: c.ZeroRun + o.ZeroRun, NoCPUs: c.NoCPUs + o.NoCPUs, Repeated: c.Repeated + o.Repeated,
		Cut: c.Cut + o.Cut, Kept: c.Kept + o.Kept, Lengthened: c.Lengthened + o.Lengthened, Raised: c.Raised + o.Raised,
		Assumed: c.Assumed + o.Assumed, Work: c.Work + o.Work, Overrun: c.Overrun + o.Overrun,
	}
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
