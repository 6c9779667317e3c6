package bus

import (
	"encoding/binary"
	"errors"

	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

const (
	fragmentSize   = 512 << 10 // bodies above are split
	fragmentHeader = 8
	maxBody        = peerv1.MaxMessage + 1024 // with a signature
	maxFragments   = 1 << 12
)

// split cuts a body that is longer than size into fragment bodies.
func split(body []byte, size int) [][]byte {
	count := (len(body) + size - 1) / size
	parts := make([][]byte, 0, count)
	for i := range count {
		piece := body[i*size : min((i+1)*size, len(body))]
		part := make([]byte, 0, fragmentHeader+len(piece))
		part = binary.BigEndian.AppendUint16(part, uint16(i))
		part = binary.BigEndian.AppendUint16(part, uint16(count))     //nolint:gosec // below maxFragments
		part = binary.BigEndian.AppendUint32(part, uint32(len(body))) //nolint:gosec // below maxBody
		parts = append(parts, append(part, piece...))
	}
	return parts
}

// assembler joins the fragments of one link. It holds at most one message,
// because a sender sends the fragments of a message in a row.
type assembler struct {
	session  sessionID
	op       string
	sequence uint64 // of the last fragment
	next     int
	count    int
	total    int
	body     []byte
}

var errFragment = errors.New("the fragment does not fit its message")

// add takes the body of an authenticated frame and returns the whole one, after
// the last fragment if it has several. A gap, another op or another message drops
// what was there; so does a ping, and nothing stays for long.
func (a *assembler) add(op string, f frame, body []byte) ([]byte, error) {
	if !f.fragment {
		a.drop()
		return body, nil
	}
	if len(body) < fragmentHeader {
		a.drop()
		return nil, errFragment
	}
	index := int(binary.BigEndian.Uint16(body))
	count := int(binary.BigEndian.Uint16(body[2:]))
	total := int(binary.BigEndian.Uint32(body[4:]))
	piece := body[fragmentHeader:]
	if index == 0 {
		*a = assembler{session: f.session, op: op, sequence: f.sequence - 1, count: count, total: total}
	}
	if !a.continues(op, f, index, count, total) || len(piece) == 0 || len(a.body)+len(piece) > total {
		a.drop()
		return nil, errFragment
	}
	// The buffer grows with what has arrived, not with what was announced.
	a.body = append(a.body, piece...)
	a.sequence, a.next = f.sequence, index+1
	if a.next < a.count {
		return nil, nil
	}
	whole := a.body
	a.drop()
	if len(whole) != total {
		return nil, errFragment
	}
	return whole, nil
}

func (a *assembler) continues(op string, f frame, index, count, total int) bool {
	if total > maxBody || count > maxFragments || count < 2 {
		return false
	}
	return a.next == index && a.op == op && a.session == f.session && a.sequence+1 == f.sequence &&
		a.count == count && a.total == total
}

func (a *assembler) drop() { *a = assembler{} }
