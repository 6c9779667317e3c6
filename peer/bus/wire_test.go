package bus

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

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
func (silent) Disconnected(protocol.SiteName, string)       {}
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
				return protocol.Card{Site: me, Number: 1, PublicKey: mine.Public(), Protocol: protocol.ProtocolVersion}
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
	atB, err := readHello(hello.signed, "desy", b.roster.Load().bySite["cern"].Partner)
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
	atA, err := readHello(answer.signed, "cern", a.roster.Load().bySite["desy"].Partner)
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
	f, err := readFrame(bytes.Clone(data)) // opening writes over it
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustSeal(t testing.TB, s *session, subject, op string, body []byte, fragment bool) []byte {
	t.Helper()
	data, err := s.seal(subject, op, body, fragment)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSessionsAuthenticateEveryByte(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	opener, answerer := shake(t, a, b)
	if opener.id != answerer.id {
		t.Fatal("the ends disagree on the session's id")
	}
	const subject = "switchyard.v1.desy.in.cern.frame"
	for _, to := range []struct{ from, to *session }{{opener, answerer}, {answerer, opener}} {
		data := mustSeal(t, to.from, subject, "msg.grant", []byte("body"), false)
		for i := range data {
			changed := bytes.Clone(data)
			changed[i] ^= 1
			f, err := readFrame(changed)
			if err != nil {
				continue
			}
			if _, _, err := to.to.open(subject, f); reasonOf(err) != BadMAC {
				t.Errorf("byte %d changed: got %v", i, err)
			}
		}
		for cut := range data {
			f, err := readFrame(bytes.Clone(data[:cut]))
			if err != nil {
				continue
			}
			if _, _, err := to.to.open(subject, f); reasonOf(err) != BadMAC {
				t.Errorf("cut to %d bytes: got %v", cut, err)
			}
		}
		if _, _, err := to.to.open(subject+"x", mustRead(t, data)); reasonOf(err) != BadMAC {
			t.Errorf("another subject: got %v", err)
		}
		if _, _, err := to.from.open(subject, mustRead(t, data)); reasonOf(err) != BadMAC {
			t.Errorf("sent back: got %v", err)
		}
		op, body, err := to.to.open(subject, mustRead(t, data))
		if err != nil || op != "msg.grant" || string(body) != "body" {
			t.Errorf("unchanged: got %q, %q, %v", op, body, err)
		}
		if _, _, err := to.to.open(subject, mustRead(t, data)); reasonOf(err) != Replay {
			t.Errorf("twice: got %v", err)
		}
	}
}

// What a frame is for and what it says, nobody without the keys can read.
func TestFramesHideOpAndBody(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	opener, _ := shake(t, a, b)
	body := bytes.Repeat([]byte("secret "), 100)
	data := mustSeal(t, opener, "subject", "msg.offer", body, false)
	if bytes.Contains(data, []byte("secret")) || bytes.Contains(data, []byte("msg.offer")) {
		t.Errorf("readable: %q", data)
	}
	again := mustSeal(t, opener, "subject", "msg.offer", body, false)
	if bytes.Equal(data[headerSize:], again[headerSize:]) {
		t.Error("the same body is sealed the same way twice: its nonce was used again")
	}
}

// A key that was used to its limit seals no more, and is renewed long before.
func TestAWornSessionIsRenewedAndThenRefuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		use         func(*session)
		stale, worn bool
	}{
		"new":           {func(*session) {}, false, false},
		"old":           {func(s *session) { s.since = now.Add(-time.Hour) }, true, false},
		"many sent":     {func(s *session) { s.sending.seq = renewFrames }, true, false},
		"much sent":     {func(s *session) { s.sending.bytes = renewBytes }, true, false},
		"much received": {func(s *session) { s.received.bytes = renewBytes }, true, false},
		"frames at end": {func(s *session) { s.sending.seq = maxFrames - 1 }, true, true},
		"bytes at end":  {func(s *session) { s.sending.bytes = maxBytes + 1 }, true, true},
	}
	for name, c := range cases {
		a, b := ends(t)
		s, _ := shake(t, a, b)
		c.use(s)
		if got := s.stale(now, time.Hour); got != c.stale {
			t.Errorf("%s: stale %v, want %v", name, got, c.stale)
		}
		if _, err := s.seal("subject", "ping", nil, false); errors.Is(err, errWorn) != c.worn {
			t.Errorf("%s: seal says %v, want worn %v", name, err, c.worn)
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
	cern := b.roster.Load().bySite["cern"].Partner
	if _, err = readHello(hello.signed, "kit", cern); reasonOf(err) != UnknownSender {
		t.Errorf("at another site: got %v", err)
	}
	stranger := cern
	stranger.PublicKey = b.key().Public()
	if _, err = readHello(hello.signed, "desy", stranger); reasonOf(err) != BadSignature {
		t.Errorf("with another key: got %v", err)
	}
	if _, err = readHello(make([]byte, peerv1.MaxNotice+1), "desy", cern); reasonOf(err) != Malformed {
		t.Errorf("too long: got %v", err)
	}
	other, err := b.newOpening("cern", make([]byte, peerv1.NonceSize))
	if err != nil {
		t.Fatal(err)
	}
	g, err := readHello(other.signed, "cern", a.roster.Load().bySite["desy"].Partner)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = hello.session(g); reasonOf(err) != Replay {
		t.Errorf("an answer to another hello: got %v", err)
	}
}

// A later major version is refused as such, not as garbage.
// Whoever has one of a partner's two keys cannot show a card that names the other one, or is signed with it.
func TestACardIsOfTheKeyThatProvesIt(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	spare, _ := ends(t)
	cern := b.roster.Load().bySite["cern"].Partner
	cern.NextPublicKey = spare.key().Public()
	hello, err := a.newOpening("desy", nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := readHello(hello.signed, "desy", cern)
	if err != nil || g.card.PublicKey != cern.PublicKey {
		t.Fatalf("by its public_key: %+v, %v", g, err)
	}
	decoded, err := peerv1.DecodeHello(hello.hello)
	if err != nil {
		t.Fatal(err)
	}
	for signer, names := range map[*Bus]string{a: cern.NextPublicKey, spare: cern.PublicKey} {
		for _, cardSigner := range []*Bus{a, spare} {
			g.card.PublicKey = names
			data, err := peerv1.EncodeCard(g.card)
			if err != nil {
				t.Fatal(err)
			}
			decoded.Card = &peerv1.SignedCard{Card: data, Signature: cardSigner.key().Sign(identity.Card, data)}
			forged, err := peerv1.EncodeHello(decoded)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = readHello(signHello(t, signer, forged), "desy", cern); reasonOf(err) != BadCard {
				t.Errorf("a card with the key %s in a hello by the other one: got %v", names, err)
			}
		}
	}
}

func TestHelloesOfOtherVersionsAreRefused(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	hello, err := proto.Marshal(&peerv1.Hello{Version: protocol.ProtocolVersion + 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = readHello(signHello(t, a, hello), "desy", b.roster.Load().bySite["cern"].Partner); reasonOf(err) != BadVersion {
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
	cern := b.roster.Load().bySite["cern"].Partner
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
	for _, m := range []protocol.Message{
		protocol.Accept(grant), protocol.JobOutcome{Job: grant.Tag.Job, State: protocol.Completed, Ended: 1}, protocol.OutcomeQuery{Job: grant.Tag.Job},
	} {
		packed, err := a.pack("desy", m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.unpack(cern, m.Kind(), packed); err != nil || got != m {
			t.Errorf("%s: got %v, %v", m.Kind(), got, err)
		}
	}
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
			got, err := a.add("msg.offer", frame{fragment: true, sequence: uint64(i + 1)}, part)
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
	cases := map[string][][]byte{
		"short":              {{0, 0, 0, 2}},
		"one of one":         {fragment(0, 1, 1, "a")},
		"too large":          {fragment(0, 2, maxBody+1, "a")},
		"too many":           {fragment(0, maxFragments+1, 5000, "a")},
		"not the first":      {fragment(1, 2, 2, "a")},
		"empty":              {fragment(0, 2, 2, "")},
		"more than the size": {fragment(0, 2, 2, "a"), fragment(1, 2, 2, "bc")},
		"less than the size": {fragment(0, 2, 3, "a"), fragment(1, 2, 3, "b")},
		"another size":       {fragment(0, 2, 2, "a"), fragment(1, 2, 3, "b")},
		"another count":      {fragment(0, 2, 2, "a"), fragment(1, 3, 2, "b")},
	}
	for name, parts := range cases {
		var a assembler
		var err error
		for i, p := range parts {
			_, err = a.add("msg.offer", frame{fragment: true, sequence: uint64(i + 1)}, p)
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
	if body, err := a.add("msg.offer", frame{fragment: true, sequence: 1}, first); body != nil || err != nil {
		t.Fatal(body, err)
	}
	if body, err := a.add("ping", frame{sequence: 2}, []byte{}); body == nil || err != nil || a.body != nil {
		t.Errorf("got %v, %v and %d bytes kept", body, err, len(a.body))
	}
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
	cern := b.roster.Load().bySite["cern"].Partner
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

// A life is kept with its own site's proof or without any: it could not be returned else.
func TestProofsOfPartnersAreTheirOwn(t *testing.T) {
	t.Parallel()
	a, b := ends(t)
	life := protocol.Life{Incarnation: 1, Boot: 2, Begun: 3, Generation: 4}
	proven := life
	proven.Proof = a.prove(life)
	forged := life
	forged.Proof = b.prove(life)
	for name, c := range map[string]struct{ said, want protocol.Life }{
		"its own": {proven, proven}, "none": {life, life}, "another's": {forged, life},
	} {
		m, _ := b.roster.Load().bySite["cern"].proven(protocol.Watermark{Life: c.said}).(protocol.Watermark)
		if m.Life != c.want {
			t.Errorf("%s: got %+v, want %+v", name, m.Life, c.want)
		}
	}
}
