package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// collect brings a finished job's files from the site that ran it to where its user wants
// them. What can never be put there is kept in the peer's directory. All that has come stays
// until every file is where it belongs, so that the next try goes on from there.
func (n *Node) collect(ctx context.Context, op event.CollectOp) (event.Result, error) {
	outputs, err := n.bring(ctx, op)
	defer func() {
		for _, output := range outputs {
			if closed := output.Close(); closed != nil {
				n.log.Warn("part_close_failed", "job", op.Tag.String(), "error", closed)
			}
		}
	}()
	var result event.CollectResult
	switch {
	case err == nil:
		result, err = n.bringHome(ctx, op, outputs)
	case errors.Is(err, protocol.ErrOutputGone):
		result, err = keepRest(op, outputs)
	}
	if err != nil {
		return nil, fmt.Errorf("job %v: %w", op.Tag, err)
	}
	for _, output := range outputs {
		if err := output.Drop(); err != nil {
			n.log.Warn("part_remove_failed", "job", op.Tag.String(), "error", err)
		}
	}
	return result, nil
}

// bring brings each of the files here. After an error the outputs have what came before it.
func (n *Node) bring(ctx context.Context, op event.CollectOp) (outputs []Output, err error) {
	if contents := n.brought.take(op); contents != nil {
		for i, file := range op.Files {
			outputs = append(outputs, n.cfg.Deliverer.Whole(op.Tag, file.Stream, contents[i]))
		}
		return outputs, nil
	}
	transport := n.links.transport()
	if transport == nil {
		return nil, ErrNotAttached
	}
	parts := make([]Part, len(op.Files))
	for i, file := range op.Files {
		if parts[i], err = n.cfg.Deliverer.Part(op.Tag, file.Stream); err != nil {
			return outputs, fmt.Errorf("go on with %v: %w", file.Stream, err)
		}
		outputs = append(outputs, parts[i])
	}
	for i, file := range op.Files {
		if err = n.fetchRest(ctx, transport, op, file, parts[i]); err != nil {
			return outputs, fmt.Errorf("collect %v from %s: %w", file.Stream, op.From, err)
		}
	}
	return outputs, nil
}

// bringHome puts files that are all here where their user wants them.
func (n *Node) bringHome(ctx context.Context, op event.CollectOp, outputs []Output) (result event.CollectResult, err error) {
	var left []int // files that can never be put there
	var problems []string
	for _, to := range targets(op) {
		err := n.deliver(ctx, op, to, outputs)
		switch {
		case permanent(err):
			problems, left = append(problems, err.Error()), append(left, to.files...)
		case err != nil:
			return result, err
		}
	}
	for _, i := range left { // only now: what is kept before another try is not reported
		path, err := outputs[i].Keep()
		if err != nil {
			return result, fmt.Errorf("keep %v: %w", op.Files[i].Stream, err)
		}
		result.Left = append(result.Left, view.Undelivered{File: op.Files[i].Stream.String(), Kept: path})
	}
	result.Problem = strings.Join(problems, "; ")
	return result, nil
}

// keepRest keeps the pieces of files of which no more will come.
func keepRest(op event.CollectOp, outputs []Output) (event.CollectResult, error) {
	result := event.CollectResult{Gone: true}
	for i, output := range outputs {
		if output.Size() == 0 {
			continue
		}
		path, err := output.Keep()
		if err != nil {
			return event.CollectResult{}, fmt.Errorf("keep what is here of %v: %w", op.Files[i].Stream, err)
		}
		result.Left = append(result.Left, view.Undelivered{File: op.Files[i].Stream.String(), Kept: path, Partial: output.Size() < op.Files[i].Size})
	}
	return result, nil
}

// target is one path and the files that go there, by their index.
type target struct {
	path    string
	files   []int
	archive bool // whose files go below the path
}

// targets sorts the files by where they go. Two streams may share a path.
func targets(op event.CollectOp) []target {
	var all []target
	for i, file := range op.Files {
		if file.Stream == protocol.StageOutArchive {
			all = append(all, target{path: op.Payload.WorkDir, files: []int{i}, archive: true})
			continue
		}
		path := op.Payload.Stdout
		if file.Stream == protocol.Stderr {
			path = op.Payload.Stderr
		}
		if last := len(all) - 1; last >= 0 && all[last].path == path {
			all[last].files = append(all[last].files, i)
			continue
		}
		all = append(all, target{path: path, files: []int{i}})
	}
	return all
}

// permanentError is a delivery that repeating cannot help.
type permanentError struct{ why string }

func (e permanentError) Error() string { return e.why }

// Permanent implements what permanent looks for.
func (permanentError) Permanent() bool { return true }

func permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

func (n *Node) deliver(ctx context.Context, op event.CollectOp, to target, outputs []Output) error {
	if to.path == "" {
		return permanentError{"the job names no file for its output"}
	}
	var whole []io.Reader
	for _, i := range to.files {
		whole = append(whole, io.NewSectionReader(outputs[i], 0, op.Files[i].Size))
	}
	content := &watched{ctx: ctx, r: io.MultiReader(whole...)}
	if to.archive {
		if !op.Payload.Staging.ComesBack() {
			return permanentError{"the job wants no files back"}
		}
		return n.cfg.Deliverer.Unpack(ctx, op.User, to.path, op.Payload.JobUmask(), op.Payload.Staging, content)
	}
	if op.Payload.AppendOutput {
		return n.cfg.Deliverer.Append(ctx, op.User, to.path, op.Payload.JobUmask(), op.Tag, op.Files[to.files[0]].Stream, content)
	}
	return n.cfg.Deliverer.Deliver(ctx, op.User, to.path, op.Payload.JobUmask(), content)
}

// watched notes each piece that is read as progress.
type watched struct {
	ctx context.Context //nolint:containedctx // of the call that reads
	r   io.Reader
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, context.Cause(w.ctx)
	}
	progressed(w.ctx)
	return w.r.Read(p)
}

// errDiscarded ends a collection whose files are not needed any more.
var errDiscarded = errors.New("the output is not wanted any more")

// collecting are the collections that are under way, or wait for their turn, and what goes through the files of guests.
type collecting struct {
	mu  sync.Mutex
	all map[protocol.Tag]*collection
}

type collection struct {
	tag    protocol.Tag
	cancel context.CancelCauseFunc
	begun  atomic.Bool   // its turn has come
	ended  chan struct{} // closed when it will touch no file any more
}

// add makes a call that collects one that discard ends; nil: it does not collect.
func (c *collecting) add(ctx context.Context, op event.Op) (within context.Context, one *collection) {
	var tag protocol.Tag
	switch op := op.(type) {
	case event.CollectOp:
		tag = op.Tag
	case event.StageInOp:
		tag = op.Tag
	case event.SubmitOp:
		if !op.Job.Guest || op.Job.Spec.StageIn == 0 {
			return ctx, nil
		}
		tag = op.Job.Tag // its files are unpacked
	default:
		return ctx, nil
	}
	within, cancel := context.WithCancelCause(ctx)
	one = &collection{tag: tag, cancel: cancel, ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[protocol.Tag]*collection)
	}
	c.all[one.tag] = one
	return within, one
}

// begin notes that a collection's turn has come.
func (c *collection) begin() {
	if c != nil {
		c.begun.Store(true)
	}
}

// remove notes that a collection has ended.
func (c *collecting) remove(one *collection) {
	if one == nil {
		return
	}
	one.cancel(nil)
	close(one.ended)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[one.tag] == one {
		delete(c.all, one.tag)
	}
}

func (c *collecting) of(tag protocol.Tag) *collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[tag]
}

// discard ends the collection of a job's files and removes what has come of them. One that
// waits for its turn opens no file any more.
func (n *Node) discard(ctx context.Context, tag protocol.Tag) (event.Result, error) {
	if one := n.collecting.of(tag); one != nil {
		one.cancel(errDiscarded)
		if one.begun.Load() {
			select {
			case <-one.ended:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	return event.DiscardResult{}, n.cfg.Deliverer.Discard(tag)
}
