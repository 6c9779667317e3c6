package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The start and the end of a job elsewhere are those that its site says, however late the message
// comes. What that site says by its clock is only compared with when it says so, so that its clock
// may be wrong; and no job starts before it was placed, or ends later than it is heard of.

// timesThere notes when a job ran elsewhere.
func (p *Peer) timesThere(j *tables.Job, m *protocol.Result) {
	ended := p.now
	if m.At != 0 && m.Ended != 0 {
		ended = p.now.Add(-max(0, m.At.Sub(m.Ended)))
	}
	j.Ended = p.within(j, ended)
	p.noteOffset(j, m.At)
	var started protocol.Instant
	switch {
	case m.At != 0 && m.Started != 0:
		started = p.now.Add(-max(0, m.At.Sub(m.Started)))
	case j.Started == 0 && m.Outcome.Ran > 0:
		started = j.Ended.Add(-m.Outcome.Ran)
	}
	if started != 0 && (j.Started == 0 || started < j.Started) { // a status may have been long on its way
		j.Started = p.within(j, started)
	}
	j.Started = min(j.Started, j.Ended)
}

// within is an instant in the time in which a job was at its site.
func (p *Peer) within(j *tables.Job, at protocol.Instant) protocol.Instant {
	return min(max(at, j.CommittedAt), p.now)
}

// noteOffset keeps how far the clock of a job's site is ahead, by a message that was sent at an
// instant of it.
func (p *Peer) noteOffset(j *tables.Job, sent protocol.Instant) {
	if sent != 0 {
		j.Offset = sent.Sub(p.now)
	}
}
