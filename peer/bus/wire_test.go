package bus

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// silent is a handler that nothing should reach.
type silent struct{}

func (silent) Received(protocol.SiteName, protocol.Message) {}
func (silent) Connected(protocol.Card)                      {}
func (silent) Disconnected(protocol.SiteName)               {}
func (silent) Rejected(Reason)                              {}
func (silent) Fetch(context.Context, protocol.SiteName, FetchRequest) ([]byte, error) {
	return nil, nil
}

// ends makes two buses that know each other and do not run.
func ends(t testing.TB) (a, b *Bus) {
	t.Helper()
	key := func() *identity.Key {
		seed, _, err := identity.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		k, err := identity.ParseKey(seed)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	aKey, bKey := key(), key()
	end := func(me, it protocol.SiteName, mine, its *identity.Key) *Bus {
		bus, err := New(Config{
			Site: me, Key: mine, Listen: "127.0.0.1:0", Handler: silent{},
			Partners: []Partner{{Site: it, PublicKey: its.Public()}},
			Card: func(protocol.SiteName) protocol.Card {
				return protocol.Card{Site: me, Number: 1, PublicKey: mine.Public(), Protocol: 1}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return bus
	}
	return end("cern", "desy", aKey, bKey), end("desy", "cern", bKey, aKey)
}

// shake makes the two ends of a session.
func shake(t testing.TB, a, b *Bus) (opener, answerer *session) {
	t.Helper()
	hello, err := a.newOpening("desy", nil)
	if err != nil {
		t.Fatal(err)
	}
	atB, err := readHello(hello.signed, "desy", b.partners["cern"].Partner)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.newOpening("cern", atB.nonce)
	if err != nil {
		t.Fatal(err)
	}
	if answerer, err = answer.session(atB); err != nil {
		t.Fatal(err)
	}
	atA, err := readHello(answer.signed, "cern", a.partners["desy"].Partner)
	if err != nil {
		t.Fatal(err)
	}
	if opener, err = hello.session(atA); err != nil {
		t.Fatal(err)
	}
	return opener, answerer
}

func mustRead(t testing.TB, data []byte) frame {
	t.Helper()
	f, err := readFrame(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSessionsAuthenticateEveryByte(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	opener, answerer := shake(t, a, b)
	if opener.id != answerer.id {
		t.Fatal("the ends disagree on the session's id")
	}
	const subject = "switchyard.v1.desy.in.cern.msg.grant"
	for _, to := range []struct{ from, to *session }{{opener, answerer}, {answerer, opener}} {
		data := to.from.seal(subject, []byte("body"), false)
		for i := range data {
			changed := bytes.Clone(data)
			changed[i] ^= 1
			f, err := readFrame(changed)
			if err != nil {
				continue
			}
			if reason := to.to.open(subject, f); reason != BadMAC {
				t.Errorf("byte %d changed: got %q", i, reason)
			}
		}
		if reason := to.to.open(subject+"x", mustRead(t, data)); reason != BadMAC {
			t.Errorf("another subject: got %q", reason)
		}
		if reason := to.from.open(subject, mustRead(t, data)); reason != BadMAC {
			t.Errorf("sent back: got %q", reason)
		}
		if reason := to.to.open(subject, mustRead(t, data)); reason != "" {
			t.Errorf("unchanged: got %q", reason)
		}
		if reason := to.to.open(subject, mustRead(t, data)); reason != Replay {
			t.Errorf("twice: got %q", reason)
		}
	}
}

func TestHelloesAreForOneReceiverAndOneHandshake(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	hello, err := a.newOpening("desy", nil)
	if err != nil {
		t.Fatal(err)
	}
	cern := b.partners["cern"].Partner
	if _, err = readHello(hello.signed, "kit", cern); reasonOf(err) != UnknownSender {
		t.Errorf("at another site: got %v", err)
	}
	stranger := cern
	stranger.PublicKey = b.cfg.Key.Public()
	if _, err = readHello(hello.signed, "desy", stranger); reasonOf(err) != BadSignature {
		t.Errorf("with another key: got %v", err)
	}
	if _, err = readHello(make([]byte, peerv1.MaxNotice+1), "desy", cern); reasonOf(err) != Garbage {
		t.Errorf("too long: got %v", err)
	}
	other, err := b.newOpening("cern", make([]byte, peerv1.NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	g, err := readHello(other.signed, "cern", a.partners["desy"].Partner)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = hello.session(g); reasonOf(err) != Replay {
		t.Errorf("an answer to another hello: got %v", err)
	}
}

// A later major version is refused as such, not as garbage.
func TestHelloesOfOtherVersionsAreRefused(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	hello, err := proto.Marshal(&peerv1.Hello{Version: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = readHello(signHello(t, a, hello), "desy", b.partners["cern"].Partner); reasonOf(err) != BadVersion {
		t.Errorf("got %v", err)
	}
}

func signHello(t testing.TB, from *Bus, hello []byte) []byte {
	t.Helper()
	signed, err := proto.Marshal(&peerv1.SignedHello{
		Hello: hello, Signature: from.cfg.Key.Sign(identity.Hello, hello),
	})
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// A partner that holds the session keys still cannot pass one statement off as
// another.
func TestEvidenceIsSigned(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	grant := protocol.Grant{Tag: protocol.Tag{Job: protocol.NewJobID(1, 1), Epoch: 1}}
	body, err := a.pack("desy", grant)
	if err != nil {
		t.Fatal(err)
	}
	cern := b.partners["cern"].Partner
	if m, err := b.unpack(cern, "grant", body); err != nil || m != protocol.Message(grant) {
		t.Fatalf("got %v, %v", m, err)
	}
	for name, change := range map[string]func() (protocol.Message, error){
		"another kind":     func() (protocol.Message, error) { return b.unpack(cern, "accept", body) },
		"no signature":     func() (protocol.Message, error) { return b.unpack(cern, "grant", body[:63]) },
		"another body":     func() (protocol.Message, error) { return b.unpack(cern, "grant", append(bytes.Clone(body), 0)) },
		"another receiver": func() (protocol.Message, error) { return a.unpack(cern, "grant", body) },
	} {
		if _, err := change(); reasonOf(err) != BadSignature {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, kind := range peerv1.Kinds() {
		if m, _ := peerv1.Decode(kind, mustEncodeNotice(t, grant)); m != nil && isEvidence(kind) != protocol.Evidence(m) {
			t.Errorf("isEvidence(%s) differs from protocol.Evidence", kind)
		}
	}
	if !isEvidence(protocol.Result{}.Kind()) {
		t.Error("a result is no evidence")
	}
}

func mustEncodeNotice(t *testing.T, m protocol.Message) []byte {
	t.Helper()
	body, err := peerv1.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestFragmentsJoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 2, 300).Draw(t, "body")
		parts := split(body, rapid.IntRange(1, len(body)-1).Draw(t, "size"))
		lost := rapid.IntRange(-1, len(parts)-1).Draw(t, "lost")
		var a assembler
		for i, part := range parts {
			if i == lost {
				continue
			}
			got, err := a.add("msg.offer", frame{fragment: true, sequence: uint64(i + 1), body: part})
			switch {
			case lost >= 0 && got != nil:
				t.Fatal("a message with a gap was joined")
			case lost >= 0 && i > lost && err == nil && i > 0:
				t.Fatalf("the gap before fragment %d was not seen", i)
			case lost < 0 && (err != nil || (got != nil) != (i == len(parts)-1)):
				t.Fatalf("fragment %d: got %d bytes, %v", i, len(got), err)
			case got != nil && !bytes.Equal(got, body):
				t.Fatal("the message differs")
			}
		}
		if lost < len(parts)-1 && a.body != nil {
			t.Fatal("bytes of a finished or broken message are kept")
		}
	})
}

func TestFragmentsRefuse(t *testing.T) {
	t.Parallel()
	part := func(index, count uint16, total uint32, piece string) []byte {
		out := binary.BigEndian.AppendUint16(nil, index)
		out = binary.BigEndian.AppendUint16(out, count)
		return append(binary.BigEndian.AppendUint32(out, total), piece...)
	}
	cases := map[string][][]byte{
		"short":              {{0, 0, 0, 2}},
		"one of one":         {part(0, 1, 1, "a")},
		"too large":          {part(0, 2, maxBody+1, "a")},
		"too many":           {part(0, maxFragments+1, 5000, "a")},
		"not the first":      {part(1, 2, 2, "a")},
		"empty":              {part(0, 2, 2, "")},
		"more than the size": {part(0, 2, 2, "a"), part(1, 2, 2, "bc")},
		"less than the size": {part(0, 2, 3, "a"), part(1, 2, 3, "b")},
		"another size":       {part(0, 2, 2, "a"), part(1, 2, 3, "b")},
		"another count":      {part(0, 2, 2, "a"), part(1, 3, 2, "b")},
	}
	for name, parts := range cases {
		var a assembler
		var err error
		for i, p := range parts {
			_, err = a.add("msg.offer", frame{fragment: true, sequence: uint64(i + 1), body: p})
		}
		if err == nil || a.body != nil {
			t.Errorf("%s: got %v, and %d bytes kept", name, err, len(a.body))
		}
	}
}

func TestBackoffGrowsToItsLimit(t *testing.T) {
	t.Parallel()
	for tries, least := range map[int]int64{0: 1, 1: 1, 2: 2, 5: 16, 1000: 30} {
		got := backoff(1e9, tries).Seconds()
		if got < float64(least) || got > float64(least)*1.26 {
			t.Errorf("try %d waits %.1f s, want %d to a quarter more", tries, got, least)
		}
	}
}

// What is left of a message whose end was lost goes with the next frame.
func TestOtherFramesDropFragments(t *testing.T) {
	t.Parallel()
	var a assembler
	first := split(make([]byte, 100), 60)[0]
	if body, err := a.add("msg.offer", frame{fragment: true, sequence: 1, body: first}); body != nil || err != nil {
		t.Fatal(body, err)
	}
	if body, err := a.add("ping", frame{sequence: 2, body: []byte{}}); body == nil || err != nil || a.body != nil {
		t.Errorf("got %v, %v and %d bytes kept", body, err, len(a.body))
	}
}

func FuzzReadFrame(f *testing.F) {
	a, b := ends(f)
	opener, answerer := shake(f, a, b)
	f.Add(opener.seal("subject", []byte("body"), false))
	f.Add(answerer.seal("subject", nil, true))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		fr, err := readFrame(data)
		if err != nil {
			return
		}
		again := appendHeader(nil, fr.session, fr.sequence, fr.fragment)
		again = append(append(again[:authedSize], fr.mac...), fr.body...)
		if !bytes.Equal(again, data) {
			t.Fatalf("a frame reads two ways: %x and %x", data, again)
		}
		if fr.fragment {
			var parts assembler
			if body, _ := parts.add("ping", fr); body != nil {
				t.Fatal("one fragment made a message")
			}
		}
	})
}

// The fuzzed hello is signed, as a hostile partner would.
func FuzzReadHello(f *testing.F) {
	a, b := ends(f)
	opening, err := a.newOpening("desy", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(opening.hello, false)
	f.Add(opening.signed, true)
	cern := b.partners["cern"].Partner
	f.Fuzz(func(t *testing.T, data []byte, raw bool) {
		if !raw {
			data = signHello(t, a, data)
		}
		g, err := readHello(data, "desy", cern)
		if err != nil {
			if reason := reasonOf(err); reason == "" {
				t.Fatalf("%v has no reason", err)
			}
			return
		}
		if g.card.PublicKey != cern.PublicKey || len(g.nonce) != peerv1.NonceSize {
			t.Fatalf("accepted %+v", g)
		}
	})
}
