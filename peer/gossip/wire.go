package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// sigSize is the length of an Ed25519 signature in bytes.
const sigSize = 64

// The first byte of a message is the version of its kind. Digests of version 1 had fewer
// figures of the load, those of version 2 had no mark of an active budget.
const (
	digestVersion   = 3
	identityVersion = 1
)

// What a site's key signs begins with one of these, so that no signature made
// for one purpose serves another.
const (
	digestContext   = "switchyard gossip digest 3\n"
	identityContext = "switchyard gossip identity 1\n"
)

var errShort = errors.New("it is cut off")

// reader takes fields off the front of a message and remembers the first error.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// upTo reads a number that must not exceed the limit.
func (r *reader) upTo(limit uint64) uint64 {
	v := r.number()
	if v > limit {
		r.fail(fmt.Errorf("the number %d is above %d", v, limit))
		return 0
	}
	return v
}

func (r *reader) integer() int     { return int(r.upTo(math.MaxInt32)) }   //nolint:gosec // within the limit
func (r *reader) integer64() int64 { return int64(r.upTo(math.MaxInt64)) } //nolint:gosec // within the limit

func (r *reader) bytes(n uint64) []byte {
	if uint64(len(r.rest)) < n {
		r.fail(errShort)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes(r.number())) }

// version reads the first byte, which must be that of the kind.
func (r *reader) version(known byte) {
	if v := r.bytes(1); len(v) == 1 && v[0] != known {
		r.fail(fmt.Errorf("it has version %d, this peer knows %d", v[0], known))
	}
}

// signature reads the signature, which ends every message.
func (r *reader) signature() []byte {
	if r.err == nil && len(r.rest) > sigSize {
		r.fail(fmt.Errorf("it has %d bytes too many", len(r.rest)-sigSize))
	}
	return r.bytes(sigSize)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// flag is 1 if the value is true, else 0.
func flag(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// appendNumbers appends non-negative numbers; a negative one becomes 0.
func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(max(0, n)))
	}
	return b
}
