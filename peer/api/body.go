package api

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of the lists in a body. An element takes two bytes there and some hundred in memory, so that the size of a body does not
// bound what it becomes.
const (
	MaxListed = protocol.MaxArgs // elements of one list
	MaxValues = 1 << 20          // elements of all lists together
)

// newDecoder reads JSON of which it knows all fields, and in which no lists are too long: these end the read before they are decoded.
func newDecoder(body io.Reader) *json.Decoder {
	decoder := json.NewDecoder(&listReader{from: body})
	decoder.DisallowUnknownFields()
	return decoder
}

// listReader passes on JSON as long as its lists keep their limits. What is no JSON is passed on for the decoder to refuse.
type listReader struct {
	from    io.Reader
	open    []int // for each list and object around the next byte: commas of a list, or [inObject]
	values  int   // elements of all lists
	text    bool  // the next byte is in a string
	escaped bool  // after a backslash
	err     error
}

// inObject stands for an object in [listReader].
const inObject = -1

// Read implements [io.Reader].
func (l *listReader) Read(p []byte) (n int, err error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err = l.from.Read(p)
	for _, b := range p[:n] {
		if l.err = l.next(b); l.err != nil {
			return 0, l.err
		}
	}
	return n, err
}

func (l *listReader) next(b byte) error {
	if l.text {
		l.text = l.escaped || b != '"'
		l.escaped = b == '\\' && !l.escaped
		return nil
	}
	last := len(l.open) - 1
	switch b {
	case '"':
		l.text = true
	case '{':
		l.open = append(l.open, inObject)
	case '[':
		l.open = append(l.open, 0)
		l.values++
	case '}', ']':
		l.open = l.open[:max(last, 0)]
	case ',':
		if last < 0 || l.open[last] == inObject {
			break
		}
		l.open[last]++
		l.values++
		if l.open[last] >= MaxListed {
			return fmt.Errorf("a list has more than %d elements", MaxListed)
		}
	}
	if l.values > MaxValues {
		return fmt.Errorf("the lists have more than %d elements together", MaxValues)
	}
	return nil
}
