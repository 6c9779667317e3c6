package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// QueuePage is how many jobs are asked for at once.
const QueuePage = 2000

// QueuePages asks for the queue a page at a time, and has each shown as it comes, up to the
// listing's limit (0: none). Next is the id after which there are more; 0: that were all.
func (c *Client) QueuePages(
	ctx context.Context, wanted Listing, show func([]view.Job) error,
) (next protocol.JobID, err error) {
	limit, left := wanted.Limit, wanted.Limit
	for more := true; more; {
		wanted.Limit = QueuePage
		if limit > 0 {
			wanted.Limit = min(QueuePage, left)
		}
		page, err := c.Queue(ctx, wanted)
		if err != nil {
			return next, err
		}
		left -= len(page.Jobs)
		wanted.After, next = page.Next, page.Next
		more = next != 0 && (limit == 0 || left > 0)
		if err = show(page.Jobs); err != nil {
			return next, err
		}
	}
	return next, nil
}

// WholeQueue is what [Client.QueuePages] brings, by the ids of the jobs.
func (c *Client) WholeQueue(ctx context.Context, wanted Listing) (all view.Queue, err error) {
	all.Jobs = []view.Job{}
	all.Next, err = c.QueuePages(ctx, wanted, func(page []view.Job) error {
		all.Jobs = append(all.Jobs, page...)
		return nil
	})
	slices.SortFunc(all.Jobs, byIDAndEnd)
	// Of a job that ended between two pages its end is kept.
	all.Jobs = slices.CompactFunc(all.Jobs, func(x, y view.Job) bool { return x.ID == y.ID })
	return all, err
}

// byIDAndEnd orders jobs by their ids, those that have ended first.
func byIDAndEnd(x, y view.Job) int {
	if x.ID == y.ID && x.State.Terminal() != y.State.Terminal() {
		if x.State.Terminal() {
			return -1
		}
		return 1
	}
	return cmp.Compare(x.ID, y.ID)
}
