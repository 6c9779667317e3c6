package api

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// CertClient is a client that shows a certificate instead of a token.
type CertClient struct {
	Certificate string // one of its names, as [clientcert.Names] has them
	User        string
	Scopes      accesstokens.Scopes
}

// pass is what a caller over TCP has shown to be let in.
type pass struct {
	kind    string // "token" or "certificate"
	id      string // for the log: of a token, or the name of a certificate
	user    string
	scopes  accesstokens.Scopes
	uid     *int                                                  // that the user must have; nil: any
	claimed bool                                                  // the user is one that an issuer's token names
	still   func(ctx context.Context, now protocol.Instant) error // says why it is good no more
}

// passOf is what the caller shows. A token says more than a certificate.
func (p *port) passOf(r *http.Request, now time.Time) (*pass, *turnedAway) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return p.certificateOf(r, now)
	}
	if len(p.Network.OIDC) > 0 && openid.Looks(secret) {
		return p.issued(r, secret, now)
	}
	token, refused := p.find(r, secret, now)
	if refused != nil {
		return nil, refused
	}
	return p.passBy(token), nil
}

// issued is a token of an issuer as a pass.
func (p *port) issued(r *http.Request, secret string, now time.Time) (*pass, *turnedAway) {
	at := slices.IndexFunc(p.Network.OIDC, func(one *openid.Verifier) bool { return one.IssuedBy(secret) })
	if at < 0 {
		return nil, p.notIssued(r, &openid.RefusedError{Reason: "the token's claim iss is of no issuer of the site, or cannot be read; the site takes tokens of those for which it has a table [[api.oidc]]"}, now)
	}
	by := p.Network.OIDC[at]
	token, err := by.Find(r.Context(), secret)
	if err != nil {
		return nil, p.notIssued(r, err, now)
	}
	return passOfIssued(by, token), nil
}

// notIssued turns away a caller for whom an issuer's token could not be verified, or got.
func (p *port) notIssued(r *http.Request, err error, now time.Time) *turnedAway {
	refused, isRefusal := errors.AsType[*openid.RefusedError](err)
	switch {
	case !isRefusal:
		turned := &turnedAway{
			status: http.StatusServiceUnavailable, header: [2]string{"Retry-After", "10"}, why: view.Refusal{Code: view.Unavailable, Reason: err.Error()},
		}
		if failed, ok := errors.AsType[*openid.UnavailableError](err); ok {
			turned.cause = failed.Why
		}
		return turned
	case !p.failures.Allows(addressOf(r), now):
		return tooFast("too many tokens from this address that are not good; try again later")
	}
	return unidentified("%s", refused.Reason)
}

// passOfIssued is a token of an issuer that is good as a pass.
func passOfIssued(by *openid.Verifier, token openid.Token) *pass {
	return &pass{
		kind: "token", id: "oidc:" + by.Name() + ":" + protocol.EscapeText(fmt.Sprintf("%.200s", token.Subject)), user: token.User, scopes: token.Scopes, claimed: !token.Named,
		still: func(context.Context, protocol.Instant) error { return by.Good(&token) },
	}
}

// find is the token of a secret that a caller has shown.
func (p *port) find(r *http.Request, secret string, now time.Time) (accesstokens.Token, *turnedAway) {
	token, err := p.Network.Tokens.Find(secret, protocol.InstantOf(now))
	switch {
	case err == nil:
		return token, nil
	case !p.failures.Allows(addressOf(r), now):
		return token, tooFast("too many tokens from this address that are not good; try again later")
	}
	return token, unidentified("%v", err)
}

// passBy is a token as a pass.
func (p *port) passBy(token accesstokens.Token) *pass {
	return &pass{
		kind: "token", id: token.ID, user: token.User, scopes: token.Scopes, uid: &token.UID,
		still: func(_ context.Context, now protocol.Instant) error { return p.Network.Tokens.Good(token.ID, now) },
	}
}

// certificateOf is the certificate of a caller who shows no token. TLS has verified it when the connection began, and a
// connection may last.
func (p *port) certificateOf(r *http.Request, now time.Time) (*pass, *turnedAway) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		refused := unidentified("no token; send one in the header Authorization: Bearer, see `switchyard token create --help`")
		refused.quiet = true
		return nil, refused
	}
	// A browser shows a certificate with whatever request a page of another site has it make.
	if err := p.foreign.Check(r); err != nil {
		return nil, &turnedAway{status: http.StatusForbidden, why: view.Refusal{Code: view.Denied, Reason: "the request comes from a page of another site"}}
	}
	cert := r.TLS.VerifiedChains[0][0]
	if err := unexpired(cert, protocol.InstantOf(now)); err != nil {
		return nil, unidentified("%v", err)
	}
	names := clientcert.Names(cert)
	var known *CertClient
	for i := range p.Network.Clients {
		switch c := &p.Network.Clients[i]; {
		case !slices.Contains(names, c.Certificate):
		case known != nil:
			return nil, unidentified("the certificate is both %s and %s, for which the site has two tables [[api.client]]; it is to remove one", known.Certificate, c.Certificate)
		default:
			known = c
		}
	}
	if known == nil {
		return nil, unidentified("the certificate with the names %.500s stands for no user; the site can add it as [[api.client]]", strings.Join(names, ", "))
	}
	return &pass{
		kind: "certificate", id: known.Certificate, user: known.User, scopes: known.Scopes,
		still: func(_ context.Context, now protocol.Instant) error { return unexpired(cert, now) },
	}, nil
}

// unexpired refuses a certificate that has expired.
func unexpired(cert *x509.Certificate, now protocol.Instant) error {
	if ends := protocol.InstantOf(cert.NotAfter); now > ends {
		return refuse(view.Denied, "the certificate has expired at %s", ends.Text())
	}
	return nil
}
