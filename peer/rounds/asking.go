package rounds

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Job is a job as far as it matters whom a round asks about it.
type Job struct {
	Row      *row.Job // nil: it has ended meanwhile
	Excluded *Exclusions
}

// MayAsk says whether the partner could run the job as it was submitted, and is not excluded.
func (j Job) MayAsk(one *partner.Partner, now protocol.Instant) bool {
	return one.Eligible(&j.Row.Spec, j.Row.Together()) && !j.Excluded.Excludes(one.Site, now)
}

// Asking judges whom a round asks about which rows.
type Asking struct {
	Round    *Round
	Partners []*partner.Partner // by name
	Job      func(row int) Job
	// HomeTakes says whether the own site would run a row. It is asked only if that matters.
	HomeTakes func(row int) bool
	Question  bool // people ask: they see the quotes of doubtful partners as ever
	Now       protocol.Instant
}

// Asks says whether the partner is to be asked about a row: its card and the submitter allow it, it is
// not excluded, and it volunteers if only volunteers are asked.
func (a *Asking) Asks(row int, one *partner.Partner) bool {
	j := a.Job(row)
	if j.Row == nil || !one.Eligible(&a.Round.Specs[row], j.Row.Together()) {
		return false
	}
	return !j.Excluded.Excludes(one.Site, a.Now) && (a.Round.Reach[row] == AllPartners || a.volunteers(j, one)) && !a.avoids(row, one)
}

// volunteers says whether a partner would take jobs and has not lost for this one.
func (a *Asking) volunteers(j Job, one *partner.Partner) bool {
	return one.Volunteer.For(j.Excluded.Rejected(one.Site), a.Now)
}

// Wanted says whether the partner is to be asked about any row, and has not been asked.
func (a *Asking) Wanted(one *partner.Partner) bool {
	if a.Round.AskOf(one) != nil {
		return false
	}
	for row := range a.Round.Specs {
		if a.Asks(row, one) {
			return true
		}
	}
	return false
}

// Rows are those that the partner is asked about: no more for which only volunteers are asked than its
// message may bring into rounds, and of a doubtful partner one job at most that others could run.
func (a *Asking) Rows(one *partner.Partner) (rows []int) {
	drawn := 0
	for row := range a.Round.Specs {
		draws := a.Round.Reach[row] == Volunteers
		if draws && !one.Volunteer.AnyNumber && drawn >= one.Volunteer.Left {
			continue
		}
		if a.Asks(row, one) && (!a.doubts(row, one) || len(rows) == 0) {
			rows = append(rows, row)
			if draws {
				drawn++
			}
		}
	}
	return rows
}

// avoids says whether a row is not for a doubtful partner. From time to time it gets one job all the
// same, to show that it has changed.
func (a *Asking) avoids(row int, one *partner.Partner) bool {
	return a.doubts(row, one) && !one.Probed(a.Now)
}

// doubts says whether the partner is doubtful, and another one, or this site, could run the row.
func (a *Asking) doubts(row int, one *partner.Partner) bool {
	return one.Row.Quality.Doubtful && !a.Question && a.elsewhere(row, one)
}

// elsewhere says whether a row could run here, or at another partner that is not in doubt.
func (a *Asking) elsewhere(row int, but *partner.Partner) bool {
	spec, j := &a.Round.Specs[row], a.Job(row)
	if j.Row == nil {
		return false
	}
	return a.HomeTakes(row) || slices.ContainsFunc(a.Partners, func(one *partner.Partner) bool {
		return one != but && one.Usable() && !one.Row.Quality.Doubtful &&
			one.Eligible(spec, j.Row.Together()) && !j.Excluded.Excludes(one.Site, a.Now)
	})
}

// Reach is whom to ask about a row by what opens rounds; shortcut says that the policy lets jobs stay
// at home whose wait is below φ. Volunteers are only those that the round will ask about the job: one
// that is never asked is never rejected either, and would be waited for at once again.
func (a *Asking) Reach(row int, by policy.Initiation, shortcut bool) Reach {
	j := a.Job(row)
	return ReachOf(by, a.Round.Home[row].Declined != "", shortcut, func() bool {
		return slices.ContainsFunc(a.Partners, func(one *partner.Partner) bool {
			return one.Usable() && j.MayAsk(one, a.Now) && a.volunteers(j, one) && !a.avoids(row, one)
		})
	})
}

// TriedInVain is why a site is not asked about a job that has just failed there.
const TriedInVain = "left out for a while, since an earlier try there failed"

// UnaskedReason says why a partner that is asked about other jobs of the round is not asked about a row.
func (a *Asking) UnaskedReason(row int, one *partner.Partner) string {
	j := a.Job(row)
	if j.Row == nil {
		return NotAsked
	}
	site := one.AsSite()
	if why := site.IneligibleReason(&a.Round.Specs[row], j.Row.Together()); why != "" {
		return why
	}
	switch {
	case j.Excluded.Excludes(one.Site, a.Now):
		return cmp.Or(j.Excluded.Reason(one.Site, a.Now), TriedInVain)
	case a.Round.Reach[row] == Volunteers:
		return NotAsked + ", since it does not volunteer for it"
	case one.Row.Quality.Doubtful:
		return NotAsked + ", since it does not keep its quotes"
	}
	return NotAsked
}
