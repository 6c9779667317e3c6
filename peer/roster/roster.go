// Package roster holds the roster of a grid: a signed list of its sites, their keys and URLs. A site that uses one decides by its
// own configuration which of these sites are its partners.
package roster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/signedtext"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of a roster.
const (
	MaxText  = 1 << 20 // bytes
	maxSites = 1000
)

// format is the version of the text.
const format = 1

// Site is a site of the grid.
type Site struct {
	Name          protocol.SiteName   `json:"name"`
	Number        protocol.SiteNumber `json:"number"`
	PublicKey     string              `json:"public_key"`
	NextPublicKey string              `json:"next_public_key,omitempty"` // accepted beside PublicKey
	URL           string              `json:"url,omitempty"`             // at which partners reach it; empty: it only connects to others
}

// PublicKeys are those that count: one or two.
func (s *Site) PublicKeys() []string {
	if s.NextPublicKey == "" {
		return []string{s.PublicKey}
	}
	return []string{s.PublicKey, s.NextPublicKey}
}

// Roster is the signed list.
type Roster struct {
	Format    int              `json:"roster_format"`
	Serial    int64            `json:"serial"` // rises from one roster of a grid to the next
	End       protocol.Instant `json:"end_ms"` // from then on the roster does not count
	Sites     []Site           `json:"sites"`
	By        string           `json:"by"`                  // public key of who signs it
	Signature []byte           `json:"signature,omitempty"` // over the rest
}

// Sign signs the roster by a key, whose public key becomes By. The error is of type [problems.List]: what is wrong in it, with the
// keys of the file that it was read from. Valid says what is wrong with a public key.
func (r *Roster) Sign(file, public string, valid func(public string) error, sign func(message []byte) []byte) error {
	r.Format, r.By = format, public
	if err := r.check(file, valid).Err(); err != nil {
		return err
	}
	message, err := r.signed()
	r.Signature = sign(message)
	return err
}

// signed is what the signature is over.
func (r *Roster) signed() ([]byte, error) {
	return signedtext.Message(*r, func(text *Roster) *[]byte { return &text.Signature })
}

// Encode is the text of the roster, which [Read] reads.
func (r *Roster) Encode() ([]byte, error) { return signedtext.Encode(r) }

// Digest names what is in the roster, whoever has signed it: 64 hexadecimal digits.
func (r *Roster) Digest() string {
	bare := *r
	bare.By = ""
	message, _ := bare.signed() // of such fields it has no errors
	sum := sha256.Sum256(message)
	return hex.EncodeToString(sum[:])
}

// Read reads a roster and checks its form, and its signature by the key that it names. Whose key that is, the end and the serial are for the
// caller to look at. The error is of type [problems.List], with the name of the file at each problem.
func Read(file string, text []byte, valid func(public string) error, verify func(public string, message, signature []byte) bool) (r Roster, err error) {
	if err = signedtext.Decode(file, "roster", text, MaxText, &r); err != nil {
		return r, err
	}
	wrong := r.check(file, valid)
	message, err := r.signed()
	if err != nil {
		return r, err
	}
	if !verify(r.By, message, r.Signature) {
		wrong.Add(signedtext.Places(file)("signature"), "is not by the key that the roster names: the text was changed, or never signed; get it again")
	}
	return r, wrong.Err()
}

// Find returns the site of a name; nil if the roster does not have it.
func (r *Roster) Find(name protocol.SiteName) *Site {
	if at := slices.IndexFunc(r.Sites, func(s Site) bool { return s.Name == name }); at >= 0 {
		return &r.Sites[at]
	}
	return nil
}

// check says what is wrong with the roster in itself.
func (r *Roster) check(file string, valid func(public string) error) (wrong problems.List) {
	at := signedtext.Places(file)
	if r.Format != format {
		wrong.Add(at("roster_format"), "is %d; this version reads %d", r.Format, format)
	}
	if r.Serial < 1 {
		wrong.Add(at("serial"), "is %d; begin with 1, and write a higher one into each later roster", r.Serial)
	}
	if r.End <= 0 {
		wrong.Add(at("end_ms"), "is no time")
	}
	if len(r.Sites) == 0 || len(r.Sites) > maxSites {
		wrong.Add(at("sites"), "has %d sites; 1 to %d are allowed", len(r.Sites), maxSites)
		return wrong
	}
	seen := map[string]string{} // names, numbers and keys, and the first key of the text that has them
	for i := range r.Sites {
		r.Sites[i].check(&wrong, func(key string) problems.Place { return at(fmt.Sprintf("sites[%d].%s", i, key)) }, valid, seen)
	}
	return wrong
}

func (s *Site) check(wrong *problems.List, at func(key string) problems.Place, valid func(public string) error, seen map[string]string) {
	once := func(key, value string, err error) {
		if err != nil {
			wrong.Add(at(key), "%v", err)
		} else if first := seen[value]; first != "" {
			wrong.Add(at(key), "duplicate, first at %s; each site of a grid has its own", first)
		} else {
			seen[value] = at(key).Key
		}
	}
	once("name", string(s.Name), s.Name.Validate())
	once("number", fmt.Sprint(s.Number), s.Number.Validate())
	once("public_key", s.PublicKey, valid(s.PublicKey))
	if s.NextPublicKey != "" {
		once("next_public_key", s.NextPublicKey, valid(s.NextPublicKey))
	}
	signedtext.CheckURL(wrong, at("url"), s.URL, signedtext.MaxURL)
}
