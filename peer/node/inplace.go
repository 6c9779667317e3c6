package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A site on which a guest is to run in place writes a mark into the working directory and into each directory of its output, as
// the account that runs the guest, and asks the origin what stands in the files of those names there. So each directory is one
// and the same, and the account can write in it. Marks are what the origin has as the files that go with such a job, in the order
// of [protocol.DirsInPlace].

// MarkSize is how many bytes a mark has.
const MarkSize = 64

// markPath is where the mark of a job's placement is in one of its directories. Two of them may be the same one at one of the
// sites alone, so each has a name of its own.
func markPath(dir string, i int, tag protocol.Tag) string {
	return path.Join(dir, fmt.Sprintf(".switchyard-shared-%d.%d.%d", tag.Job, tag.Epoch, i))
}

// checkInPlace finds out whether a guest can run in its own directories here.
func (n *Node) checkInPlace(ctx context.Context, op event.StageInOp) (event.Result, error) {
	transport := n.links.transport()
	if transport == nil {
		return nil, ErrNotAttached
	}
	content := make([]byte, hex.DecodedLen(MarkSize)*len(op.Dirs))
	_, _ = rand.Read(content) // never fails
	marks := hex.AppendEncode(nil, content)
	for i, dir := range op.Dirs {
		remove, err := n.cfg.Deliverer.Mark(ctx, op.Account, markPath(dir, i, op.Tag), markOf(marks, i))
		if permanent(err) {
			return event.StageInResult{Refused: fmt.Sprintf("its account cannot write in %s here: %v", protocol.EscapeText(dir), err)}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("job %v: write in its directory: %w", op.Tag, err)
		}
		defer func() {
			if failed := remove(); failed != nil {
				n.log.Warn("mark_remove_failed", "job", op.Tag.String(), "path", markPath(dir, i, op.Tag), "error", failed)
			}
		}()
	}
	there, err := transport.Fetch(ctx, op.From, op.Tag, protocol.StageInArchive, 0, len(marks))
	gone, isGone := errors.AsType[*protocol.StageInError](err)
	switch {
	case isGone:
		return event.StageInResult{Refused: gone.Reason}, nil
	case err != nil:
		return nil, fmt.Errorf("job %v: ask %s whether it shares its directories: %w", op.Tag, op.From, err)
	}
	for i, dir := range op.Dirs {
		if len(there) != len(marks) || !bytes.Equal(markOf(there, i), markOf(marks, i)) {
			return event.StageInResult{Refused: notShared(dir)}, nil
		}
	}
	return event.StageInResult{}, nil
}

// markOf is the mark of one of the directories.
func markOf(marks []byte, i int) []byte { return marks[i*MarkSize:][:MarkSize] }

// notShared says that a directory is not what sites take it for.
func notShared(dir string) string {
	return protocol.EscapeText(dir) + " is not the same directory at both sites: what one writes there the other does not find; correct shared of [[partner]]"
}

// serveMarks gives what a partner has written into the directories of a job that is to run in place there.
func (n *Node) serveMarks(ctx context.Context, tag protocol.Tag, of *row.Job) (marks []byte, err error) {
	for i, dir := range protocol.DirsInPlace(of.WorkDir, of.Stdout, of.Stderr) {
		content, err := n.cfg.Deliverer.Marked(ctx, of.Spec.User, markPath(dir, i, tag))
		if permanent(err) || err == nil && len(content) != MarkSize {
			return nil, &protocol.StageInError{Reason: notShared(dir)}
		}
		if err != nil {
			return nil, err
		}
		marks = append(marks, content...)
	}
	return marks, nil
}
