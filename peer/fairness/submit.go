package fairness

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Words of refused submissions, as Slurm has them.
const (
	userSubmits    = "AssocMaxSubmitJobLimit"
	accountSubmits = "AssocGrpSubmitJobsLimit"
)

// RefuseSubmission says why the limits of a user, or of the accounts of its jobs, do not let it submit these now: ofUser are
// its jobs that have not ended.
func (b *Book) RefuseSubmission(user string, jobs []protocol.Job, ofUser int) (view.Refusal, bool) {
	if b.limits.None() {
		return view.Refusal{}, false
	}
	limit := b.limits.OfUser(user)
	if count := protocol.CountJobs(jobs); limit.Submit > 0 && ofUser+count > limit.Submit {
		return tooMany(userSubmits, "user "+user, ofUser, count, limit), true
	}
	more := map[string]int{}
	for i := range jobs {
		spec := &jobs[i].Spec
		account := KeyOf(spec).Account
		more[account] += protocol.CountJobs(jobs[i : i+1])
		group := b.limits.OfAccount(account)
		if has := b.open[account]; group.Submit > 0 && has+more[account] > group.Submit {
			return tooMany(accountSubmits, "account "+account, has, more[account], group), true
		}
		for _, one := range []struct {
			whose string
			may   int
		}{{"user " + user, limit.CPUs}, {"account " + account, group.CPUs}} {
			if one.may > 0 && spec.CPUs > one.may {
				return view.Refusal{Code: view.Denied, Reason: ReasonCPUs + ": " + tooLarge(spec.CPUs, one.whose, one.may) + ": ask for fewer"}, true
			}
		}
	}
	return view.Refusal{}, false
}

func tooMany(word, whose string, has, more int, limit rules.Limit) view.Refusal {
	return view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf(
		"%s: %s has %s that did not end yet, and would have %d more, of at most %d ([limits] max_submit): submit again when some have ended",
		word, whose, protocol.Count(has, "job"), more, limit.Submit)}
}
