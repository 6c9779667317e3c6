package bus

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// rejectedError is an error with the reason that is counted.
type rejectedError struct {
	reason Reason
	err    error
}

func (r *rejectedError) Error() string { return r.reason + ": " + r.err.Error() }
func (r *rejectedError) Unwrap() error { return r.err }

func reject(reason Reason, format string, args ...any) error {
	return &rejectedError{reason: reason, err: fmt.Errorf(format, args...)}
}

// reasonOf returns what to count for an error; garbage unless it says.
func reasonOf(err error) Reason {
	if r, ok := errors.AsType[*rejectedError](err); ok {
		return r.reason
	}
	return Malformed
}

// opening is a hello or an answer that this side has made.
type opening struct {
	made    time.Time
	private *ecdh.PrivateKey
	nonce   []byte
	signed  []byte // a SignedHello, as sent
	hello   []byte // the Hello in it
}

// newOpening makes a hello to a partner; with echo, an answer.
func (b *Bus) newOpening(to protocol.SiteName, echo []byte) (*opening, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a session key: %w", err)
	}
	made := time.Now() // the card is as of then, or later
	card := b.cfg.Card(to)
	if card.Site == "" {
		return nil, errors.New("the peer is stopping, and has no card any more")
	}
	key := b.key()
	card.Proof = b.prove(card.Life())
	data, err := peerv1.EncodeCard(card)
	if err != nil {
		return nil, fmt.Errorf("this site's card for %s: %w", to, err)
	}
	nonce := make([]byte, peerv1.NonceSize)
	_, _ = rand.Read(nonce) // never fails
	hello, err := peerv1.EncodeHello(&peerv1.Hello{
		Version: protocol.ProtocolVersion, From: string(b.cfg.Site), To: string(to),
		Ephemeral: private.PublicKey().Bytes(), Nonce: nonce, Echo: echo,
		Card: &peerv1.SignedCard{Card: data, Signature: key.Sign(identity.Card, data)},
	})
	if err != nil {
		return nil, err
	}
	signed, err := peerv1.EncodeSignedHello(&peerv1.SignedHello{Hello: hello, Signature: key.Sign(identity.Hello, hello)})
	if err != nil {
		return nil, err
	}
	return &opening{made: made, private: private, nonce: nonce, signed: signed, hello: hello}, nil
}

// greeting is a partner's hello or answer, verified.
type greeting struct {
	ephemeral *ecdh.PublicKey
	nonce     []byte
	echo      []byte // of an answer
	card      protocol.Card
	hello     []byte // as signed
}

// readHello verifies a hello from a partner to this site. Errors without a
// reason are garbage. Of a hello of another version, which its site has signed,
// the nonces are returned beside the error.
func readHello(data []byte, me protocol.SiteName, partner Partner) (*greeting, error) {
	signed, err := peerv1.DecodeSignedHello(data)
	if err != nil {
		return nil, err
	}
	key, err := partner.verify(identity.Hello, signed.GetHello(), signed.GetSignature())
	if err != nil {
		return nil, reject(BadSignature, "hello: %w", err)
	}
	w, err := peerv1.DecodeHello(signed.GetHello())
	if err != nil {
		return nil, err
	}
	if w.GetVersion() != protocol.ProtocolVersion {
		return &greeting{nonce: w.GetNonce(), echo: w.GetEcho()}, reject(BadVersion, "the partner speaks version %d, this site %d", w.GetVersion(), protocol.ProtocolVersion)
	}
	if w.GetFrom() != string(partner.Site) || w.GetTo() != string(me) {
		return nil, reject(UnknownSender, "hello from %.40q to %.40q", w.GetFrom(), w.GetTo())
	}
	ephemeral, err := ecdh.X25519().NewPublicKey(w.GetEphemeral())
	if err != nil {
		return nil, reject(Malformed, "hello: ephemeral: %w", err)
	}
	card, err := readCard(w.GetCard(), partner.Site, key)
	if err != nil {
		return nil, err
	}
	return &greeting{
		ephemeral: ephemeral, nonce: w.GetNonce(), echo: w.GetEcho(), card: card, hello: signed.GetHello(),
	}, nil
}

// readCard verifies the card of a site, which names the key that has signed it and the hello around it: a partner with two keys
// shows itself by one of them.
func readCard(signed *peerv1.SignedCard, site protocol.SiteName, key string) (protocol.Card, error) {
	err := identity.Verify(key, identity.Card, signed.GetCard(), signed.GetSignature())
	if err != nil {
		return protocol.Card{}, reject(BadCard, "site card: %w", err)
	}
	card, err := peerv1.DecodeCard(signed.GetCard())
	if err != nil {
		return protocol.Card{}, reject(BadCard, "site card: %w", err)
	}
	if card.Site != site || card.PublicKey != key {
		return protocol.Card{}, reject(BadCard, "the site card is of %s with key %s, and comes with a hello of %s with key %s", card.Site, card.PublicKey, site, key)
	}
	return card, nil
}

// session derives the session of this side's opening with the partner's
// greeting.
func (o *opening) session(g *greeting) (*session, error) {
	secret, err := o.private.ECDH(g.ephemeral)
	if err != nil {
		return nil, reject(Malformed, "hello: ephemeral: %w", err)
	}
	opener := len(g.echo) > 0
	first, second := g.hello, o.hello
	if opener {
		if !bytes.Equal(g.echo, o.nonce) {
			return nil, reject(Replay, "an answer to another hello")
		}
		first, second = o.hello, g.hello
	}
	s, err := newSession(secret, first, second, opener)
	if err != nil {
		return nil, fmt.Errorf("derive the session keys: %w", err)
	}
	s.card = g.card
	return s, nil
}
