package node

import (
	"cmp"
	"context"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// finished looks a finished job up, or an element that an array which has ended never made a job of.
func (n *Node) finished(id protocol.JobID) (view.Job, bool, error) {
	job, found, err := n.Archived(id)
	if err != nil || found {
		return job, found, err
	}
	near, err := n.cfg.Store.Scan(string(row.ArchiveTable), row.JobKey(id), true, 1) // the array, or an element before this one
	if err != nil || len(near) == 0 {
		return view.Job{}, false, err
	}
	array, err := archived(row.ArchiveTable, near[0].Value)
	if err != nil {
		return view.Job{}, false, err
	}
	if array.Element != nil {
		if array, found, err = n.Archived(array.Element.Array); err != nil || !found {
			return view.Job{}, false, err
		}
	}
	if array.Array == nil {
		return view.Job{}, false, nil
	}
	one, known := array.AsElement(int(id - array.ID - 1)) //nolint:gosec // the array is before it
	return one, known, nil
}

// elements hands on those elements of an array that are in the archive by themselves: they follow it.
func (n *Node) elements(ctx context.Context, array protocol.JobID, take func(view.Job)) error {
	return n.archivedFrom(ctx, row.ArchiveTable, array+1, func(job view.Job) bool {
		follows := job.Element != nil && job.Element.Array == array
		if follows {
			take(job)
		}
		return follows
	})
}

// earlierRuns hands on the earlier runs of a job, or of the elements of an array: they follow each other.
func (n *Node) earlierRuns(ctx context.Context, id protocol.JobID, take func(view.Job)) error {
	return n.archivedFrom(ctx, row.EarlierTable, id, func(run view.Job) bool {
		follows := run.ID == id || run.Element != nil && run.Element.Array == id
		if follows {
			take(run)
		}
		return follows
	})
}

// archivedFrom hands on what is in the archive, or among the earlier runs, by the IDs of the jobs, from one of them on, while
// more is wanted.
func (n *Node) archivedFrom(ctx context.Context, table row.Table, id protocol.JobID, more func(view.Job) bool) error {
	for from, size := row.JobKey(id), 1; ; size = min(10*size, archivePage) { // most IDs are of no array
		rows, err := n.cfg.Store.Scan(string(table), from, false, size)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		for _, stored := range rows {
			if job, err := archived(table, stored.Value); err != nil || !more(job) {
				return err
			}
			from = stored.Key + "\x00" // the next key
		}
		if len(rows) < size {
			return nil
		}
	}
}
