package row

import (
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

// noteOffset keeps how far the clock of the job's site is ahead, by a message that was sent at an
// instant of it.
func (j *Job) noteOffset(sent, now protocol.Instant) {
	if sent != 0 {
		j.Offset = sent.Sub(now)
	}
}

// Adopt takes a partner's word that it has the job at an epoch that the row, which is older, does not know.
func (j *Job) Adopt(site protocol.SiteName, epoch protocol.Epoch) {
	j.Requeueing = false
	j.Epoch, j.Site, j.OperatorReason, j.StatusSeq, j.ReserveFrom, j.ReservedAt = epoch, site, "", 0, 0, 0
}

// Rerun forgets how the job ran and ended, since it is placed again.
func (j *Job) Rerun() {
	j.Outcome, j.Started, j.Ended = nil, 0, 0
	if !j.Requeueing {
		j.Reruns++
		j.SetHold("") // which came too late for a run that has been
	}
	j.Spec.Restarts++
}
