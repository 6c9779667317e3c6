package localschedtest_test

import (
	"context"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// twin is another placement, of which the suite knows nothing.
func twin(tag protocol.Tag) protocol.Tag {
	tag.Epoch += 100
	return tag
}

// quoting changes the quotes.
func quoting(change func(quotes []protocol.Quote) []protocol.Quote) *wrong {
	return &wrong{quote: func(s right, ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
		quotes, err := s.Quote(ctx, query)
		return change(quotes), err
	}}
}

// conformanceSite is the site that the suite's jobs come from.
const conformanceSite = protocol.MaxSiteNumber

// delaying changes each quote that is no refusal.
func delaying(change func(query *localsched.Query, q *protocol.Quote)) *wrong {
	return &wrong{quote: func(s right, ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
		quotes, err := s.Quote(ctx, query)
		for i := range quotes {
			if quotes[i].Declined == "" {
				change(&query, &quotes[i])
			}
		}
		return quotes, err
	}}
}

// asking changes the queries.
func asking(change func(s right, query *localsched.Query)) *wrong {
	return &wrong{quote: func(s right, ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
		query.Ahead = slices.Clone(query.Ahead)
		change(s, &query)
		return s.Quote(ctx, query)
	}}
}

// submitting changes the jobs.
func submitting(change func(job *localsched.Submission)) *wrong {
	return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
		payload := *job.Payload
		job.Payload = &payload
		change(&job)
		return s.Submit(ctx, job)
	}}
}

// naming changes the ids.
func naming(change func(id localsched.LocalID) localsched.LocalID) *wrong {
	return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
		id, err := s.Submit(ctx, job)
		if err != nil {
			return "", err
		}
		return change(id), nil
	}}
}

// runsAgain submits what comes a second time as another job.
func runsAgain() *wrong {
	return &wrong{submit: func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
		presence, _, err := s.FindByTag(ctx, job.Tag)
		if err == nil && presence == localsched.Present {
			again := job
			again.Tag = twin(job.Tag)
			_, err = s.Submit(ctx, again)
		}
		if err != nil {
			return "", err
		}
		return s.Submit(ctx, job)
	}}
}

// telling changes what is told.
func telling(change func(changes []localsched.Change) []localsched.Change) *wrong {
	return &wrong{watch: func(s right, ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
		watched, err := s.Watch(ctx, after)
		watched.Changes = change(watched.Changes)
		return watched, err
	}}
}

// leavingOut does not tell of some changes.
func leavingOut(is func(c localsched.Change) bool) *wrong {
	return telling(func(changes []localsched.Change) []localsched.Change { return slices.DeleteFunc(changes, is) })
}

// changing changes each change.
func changing(change func(c *localsched.Change)) *wrong {
	return telling(func(changes []localsched.Change) []localsched.Change {
		for i := range changes {
			change(&changes[i])
		}
		return changes
	})
}

// withdrawingAtTheStart withdraws when the job has started or ended, and says that it
// was in time. The wait is no part of what is wrong; without it a slow machine might
// start none of the jobs before they are withdrawn, and the fault would not come to
// pass.
func withdrawingAtTheStart() *wrong {
	late := withdrawing(localsched.Started, localsched.Withdrawn)
	return &wrong{withdraw: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
		for after := localsched.Cursor(""); ; {
			seen, err := s.Watch(ctx, after)
			if err != nil {
				return 0, err
			}
			if slices.ContainsFunc(seen.Changes, func(c localsched.Change) bool { return c.Tag == tag && c.State != protocol.Pending }) {
				return late.withdraw(s, ctx, tag)
			}
			after = seen.Cursor
		}
	}}
}

// withdrawing changes the answer.
func withdrawing(from, to localsched.Withdrawal) *wrong {
	return &wrong{withdraw: func(s right, ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
		got, err := s.Withdraw(ctx, tag)
		if got == from {
			got = to
		}
		return got, err
	}}
}
