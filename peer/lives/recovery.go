package lives

import (
	"iter"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RestoredReason is why a job of rows that may be older than what was done needs an operator.
const RestoredReason = "this database may not know all that was done as this site, and the job may have run"

// TwinRan says whether another peer may have run jobs of these rows: it began with a copy of
// them, or these are a copy of its own, and how far both had come then is not known. One of a
// line that an operator has given up since has not: what was there then has been left to an
// operator here already.
func (s *Store) TwinRan() bool { return s.Twin.Boot != 0 && s.Twin.Incarnation >= s.Incarnation }

// QueueMayHaveRun says whether what waits in the local queue may have started: the queue is a
// copy, or was put back with the rows, or another peer has a copy of it.
func (s *Store) QueueMayHaveRun() bool {
	return (s.QueueCopied || s.TwinRan()) && !s.here.QueueApart
}

// JobsMayHaveRun says whether jobs that wait, by these rows, may have gone on in a life that they
// do not know.
func (s *Store) JobsMayHaveRun() bool { return s.Recovery != "" || s.TwinRan() }

// MayHaveRun is why a job in the phase may have gone on in a life that these rows do not know;
// empty: it has not, or its site knows.
func (s *Store) MayHaveRun(phase row.JobPhase) string {
	if !s.JobsMayHaveRun() {
		return ""
	}
	switch phase {
	case row.JobInGridQueue, row.JobOffered, row.JobReserving:
		return RestoredReason
	case row.JobCommittedLocal:
		if s.QueueMayHaveRun() {
			return RestoredReason
		}
	case row.JobGranted, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding:
	}
	return ""
}

// NewLine gives the store, which goes on by an operator's word, an incarnation, a start, a
// generation and job IDs above all that was ever seen. Highest is the highest sequence number of
// a job of this site that a partner has seen.
func (s *Store) NewLine(now protocol.Instant, highest uint64) {
	most := Latest(Latest(s.Life(), s.here.Witness), Latest(s.known, s.Twin))
	s.settleOn()
	s.Incarnation = max(most.Incarnation+1, uint64(max(now, 1)))
	s.Boot, s.Begun = most.Boot+1, now
	s.Generation = most.Generation + 1
	s.began = s.Generation
	s.skipTo(max(sinceEpoch(now), highest+1))
}

// Recovered forgets why an operator had to decide. QueueCopied says that what waits in the local
// queue has to be taken out of it before anything starts.
func (s *Store) Recovered(queueCopied bool) {
	s.Twin, s.Recovery, s.reasons, s.Listening = protocol.Life{}, "", nil, false
	s.Witnessed, s.QueueCopied = protocol.Life{}, queueCopied
}

// TakesOut says whether what waits in a local queue that was copied is taken out of it now.
func (s *Store) TakesOut() bool { return s.QueueCopied && !s.NeedsOperator() }

// View says what is wrong with the store.
func (s *Store) View() view.Recovery {
	v := view.Recovery{
		Needed: s.NeedsOperator(), Reasons: s.reasons, Life: s.Life(), Known: s.known,
		NextID: protocol.NewJobID(s.here.Number, s.NextSeq), Unknown: s.viewUnknown(),
	}
	if len(v.Reasons) == 0 && s.Recovery != "" {
		v.Reasons = []string{s.Recovery}
	}
	if s.Twin.Boot != 0 {
		v.Reasons = append(slices.Clone(v.Reasons), s.TwinText())
	}
	v.QueueCopied = v.Needed && s.QueueMayHaveRun()
	return v
}

// ListJobs lists jobs of this site, in order, by what becomes of them when the store goes on.
func ListJobs(v *view.Recovery, jobs iter.Seq[*row.Job]) {
	for j := range jobs {
		id := j.Spec.Job
		switch {
		case j.OperatorReason != "":
			v.InDoubt = append(v.InDoubt, id)
		case j.Phase == row.JobInGridQueue || j.Phase == row.JobOffered || j.Phase == row.JobReserving:
			v.Waiting = append(v.Waiting, id)
		case j.Phase == row.JobCommittedLocal:
			v.Here = append(v.Here, id)
		default:
			v.Elsewhere = append(v.Elsewhere, id)
		}
	}
}
