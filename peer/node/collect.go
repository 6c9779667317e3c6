package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// collect brings a finished job's files from the site that ran it to where its
// user wants them. What can never be put there is kept in the peer's folder.
func (n *Node) collect(ctx context.Context, op peer.CollectOp) (peer.Result, error) {
	transport := n.links.transport()
	if transport == nil {
		return nil, ErrNotAttached
	}
	var result peer.CollectResult
	var kept, problems []string
	for _, target := range targets(op) {
		err := n.deliver(ctx, transport, op, target)
		if !permanent(err) {
			if err != nil {
				return nil, fmt.Errorf("job %v: collect %s from %s: %w", op.Tag, target.path, op.From, err)
			}
			continue
		}
		problems = append(problems, err.Error())
		for _, file := range target.files {
			path, err := n.cfg.Deliverer.Keep(op.Tag, file.Stream, fetched(ctx, transport, op, file))
			if err != nil {
				return nil, fmt.Errorf("job %v: keep %v: %w", op.Tag, file.Stream, err)
			}
			kept = append(kept, path)
		}
	}
	result.Problem, result.Kept = strings.Join(problems, "; "), strings.Join(kept, ", ")
	return result, nil
}

// target is one path and the files that go there.
type target struct {
	path  string
	files []protocol.File
}

// targets sorts the files by where they go. Two streams may share a path.
func targets(op peer.CollectOp) []target {
	var all []target
	for _, file := range op.Files {
		path := op.Payload.Stdout
		if file.Stream == protocol.Stderr {
			path = op.Payload.Stderr
		}
		if i := len(all) - 1; i >= 0 && all[i].path == path {
			all[i].files = append(all[i].files, file)
			continue
		}
		all = append(all, target{path: path, files: []protocol.File{file}})
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

func (n *Node) deliver(ctx context.Context, transport Transport, op peer.CollectOp, to target) error {
	if to.path == "" {
		return permanentError{"the job names no file for its output"}
	}
	var whole []io.Reader
	for _, file := range to.files {
		whole = append(whole, fetched(ctx, transport, op, file))
	}
	return n.cfg.Deliverer.Deliver(ctx, op.User, to.path, io.MultiReader(whole...))
}

// fetchedFile reads an output file at a partner, chunk by chunk, and checks it at
// its end: a reader that saw [io.EOF] has seen the very file.
type fetchedFile struct {
	fetch  func(offset int64, size int) ([]byte, error)
	file   protocol.File
	sum    hash.Hash
	offset int64
	chunk  []byte // fetched and not yet read
}

func fetched(ctx context.Context, transport Transport, op peer.CollectOp, file protocol.File) io.Reader {
	return &fetchedFile{
		fetch: func(offset int64, size int) ([]byte, error) {
			return transport.Fetch(ctx, op.From, op.Tag, file.Stream, offset, size)
		},
		file: file,
		sum:  sha256.New(),
	}
}

// Read implements [io.Reader].
func (f *fetchedFile) Read(p []byte) (int, error) {
	if len(f.chunk) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	size := copy(p, f.chunk)
	f.chunk = f.chunk[size:]
	return size, nil
}

// next fetches a chunk, or says how the file ended.
func (f *fetchedFile) next() error {
	left := f.file.Size - f.offset
	if left <= 0 {
		if [sha256.Size]byte(f.sum.Sum(nil)) != f.file.SHA256 {
			return fmt.Errorf("%v differs from what the site announced: its SHA-256 is another", f.file.Stream)
		}
		return io.EOF
	}
	size := int(min(left, MaxChunk))
	chunk, err := f.fetch(f.offset, size)
	switch {
	case err != nil:
		return err
	case len(chunk) == 0 || len(chunk) > size:
		return fmt.Errorf("%v: the site sent %d bytes at offset %d of %d; it should send 1 to %d",
			f.file.Stream, len(chunk), f.offset, f.file.Size, size)
	}
	f.sum.Write(chunk)
	f.offset += int64(len(chunk))
	f.chunk = chunk
	return nil
}
