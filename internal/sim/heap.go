package sim

import "github.com/switchyard-hpc/switchyard/protocol"

// moment is something that will happen. The heap orders moments by time, then by
// the order in which they were put in.
type moment struct {
	at    protocol.Instant
	seq   uint64
	kind  momentKind
	site  int32
	which int32 // depends on the kind
}

type momentKind uint8

const (
	arrival     momentKind = iota // of the next job of the workload
	jobBegins                     // which is a slot of the site's batch system
	jobEnds                       // the same
	batch                         // the batch system wants to be woken
	wake                          // the site's peer wants to be woken
	arrives                       // which is a message on its way
	answers                       // which is a call under way
	gossips                       // the site tells its load
	cutBegins                     // which is a cut
	cutEnds                       // which is a cut
	crashes                       // which is a crash
	restarts                      // which is a crash
	budgetTurns                   // the power budget of the site is another one
	applies                       // of the next application
)

func (m moment) before(other moment) bool {
	return m.at < other.at || (m.at == other.at && m.seq < other.seq)
}

// moments is a heap with four children to a node: pops compare more and move
// less than with two.
type moments struct {
	heap []moment
	seq  uint64
}

func (h *moments) push(at protocol.Instant, kind momentKind, site, which int) {
	h.seq++
	m := moment{at: at, seq: h.seq, kind: kind, site: int32(site), which: int32(which)} //nolint:gosec // indices
	h.heap = append(h.heap, m)
	i := len(h.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !m.before(h.heap[up]) {
			break
		}
		h.heap[i] = h.heap[up]
		i = up
	}
	h.heap[i] = m
}

func (h *moments) pop() moment {
	top := h.heap[0]
	last := len(h.heap) - 1
	m := h.heap[last]
	h.heap = h.heap[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		least := h.least(4*i+1, last)
		if least < 0 || !h.heap[least].before(m) {
			break
		}
		h.heap[i] = h.heap[least]
		i = least
	}
	h.heap[i] = m
	return top
}

// least is the earliest of up to four children, -1 when there is none.
func (h *moments) least(first, end int) int {
	if first >= end {
		return -1
	}
	least := first
	for c := first + 1; c < min(first+4, end); c++ {
		if h.heap[c].before(h.heap[least]) {
			least = c
		}
	}
	return least
}
