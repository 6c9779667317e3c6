package identity

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha512"
	"errors"
	"fmt"

	"filippo.io/edwards25519"
)

// ErrSealed says that a text was not sealed for that key and that purpose, or was changed.
var ErrSealed = errors.New("it is not sealed for this site's key, or was changed")

// Seal encrypts a text so that only the holder of a site's key can open it, and only for the purpose: HPKE (RFC 9180) with
// X25519, HKDF-SHA256 and AES-256-GCM. It does not say who sealed it. The error is why the public key is none.
func Seal(public string, purpose Purpose, text []byte) ([]byte, error) {
	raw, err := decodePublic(public)
	if err != nil {
		return nil, err
	}
	point, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is not a public key of a site: %w", public, err)
	}
	to, err := ecdh.X25519().NewPublicKey(point.BytesMontgomery())
	if err != nil {
		return nil, fmt.Errorf("seal for %s: %w", public, err)
	}
	recipient, err := hpke.NewDHKEMPublicKey(to)
	if err != nil {
		return nil, fmt.Errorf("seal for %s: %w", public, err)
	}
	sealed, err := hpke.Seal(recipient, hpke.HKDFSHA256(), hpke.AES256GCM(), separated(purpose, nil), text)
	if err != nil {
		return nil, fmt.Errorf("seal for %s: %w", public, err)
	}
	return sealed, nil
}

// Open decrypts what [Seal] made for this key and the purpose, or returns [ErrSealed].
func (k *Key) Open(purpose Purpose, sealed []byte) ([]byte, error) {
	// The secret scalar of an Ed25519 key (RFC 8032, 5.1.5) is the X25519 key of the same point; X25519 sets its fixed bits.
	digest := sha512.Sum512(k.private[:ed25519.SeedSize])
	scalar, err := ecdh.X25519().NewPrivateKey(digest[:32])
	if err != nil {
		return nil, fmt.Errorf("open with a site's key: %w", err)
	}
	own, err := hpke.NewDHKEMPrivateKey(scalar)
	if err != nil {
		return nil, fmt.Errorf("open with a site's key: %w", err)
	}
	text, err := hpke.Open(own, hpke.HKDFSHA256(), hpke.AES256GCM(), separated(purpose, nil), sealed)
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}
