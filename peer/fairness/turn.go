package fairness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Reasons of jobs that wait because of a limit, as Slurm has them.
const (
	ReasonUserJobs    = "AssocMaxJobsLimit" // its user has as many jobs as may be placed at once
	ReasonAccountJobs = "AssocGrpJobsLimit" // its account has
	ReasonCPUs        = "AssocGrpCpuLimit"  // its user's or its account's jobs have as many CPUs as may be placed at once
)

// Limited is a job that has to wait because of a limit.
type Limited struct {
	Job            protocol.JobID
	Reason, Detail string

	Never bool // it asks for more than its user or account may ever have
}

// turn is the choice of the jobs of one round.
type turn struct {
	limited []Limited               // jobs that were next, and have to wait
	never   map[protocol.JobID]bool // those of them that can never be placed
	book    *Book
	now     protocol.Instant
	job     func(protocol.JobID) *row.Job
	tree    *fairshare.Tree // which knows the users of all heads; nil: to be made, or use does not count
	taken   []claim
}

// Take takes up to n jobs of this site from its grid queue, in order of priority, those of the same priority
// in order of submission. What is taken counts as placed until the end of the choice.
func (b *Book) Take(queue *gridqueue.Queue, n int, now protocol.Instant, job func(protocol.JobID) *row.Job) ([]protocol.JobID, []Limited) {
	if !b.orders() {
		return queue.Take(n), nil
	}
	t := turn{book: b, now: now, job: job}
	ids := queue.TakeBy(n, t.choose)
	for _, c := range t.taken {
		b.count(c, -1)
	}
	if t.never != nil {
		ids = slices.DeleteFunc(ids, func(id protocol.JobID) bool { return t.never[id] })
	}
	return ids, t.limited
}

// choose is a [gridqueue.Choice].
func (t *turn) choose(heads []protocol.JobID) (next int, take bool) {
	next = t.highest(heads)
	j := t.job(heads[next])
	if limited := t.book.excess(&j.Spec); limited.Reason != "" {
		limited.Job = heads[next]
		t.limited = append(t.limited, limited)
		if limited.Never {
			if t.never == nil {
				t.never = map[protocol.JobID]bool{}
			}
			t.never[limited.Job] = true
		}
		return next, limited.Never // what can never be placed keeps no younger job of its lane from that
	}
	c := claimOf(&j.Spec)
	t.taken = append(t.taken, c)
	t.book.count(c, +1)
	return next, true
}

// highest is the index of the job with the highest priority.
func (t *turn) highest(heads []protocol.JobID) (best int) {
	if len(heads) == 1 {
		return 0
	}
	if t.tree == nil && t.book.Shares() {
		t.tree = t.book.standings(t.now)
		for _, id := range heads {
			t.tree.Know(KeyOf(&t.job(id).Spec))
		}
	}
	var most int64
	for i, id := range heads {
		priority := t.book.priority(t.tree, t.job(id), t.now)
		if i == 0 || priority > most || priority == most && id < heads[best] {
			best, most = i, priority
		}
	}
	return best
}

// Priority is that of a job of this site in the grid queue: the higher, the sooner.
func (b *Book) Priority(j *row.Job, now protocol.Instant) int64 {
	if !b.Shares() {
		return b.priority(nil, j, now)
	}
	return b.priority(b.standings(now), j, now)
}

// priority is the priority of a job by a tree; nil: use does not count.
func (b *Book) priority(tree *fairshare.Tree, j *row.Job, now protocol.Instant) int64 {
	if fixed := j.Wants().Priority; fixed != 0 {
		return fixed
	}
	if tree == nil {
		return fairshare.Unweighted - j.Spec.Nice
	}
	w := &b.share.Weights
	factors := w.Of(tree.Factor(KeyOf(&j.Spec)), &fairshare.Candidate{
		Waited: max(0, now.Sub(max(j.Spec.Submitted, j.Wants().Begin))), CPUs: j.Spec.CPUs, QOS: strings.ToLower(j.Spec.QOS),
	}, b.cpus)
	return w.Priority(factors, j.Spec.Nice)
}

// LimitReason says why jobs cannot be placed, all of them, beside those that are, with what to know of the limit; empty: they
// can.
func (b *Book) LimitReason(specs ...*protocol.Spec) (reason, detail string) {
	if b.limits.None() {
		return "", ""
	}
	var limited Limited
	var counted []claim
	for _, spec := range specs {
		if limited = b.excess(spec); limited.Reason != "" {
			break
		}
		counted = append(counted, claimOf(spec))
		b.count(counted[len(counted)-1], +1)
	}
	for _, c := range counted {
		b.count(c, -1)
	}
	return limited.Reason, limited.Detail
}

// excess is the limit that keeps a job from being placed beside those that are; without reason: none does.
func (b *Book) excess(spec *protocol.Spec) Limited {
	if b.limits.None() {
		return Limited{}
	}
	key := KeyOf(spec)
	if limited := exceeded(b.limits.OfUser(key.User), b.users[key.User], spec.CPUs, ReasonUserJobs, "user "+key.User); limited.Reason != "" {
		return limited
	}
	return exceeded(b.limits.OfAccount(key.Account), b.groups[key.Account], spec.CPUs, ReasonAccountJobs, "account "+key.Account)
}

func exceeded(limit rules.Limit, has load, cpus int, jobs, whose string) Limited {
	switch {
	case limit.CPUs > 0 && cpus > limit.CPUs:
		return Limited{Reason: ReasonCPUs, Detail: tooLarge(cpus, whose, limit.CPUs), Never: true}
	case limit.Jobs > 0 && has.jobs >= limit.Jobs:
		return Limited{Reason: jobs, Detail: fmt.Sprintf("%s has %s at sites, as many as it may", whose, protocol.Count(has.jobs, "job"))}
	case limit.CPUs > 0 && has.cpus+cpus > limit.CPUs:
		return Limited{Reason: ReasonCPUs, Detail: fmt.Sprintf("%s has %s at sites, and may have %d", whose, protocol.Count(has.cpus, "CPU"), limit.CPUs)}
	}
	return Limited{}
}

// tooLarge says that a job asks for more CPUs than its user or account may ever have.
func tooLarge(cpus int, whose string, may int) string {
	return fmt.Sprintf("the job asks for %d CPUs, and %s may have %d at once ([limits] max_cpus)", cpus, whose, may)
}
