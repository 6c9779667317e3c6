package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Job looks a job up, among the live ones and then in the archive. The error is
// a *[RefusedError] with NotFound for a job that is nowhere.
func (n *Node) Job(ctx context.Context, id protocol.JobID) (view.Job, error) {
	reply, err := n.Ask(ctx, func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: id} })
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Code == view.NotFound {
		view, found, archiveErr := n.finished(id)
		if archiveErr != nil || found {
			return view, archiveErr
		}
	}
	if err != nil {
		return view.Job{}, err
	}
	shown, ok := reply.(view.Job)
	if !ok {
		return view.Job{}, fmt.Errorf("job %d: the peer answered with %T", id, reply)
	}
	shown.Transfer = n.transfers.of(&shown)
	return shown, nil
}

// WaitJob waits until a job has ended and returns its last view.
func (n *Node) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	changed, leave := n.waits.join(id)
	defer leave()
	for {
		shown, err := n.Job(ctx, id)
		if err != nil || shown.State.Terminal() {
			return shown, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return view.Job{}, ctx.Err()
		case <-n.done:
			return view.Job{}, ErrStopped
		}
	}
}

// Archived looks a finished job up, with its last run.
func (n *Node) Archived(id protocol.JobID) (shown view.Job, found bool, err error) {
	return n.archivedAt(row.ArchiveTable, row.JobKey(id))
}

// archivedAt looks a finished job up, or an earlier run.
func (n *Node) archivedAt(table row.Table, key string) (shown view.Job, found bool, err error) {
	data, found, err := n.cfg.Store.Get(string(table), key)
	if err != nil || !found {
		return view.Job{}, false, err
	}
	shown, err = archived(table, data)
	return shown, err == nil, err
}

// archivePage is how many finished jobs are read at once.
const archivePage = 1000

// ArchivedJobs lists up to limit of the finished jobs that are wanted, the youngest first.
func (n *Node) ArchivedJobs(ctx context.Context, limit int, wanted func(*view.Job) bool) ([]view.Job, error) {
	var views []view.Job
	for from := ""; ; {
		rows, err := n.cfg.Store.Scan(string(row.ArchiveTable), from, true, archivePage)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		for _, stored := range rows {
			if stored.Key == from {
				continue // was the last one of the page before
			}
			view, err := archived(row.ArchiveTable, stored.Value)
			if err != nil {
				return nil, fmt.Errorf("archived job %s: %w", stored.Key, err)
			}
			view, listed := view.Listed()
			if listed && wanted(&view) {
				views = append(views, view)
			}
			if len(views) == limit {
				return views, nil
			}
		}
		if len(rows) < archivePage {
			return views, nil
		}
		from = rows[len(rows)-1].Key
	}
}

// archived reads a row of the archive, or of the earlier runs.
func archived(table row.Table, data []byte) (view.Job, error) {
	stored, err := row.Decode(table, data)
	if err != nil {
		return view.Job{}, err
	}
	switch finished := stored.(type) { //nolint:gochecksumtype // the other tables are not the archive
	case row.Archived:
		return finished.View, nil
	case row.EarlierRun:
		return finished.View, nil
	}
	return view.Job{}, fmt.Errorf("the table %s holds a %T", table, stored)
}

// Output reads up to size bytes of a job's output at the site that has the job:
// the own scheduler's for a guest, else the partner's. Of one that has ended, and whose output
// is not where its user wants it, that is what is kept here. Jobs that run at home
// write where their user wants it, not here.
func (n *Node) Output(
	ctx context.Context, job view.Job, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	tag := protocol.Tag{Job: job.ID, Epoch: job.Epoch}
	size = min(size, MaxChunk)
	if job.LeftFile(stream) != nil {
		return n.cfg.Deliverer.Kept(tag, stream, offset, size)
	}
	if job.Site == "" || job.Site == n.cfg.Peer.Site {
		return n.cfg.Scheduler.Fetch(ctx, tag, stream, offset, size)
	}
	transport := n.links.transport()
	if transport == nil {
		return nil, ErrNotAttached
	}
	return transport.Fetch(ctx, job.Site, tag, stream, offset, size)
}

// waits are those who wait for a job to change.
type waits struct {
	mu    sync.Mutex
	byJob map[protocol.JobID]map[chan struct{}]bool
}

func (w *waits) join(id protocol.JobID) (changed <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byJob == nil {
		w.byJob = make(map[protocol.JobID]map[chan struct{}]bool)
	}
	if w.byJob[id] == nil {
		w.byJob[id] = make(map[chan struct{}]bool)
	}
	signal := make(chan struct{}, 1)
	w.byJob[id][signal] = true
	return signal, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.byJob[id], signal)
		if len(w.byJob[id]) == 0 {
			delete(w.byJob, id)
		}
	}
}

// wake tells those whose jobs have ended in the batch.
func (w *waits) wake(b *batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.byJob) == 0 {
		return
	}
	for _, record := range b.rows {
		switch row := record.Row.(type) { //nolint:gochecksumtype // the others end no job
		case row.Archived:
			w.signal(row.View.ID)
			if row.View.Array != nil {
				w.signalElements(row.View.ID, row.View.Array.NeverJobs)
			}
		case row.Job:
			if row.State.Terminal() {
				w.signal(row.Spec.Job)
			}
		case row.Array:
			w.signalElements(row.ID(), row.Cancelled)
		}
	}
}

// signalElements wakes those that wait for elements of an array which are cancelled before they were jobs.
func (w *waits) signalElements(array protocol.JobID, cancelled protocol.Indexes) {
	if cancelled.IsZero() {
		return
	}
	for id := range w.byJob {
		if id > array && cancelled.Has(int(id-array-1)) { //nolint:gosec // what is too large is no index
			w.signal(id)
		}
	}
}

func (w *waits) signal(id protocol.JobID) {
	for signal := range w.byJob[id] {
		select {
		case signal <- struct{}{}:
		default: // it knows already
		}
	}
}
