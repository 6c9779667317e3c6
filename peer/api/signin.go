package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/connlimit"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Sign-ins at issuers that have begun and not ended.
const (
	attemptLife        = 10 * protocol.Minute
	maxAttempts        = 1000
	maxAddressAttempts = 50   // of one address
	maxNext            = 2048 // bytes of the page that is wanted
	maxHost            = 300  // bytes: a name of 253 and a port
)

// attempts are sign-ins that have begun, by the state with which the issuer sends the browser back.
type attempts = accesstokens.Sessions[*attempt]

// attempt is one of them.
type attempt struct {
	at      *openid.Verifier
	sent    *openid.Attempt
	browser [sha256.Size]byte // of the secret in its cookie
	next    string            // the page that the visitor wants to see
	session string            // the one that it replaces; empty: none
}

// signInCookie is the cookie by which a browser is known that has begun to sign in at an issuer. It comes with the page that the issuer
// leads to, as that of the session does not.
func (p *port) signInCookie() string { return "__Host-switchyard_sign_in-" + string(p.Site) }

// setSignInCookie has the browser keep a secret while a sign-in may take; a negative age: forget it.
func (v *Visitor) setSignInCookie(w http.ResponseWriter, secret string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: v.port.signInCookie(), Value: secret, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// signInSecret is what the cookie of the browser has; empty: nothing of use.
func (v *Visitor) signInSecret() string {
	cookie, err := v.request.Cookie(v.port.signInCookie())
	if err != nil || len(cookie.Value) != len(rand.Text()) {
		return ""
	}
	return cookie.Value
}

// Issuers are the names of those at which visitors can sign in.
func (v *Visitor) Issuers() (names []string) {
	for _, one := range v.port.Network.OIDC {
		if one.SignsIn() {
			names = append(names, one.Name())
		}
	}
	return names
}

// issuer is the one of a name at which visitors can sign in; nil: there is none.
func (v *Visitor) issuer(name string) *openid.Verifier {
	for _, one := range v.port.Network.OIDC {
		if one.SignsIn() && one.Name() == name {
			return one
		}
	}
	return nil
}

// BeginSignIn begins to sign the visitor in at an issuer, who is to see a page afterwards: the first one if the path is too long to remember. It returns the address to which the browser is to
// go; the issuer sends it back to /sign-in/NAME/callback, which calls [Visitor.FinishSignIn]. The error is a refusal.
func (v *Visitor) BeginSignIn(w http.ResponseWriter, name, next string) (address string, err error) {
	by := v.issuer(name)
	switch from := v.request.Header.Get("Sec-Fetch-Site"); {
	case by == nil:
		return "", refuse(view.NotFound, "this site has no issuer %.100q at which to sign in", name)
	case from != "" && from != "same-origin" && from != "none":
		return "", refuse(view.BadRequest, "another site led here; choose how to sign in")
	case v.request.Host == "" || len(v.request.Host) > maxHost:
		return "", refuse(view.BadRequest, "the request does not say which host it is for, in at most %d bytes", maxHost)
	}
	if len(next) > maxNext {
		next = "/"
	}
	now, secret := time.Now(), v.signInSecret()
	if secret == "" {
		secret = rand.Text()
	}
	back := url.URL{Scheme: "https", Host: v.request.Host, Path: "/sign-in/" + name + "/callback"}
	address, err = by.Begin(v.request.Context(), back.String(), func(sent *openid.Attempt) string {
		at := protocol.InstantOf(now)
		return v.port.attempts.Begin(connlimit.NetworkOf(v.request.RemoteAddr).String(), &attempt{by, sent, sha256.Sum256([]byte(secret)), next, v.secret}, at, at.Add(attemptLife))
	})
	if err != nil {
		refused := v.port.notIssued(v.request, err, now)
		refused.report(v.port, v.request)
		return "", refusal{refused.why}
	}
	v.setSignInCookie(w, secret, int(attemptLife/protocol.Second))
	return address, nil
}

// FinishSignIn begins a session of the visitor, whom an issuer has sent back. It returns the page that the visitor wanted to see, also with an error,
// so that it is not lost to the next try; empty: the sign-in is not known, or not this browser's. The error is a refusal.
func (v *Visitor) FinishSignIn(w http.ResponseWriter, name string) (next string, err error) {
	now := time.Now()
	begun, refused := v.attempt(name, now)
	if refused == nil {
		refused = v.finish(w, begun, now)
	}
	if begun != nil {
		next = begun.next
	}
	if refused != nil {
		refused.report(v.port, v.request)
		return next, refusal{refused.why}
	}
	v.port.sessions.End(begun.session) // browsers do not send its cookie with the page that the issuer leads to
	v.setSignInCookie(w, "", -1)
	return next, nil
}

// attempt is the sign-in that the visitor has begun, which is over with that. Others who come with its state do not end it.
func (v *Visitor) attempt(name string, now time.Time) (*attempt, *turnedAway) {
	state, at := v.request.URL.Query().Get("state"), protocol.InstantOf(now)
	begun, err := v.port.attempts.Find(state, at)
	browser := sha256.Sum256([]byte(v.signInSecret()))
	if err == nil && (begun.at.Name() != name || subtle.ConstantTimeCompare(browser[:], begun.browser[:]) != 1) {
		err = errors.New("begun elsewhere")
	}
	if err == nil {
		begun, err = v.port.attempts.Take(state, at)
	}
	if err != nil {
		return nil, v.port.notIssued(v.request, &openid.RefusedError{Reason: "this sign-in has ended, was begun in another browser, or took more than 10 minutes; sign in again"}, now)
	}
	return begun, nil
}

// finish begins a session with what the issuer says of the visitor.
func (v *Visitor) finish(w http.ResponseWriter, begun *attempt, now time.Time) *turnedAway {
	token, err := begun.at.Finish(v.request.Context(), begun.sent, v.request.URL.Query())
	if err != nil {
		return v.port.notIssued(v.request, err, now)
	}
	return v.begin(w, passOfIssued(begun.at, token), now, protocol.InstantOf(token.Expires))
}
