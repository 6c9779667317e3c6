package node

import (
	"container/list"
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A result brings the files of its job if they are small, which spares the origin a question for
// each. The machine knows nothing of that: what does not come with the result is fetched.

const (
	// readWithin is how long the local scheduler has for the files of a result that waits to be
	// sent.
	readWithin = time.Second
	// maxReading is how many results wait for their files at once. The others go without.
	maxReading = 8
	// maxBrought is how many bytes of files wait to be collected. The oldest go first, and are
	// fetched.
	maxBrought = 4 << 20
)

// small says whether a result brings the files.
func small(files []protocol.File) bool {
	total := int64(0)
	for _, file := range files {
		if file.Size > protocol.MaxContents-total {
			return false
		}
		total += file.Size
	}
	return len(files) > 0
}

// sendWhole sends a result with the contents of its files as soon as they are read, or without
// them; false: it does not, because enough others are being read.
func (n *Node) sendWhole(ctx context.Context, transport Transport, to protocol.SiteName, result protocol.Result) bool {
	select {
	case n.reading <- struct{}{}:
	default:
		return false
	}
	n.calls.Go(func() {
		defer func() { <-n.reading }()
		result.Contents = n.contents(ctx, result)
		n.sendOne(transport, event.Outgoing{To: to, Body: result})
	})
	return true
}

// contents are those of a result's files; nil: not all can be read now.
func (n *Node) contents(ctx context.Context, result protocol.Result) (contents [][]byte) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	for _, file := range result.Outcome.Files {
		var data []byte
		if file.Size > 0 {
			var err error
			data, err = n.cfg.Scheduler.Fetch(ctx, result.Tag, file.Stream, 0, int(file.Size))
			if err != nil || int64(len(data)) != file.Size {
				return nil
			}
		}
		contents = append(contents, data)
	}
	return contents
}

// brought are the contents that came with results and were not collected yet.
type brought struct {
	mu     sync.Mutex
	byFrom map[source]*list.Element
	all    list.List // of delivery, the oldest first
	bytes  int
}

type source struct {
	site protocol.SiteName
	tag  protocol.Tag
}

type delivery struct {
	from     source
	contents [][]byte
}

// cost is how many bytes a delivery counts for: an empty one is not for nothing.
func (d delivery) cost() int {
	total := 256
	for _, content := range d.contents {
		total += len(content)
	}
	return total
}

// set keeps the contents of a result that came from a site, and gives the result without them.
func (b *brought) set(from protocol.SiteName, result protocol.Result) protocol.Result {
	one := delivery{source{from, result.Tag}, result.Contents}
	result.Contents = nil
	if len(one.contents) == 0 {
		return result
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byFrom == nil {
		b.byFrom = make(map[source]*list.Element)
	}
	b.remove(b.byFrom[one.from])
	b.byFrom[one.from] = b.all.PushBack(one)
	b.bytes += one.cost()
	for b.bytes > maxBrought {
		b.remove(b.all.Front())
	}
	return result
}

// take gives the contents of the files that are to be collected, once; nil: they did not come, or
// are not what was announced.
func (b *brought) take(op event.CollectOp) [][]byte {
	b.mu.Lock()
	one := b.remove(b.byFrom[source{op.From, op.Tag}])
	b.mu.Unlock()
	if len(one.contents) != len(op.Files) {
		return nil
	}
	for i, file := range op.Files {
		if sha256.Sum256(one.contents[i]) != file.SHA256 {
			return nil
		}
	}
	return one.contents
}

// remove takes a delivery out; nil: there is none.
func (b *brought) remove(element *list.Element) (one delivery) {
	if element == nil {
		return one
	}
	one, _ = b.all.Remove(element).(delivery) // nothing else is in the list
	delete(b.byFrom, one.from)
	b.bytes -= one.cost()
	return one
}
