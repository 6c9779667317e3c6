package node

import (
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// transfers are how far the files of jobs have come that are on their way, for who looks at a job. Nothing else
// goes by it.
type transfers struct {
	mu  sync.Mutex
	all map[protocol.JobID]view.Transfer
}

// note notes how much of a file has come, or gone. Pieces may come in any order.
func (t *transfers) note(job protocol.JobID, file protocol.File, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = make(map[protocol.JobID]view.Transfer)
	}
	one := view.Transfer{File: file.Stream.String(), Bytes: bytes, Of: file.Size}
	if before := t.all[job]; before.File == one.File {
		one.Bytes = max(one.Bytes, before.Bytes)
	}
	t.all[job] = one
}

// end notes that a file of a job is not on its way any more.
func (t *transfers) end(job protocol.JobID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, job)
}

// of is what is known of a job's file; nil: none is on its way.
func (t *transfers) of(job *view.Job) *view.Transfer {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, found := t.all[job.ID]
	if !found || job.State.Terminal() {
		return nil
	}
	if one.Of == 0 { // the partner that fetches it knows
		one.Of = job.StageIn
	}
	return &one
}
