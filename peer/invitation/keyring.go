package invitation

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/signedtext"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of a sealed keyring.
const (
	maxMembers = 8
	maxSealed  = 2048 // bytes
)

// Keyring is the keyring of the gossip of a grid, as a site gives it to a partner: sealed, so that only that partner can open it,
// and signed. Nothing in it is secret.
type Keyring struct {
	Format    int               `json:"keyring_format"`
	By        protocol.SiteName `json:"by"`
	For       protocol.SiteName `json:"for"`
	Made      protocol.Instant  `json:"made_ms"`           // by the clock of By
	Members   []string          `json:"members,omitempty"` // host:port, at which members of the gossip are found
	Sealed    []byte            `json:"sealed"`            // the text of the keyring file
	Signature []byte            `json:"signature,omitempty"`
}

// Sign signs the keyring by the key of By. The error is of type [problems.List]: what is wrong in it.
func (k *Keyring) Sign(sign signer) error {
	k.Format = format
	if err := k.check("keyring").Err(); err != nil {
		return err
	}
	message, err := k.signed()
	k.Signature = sign(message)
	return err
}

// signed is what the signature is over.
func (k *Keyring) signed() ([]byte, error) {
	return signedtext.Message(*k, func(text *Keyring) *[]byte { return &text.Signature })
}

// Encode is the text of the keyring, which [ReadKeyring] reads.
func (k *Keyring) Encode() ([]byte, error) { return signedtext.Encode(k) }

// ReadKeyring reads a sealed keyring for a site, and checks that it is signed by one of the keys of the partner that it
// names. The error is of type [problems.List], with the name of the file at each problem.
func ReadKeyring(file string, text []byte, site protocol.SiteName, partners map[protocol.SiteName][]string, verify verifier) (k Keyring, err error) {
	if err = signedtext.Decode(file, "sealed keyring", text, MaxText, &k); err != nil {
		return k, err
	}
	at := signedtext.Places(file)
	wrong := k.check(file)
	if k.For != site {
		wrong.Add(at("for"), "is %s, and this is site %s; ask %s for one that is sealed for this site", signedtext.Name(k.For), site, signedtext.Name(k.By))
	}
	message, err := k.signed()
	if err != nil {
		return k, err
	}
	keys := partners[k.By]
	if len(keys) == 0 {
		wrong.Add(at("by"), "%s is no [[partner]] of this site; become its partner first", signedtext.Name(k.By))
	} else if !slices.ContainsFunc(keys, func(public string) bool { return verify(public, message, k.Signature) }) {
		wrong.Add(at("signature"), "is not by a key of %s that this site has: the text was changed on its way, or the site has replaced its key; ask %[1]s for another one", signedtext.Name(k.By))
	}
	return k, wrong.Err()
}

// check says what is wrong with the keyring in itself.
func (k *Keyring) check(file string) (wrong problems.List) {
	at := signedtext.Places(file)
	if k.Format != format {
		wrong.Add(at("keyring_format"), "is %d; this version reads %d", k.Format, format)
	}
	if err := k.By.Validate(); err != nil {
		wrong.Add(at("by"), "%v", err)
	}
	if err := k.For.Validate(); err != nil {
		wrong.Add(at("for"), "%v", err)
	}
	if k.Made <= 0 {
		wrong.Add(at("made_ms"), "is no time")
	}
	if len(k.Members) > maxMembers {
		wrong.Add(at("members"), "has %d addresses; at most %d are allowed", len(k.Members), maxMembers)
	}
	for i, member := range k.Members {
		signedtext.CheckURL(&wrong, at(fmt.Sprintf("members[%d]", i)), member, signedtext.MaxURL)
	}
	if len(k.Sealed) == 0 || len(k.Sealed) > maxSealed {
		wrong.Add(at("sealed"), "has %d bytes; it must have 1 to %d", len(k.Sealed), maxSealed)
	}
	return wrong
}
