package openid

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// SignIn is how people sign in at the issuer with a browser: by the authorization code flow of OpenID Connect with PKCE (RFC 7636).
type SignIn struct {
	Client  string                 // ID of the site there, which its ID tokens are for; empty: signing in is off
	Secret  func() (string, error) // of the client, read for each sign-in; nil: it has none
	Scopes  []string               // that the issuer is asked for, besides openid
	Session time.Duration          // for how long one who has signed in stays so
}

// Attempt is a sign-in that has begun, as the site remembers it. It has secrets.
type Attempt struct {
	redirect string // where the issuer sends the browser back to
	nonce    string // which the ID token has
	verifier string // of PKCE
}

const (
	maxExchanges = 16   // codes that are redeemed at a time
	maxCode      = 4096 // bytes
	maxSaid      = 300  // characters of what the issuer says of an error
)

// endpoints are where people sign in, as the discovery document has them.
type endpoints struct {
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"` // by which a client shows its secret
	Named     bool     `json:"authorization_response_iss_parameter_supported"`
}

// Issuer is the URL of the issuer.
func (v *Verifier) Issuer() string { return v.cfg.Issuer }

// SignsIn reports whether people can sign in at the issuer.
func (v *Verifier) SignsIn() bool { return v.cfg.SignIn.Client != "" }

// Begin begins a sign-in, which the issuer is to send back to the URL redirect with the state that remember gives it. It returns where the browser
// signs in. The error is an [*UnavailableError], or that of ctx.
func (v *Verifier) Begin(ctx context.Context, redirect string, remember func(*Attempt) (state string)) (address string, err error) {
	client, _, err := v.client(ctx, redirect)
	if err != nil {
		return "", err
	}
	a := &Attempt{redirect: redirect, nonce: rand.Text(), verifier: oauth2.GenerateVerifier()}
	return client.AuthCodeURL(remember(a), oauth2.S256ChallengeOption(a.verifier), oauth2.SetAuthURLParam("nonce", a.nonce)), nil
}

// client is the site as a client of the issuer.
func (v *Verifier) client(ctx context.Context, redirect string) (*oauth2.Config, endpoints, error) {
	at, err := v.keys.endpoints(ctx)
	if err != nil {
		return nil, at, err
	}
	for name, one := range map[string]string{"authorization_endpoint": at.Authorize, "token_endpoint": at.Token} {
		if to, failed := url.Parse(one); failed != nil || to.Scheme != "https" || to.Host == "" {
			return nil, at, v.unavailable(fmt.Errorf("its discovery document has no %s over TLS, but %.100q", name, one))
		}
	}
	client := &oauth2.Config{
		ClientID: v.cfg.SignIn.Client, RedirectURL: redirect, Scopes: append([]string{"openid"}, v.cfg.SignIn.Scopes...),
		Endpoint: oauth2.Endpoint{AuthURL: at.Authorize, TokenURL: at.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	if v.cfg.SignIn.Secret == nil {
		return client, at, nil
	}
	if client.ClientSecret, err = v.cfg.SignIn.Secret(); err != nil {
		return nil, at, v.unavailable(err)
	}
	if len(at.Methods) == 0 || slices.Contains(at.Methods, "client_secret_basic") { // which is what a document without methods means
		client.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return client, at, nil
}

// Finish ends a sign-in with what the issuer has sent the browser back with. The token is good for as long as the session may last. The error is
// a [*RefusedError], an [*UnavailableError], or that of ctx.
func (v *Verifier) Finish(ctx context.Context, a *Attempt, answer url.Values) (Token, error) {
	client, at, err := v.client(ctx, a.redirect)
	if err != nil {
		return Token{}, err
	}
	if named := answer["iss"]; len(named) > 0 || at.Named { // RFC 9207
		if len(named) != 1 || named[0] != v.cfg.Issuer {
			return Token{}, refuse("the answer is not from %s", v.cfg.Issuer)
		}
	}
	if answer.Has("error") {
		return Token{}, v.said(answer.Get("error"), answer.Get("error_description"))
	}
	code := answer.Get("code")
	if code == "" || len(code) > maxCode {
		return Token{}, refuse("%s has sent no code", v.cfg.Issuer)
	}
	text, err := v.redeem(ctx, client, code, a.verifier)
	if err != nil {
		return Token{}, err
	}
	token, err := v.find(ctx, text, kind{v.cfg.SignIn.Client, idHeader, func(said claims) error { return said.of(v.cfg.SignIn.Client, a.nonce) }})
	token.Expires = v.cfg.Now().Add(v.cfg.SignIn.Session)
	return token, err
}

// redeem gets the ID token for a code.
func (v *Verifier) redeem(ctx context.Context, client *oauth2.Config, code, verifier string) (string, error) {
	web := *v.keys.client
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // code and secret are for the endpoint
	ctx, stop := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, &web), fetchTime)
	defer stop()
	select {
	case v.exchanges <- struct{}{}:
		defer func() { <-v.exchanges }()
	case <-ctx.Done():
		return "", v.unavailable(errors.New("too many sign in at once"))
	}
	got, err := client.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode != "" {
		return "", v.said(refused.ErrorCode, refused.ErrorDescription)
	} else if ok { // its text has the whole answer
		err = fmt.Errorf("%s answers %s", client.Endpoint.TokenURL, refused.Response.Status)
	}
	if err != nil {
		return "", v.unavailable(reasonOf(err))
	}
	text, ok := got.Extra("id_token").(string)
	if !ok || text == "" {
		return "", refuse("%s has sent no ID token; have it treat the client as one of OpenID Connect", v.cfg.Issuer)
	}
	return text, nil
}

// unavailable is why signing in does not work now.
func (v *Verifier) unavailable(why error) error { return &UnavailableError{v.cfg.Issuer, lineOf(why)} }

// said is an error that the issuer answers with. Its text is of the issuer's making.
func (v *Verifier) said(code, description string) error {
	text := fmt.Sprintf("%.*s", maxSaid, code)
	if description != "" {
		text += fmt.Sprintf(": %.*s", maxSaid, description)
	}
	return refuse("%s answers %s", v.cfg.Issuer, protocol.EscapeText(text))
}

// idHeader refuses a token whose header says that it is no ID token.
func idHeader(named string) error {
	if named == "jwt" {
		return nil
	}
	return refuse("the token is one of the type %.40q, and no ID token", named)
}

// of refuses a token that is not the ID token of a client for a nonce.
func (c claims) of(client, nonce string) error {
	if subtle.ConstantTimeCompare([]byte(c.text("nonce")), []byte(nonce)) != 1 {
		return refuse("the ID token is of another sign-in: its nonce differs")
	}
	if _, has := c["azp"]; (has || len(c.list("aud")) > 1) && c.text("azp") != client {
		return refuse("the ID token is for another client: its claim azp is %.200q", c.text("azp"))
	}
	if kind := c.text("typ"); kind != "" && !strings.EqualFold(kind, "ID") { // Keycloak writes it
		return refuse("the token is one of the type %.40q, and no ID token", kind)
	}
	return nil
}
