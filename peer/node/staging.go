package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stageIn brings the files of a guest here, as [Node.collect] brings output home: what has come stays when it is
// cut short, and the whole is checked.
func (n *Node) stageIn(ctx context.Context, op event.StageInOp) (event.Result, error) {
	transport := n.links.transport()
	if transport == nil {
		return nil, ErrNotAttached
	}
	part, err := n.cfg.Deliverer.Part(op.Tag, protocol.StageInArchive)
	if err != nil {
		return nil, err
	}
	err = n.fetchRest(ctx, transport, event.CollectOp{Tag: op.Tag, From: op.From}, op.File, part)
	if err = errors.Join(err, part.Close()); err == nil {
		return event.StageInResult{}, nil
	}
	if gone, ok := errors.AsType[*protocol.StageInError](err); ok {
		n.dropInputs(op.Tag)
		return event.StageInResult{Failed: gone.Reason}, nil
	}
	return nil, fmt.Errorf("job %v: bring its files from %s: %w", op.Tag, op.From, err)
}

// forget has the local scheduler forget a job. Its files, which it may never have come to get, go too.
func (n *Node) forget(ctx context.Context, tag protocol.Tag) error {
	n.dropInputs(tag)
	return n.cfg.Scheduler.Forget(ctx, tag)
}

// dropInputs removes the archive of a guest's files. One that stays is removed when it is old.
func (n *Node) dropInputs(tag protocol.Tag) {
	if err := n.cfg.Deliverer.DropInputs(tag); err != nil {
		n.log.Warn("part_remove_failed", "job", tag.String(), "error", err)
	}
}

// packing are the archives of jobs' files that are being made for partners.
type packing struct {
	mu  sync.Mutex
	all map[protocol.JobID]*pack
}

type pack struct {
	site protocol.SiteName // that asked for it
	made chan struct{}     // closed when it is, or is not
	err  error
}

// Bounds of the packing: a partner asks again for what has no place.
const (
	maxPacks       = 4
	maxPacksOfSite = 2
	maxPackTime    = time.Hour // the files may be many, and disks slow
)

// hasPlace says whether one more archive may be made for a site. The lock is held.
func (p *packing) hasPlace(site protocol.SiteName) bool {
	ofSite := 0
	for _, one := range p.all {
		if one.site == site {
			ofSite++
		}
	}
	return len(p.all) < maxPacks && ofSite < maxPacksOfSite
}

// packWait is how long a partner's question waits for an archive that is being made. It asks again, and others of
// its questions wait behind it.
const packWait = time.Second

// errPacking is the answer to a partner that asks too early.
var errPacking = errors.New("the site is still reading the job's files, or those of other jobs")

// serveInputs gives a piece of the archive of the files that go with a job of this origin. It is made when it
// is first asked for, and the files must still be as they were when the job was submitted.
func (n *Node) serveInputs(ctx context.Context, from protocol.SiteName, job protocol.JobID, offset int64, size int) ([]byte, error) {
	if data, err := n.cfg.Deliverer.Packed(job, offset, size); err == nil && len(data) > 0 {
		n.transfers.note(job, protocol.File{Stream: protocol.StageInArchive}, offset+int64(len(data)))
		return data, nil
	}
	one := n.pack(job, from) //nolint:contextcheck // it is made for all that ask, and outlives the first of them
	if one == nil {
		return nil, errPacking
	}
	wait := time.NewTimer(packWait)
	defer wait.Stop()
	select {
	case <-one.made:
	case <-wait.C:
		return nil, errPacking
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if permanent(one.err) {
		return nil, &protocol.StageInError{Reason: one.err.Error()}
	}
	if one.err != nil {
		return nil, one.err
	}
	return n.cfg.Deliverer.Packed(job, offset, size)
}

// pack makes the archive of a job's files for a site, once at a time; nil: there is no place for it now.
func (n *Node) pack(job protocol.JobID, site protocol.SiteName) *pack {
	n.packing.mu.Lock()
	defer n.packing.mu.Unlock()
	if one := n.packing.all[job]; one != nil {
		return one
	}
	if !n.packing.hasPlace(site) {
		return nil
	}
	if n.packing.all == nil {
		n.packing.all = make(map[protocol.JobID]*pack)
	}
	one := &pack{site: site, made: make(chan struct{})}
	n.packing.all[job] = one
	n.calls.Go(func() {
		one.err = n.makePack(job)
		n.packing.mu.Lock()
		delete(n.packing.all, job)
		n.packing.mu.Unlock()
		close(one.made)
	})
	return one
}

func (n *Node) makePack(job protocol.JobID) error {
	of, err := stored[row.Job](n, row.JobTable, job)
	if err != nil {
		return err
	}
	what, err := stored[row.Payload](n, row.PayloadTable, job)
	if err != nil {
		return err
	}
	if what.Payload == nil || what.Payload.Staging.BytesOf() == 0 {
		return permanentError{"the job has no files"}
	}
	if err = n.spaceFor(what.Payload.Staging.Bytes); err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), maxPackTime, fmt.Errorf("the job's files could not be read within %v", maxPackTime))
	defer stop()
	go func() {
		select {
		case <-n.done:
			stop()
		case <-ctx.Done():
		}
	}()
	if err = n.cfg.Deliverer.Pack(ctx, of.Spec.User, what.Payload.WorkDir, job, what.Payload.Staging); err != nil {
		return err
	}
	if of, err = stored[row.Job](n, row.JobTable, job); err == nil && of.AtPartner() && of.State != protocol.Running {
		return nil
	}
	n.dropPack(job) // what drops it may have come meanwhile, before it was there
	return errors.Join(err, errPacking)
}

// dropPack removes the archive of a job's files, if it is here.
func (n *Node) dropPack(job protocol.JobID) {
	if err := n.cfg.Deliverer.DropPacked(job); err != nil {
		n.log.Warn("part_remove_failed", "job", job.String(), "error", err)
	}
}

// stored is a row as it is durable.
func stored[R row.Row](n *Node, table row.Table, job protocol.JobID) (out R, err error) {
	data, found, err := n.cfg.Store.Get(string(table), row.JobKey(job))
	if err != nil {
		return out, err
	}
	if !found {
		return out, fmt.Errorf("job %v is not here any more", job)
	}
	decoded, err := row.Decode(table, data)
	if err != nil {
		return out, err
	}
	out, ok := decoded.(R)
	if !ok {
		return out, fmt.Errorf("the table %s holds a %T", table, decoded)
	}
	return out, nil
}

// dropPacks removes the archives of jobs whose sites have got all of them: they run, or have ended.
func (n *Node) dropPacks(b *batch) {
	for _, record := range b.rows {
		var job protocol.JobID
		switch one := record.Row.(type) {
		case row.Archived:
			if one.View.StageIn == 0 {
				continue
			}
			job = one.View.ID
		case row.Job:
			if one.Spec.StageIn == 0 || one.State != protocol.Running {
				continue
			}
			job = one.Spec.Job
		default:
			continue
		}
		n.transfers.end(job)
		n.calls.Go(func() { n.dropPack(job) }) // it may be large, and the loop does not wait for that
	}
}
