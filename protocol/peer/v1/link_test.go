package peerv1_test

import (
	"bytes"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func goodHello() *peerv1.Hello {
	return &peerv1.Hello{
		Version: protocol.ProtocolVersion, From: "cern", To: "desy",
		Ephemeral: make([]byte, peerv1.EphemeralSize), Nonce: make([]byte, peerv1.NonceSize),
		Card: &peerv1.SignedCard{Card: []byte("card"), Signature: make([]byte, peerv1.SignatureSize)},
	}
}

func goodFetch() *peerv1.FetchRequest {
	return &peerv1.FetchRequest{Id: 1, Tag: commonv1.EncodeTag(tag), Stream: 1, Offset: 5, Size: peerv1.MaxChunk}
}

func goodChunk() *peerv1.FetchReply {
	return &peerv1.FetchReply{Id: 1, Data: []byte("x")}
}

func TestLinkMessagesRoundTrip(t *testing.T) {
	t.Parallel()
	signed := &peerv1.SignedHello{Hello: []byte("hello"), Signature: make([]byte, peerv1.SignatureSize)}
	roundTrip(t, goodHello(), peerv1.EncodeHello, peerv1.DecodeHello)
	roundTrip(t, signed, peerv1.EncodeSignedHello, peerv1.DecodeSignedHello)
	roundTrip(t, goodFetch(), peerv1.EncodeFetchRequest, peerv1.DecodeFetchRequest)
	roundTrip(t, goodChunk(), peerv1.EncodeFetchReply, peerv1.DecodeFetchReply)
}

func roundTrip[W proto.Message](t *testing.T, w W, encode func(W) ([]byte, error), decode func([]byte) (W, error)) {
	t.Helper()
	data, err := encode(w)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(data); err != nil || !proto.Equal(got, w) {
		t.Errorf("got %v, %v; want %v", got, err, w)
	}
}

func TestLinkMessagesAreChecked(t *testing.T) {
	t.Parallel()
	hello := func(change func(*peerv1.Hello)) error {
		h := goodHello()
		change(h)
		_, err := peerv1.EncodeHello(h)
		return err
	}
	fetch := func(change func(*peerv1.FetchRequest)) error {
		r := goodFetch()
		change(r)
		_, err := peerv1.EncodeFetchRequest(r)
		return err
	}
	chunk := func(change func(*peerv1.FetchReply)) error {
		r := goodChunk()
		change(r)
		_, err := peerv1.EncodeFetchReply(r)
		return err
	}
	newer := fmt.Sprintf("hello.version: is %d", protocol.ProtocolVersion+1)
	for want, err := range map[string]error{
		newer:                                hello(func(h *peerv1.Hello) { h.Version = protocol.ProtocolVersion + 1 }),
		"hello.from":                         hello(func(h *peerv1.Hello) { h.From = "CERN" }),
		"hello.to":                           hello(func(h *peerv1.Hello) { h.To = "" }),
		"hello.ephemeral: has 1":             hello(func(h *peerv1.Hello) { h.Ephemeral = []byte{1} }),
		"hello.nonce: has 0":                 hello(func(h *peerv1.Hello) { h.Nonce = nil }),
		"hello.echo: has 1":                  hello(func(h *peerv1.Hello) { h.Echo = []byte{1} }),
		"hello.card: is missing":             hello(func(h *peerv1.Hello) { h.Card = nil }),
		"hello.card.signature":               hello(func(h *peerv1.Hello) { h.Card.Signature = nil }),
		"fetch request.id: is missing":       fetch(func(r *peerv1.FetchRequest) { r.Id = 0 }),
		"fetch request.tag.job":              fetch(func(r *peerv1.FetchRequest) { r.Tag = nil }),
		"fetch request.stream: 0 is unknown": fetch(func(r *peerv1.FetchRequest) { r.Stream = 9 }),
		"fetch request.offset: -1":           fetch(func(r *peerv1.FetchRequest) { r.Offset = -1 }),
		"fetch request.size: 0":              fetch(func(r *peerv1.FetchRequest) { r.Size = 0 }),
		"fetch request.size: 262145":         fetch(func(r *peerv1.FetchRequest) { r.Size++ }),
		"fetch reply.id: is missing":         chunk(func(r *peerv1.FetchReply) { r.Id = 0 }),
		"fetch reply.data: has 262145":       chunk(func(r *peerv1.FetchReply) { r.Data = make([]byte, peerv1.MaxChunk+1) }),
		"fetch reply.error: is not UTF-8":    chunk(func(r *peerv1.FetchReply) { r.Error = "\xff" }),
	} {
		protocoltest.Refused(t, err, want)
	}
}

// What a later version may have changed is not judged.
func TestHelloesOfOtherVersionsCanBeRead(t *testing.T) {
	t.Parallel()
	data, err := proto.Marshal(&peerv1.Hello{Version: protocol.ProtocolVersion + 1})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := peerv1.DecodeHello(data); err != nil || h.GetVersion() != protocol.ProtocolVersion+1 {
		t.Errorf("got %v, %v", h, err)
	}
}

func FuzzDecodeLinkMessages(f *testing.F) {
	for _, w := range []proto.Message{goodHello(), goodFetch(), goodChunk()} {
		data, err := proto.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := peerv1.DecodeHello(data); err == nil && h.GetVersion() == protocol.ProtocolVersion {
			again(t, h, peerv1.EncodeHello, peerv1.DecodeHello)
		}
		if h, err := peerv1.DecodeSignedHello(data); err == nil {
			again(t, h, peerv1.EncodeSignedHello, peerv1.DecodeSignedHello)
		}
		if r, err := peerv1.DecodeFetchRequest(data); err == nil {
			again(t, r, peerv1.EncodeFetchRequest, peerv1.DecodeFetchRequest)
		}
		if r, err := peerv1.DecodeFetchReply(data); err == nil {
			again(t, r, peerv1.EncodeFetchReply, peerv1.DecodeFetchReply)
		}
	})
}

func again[W proto.Message](t *testing.T, w W, encode func(W) ([]byte, error), decode func([]byte) (W, error)) {
	t.Helper()
	data, err := encode(w)
	if err != nil {
		t.Fatalf("what decodes must encode: %v", err)
	}
	if got, err := decode(data); err != nil || !proto.Equal(got, w) {
		t.Fatalf("got %v, %v; want %v", got, err, w)
	}
	if data2, err := encode(w); err != nil || !bytes.Equal(data, data2) {
		t.Fatal("the encoding varies")
	}
}
