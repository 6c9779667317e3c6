package peerv1

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of the lists in an encoded message. An element takes two bytes there and some hundred in memory, so that the size of a
// message does not bound what it becomes.
const (
	maxListed = protocol.MaxArgs // elements of one list
	maxValues = 1 << 20          // elements of all lists together
)

// checkLists counts the elements of the lists in an encoded message before it is decoded. What cannot be decoded is left to the decoder.
func checkLists(data []byte, w proto.Message) error {
	left := maxValues
	return countLists(data, w.ProtoReflect().Descriptor(), &left)
}

func countLists(data []byte, of protoreflect.MessageDescriptor, left *int) error {
	counts := map[protowire.Number]int{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return nil
		}
		value := data[:n]
		data = data[n:]
		field := of.Fields().ByNumber(number)
		if field == nil {
			continue
		}
		if field.IsList() && !field.IsPacked() { // packed numbers take eight bytes for each at most
			counts[number]++
			*left--
			switch {
			case counts[number] > maxListed:
				return wire.Wrong(string(field.Name()), "has more than %d elements", maxListed)
			case *left < 0:
				return wire.Wrong(string(field.Name()), "ends with element %d of all lists together, more than are allowed", maxValues+1)
			}
		}
		if kind == protowire.BytesType && field.Message() != nil {
			inner, _ := protowire.ConsumeBytes(value)
			if err := countLists(inner, field.Message(), left); err != nil {
				return wire.In(string(field.Name()), err)
			}
		}
	}
	return nil
}
