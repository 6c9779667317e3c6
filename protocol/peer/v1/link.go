package peerv1

import (
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// MaxChunk is the most bytes that one [FetchRequest] may ask for.
const MaxChunk = 256 << 10

// Lengths of what a hello holds, in bytes.
const (
	EphemeralSize = 32
	NonceSize     = 16
	SignatureSize = 64
)

// EncodeHello checks and encodes a hello, which is then signed.
func EncodeHello(h *Hello) ([]byte, error) { return encodeChecked("hello", MaxNotice, h, checkHello) }

// DecodeHello reads and checks a hello. One of another version is returned as
// far as it could be read, for its version.
func DecodeHello(data []byte) (*Hello, error) {
	h := new(Hello)
	return h, decodeChecked("hello", MaxNotice, data, h, func(h *Hello) error {
		if h.GetVersion() != protocol.ProtocolVersion {
			return nil
		}
		return checkHello(h)
	})
}

// EncodeSignedHello checks and encodes a signed hello.
func EncodeSignedHello(h *SignedHello) ([]byte, error) {
	return encodeChecked("signed hello", MaxNotice, h, checkSignedHello)
}

// DecodeSignedHello reads a signed hello and checks its form, not its signature.
func DecodeSignedHello(data []byte) (*SignedHello, error) {
	h := new(SignedHello)
	return h, decodeChecked("signed hello", MaxNotice, data, h, checkSignedHello)
}

// EncodeFetchRequest checks and encodes a request for a piece of a file.
func EncodeFetchRequest(r *FetchRequest) ([]byte, error) {
	return encodeChecked("fetch request", MaxNotice, r, checkFetchRequest)
}

// DecodeFetchRequest reads and checks a request for a piece of a file.
func DecodeFetchRequest(data []byte) (*FetchRequest, error) {
	r := new(FetchRequest)
	return r, decodeChecked("fetch request", MaxNotice, data, r, checkFetchRequest)
}

// EncodeFetchReply checks and encodes a piece of a file.
func EncodeFetchReply(r *FetchReply) ([]byte, error) {
	return encodeChecked("fetch reply", MaxChunk+MaxNotice, r, checkFetchReply)
}

// DecodeFetchReply reads a piece of a file and checks its form.
func DecodeFetchReply(data []byte) (*FetchReply, error) {
	r := new(FetchReply)
	return r, decodeChecked("fetch reply", MaxChunk+MaxNotice, data, r, checkFetchReply)
}

func encodeChecked[W proto.Message](what string, most int, w W, check func(W) error) ([]byte, error) {
	if err := check(w); err != nil {
		return nil, wire.In(what, err)
	}
	return marshal(what, most, w)
}

func decodeChecked[W proto.Message](what string, most int, data []byte, w W, check func(W) error) error {
	if err := checkSize(what, most, len(data)); err != nil {
		return err
	}
	if err := parse(data, w); err != nil {
		return wire.In(what, err)
	}
	return wire.In(what, check(w))
}

func checkHello(h *Hello) error {
	card := h.GetCard()
	return wire.First(
		checkVersion(h.GetVersion()),
		wire.In("from", protocol.SiteName(h.GetFrom()).Validate()),
		wire.In("to", protocol.SiteName(h.GetTo()).Validate()),
		wire.Bytes("ephemeral", h.GetEphemeral(), EphemeralSize),
		wire.Bytes("nonce", h.GetNonce(), NonceSize),
		optional("echo", h.GetEcho(), NonceSize),
		wire.Present("card", len(card.GetCard()) > 0),
		wire.Bytes("card.signature", card.GetSignature(), SignatureSize),
	)
}

func checkVersion(version uint32) error {
	if version != protocol.ProtocolVersion {
		return wire.Wrong("version", "is %d, not %d", version, protocol.ProtocolVersion)
	}
	return nil
}

func checkSignedHello(h *SignedHello) error {
	return wire.First(
		wire.Present("hello", len(h.GetHello()) > 0),
		wire.Bytes("signature", h.GetSignature(), SignatureSize),
	)
}

func checkFetchRequest(r *FetchRequest) error {
	return wire.First(
		wire.Present("id", r.GetId() != 0),
		checkTag(commonv1.DecodeTag(r.GetTag())),
		commonv1.CheckStream(commonv1.DecodeStream(r.GetStream())),
		within("size", r.GetSize(), 1, MaxChunk),
		within("offset", r.GetOffset(), 0, math.MaxInt64-MaxChunk),
	)
}

func checkFetchReply(r *FetchReply) error {
	return wire.First(
		wire.Present("id", r.GetId() != 0),
		wire.AtMost("data", len(r.GetData()), MaxChunk),
		wire.Text("error", r.GetError(), MaxReason),
	)
}

// optional allows none as well.
func optional(field string, b []byte, n int) error {
	if len(b) == 0 {
		return nil
	}
	return wire.Bytes(field, b, n)
}

func within(field string, n, least, most int64) error {
	if n < least || n > most {
		return wire.Wrong(field, "%d is outside %d to %d", n, least, most)
	}
	return nil
}
