package bus

import (
	"crypto/ed25519"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// pack encodes a message, with the signature in front if it is evidence.
func (b *Bus) pack(to protocol.SiteName, m protocol.Message) ([]byte, error) {
	body, err := peerv1.Encode(b.proved(m))
	if err != nil || !protocol.Evidence(m) {
		return body, err
	}
	signature := b.key().Sign(identity.Evidence, statement(m.Kind(), b.cfg.Site, to, body))
	return append(signature, body...), nil
}

// unpack decodes a message from a partner and verifies its signature if it is
// evidence.
func (b *Bus) unpack(from Partner, kind string, body []byte) (protocol.Message, error) {
	if !protocol.EvidenceKind(kind) {
		return peerv1.Decode(kind, body)
	}
	if len(body) < ed25519.SignatureSize {
		return nil, reject(BadSignature, "%s without a signature", kind)
	}
	signature, body := body[:ed25519.SignatureSize], body[ed25519.SignatureSize:]
	signed := statement(kind, from.Site, b.cfg.Site, body)
	if _, err := from.verify(identity.Evidence, signed, signature); err != nil {
		return nil, reject(BadSignature, "%s: %w", kind, err)
	}
	return peerv1.Decode(kind, body)
}

// statement is what evidence signs. Kinds and names have no NUL, so it reads one
// way only.
func statement(kind string, from, to protocol.SiteName, body []byte) []byte {
	head := kind + "\x00" + string(from) + "\x00" + string(to) + "\x00"
	return append([]byte(head), body...)
}
