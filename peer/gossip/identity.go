package gossip

import (
	"encoding/binary"
	"fmt"

	"github.com/hashicorp/memberlist"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// verifier says whether the owner of the public key has signed the data.
type verifier = func(publicKey string, data, sig []byte) bool

// Identity is who a site says it is.
type Identity struct {
	Site        protocol.SiteName
	Number      protocol.SiteNumber
	PublicKey   string           // also the member's name, so that two sites of one name are two members
	FirstStart  protocol.Instant // when the site's store was made
	Incarnation uint64           // rises whenever the store is new or restored
}

// maxPublicKey is more than any encoding of an Ed25519 key needs.
const maxPublicKey = 128

func (id Identity) validate() error {
	if err := id.Site.Validate(); err != nil {
		return err
	}
	if err := id.Number.Validate(); err != nil {
		return err
	}
	if id.PublicKey == "" || len(id.PublicKey) > maxPublicKey {
		return fmt.Errorf("the public key has %d characters; a site's key has 1 to %d", len(id.PublicKey), maxPublicKey)
	}
	return nil
}

// body is what is signed. The key is in it, because memberlist carries the name
// apart from the metadata.
func (id Identity) body() []byte {
	b := appendText(nil, string(id.Site))
	b = appendNumbers(b, int64(id.Number), int64(id.FirstStart))
	b = binary.AppendUvarint(b, id.Incarnation)
	return appendText(b, id.PublicKey)
}

// encodeIdentity writes the node metadata. memberlist panics on metadata above
// its limit, hence the check.
func encodeIdentity(id Identity, sign func([]byte) []byte) ([]byte, error) {
	if err := id.validate(); err != nil {
		return nil, fmt.Errorf("gossip: this site's identity: %w", err)
	}
	sig := sign(append([]byte(identityContext), id.body()...))
	meta := append(append([]byte{identityVersion}, id.body()...), sig...)
	if len(sig) != sigSize || len(meta) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("gossip: the signed identity has %d bytes, %d of them signature; it may have %d and must have %d",
			len(meta), len(sig), memberlist.MetaMaxSize, sigSize)
	}
	return meta, nil
}

// decodeIdentity reads the metadata of the member of that name, and checks that
// the owner of the name has signed it.
func decodeIdentity(name string, meta []byte, verify verifier) (Identity, error) {
	r := reader{rest: meta}
	r.version(identityVersion)
	id := Identity{
		Site:       protocol.SiteName(r.text()),
		Number:     protocol.SiteNumber(r.upTo(uint64(protocol.MaxSiteNumber))), //nolint:gosec // within the limit
		FirstStart: protocol.Instant(r.integer64()),
	}
	id.Incarnation = r.number()
	id.PublicKey = r.text()
	sig := r.signature()
	switch {
	case r.err == nil && id.PublicKey != name:
		r.err = fmt.Errorf("it is of key %.80q", id.PublicKey)
	case r.err == nil:
		r.err = id.validate()
	}
	if r.err == nil && !verify(name, append([]byte(identityContext), id.body()...), sig) {
		r.err = fmt.Errorf("site %s has not signed it", id.Site)
	}
	if r.err != nil {
		return Identity{}, fmt.Errorf("gossip: identity of member %.80q: %w", name, r.err)
	}
	return id, nil
}
