package moves

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Next are the jobs of the next trial, by ID, and the site where all of them wait: first those whose last trial is the longest
// ago, of these those that start last. recalls says whether a site can be asked for jobs now.
func Next(rule rules.Moves, t *tables.Tables, recalls func(protocol.SiteName) bool, now protocol.Instant) (at protocol.SiteName, jobs []*tables.Job) {
	for _, j := range t.Jobs {
		if May(rule, t, j, now) && recalls(j.Site) {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return "", nil
	}
	slices.SortFunc(jobs, func(a, b *tables.Job) int {
		return cmp.Or(cmp.Compare(a.Tried, b.Tried), cmp.Compare(start(b), start(a)), cmp.Compare(a.Spec.Job, b.Spec.Job))
	})
	at = jobs[0].Site
	jobs = slices.DeleteFunc(jobs, func(j *tables.Job) bool { return j.Site != at })
	jobs = jobs[:min(len(jobs), rule.Jobs)]
	slices.SortFunc(jobs, func(a, b *tables.Job) int { return cmp.Compare(a.Spec.Job, b.Spec.Job) })
	return at, jobs
}

// May says whether a job may move now: it waits in a local queue, for longer than the least gain, nothing else is under way about it,
// and it has not moved too often or too recently.
func May(rule rules.Moves, t *tables.Tables, j *tables.Job, now protocol.Instant) bool {
	switch {
	case !waits(t, j):
		return false
	case j.App != nil || j.Together() || len(j.Spec.Sites) == 1 || j.Wants().Hold != "":
		return false
	case j.Moves >= rule.Most:
		return false
	}
	planned, known := j.PlannedStart()
	return known && now.Sub(planned.Stated) <= rules.PlannedStartLasts && planned.Start.Sub(now) > rule.Gain &&
		(j.MovedAt == 0 || now.Sub(j.MovedAt) >= rule.Pause)
}

// start is when a job is planned to start where it waits.
func start(j *tables.Job) protocol.Instant {
	planned, _ := j.PlannedStart()
	return planned.Start
}

// waits says whether a local queue has the job for certain, and nothing is under way about it.
func waits(t *tables.Tables, j *tables.Job) bool {
	if j.State != protocol.Pending || j.Cancelling || j.Restored || j.OperatorReason != "" {
		return false
	}
	switch j.Phase { //nolint:exhaustive // a local queue has it in these two
	case row.JobCommittedLocal:
		r := t.Runs[j.Tag()]
		return r != nil && r.Phase == row.RunQueued && !r.Withdraw && r.OperatorReason == ""
	case row.JobHandedOff:
		return !j.OwnershipPending
	}
	return false
}

// Unplaced is a job of a local queue as it would be in the grid queue.
func Unplaced(j *tables.Job) *tables.Job {
	out := *j
	out.Unplace()
	return &out
}

// Stay is the quote of the site where a job waits, for a row of its trial: what is planned for it there, and at which price. In
// another shape it does not wait there.
func Stay(j *tables.Job, asked *protocol.Spec, now protocol.Instant) protocol.Quote {
	if asked.CPUs != j.Spec.CPUs {
		return protocol.Quote{Job: j.Spec.Job, Declined: "it waits there with another number of CPUs"}
	}
	q := protocol.Quote{Job: j.Spec.Job, AWT: max(0, start(j).Sub(now)), ERT: j.Spec.WallTime}
	if w := j.Waits; w != nil && w.ERT != 0 {
		q.ERT = w.ERT
	}
	q.Terms, q.Currency = pricing.QuotedTerms(j.Quoted)
	return q
}

// Gain is how much sooner a job would end where the policy has placed it than where it waits, and says whether that is
// worth a move. at is the site where the jobs of the trial wait, by its index. No job is placed elsewhere sooner than after delay.
func Gain(rule rules.Moves, in *policy.Snapshot, at int, d policy.Decision, delay protocol.Duration) (gain protocol.Duration, worth bool) {
	if d.Site == policy.NoSite || d.Site == at {
		return 0, false
	}
	stays := protocol.Never
	for row := range in.Jobs { // one of its shapes is that in which it waits
		if in.Jobs[row].ID == in.Jobs[d.Job].ID {
			stays = min(stays, end(in, row, at, in.AWT[in.At(row, at)]))
		}
	}
	if stays == protocol.Never {
		return 0, false
	}
	wait := max(d.Wait, in.AWT[in.At(d.Job, d.Site)])
	gain = stays - end(in, d.Job, d.Site, in.Start(d.Job, d.Site, max(wait, delay)))
	return gain, wait <= rule.Wait && gain > rule.Gain && gain > share(stays, rule.GainShare)
}

// end is when a row would end and its results be back, from now, that starts at a site after a while.
func end(in *policy.Snapshot, row, site int, start protocol.Duration) protocol.Duration {
	return start.Plus(in.ERT[in.At(row, site)]).Plus(in.Return(row, site))
}

// share is a part of a span, in parts per million, rounded down.
func share(of protocol.Duration, ppm int) protocol.Duration {
	return protocol.Duration(int128.Product(int64(of), int64(ppm)).Down(protocol.PPM))
}
