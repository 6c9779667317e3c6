package invitation

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The sizes of the parts of the two texts, in bytes.
const (
	MaxText    = 4096 // that [Read] and [ReadAnswer] take
	IDBytes    = 16   // random, of an ID
	SecretSize = 32   // random
	maxURL     = 256
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
	bare := *v
	bare.Signature = nil
	return json.Marshal(&bare) //nolint:gosec // the file is secret, and kept as a key is
}

// Encode is the text of the invitation, which [Read] reads.
func (v *Invitation) Encode() ([]byte, error) { return encode(v) }

// Read reads an invitation and checks its form and its signature, but not its end. The error is of type
// [problems.List], with the name of the file at each problem.
func Read(file string, text []byte, verify verifier) (v Invitation, err error) {
	if err = decode(file, "invitation", text, &v); err != nil {
		return v, err
	}
	wrong := v.check(file)
	message, err := v.signed()
	if err != nil {
		return v, err
	}
	if !verify(v.By.PublicKey, message, v.Signature) {
		wrong.Add(problems.Place{File: file, Key: "signature"}, "is not by the key that the invitation names: the text was changed on its way; ask %s for a new invitation", nameText(v.By.Name))
	}
	return v, wrong.Err()
}

// check says what is wrong with the invitation in itself.
func (v *Invitation) check(file string) (wrong problems.List) {
	at := places(file)
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
			wrong.Add(at("number"), "%d is the number of %s; each site of a grid has its own", v.Number, nameText(v.By.Name))
		}
	}
	if v.NATSURL != "" && v.By.URL != "" {
		wrong.Add(at("by.url"), "excludes nats_url, at which the sites of the grid meet")
	}
	checkURL(&wrong, at("nats_url"), v.NATSURL, maxURLs)
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
	checkURL(wrong, at("by.url"), s.URL, maxURL)
}

// checkURL checks the length and the letters of a URL, which may be empty. What it names is for the configuration to check.
func checkURL(wrong *problems.List, at problems.Place, url string, most int) {
	if err := protocol.CheckText(url); err != nil && url != "" {
		wrong.Add(at, "%v", err)
	} else if len(url) > most {
		wrong.Add(at, "has %d bytes; at most %d are allowed", len(url), most)
	}
}

func checkID(wrong *problems.List, at problems.Place, id string) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != IDBytes {
		wrong.Add(at, "%.40q is not of %d hexadecimal digits", id, 2*IDBytes)
	}
}

// places are those of the keys of a file.
func places(file string) func(key string) problems.Place {
	return func(key string) problems.Place { return problems.Place{File: file, Key: key} }
}

func encode(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// decode reads exactly what [encode] writes but for white space between values: no other keys, none twice, and nothing behind it.
func decode(file, what string, text []byte, into any) error {
	var wrong problems.List
	at := problems.Place{File: file}
	if len(text) > MaxText {
		wrong.Add(at, "has more than %d bytes, so it is no %s", MaxText, what)
		return wrong
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		wrong.Add(at, "is no %s: %s", what, protocol.EscapeText(err.Error()))
		return wrong
	}
	var given bytes.Buffer
	same, err := json.Marshal(into)
	if err == nil {
		err = json.Compact(&given, text)
	}
	if err != nil || !bytes.Equal(given.Bytes(), same) {
		wrong.Add(at, "is no %s as switchyard writes it: keys are missing, twice or in another order, or something follows; send the file itself", what)
		return wrong
	}
	return nil
}
