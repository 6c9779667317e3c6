package identity

import (
	"crypto/ed25519"
	"errors"
)

// Purpose says what a signature is for. A signature made for one purpose does
// not verify for another.
type Purpose string

// The purposes.
const (
	Hello    Purpose = "hello"    // opens a session
	Card     Purpose = "card"     // an encoded site card
	Gossip   Purpose = "gossip"   // identities and digests
	Evidence Purpose = "evidence" // a Grant, Accept or Result
	Life     Purpose = "life"     // how far a site's store has come

	Statement        Purpose = "statement"        // of the jobs that two sites ran for each other
	Countersignature Purpose = "countersignature" // of such a statement, by the other site

	Invitation Purpose = "invitation" // of a site that is to join the grid
	Answer     Purpose = "answer"     // to such an invitation, by that site
	Roster     Purpose = "roster"     // of a grid
	Keyring    Purpose = "keyring"    // of the gossip, which is also sealed
)

// ErrSignature says that a signature was not made by that key for that purpose
// over that message.
var ErrSignature = errors.New("the signature is wrong")

// Sign signs a message for a purpose; 64 bytes.
func (k *Key) Sign(purpose Purpose, message []byte) []byte {
	return ed25519.Sign(k.private, separated(purpose, message))
}

// Verify checks what [Key.Sign] made with the key of that public key. It returns
// [ErrSignature], or why the public key is none.
func Verify(public string, purpose Purpose, message, signature []byte) error {
	key, err := decodePublic(public)
	if err != nil {
		return err
	}
	if len(signature) != ed25519.SignatureSize || !ed25519.Verify(key, separated(purpose, message), signature) {
		return ErrSignature
	}
	return nil
}

// Signer is [Key.Sign] for one purpose, for those who need not know the key.
func (k *Key) Signer(purpose Purpose) func(message []byte) []byte {
	return func(message []byte) []byte { return k.Sign(purpose, message) }
}

// Verifier is [Verify] for one purpose.
func Verifier(purpose Purpose) func(public string, message, signature []byte) bool {
	return func(public string, message, signature []byte) bool {
		return Verify(public, purpose, message, signature) == nil
	}
}

func separated(purpose Purpose, message []byte) []byte {
	const prefix = "switchyard.v1 "
	out := make([]byte, 0, len(prefix)+len(purpose)+1+len(message))
	out = append(out, prefix...)
	out = append(out, purpose...)
	out = append(out, 0)
	return append(out, message...)
}
