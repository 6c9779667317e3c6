package invitation

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/signedtext"
)

// Answer is what a site that was invited gives back. Nothing in it is secret.
type Answer struct {
	Format     int    `json:"answer_format"`
	Invitation string `json:"invitation"` // its ID
	By         Site   `json:"by"`
	Code       []byte `json:"code,omitempty"`      // HMAC-SHA256 of what is above, by the secret of the invitation
	Signature  []byte `json:"signature,omitempty"` // by the key of By, over the rest
}

// Answer is the answer of a site to the invitation, signed by its key. The error is of type [problems.List]: what is
// wrong in what the site says of itself.
func (v *Invitation) Answer(by Site, sign signer) (a Answer, err error) {
	a = Answer{Format: format, Invitation: v.ID, By: by}
	if err = a.check("answer", v).Err(); err != nil {
		return a, err
	}
	if a.Code, err = a.code(v.Secret); err != nil {
		return a, err
	}
	message, err := a.signed()
	a.Signature = sign(message)
	return a, err
}

// code is the code of the answer by the secret of an invitation. What is put before says what the code is for.
func (a *Answer) code(secret []byte) ([]byte, error) {
	bare := *a
	bare.Code = nil
	message, err := bare.signed()
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte("switchyard.v1 answer\x00")) // a hash has no errors
	_, _ = mac.Write(message)
	return mac.Sum(nil), err
}

// signed is what the signature is over.
func (a *Answer) signed() ([]byte, error) {
	return signedtext.Message(*a, func(text *Answer) *[]byte { return &text.Signature })
}

// Encode is the text of the answer, which [ReadAnswer] reads.
func (a *Answer) Encode() ([]byte, error) { return signedtext.Encode(a) }

// ReadAnswer reads an answer, and checks that the holder of the invitation wrote it, and that its site has the key that it names. It
// does not look at the end of the invitation. The error is of type [problems.List], with the name of the file at each problem.
func (v *Invitation) ReadAnswer(file string, text []byte, verify verifier) (a Answer, err error) {
	if err = signedtext.Decode(file, "answer", text, MaxText, &a); err != nil {
		return a, err
	}
	at := signedtext.Places(file)
	wrong := a.check(file, v)
	code, err := a.code(v.Secret)
	if err != nil {
		return a, err
	}
	message, err := a.signed()
	if err != nil {
		return a, err
	}
	if !hmac.Equal(code, a.Code) {
		wrong.Add(at("code"), "was not made with the secret of the invitation: the answer was changed on its way, or another one wrote it; ask %s by a way that you trust", v.For)
	}
	if !verify(a.By.PublicKey, message, a.Signature) {
		wrong.Add(at("signature"), "is not by the key that the answer names; ask %s for the answer again", v.For)
	}
	return a, wrong.Err()
}

// check says what is wrong with the answer in itself, and as one to the invitation.
func (a *Answer) check(file string, v *Invitation) (wrong problems.List) {
	at := signedtext.Places(file)
	if a.Format != format {
		wrong.Add(at("answer_format"), "is %d; this version reads %d", a.Format, format)
	}
	if a.Invitation != v.ID {
		wrong.Add(at("invitation"), "%.40q is another invitation than %s; name the file of that one", a.Invitation, v.ID)
	}
	a.By.check(&wrong, at)
	if a.By.Name != v.For {
		wrong.Add(at("by.site"), "is %s, and the invitation is for %s", signedtext.Name(a.By.Name), v.For)
	}
	switch {
	case v.Number != 0 && a.By.Number != v.Number:
		wrong.Add(at("by.number"), "is %d, and the invitation is for number %d", a.By.Number, v.Number)
	case a.By.Number == v.By.Number:
		wrong.Add(at("by.number"), "%d is the number of %s; each site of a grid has its own", a.By.Number, v.By.Name)
	}
	if a.By.PublicKey == v.By.PublicKey {
		wrong.Add(at("by.public_key"), "is the key of %s; each site must have its own key", v.By.Name)
	}
	switch {
	case v.NATSURL != "" && a.By.URL != "":
		wrong.Add(at("by.url"), "is not used: the sites of the grid meet at %s", v.NATSURL)
	case v.NATSURL == "" && v.By.URL == "" && a.By.URL == "":
		wrong.Add(at("by.url"), "is missing, and %s cannot be reached either; one of the two must listen", v.By.Name)
	}
	return wrong
}
