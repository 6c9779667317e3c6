package row

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The start and the end of a job elsewhere are those that its site says, however late the message
// comes. What that site says by its clock is only compared with when it says so, so that its clock
// may be wrong; and no job starts before it was placed, or ends later than it is heard of.

// TakeStatus takes its site's report on the job, which came now. It says whether the job runs only by that.
func (j *Job) TakeStatus(m *protocol.Status, now protocol.Instant) (began bool) {
	began = m.State == protocol.Running && j.State != protocol.Running
	j.StatusSeq, j.State, j.Reason, j.OperatorReason, j.Restored = m.Seq, m.State, view.Clip(m.Reason), "", false
	if m.State == protocol.Running {
		j.TimeLimit = m.TimeLimit
	}
	if m.State == protocol.Running && j.Started == 0 {
		j.Started = j.within(now.Add(-m.Ran), now)
	}
	j.noteOffset(m.At, now)
	return began
}

// TakeTimes takes from its site's result, which came now, when the job ran.
func (j *Job) TakeTimes(m *protocol.Result, now protocol.Instant) {
	ended := now
	if m.At != 0 && m.Ended != 0 {
		ended = now.Add(-max(0, m.At.Sub(m.Ended)))
	}
	j.Ended = j.within(ended, now)
	j.noteOffset(m.At, now)
	var started protocol.Instant
	switch {
	case m.At != 0 && m.Started != 0:
		started = now.Add(-max(0, m.At.Sub(m.Started)))
	case j.Started == 0 && m.Outcome.Ran > 0:
		started = j.Ended.Add(-m.Outcome.Ran)
	}
	if started != 0 && (j.Started == 0 || started < j.Started) { // a status may have been long on its way
		j.Started = j.within(started, now)
	}
	j.Started = min(j.Started, j.Ended)
}

// within is an instant in the time in which the job was at its site.
func (j *Job) within(at, now protocol.Instant) protocol.Instant {
	return min(max(at, j.CommittedAt), now)
}

// MaxClockOffset is how far the clock of another site may be off, or go wrong during a job, for what it says of times to be taken as it
// is.
const MaxClockOffset = 5 * protocol.Minute

// measured is within which time of a run what it used may have been measured: accounting has also the start of its processes, and
// counters of energy are read from time to time.
const measured = protocol.Minute

// maxPowerOfCPU is more than a CPU draws, in milliwatts.
const maxPowerOfCPU = 1_000_000

// HeldFor is how long the job has been at its site at most. A row that is older than the placement knows only when the job was
// submitted.
func (j *Job) HeldFor(now protocol.Instant) protocol.Duration {
	since := j.CommittedAt
	if j.Restored || since == 0 {
		since = j.Spec.Submitted
	}
	return max(0, now.Sub(since))
}

// Bound bounds what its site says of a run that has ended by what can be: it took no longer than the job was there, and used no more than
// all CPUs of the site until it was measured, of which it may have had more than it asked for; 0: how many there are is not known. It
// returns what was wrong; empty: nothing.
func (j *Job) Bound(outcome *protocol.Outcome, cpus int, now protocol.Instant) (wrong string) {
	var faults []string
	if most := j.HeldFor(now).Plus(MaxClockOffset); outcome.Ran > most {
		faults = append(faults, fmt.Sprintf("it ran %s, and was there for %s", outcome.Ran.Text(), j.HeldFor(now).Text()))
		outcome.Ran = most
	}
	if cpus == 0 {
		return strings.Join(faults, "; ")
	}
	used := &outcome.Usage
	all := int128.Product(int64(outcome.Ran.Plus(measured)), int64(max(cpus, j.Spec.CPUs)))
	if most := protocol.Duration(all.Down()); used.CPU > most {
		faults = append(faults, fmt.Sprintf("it used %s of CPU time, and the CPUs of the site had %s", used.CPU.Text(), most.Text()))
		used.CPU = most
	}
	if most := all.Times(maxPowerOfCPU).Down(int64(protocol.Second)); used.Energy > most {
		faults = append(faults, fmt.Sprintf("it used %d J, and the CPUs of the site draw less than %d J in that time", used.Energy/1000, most/1000))
		used.Energy = most
	}
	return strings.Join(faults, "; ")
}

// noteOffset keeps how far the clock of the job's site is ahead, by a message that was sent at an
// instant of it.
func (j *Job) noteOffset(sent, now protocol.Instant) {
	if sent != 0 {
		j.Offset = sent.Sub(now)
	}
}

// Adopt takes the word of a partner, or of the local scheduler, that it has the job at an epoch that the row, which is older, does not
// know. If the row has it cancelled, it has been requeued after that, unless it was cancelled when the row was known to be older.
func (j *Job) Adopt(site protocol.SiteName, epoch protocol.Epoch) {
	j.Requeueing = false
	if !j.CancelsAny {
		j.Cancelling, j.CancelledBy = false, ""
	}
	j.Epoch, j.Site, j.OperatorReason, j.StatusSeq, j.ReserveFrom, j.ReservedAt = epoch, site, "", 0, 0, 0
}

// Rerun forgets how the job ran and ended, since it is placed again.
func (j *Job) Rerun() {
	j.Outcome, j.Undelivered, j.Started, j.Ended = nil, nil, 0, 0
	if !j.Requeueing {
		j.Reruns++
		j.SetHold("") // which came too late for a run that has been
	}
	j.Spec.Restarts++
}
