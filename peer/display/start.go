package display

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Starts lists pending jobs with when they are expected to start, the soonest first, and last those of which
// nothing is known.
func Starts(jobs []view.Job, now time.Time) *console.Table {
	at := protocol.InstantOf(now)
	expected := func(job *view.Job) protocol.Instant {
		start, known := job.ExpectedStart(at)
		if !known {
			return protocol.Instant(protocol.Never)
		}
		return start.Median
	}
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b view.Job) int { return cmp.Compare(expected(&a), expected(&b)) })
	t := console.NewTable(" JOBID", "NAME", "USER", " CPUS", "SITE", "START", "EARLIEST", "LATEST", " AGE", "REASON")
	for i := range jobs {
		job := &jobs[i]
		cells := []string{job.Label(), console.Plain(job.Name), console.Plain(job.User), strconv.Itoa(job.CPUs), console.OrDash(string(job.Site))}
		if start, known := job.ExpectedStart(at); known {
			cells = append(cells, console.Clock(start.Median), console.Clock(start.Low), console.Clock(start.High), ageOf(start, at))
		} else {
			cells = append(cells, "-", "-", "-", "-")
		}
		t.Add(append(cells, console.Plain(job.Reason))...)
	}
	return t
}

// ageOf is how long ago a start was planned or quoted; a dash if it does not age.
func ageOf(start view.ExpectedStart, now protocol.Instant) string {
	if start.Stated == 0 {
		return "-"
	}
	return console.Span(max(0, now.Sub(start.Stated)))
}
