package lives

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// epoch2026 is 2026-01-01 00:00 UTC: a new store's job IDs begin at the
// milliseconds since then, above whatever an older store of this site gave out.
const epoch2026 protocol.Instant = 1_767_225_600_000

// sinceEpoch is a sequence number that no store of this site has reached before the instant, unless it was younger than
// [idBurst] or went on above what a partner had seen: see [Store.RefuseIDs].
func sinceEpoch(now protocol.Instant) uint64 { return uint64(max(0, now.Sub(epoch2026))) }

// idBurst is the age up to which a new store may give out job IDs faster than one in a millisecond: in all, one for each of it.
const idBurst = 2 * protocol.Hour

// RefuseIDs says why a number of job IDs cannot be given out now; empty: they can. A store that replaces this one, if that is
// lost, begins with the IDs of its own time, and must give out none again.
func (s *Store) RefuseIDs(now protocol.Instant, number uint64) string {
	if left := uint64(protocol.SeqsPerSite) - min(s.NextSeq, protocol.SeqsPerSite); number > left {
		return fmt.Sprintf("only %d job IDs are left at this site; it needs another number", left)
	}
	issued := s.NextSeq - s.FirstSeq
	for _, gap := range s.Gaps {
		issued -= gap.To - gap.From
	}
	may := uint64(max(0, now.Sub(s.FirstStart), idBurst))
	if issued+number <= may {
		return ""
	}
	wait := protocol.Duration(issued + number - uint64(max(0, now.Sub(s.FirstStart)))) //nolint:gosec // both are far below
	return fmt.Sprintf("the submission takes %d job IDs (an array one for each index up to its last), of which this site has one for each millisecond: submit it again in %s, or use smaller indexes",
		number, wait.Text())
}

// maxGaps bounds what partners can add to the row of the site by saying, time after time, that
// they have seen a little more.
const maxGaps = 64

// SkipSeen keeps job IDs above the sequence number of one that a partner has seen of this site:
// an older store, now lost, gave it out. What partners say of job IDs cannot be checked, so that
// such are only skipped. Ignored is the reason why the claim is ignored, empty if it is not.
func (s *Store) SkipSeen(now protocol.Instant, seq uint64) (changed bool, ignored string) {
	if seq < s.NextSeq || s.Recovery != "" {
		return false, ""
	}
	if seq > sinceEpoch(now)+uint64(30*protocol.Day) {
		return false, fmt.Sprintf("its card says that it has seen job %d of this site, which no store can have given out yet", seq)
	}
	if s.FirstSeq == s.NextSeq { // none given out yet
		s.FirstSeq, s.NextSeq = seq+1, seq+1
		return true, ""
	}
	if len(s.Gaps) >= maxGaps {
		return false, fmt.Sprintf("its card says again that it has seen job %d of this site, which this store has not given out", seq)
	}
	return s.skipTo(seq + 1), ""
}

// skipTo lets job IDs go on at a sequence number. Those between belong to a life that this store
// does not know. It says whether any were skipped.
func (s *Store) skipTo(next uint64) bool {
	if next <= s.NextSeq {
		return false
	}
	gaps := slices.Clone(s.Gaps)
	if last := len(gaps) - 1; last >= 0 && gaps[last].To == s.NextSeq {
		gaps[last].To = next // a partner that goes on and on adds nothing
	} else {
		gaps = append(gaps, row.Gap{From: s.NextSeq, To: next})
	}
	s.Gaps, s.NextSeq = gaps, next
	return true
}

// InGap says whether a life that these rows do not know may have given the job ID out.
func (s *Store) InGap(id protocol.JobID) bool {
	return id.Origin() == s.here.Number && slices.ContainsFunc(s.Gaps, func(gap row.Gap) bool {
		return gap.From <= id.Seq() && id.Seq() < gap.To
	})
}

// IssuedHere reports whether this store issued the job ID. If it did and there is no job row, the job
// has finished, and a late message about it may be answered with Fenced. An ID outside
// [FirstSeq, NextSeq) may come from an earlier store of this site that was lost; its job must not be
// fenced.
func (s *Store) IssuedHere(id protocol.JobID) bool {
	return id.Origin() == s.here.Number && s.FirstSeq <= id.Seq() && id.Seq() < s.NextSeq && !s.InGap(id)
}

// GivenUp says whether an operator has cancelled what these rows do not know: partners may drop
// it.
func (s *Store) GivenUp(id protocol.JobID) bool {
	return s.Settle == row.SettleByCancel && !s.Mute() && s.InGap(id)
}

// Over says whether a job without a row has ended: this store has issued its ID, or an operator has given it
// up.
func (s *Store) Over(id protocol.JobID) bool { return s.IssuedHere(id) || s.GivenUp(id) }
