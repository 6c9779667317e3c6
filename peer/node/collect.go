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
			path, err := n.cfg.Deliverer.Keep(op.Tag, file.Stream, n.fetched(ctx, transport, op, file))
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
		whole = append(whole, n.fetched(ctx, transport, op, file))
	}
	return n.cfg.Deliverer.Deliver(ctx, op.User, to.path, io.MultiReader(whole...))
}

// fetchAhead is how many chunks of a file are under way at once.
const fetchAhead = 2

// fetchedFile reads an output file at a partner, chunk by chunk, and checks it at
// its end: a reader that saw [io.EOF] has seen the very file.
type fetchedFile struct {
	file  protocol.File
	begin func(offset int64, size int) <-chan chunk
	asked int64 // chunks up to here have been asked for
	ahead []<-chan chunk
	sum   hash.Hash
	rest  []byte // fetched and not yet read
}

// chunk is a piece of a file, or why it is not there.
type chunk struct {
	data []byte
	err  error
}

func (n *Node) fetched(ctx context.Context, transport Transport, op peer.CollectOp, file protocol.File) io.Reader {
	begin := func(offset int64, size int) <-chan chunk {
		arrived := make(chan chunk, 1)
		n.calls.Go(func() {
			data, err := transport.Fetch(ctx, op.From, op.Tag, file.Stream, offset, size)
			if err == nil && len(data) != size {
				err = fmt.Errorf("%v: the site sent %d of the %d bytes at offset %d of %d",
					file.Stream, len(data), size, offset, file.Size)
			}
			arrived <- chunk{data, err}
		})
		return arrived
	}
	return &fetchedFile{file: file, begin: begin, sum: sha256.New()}
}

// Read implements [io.Reader].
func (f *fetchedFile) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	size := copy(p, f.rest)
	f.rest = f.rest[size:]
	return size, nil
}

// next waits for a chunk, or says how the file ended.
func (f *fetchedFile) next() error {
	for len(f.ahead) < fetchAhead && f.asked < f.file.Size {
		size := int(min(f.file.Size-f.asked, MaxChunk))
		f.ahead = append(f.ahead, f.begin(f.asked, size))
		f.asked += int64(size)
	}
	if len(f.ahead) == 0 {
		if [sha256.Size]byte(f.sum.Sum(nil)) != f.file.SHA256 {
			return fmt.Errorf("%v differs from what the site announced: its SHA-256 is another", f.file.Stream)
		}
		return io.EOF
	}
	arrived := <-f.ahead[0]
	f.ahead = f.ahead[1:]
	if arrived.err != nil {
		return arrived.err
	}
	f.sum.Write(arrived.data)
	f.rest = arrived.data
	return nil
}
