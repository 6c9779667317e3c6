package peerv1

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of encoded messages, in bytes.
const (
	MaxMessage = 8 << 20  // an offer, with its payload
	MaxQuotes  = 4 << 20  // a quote request or reply
	MaxNotice  = 64 << 10 // any other message, a card, a digest
)

// Kinds lists the kinds of messages that [Encode] and [Decode] know, in the
// order of protocol/message.go.
func Kinds() []string {
	return []string{
		protocol.QuoteRequest{}.Kind(), protocol.QuoteReply{}.Kind(), protocol.Volunteer{}.Kind(),
		protocol.Offer{}.Kind(), protocol.Prepared{}.Kind(), protocol.Refused{}.Kind(),
		protocol.Grant{}.Kind(), protocol.Accept{}.Kind(), protocol.PrepareExpired{}.Kind(),
		protocol.Status{}.Kind(), protocol.PlannedStarts{}.Kind(), protocol.StatusAck{}.Kind(),
		protocol.Result{}.Kind(), protocol.ResultAck{}.Kind(),
		protocol.Recall{}.Kind(), protocol.Recalled{}.Kind(),
		protocol.DecisionQuery{}.Kind(), protocol.Abort{}.Kind(),
		protocol.UnknownJob{}.Kind(), protocol.Fenced{}.Kind(), protocol.Watermark{}.Kind(),
		protocol.OutcomeQuery{}.Kind(), protocol.JobOutcome{}.Kind(),
		protocol.ElementsQuery{}.Kind(), protocol.ElementsOutcome{}.Kind(), protocol.UseReport{}.Kind(),
	}
}

// UnsendableError is a message that has no form on the wire: a fault of this site, that
// no retry fixes.
type UnsendableError struct{ Err error }

func (e *UnsendableError) Error() string { return e.Err.Error() }

// Unwrap is why.
func (e *UnsendableError) Unwrap() error { return e.Err }

// Encode checks a message and makes the body of its frame. The error is an
// [UnsendableError] and names the kind and the field.
func Encode(m protocol.Message) ([]byte, error) {
	if m == nil {
		return nil, &UnsendableError{errors.New("a message is nil")}
	}
	kind := m.Kind()
	if err := checkMessage(m); err != nil {
		return nil, &UnsendableError{wire.In(kind, err)}
	}
	body, err := marshal(kind, limit(kind), wireMessage(m))
	if err != nil {
		return nil, &UnsendableError{err}
	}
	return body, nil
}

// Size is how many bytes [Encode] makes of a message, 0 of one that it refuses.
func Size(m protocol.Message) int {
	if m == nil || checkMessage(m) != nil {
		return 0
	}
	return proto.Size(wireMessage(m))
}

// Decode reads and checks the body of a frame of a kind. The error names the
// kind and the field.
func Decode(kind string, body []byte) (protocol.Message, error) {
	if err := checkSize(kind, limit(kind), len(body)); err != nil {
		return nil, err
	}
	m, err := readMessage(kind, body)
	if err != nil {
		return nil, wire.In(kind, err)
	}
	if err := checkMessage(m); err != nil {
		return nil, wire.In(kind, err)
	}
	return m, nil
}

// EncodeCard checks and encodes a site card.
func EncodeCard(c protocol.Card) ([]byte, error) {
	if err := checkCard(c); err != nil {
		return nil, wire.In("card", err)
	}
	return marshal("card", MaxNotice, wireCard(c))
}

// DecodeCard reads and checks a site card. It does not check whose it is.
func DecodeCard(data []byte) (protocol.Card, error) {
	var w Card
	if err := unmarshal("card", data, &w); err != nil {
		return protocol.Card{}, err
	}
	c, err := readCard(&w)
	if err == nil {
		err = checkCard(c)
	}
	if err != nil {
		return protocol.Card{}, wire.In("card", err)
	}
	return c, nil
}

// limit is the most bytes that an encoded message of the kind may have.
func limit(kind string) int {
	switch kind {
	case protocol.Offer{}.Kind():
		return MaxMessage
	case protocol.QuoteRequest{}.Kind(), protocol.QuoteReply{}.Kind():
		return MaxQuotes
	}
	return MaxNotice
}

func checkSize(what string, most, n int) error {
	if n > most {
		return wire.Wrong(what, "has %d bytes, at most %d are allowed", n, most)
	}
	return nil
}

func marshal(what string, most int, w proto.Message) ([]byte, error) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(w)
	if err != nil {
		return nil, wire.In(what, err)
	}
	return data, checkSize(what, most, len(data))
}

func unmarshal(what string, data []byte, w proto.Message) error {
	if err := checkSize(what, MaxNotice, len(data)); err != nil {
		return err
	}
	if err := parse(data, w); err != nil {
		return wire.In(what, err)
	}
	return nil
}

func parse(data []byte, w proto.Message) error {
	if err := checkLists(data, w); err != nil {
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, w)
}
