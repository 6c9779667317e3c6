package node

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	// spaceEvery is after how many chunks the free space is looked at again: 16 MiB.
	spaceEvery = 64
	// hashAhead is how many chunks may wait to be hashed.
	hashAhead = 8
)

// fetchRest brings what is missing of a file at a partner into its part, chunk by chunk, and
// checks the whole. After an error the part has what came before it, unless that cannot be
// the file.
func (n *Node) fetchRest(
	ctx context.Context, transport Transport, op event.CollectOp, file protocol.File, part Part,
) error {
	defer n.transfers.end(op.Tag.Job)
	sum, err := begun(ctx, part, file)
	if err != nil {
		return err
	}
	if err = n.fetchAll(ctx, transport, op, file, part, sum); err != nil {
		return err
	}
	if [sha256.Size]byte(sum.Sum(nil)) != file.SHA256 {
		if err := part.Reset(); err != nil {
			return err
		}
		return fmt.Errorf("%v differs from what the site announced: its SHA-256 is another", file.Stream)
	}
	return nil
}

// begun is the hash of what is here already. A part that is longer than the file is not its.
func begun(ctx context.Context, part Part, file protocol.File) (hash.Hash, error) {
	sum := sha256.New()
	if part.Size() > file.Size {
		return sum, part.Reset()
	}
	r := &watched{ctx: ctx, r: io.NewSectionReader(part, 0, part.Size())}
	if _, err := io.Copy(sum, r); err != nil {
		return nil, fmt.Errorf("read what is here of %v: %w", file.Stream, err)
	}
	return sum, nil
}

// fetchAll appends chunk after chunk until the part is as long as the file.
func (n *Node) fetchAll(
	ctx context.Context, transport Transport, op event.CollectOp, file protocol.File, part Part, sum hash.Hash,
) error {
	asked := part.Size() // chunks up to here have been asked for
	ahead := newWindow(n.ahead)
	defer ahead.close()
	hashing := hashInOrder(sum)
	defer hashing.end()
	var under []<-chan chunk // chunks under way, in the order of the file
	for count := 0; ; count++ {
		if count%spaceEvery == 0 {
			if err := n.spaceFor(0); err != nil && asked < file.Size {
				return err
			}
		}
		for len(under) < ahead.size && asked < file.Size {
			size := int(min(file.Size-asked, MaxChunk))
			under = append(under, n.fetchChunk(ctx, transport, op, file, asked, size))
			asked += int64(size)
		}
		if len(under) == 0 {
			return nil
		}
		arrived := <-under[0]
		under = under[1:]
		if arrived.err != nil {
			return arrived.err
		}
		progressed(ctx)
		ahead.arrived(arrived.took)
		hashing.chunks <- arrived.data
		if err := part.Append(arrived.data); err != nil {
			return err
		}
		n.transfers.note(op.Tag.Job, file, part.Size())
	}
}

// hashing hashes chunks in their order while they are written, which takes as long on a fast link.
type hashing struct {
	chunks chan<- []byte
	done   chan struct{}
}

// hashInOrder hashes what is sent to chunks until [hashing.end]. The hash is not to be used before that.
func hashInOrder(sum hash.Hash) hashing {
	chunks := make(chan []byte, hashAhead)
	h := hashing{chunks: chunks, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		for data := range chunks {
			sum.Write(data)
		}
	}()
	return h
}

// end returns when all chunks are hashed.
func (h hashing) end() {
	close(h.chunks)
	<-h.done
}

// spaceFor says why a number of bytes may not be written now: the last of the disk is for the store.
func (n *Node) spaceFor(bytes int64) error {
	if n.cfg.Space == nil {
		return nil
	}
	free, err := n.cfg.Space()
	if err != nil || free >= n.cfg.Reserve+uint64(max(0, bytes)) {
		return nil //nolint:nilerr // not knowing is no reason to wait; writing fails by itself
	}
	files := ""
	if bytes > 0 {
		files = fmt.Sprintf(" for %d MB of a job's files", (bytes+999_999)/1_000_000)
	}
	return fmt.Errorf("the peer's disk has %d MiB left%s, and the last %d are for its store; free space in the file system of [site] state_dir",
		free>>20, files, n.cfg.Reserve>>20)
}

// chunk is a piece of a file, or why it is not there.
type chunk struct {
	data []byte
	took time.Duration // from the request to the arrival
	err  error
}

func (n *Node) fetchChunk(
	ctx context.Context, transport Transport, op event.CollectOp, file protocol.File, offset int64, size int,
) <-chan chunk {
	arrived := make(chan chunk, 1)
	begun := time.Now()
	n.calls.Go(func() {
		data, err := transport.Fetch(ctx, op.From, op.Tag, file.Stream, offset, size)
		if err == nil && len(data) != size {
			err = fmt.Errorf("%v: the site sent %d of the %d bytes at offset %d of %d",
				file.Stream, len(data), size, offset, file.Size)
		}
		arrived <- chunk{data, time.Since(begun), err}
	})
	return arrived
}
