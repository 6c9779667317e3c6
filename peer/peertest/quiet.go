package peertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Quiet says what still goes on; empty: every acknowledged job has ended and
// every guest is closed.
func (w *World) Quiet() (busy string) {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(w.monitor.acked)) {
		s := w.Site(w.monitor.acked[id])
		if row, ok := s.rows.Job(id); ok {
			out = append(out, fmt.Sprintf("job %v of %s is %s at epoch %d, site %q, reason %q, stuck %q",
				id, s.Name, row.Phase, row.Epoch, row.Site, row.Reason, row.OperatorReason))
		}
	}
	for _, s := range w.sites {
		for _, a := range rowsAs[row.Array](s.rows.Rows[row.ArrayTable]) {
			out = append(out, fmt.Sprintf("array %v of %s has not ended: pending %v, hold %q, waits for %v", a.ID(), s.Name, a.Pending, a.Job.Wants().Hold, a.Job.Wants().Dependency))
		}
		for _, g := range s.rows.Guests() {
			if g.Phase == row.GuestPrepared || g.Phase == row.GuestAccepted {
				out = append(out, fmt.Sprintf("guest %v of %s at %s is %s at epoch %d", g.Spec.Job, g.Origin, s.Name, g.Phase, g.Epoch))
			}
		}
		for _, r := range s.rows.Runs() {
			out = append(out, fmt.Sprintf("run %v at %s is %s", r.Tag, s.Name, r.Phase))
		}
	}
	return strings.Join(out, "\n")
}

// RunUntilQuiet lets time pass until nothing goes on any more, or so long. It
// returns what still goes on.
func (w *World) RunUntilQuiet(within protocol.Duration) (busy string) {
	for end := w.now.Add(within); w.now < end && w.Err() == nil; {
		if busy = w.Quiet(); busy == "" {
			w.Advance(2 * protocol.Minute) // let the last messages arrive
			return w.Quiet()
		}
		w.Advance(30 * protocol.Second)
	}
	return busy
}

// End is how an acknowledged job ended, and how often it was started.
type End struct {
	Job      protocol.JobID
	State    protocol.State
	Starts   int
	Restarts int // that its origin has wanted after runs that had started
	Requeue  bool
}

// Ends are the ends of all acknowledged jobs, by id. State is zero for a job
// that has not ended.
func (w *World) Ends() []End {
	var out []End
	jobs := maps.Clone(w.monitor.acked)
	for id := range w.monitor.ends { // elements of arrays are not acknowledged one by one
		jobs[id] = ""
	}
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		if w.monitor.arrays[id] != 0 {
			continue
		}
		out = append(out, End{
			Job: id, State: w.monitor.ends[id], Starts: len(w.monitor.starts[id]), Restarts: w.monitor.restarts[id] - w.monitor.idle[id], Requeue: w.monitor.requeue[id],
		})
	}
	return out
}

// LastStart is when and where a job was started last; the time is 0 when it never was.
func (w *World) LastStart(job protocol.JobID) (at protocol.Instant, site protocol.SiteName) {
	starts := w.monitor.starts[job]
	if len(starts) == 0 {
		return 0, ""
	}
	last := starts[len(starts)-1]
	return last.at, last.site
}
