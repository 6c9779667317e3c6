package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stageIn brings the files of a guest here, as [Node.collect] brings output home: what has come stays when it is
// cut short, and the whole is checked.
func (n *Node) stageIn(ctx context.Context, op event.StageInOp) (event.Result, error) {
	if len(op.Dirs) > 0 {
		return n.checkInPlace(ctx, op)
	}
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

// packing are the archives of jobs' files that are being made for partners, and those that are here.
type packing struct {
	mu   sync.Mutex
	all  map[protocol.JobID]*pack
	kept map[protocol.JobID]keptPack // being made or here; of those from before the peer's start, that were asked for since

	maxUserBytes atomic.Int64 // of one user's archives; 0: no limit
}

type pack struct {
	site protocol.SiteName // that asked for it
	made chan struct{}     // closed when it is, or is not
	err  error
}

// keptPack is an archive that takes room.
type keptPack struct {
	user   string
	bytes  int64
	served int64     // so far, in bytes from its begin
	last   time.Time // when it was asked for
}

// Bounds of the packing: a partner asks again for what has no place.
const (
	maxPacks       = 4
	maxPacksOfSite = 2
	maxPackTime    = time.Hour // the files may be many, and disks slow
)

// An archive makes room for another one of its user once its partner has had all of it, and has not asked again for a lost piece,
// or has stopped asking. It is made again if it is asked for.
const (
	idleWhenServed = 10 * time.Second
	idleBefore     = 2 * time.Minute
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

// reserve has the archive of a job's files count for its user. Archives of the user's that have served make room, the least lately asked
// for first: dropped are those of these jobs. Without room for it the error says so; files that are too many alone are packed alone.
func (p *packing) reserve(job protocol.JobID, user string, bytes int64) (dropped []protocol.JobID, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, most := time.Now(), p.maxUserBytes.Load()
	for {
		has, oldest := int64(0), protocol.JobID(0)
		for id, one := range p.kept {
			if id == job || one.user != user {
				continue
			}
			has += one.bytes
			if p.all[id] == nil && one.idle(now) && (oldest == 0 || one.last.Before(p.kept[oldest].last)) {
				oldest = id
			}
		}
		switch {
		case most == 0 || has == 0 || bytes <= most && has <= most-bytes:
			p.keep(job, keptPack{user: user, bytes: bytes, last: now})
			return dropped, nil
		case oldest == 0:
			return dropped, fmt.Errorf("the job's files have %d bytes, and %d bytes of its user's files are packed for other jobs: its site packs at most %d at once "+
				"([staging] max_user_bytes), and goes on when those have been fetched", bytes, has, most)
		}
		delete(p.kept, oldest)
		dropped = append(dropped, oldest)
	}
}

// idle says whether the archive may make room.
func (k keptPack) idle(now time.Time) bool {
	pause := idleBefore
	if k.served >= k.bytes {
		pause = idleWhenServed
	}
	return now.Sub(k.last) >= pause
}

// keep notes an archive. The lock is held.
func (p *packing) keep(job protocol.JobID, one keptPack) {
	if p.kept == nil {
		p.kept = make(map[protocol.JobID]keptPack)
	}
	p.kept[job] = one
}

// forget has an archive count no more.
func (p *packing) forget(job protocol.JobID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept, job)
}

// serve notes that an archive was served up to a byte; known says whether it counts.
func (p *packing) serve(job protocol.JobID, to int64) (known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, known := p.kept[job]
	if known {
		one.served, one.last = max(one.served, to), time.Now()
		p.kept[job] = one
	}
	return known
}

// servePack notes that a job's archive was served up to a byte. One that an earlier run of the peer has made counts from now on.
func (n *Node) servePack(job protocol.JobID, to int64) {
	if n.packing.serve(job, to) {
		return
	}
	of, err := stored[row.Job](n, row.JobTable, job)
	if err != nil { // it has ended, and its archive goes
		return
	}
	n.packing.mu.Lock()
	defer n.packing.mu.Unlock()
	n.packing.keep(job, keptPack{user: of.Spec.User, bytes: of.Spec.StageIn, served: to, last: time.Now()})
}

// packWait is how long a partner's question waits for an archive that is being made. It asks again, and others of
// its questions wait behind it.
const packWait = time.Second

// errPacking is the answer to a partner that asks too early.
var errPacking = errors.New("the site is still reading the job's files, or those of other jobs")

// serveInputs gives a piece of the archive of the files that go with a job of this origin. It is made when it
// is first asked for, and the files must still be as they were when the job was submitted.
func (n *Node) serveInputs(ctx context.Context, from protocol.SiteName, tag protocol.Tag, offset int64, size int) ([]byte, error) {
	job := tag.Job
	if offset == 0 { // a mark is asked for from there, and of an archive that is once
		of, err := stored[row.Job](n, row.JobTable, job)
		switch {
		case err != nil:
			return nil, err
		case of.Spec.InPlace:
			return n.serveMarks(ctx, tag, &of)
		}
	}
	if data, err := n.cfg.Deliverer.Packed(job, offset, size); err == nil && len(data) > 0 {
		n.transfers.note(job, protocol.File{Stream: protocol.StageInArchive}, offset+int64(len(data)))
		n.servePack(job, offset+int64(len(data)))
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
	data, err := n.cfg.Deliverer.Packed(job, offset, size)
	n.packing.serve(job, offset+int64(len(data)))
	return data, err
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
	what, err := stored[row.Payload](n, row.PayloadTable, cmp.Or(of.Element.Array, job))
	if err != nil {
		return err
	}
	if what.Payload == nil || what.Payload.Staging.BytesOf() == 0 {
		return permanentError{"the job has no files"}
	}
	dropped, err := n.packing.reserve(job, of.Spec.User, what.Payload.Staging.Bytes)
	for _, other := range dropped {
		n.dropPack(other)
	}
	if err != nil {
		return err
	}
	if err = n.makePackFile(job, &of, what.Payload); err != nil {
		n.packing.forget(job)
	}
	return err
}

// makePackFile makes the archive of a job's files, for which there is place.
func (n *Node) makePackFile(job protocol.JobID, of *row.Job, payload *protocol.Payload) error {
	if err := n.spaceFor(payload.Staging.Bytes); err != nil {
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
	if err := n.cfg.Deliverer.Pack(ctx, of.Spec.User, payload.WorkDir, job, payload.Staging); err != nil {
		return err
	}
	now, err := stored[row.Job](n, row.JobTable, job)
	if err == nil && now.AtPartner() && now.State != protocol.Running {
		return nil
	}
	n.dropPack(job) // what drops it may have come meanwhile, before it was there
	return errors.Join(err, errPacking)
}

// dropPack removes the archive of a job's files, if it is here.
func (n *Node) dropPack(job protocol.JobID) {
	n.packing.forget(job)
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
