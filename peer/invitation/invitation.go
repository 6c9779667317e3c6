package invitation

import (
	"encoding/hex"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/signedtext"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The sizes of the parts of the two texts, in bytes.
const (
	MaxText    = 4096 // that [Read] and [ReadAnswer] take
	IDBytes    = 16   // random, of an ID
	SecretSize = 32   // random
	maxURLs    = 1024 // of a NATS system, together
)

// format is the version of both texts.
const format = 1

// Site is what one site says of itself to the other one.
type Site struct {
	Name      protocol.SiteName   `json:"site"`
	Number    protocol.SiteNumber `json:"number"`
	PublicKey string              `json:"public_key"`
	URL       string              `json:"url,omitempty"` // at which partners reach it; empty: it only connects to others
}

// Invitation is what a site that is a member gives to the administrator of one that is to join. It is secret.
type Invitation struct {
	Format    int                 `json:"invitation_format"`
	ID        string              `json:"id"` // hexadecimal
	By        Site                `json:"by"`
	For       protocol.SiteName   `json:"for"`
	Number    protocol.SiteNumber `json:"number,omitempty"`   // of the invited site; 0: it chooses
	NATSURL   string              `json:"nats_url,omitempty"` // of the NATS system at which the sites of the grid meet; empty: they connect to each other
	End       protocol.Instant    `json:"end_ms"`             // by the clock of By
	Secret    []byte              `json:"secret"`
	Signature []byte              `json:"signature,omitempty"` // by the key of By, over the rest
}

// signer makes a signature of a message, and verifier checks one by a public key.
type (
	signer   = func(message []byte) []byte
	verifier = func(public string, message, signature []byte) bool
)

// New is an invitation that is not signed yet, with random bytes for its ID and its secret.
func New(id [IDBytes]byte, secret [SecretSize]byte) Invitation {
	return Invitation{Format: format, ID: hex.EncodeToString(id[:]), Secret: secret[:]}
}

// Sign signs the invitation by the key of its site. The error is of type [problems.List]: what is wrong in it.
func (v *Invitation) Sign(sign signer) error {
	if err := v.check("invitation").Err(); err != nil {
		return err
	}
	message, err := v.signed()
	v.Signature = sign(message)
	return err
}

// signed is what the signature is over.
func (v *Invitation) signed() ([]byte, error) {
	return signedtext.Message(*v, func(text *Invitation) *[]byte { return &text.Signature })
}

// Encode is the text of the invitation, which [Read] reads.
func (v *Invitation) Encode() ([]byte, error) { return signedtext.Encode(v) }

// Read reads an invitation and checks its form and its signature, but not its end. The error is of type
// [problems.List], with the name of the file at each problem.
func Read(file string, text []byte, verify verifier) (v Invitation, err error) {
	if err = signedtext.Decode(file, "invitation", text, MaxText, &v); err != nil {
		return v, err
	}
	wrong := v.check(file)
	message, err := v.signed()
	if err != nil {
		return v, err
	}
	if !verify(v.By.PublicKey, message, v.Signature) {
		wrong.Add(problems.Place{File: file, Key: "signature"}, "is not by the key that the invitation names: the text was changed on its way; ask %s for a new invitation", signedtext.Name(v.By.Name))
	}
	return v, wrong.Err()
}

// check says what is wrong with the invitation in itself.
func (v *Invitation) check(file string) (wrong problems.List) {
	at := signedtext.Places(file)
	if v.Format != format {
		wrong.Add(at("invitation_format"), "is %d; this version reads %d", v.Format, format)
	}
	checkID(&wrong, at("id"), v.ID)
	v.By.check(&wrong, at)
	if err := v.For.Validate(); err != nil {
		wrong.Add(at("for"), "%v", err)
	} else if v.For == v.By.Name {
		wrong.Add(at("for"), "%q is the site that invites; name the one that is to join", v.For)
	}
	if v.Number != 0 {
		if err := v.Number.Validate(); err != nil {
			wrong.Add(at("number"), "%v", err)
		} else if v.Number == v.By.Number {
			wrong.Add(at("number"), "%d is the number of %s; each site of a grid has its own", v.Number, signedtext.Name(v.By.Name))
		}
	}
	if v.NATSURL != "" && v.By.URL != "" {
		wrong.Add(at("by.url"), "excludes nats_url, at which the sites of the grid meet")
	}
	signedtext.CheckURL(&wrong, at("nats_url"), v.NATSURL, maxURLs)
	if v.End <= 0 {
		wrong.Add(at("end_ms"), "is no time")
	}
	if len(v.Secret) != SecretSize {
		wrong.Add(at("secret"), "has %d bytes; it must have %d", len(v.Secret), SecretSize)
	}
	return wrong
}

// Expired says why the invitation does not count any more; nil: it does.
func (v *Invitation) Expired(now protocol.Instant) error {
	if now < v.End {
		return nil
	}
	return fmt.Errorf("the invitation of %s for %s ended %s; ask for a new one", v.By.Name, v.For, v.End.Text())
}

// check says what is wrong with what a site says of itself. Its key is checked with the signature.
func (s *Site) check(wrong *problems.List, at func(key string) problems.Place) {
	if err := s.Name.Validate(); err != nil {
		wrong.Add(at("by.site"), "%v", err)
	}
	if err := s.Number.Validate(); err != nil {
		wrong.Add(at("by.number"), "%v", err)
	}
	signedtext.CheckURL(wrong, at("by.url"), s.URL, signedtext.MaxURL)
}

func checkID(wrong *problems.List, at problems.Place, id string) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != IDBytes {
		wrong.Add(at, "%.40q is not of %d hexadecimal digits", id, 2*IDBytes)
	}
}
