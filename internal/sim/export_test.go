package sim

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Batch is the batch system of a grid's first site, without peers. Times count from the
// workload's beginning.
type Batch struct {
	grid *grid
	site *site
}

// NewBatch makes one that knows all jobs of a workload.
func NewBatch(cfg Config, jobs []workload.Job) (*Batch, error) {
	g, err := newGrid(cfg, jobs)
	if err != nil {
		return nil, err
	}
	b := &Batch{grid: g, site: g.sites[0]}
	for i := range jobs {
		b.site.sent = append(b.site.sent, int32(i))
	}
	return b, nil
}

func (b *Batch) spec(job int) (protocol.Tag, protocol.Spec) {
	w := &b.grid.jobs[job]
	id := protocol.NewJobID(1, b.site.first+uint64(job))
	return protocol.Tag{Job: id, Epoch: 1}, protocol.Spec{Request: protocol.Request{Job: id, CPUs: w.CPUs, WallTime: w.Estimate}}
}

// Reserve holds room for a job.
func (b *Batch) Reserve(job int, from protocol.Instant) (protocol.Instant, error) {
	tag, spec := b.spec(job)
	at, err := b.site.batch.reserve(localsched.Reservation{Tag: tag, Request: spec.Request, Start: from + b.grid.zero})
	return at - b.grid.zero, err
}

// Release gives it up.
func (b *Batch) Release(job int) error {
	tag, _ := b.spec(job)
	return b.site.batch.done(b.site.batch.CancelReservation(tag))
}

// Submit puts a job in the queue.
func (b *Batch) Submit(job int) error {
	tag, spec := b.spec(job)
	_, err := b.site.batch.submit(b.grid.now, localsched.Submission{Tag: tag, Spec: spec})
	return err
}

// Wait is what a job is quoted that comes after another one.
func (b *Batch) Wait(job, ahead int) (protocol.Duration, error) {
	_, spec := b.spec(job)
	tag, other := b.spec(ahead)
	quotes, err := b.site.batch.quote(b.grid.now, localsched.Query{
		Jobs: []protocol.Request{spec.Request}, Ahead: []localsched.Tentative{{Tag: tag, Request: other.Request}},
	})
	if err != nil {
		return 0, err
	}
	return quotes[0].AWT, nil
}

// Drain lets happen all that will, and is when each job has started.
func (b *Batch) Drain(ctx context.Context) (starts []protocol.Instant, err error) {
	for len(b.grid.heap.heap) > 0 && b.grid.failure == nil {
		m := b.grid.heap.pop()
		b.grid.now = m.at
		b.grid.happen(ctx, m)
	}
	for _, p := range b.grid.result.Placements {
		starts = append(starts, p.Start)
	}
	return starts, b.grid.failure
}
