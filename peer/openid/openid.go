package openid

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
)

// Config is what a [Verifier] needs. Name, Issuer and Audience are required.
type Config struct {
	Name     string // of the issuer, as the site has it
	Issuer   string // URL, as tokens have it
	Audience string // that tokens must be for
	Trust    *x509.CertPool
	Claims   Claims
	Rules    []Rule
	SignIn   SignIn // how people sign in with a browser

	Now    func() time.Time // nil: the clock
	Failed func(error)      // called with why keys could not be fetched, in a line; may be nil
}

// Verifier verifies tokens. Its methods may be called from any goroutine.
type Verifier struct {
	cfg       Config
	keys      *keySet
	rules     atomic.Pointer[[]Rule]
	exchanges chan struct{} // has one for each code that is being redeemed
}

// Token is one that is good.
type Token struct {
	Subject string
	User    string // of the site
	Named   bool   // whether a rule names the user; otherwise the token does
	Scopes  accesstokens.Scopes
	Expires time.Time

	claims claims
}

const (
	maxToken = 16 << 10    // bytes
	skew     = time.Minute // by which clocks may differ
	maxLife  = 7 * 24 * time.Hour
)

// algorithms are those of tokens: each with a key of which only the issuer has the secret half.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
}

// New makes a verifier. It asks the issuer for nothing yet.
func New(cfg Config) *Verifier {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	for name, usual := range map[*string]string{&cfg.Claims.User: DefaultUserClaim, &cfg.Claims.Groups: DefaultGroupsClaim, &cfg.Claims.Scopes: DefaultScopesClaim} {
		if *name == "" {
			*name = usual
		}
	}
	v := &Verifier{cfg: cfg, keys: &keySet{issuer: cfg.Issuer, client: newClient(cfg.Trust), now: cfg.Now, failed: cfg.Failed}, exchanges: make(chan struct{}, maxExchanges)}
	v.SetRules(cfg.Rules)
	return v
}

// SetRules replaces the rules. Tokens that were found by others are held to these by [Verifier.Good].
func (v *Verifier) SetRules(rules []Rule) { v.rules.Store(&rules) }

// Wait waits for fetches of keys to end, and closes their connections.
func (v *Verifier) Wait() {
	v.keys.running.Wait()
	v.keys.client.CloseIdleConnections()
}

// Failing reports whether the last fetch of keys has failed.
func (v *Verifier) Failing() bool {
	v.keys.mu.Lock()
	defer v.keys.mu.Unlock()
	return v.keys.err != nil
}

// Looks reports whether a text has the form of such a token: three parts with dots between.
func Looks(token string) bool {
	return strings.Count(token, ".") == 2 && strings.HasPrefix(token, "eyJ") && !strings.ContainsAny(token, " \t\r\n")
}

// kind is what makes a token one of those that are looked for.
type kind struct {
	audience string
	header   func(kind string) error
	claims   func(claims) error
}

// Name is the name of the issuer, as the site has it.
func (v *Verifier) Name() string { return v.cfg.Name }

// IssuedBy reports whether a token says that it is of the issuer. It may say anything. One that is too long is not read: it could be any issuer's,
// and [Verifier.Find] refuses it.
func (v *Verifier) IssuedBy(token string) bool {
	if len(token) > maxToken {
		return true
	}
	_, after, _ := strings.Cut(token, ".")
	payload, _, _ := strings.Cut(after, ".")
	text, err := base64.RawURLEncoding.DecodeString(payload)
	var said claims
	return err == nil && json.Unmarshal(text, &said) == nil && said.text("iss") == v.cfg.Issuer
}

// Find verifies an access token, and says for whom it stands. The error is a [*RefusedError], an [*UnavailableError], or that of ctx.
func (v *Verifier) Find(ctx context.Context, text string) (Token, error) {
	return v.find(ctx, text, kind{v.cfg.Audience, accessHeader, claims.access})
}

// find verifies a token of a kind. The errors are those of [Verifier.Find].
func (v *Verifier) find(ctx context.Context, text string, wanted kind) (Token, error) {
	if len(text) > maxToken {
		return Token{}, refuse("the token has %d bytes; at most %d are read", len(text), maxToken)
	}
	payload, err := v.signed(ctx, text, wanted)
	if err != nil {
		return Token{}, err
	}
	var said claims
	if err = json.Unmarshal(payload, &said); err != nil {
		return Token{}, refuse("the token cannot be read: %v", err)
	}
	if err = wanted.claims(said); err != nil {
		return Token{}, err
	}
	t := Token{claims: said}
	if t.Subject, t.Expires, err = v.check(ctx, text, payload, wanted.audience); err != nil {
		return Token{}, err
	}
	t.User, t.Named, t.Scopes, err = grant(*v.rules.Load(), t.claims, v.cfg.Claims)
	return t, err
}

// Good reports whether a token that was found is still good for the same. The error is a [*RefusedError].
func (v *Verifier) Good(t *Token) error {
	if !v.cfg.Now().Before(t.Expires.Add(skew)) {
		return expired(t.Expires)
	}
	user, named, scopes, err := grant(*v.rules.Load(), t.claims, v.cfg.Claims)
	if err == nil && (user != t.User || named != t.Named || !slices.Equal(scopes, t.Scopes)) {
		err = refuse("the token stands for something else since the site's configuration has changed")
	}
	return err
}

func expired(at time.Time) error {
	return refuse("the token has expired at %s; get a new one from its issuer", at.UTC().Format(time.RFC3339))
}

// signed returns what a token says, if the issuer has signed it.
func (v *Verifier) signed(ctx context.Context, text string, wanted kind) ([]byte, error) {
	parsed, err := jose.ParseSignedCompact(text, algorithms())
	if err != nil {
		return nil, refuse("the token cannot be read, or is not signed with a key pair: %v", err)
	}
	header := parsed.Signatures[0].Protected
	if named, ok := header.ExtraHeaders[jose.HeaderType].(string); ok {
		if err = wanted.header(strings.TrimPrefix(strings.ToLower(named), "application/")); err != nil {
			return nil, err
		}
	}
	keys, err := v.keys.find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err != nil {
		return nil, err
	}
	for i := range keys {
		if payload, failed := parsed.Verify(&keys[i]); failed == nil {
			return payload, nil
		}
	}
	return nil, refuse("the signature of the token is not that of %s", v.cfg.Issuer)
}

// accessHeader refuses a token whose header says that it is no access token. Those that end sessions, for one, are signed too.
func accessHeader(named string) error {
	if named == "jwt" || named == "at+jwt" {
		return nil
	}
	return refuse("the token is one of the type %.40q; use an access token", named)
}

// verified is the payload of a token whose signature is good.
type verified []byte

// VerifySignature implements [oidc.KeySet].
func (v verified) VerifySignature(context.Context, string) ([]byte, error) { return v, nil }

// check checks by whom a token is, for whom, and when.
func (v *Verifier) check(ctx context.Context, text string, payload verified, audience string) (subject string, expires time.Time, err error) {
	names := make([]string, 0, len(algorithms()))
	for _, one := range algorithms() {
		names = append(names, string(one))
	}
	verifier := oidc.NewVerifier(v.cfg.Issuer, payload, &oidc.Config{ClientID: audience, SupportedSigningAlgs: names, SkipExpiryCheck: true})
	token, err := verifier.Verify(ctx, text)
	if err != nil {
		return "", expires, refuse("the token is not for this site: %s", strings.TrimPrefix(err.Error(), "oidc: "))
	}
	var times struct {
		NotBefore json.Number `json:"nbf"`
	}
	if err = json.Unmarshal(payload, &times); err != nil {
		return "", expires, refuse("the token cannot be read: %v", err)
	}
	now := v.cfg.Now()
	switch begins, err := instantOf(times.NotBefore); {
	case err != nil:
		return "", expires, refuse("the token's nbf cannot be read: %v", err)
	case token.Subject == "":
		return "", expires, refuse("the token has no subject")
	case token.Expiry.Unix() <= 0 || token.IssuedAt.Unix() <= 0:
		return "", expires, refuse("the token does not say when it was made and when it ends")
	case !now.Before(token.Expiry.Add(skew)):
		return "", expires, expired(token.Expiry)
	case now.Add(skew).Before(token.IssuedAt) || now.Add(skew).Before(begins):
		return "", expires, refuse("the token is not good yet; the clocks of its issuer and of this site may differ")
	case token.Expiry.Sub(token.IssuedAt) > maxLife:
		return "", expires, refuse("the token is good for more than %d days, which is too long: it cannot be revoked", int(maxLife.Hours())/24)
	}
	return token.Subject, token.Expiry, nil
}

// instantOf reads seconds since 1970, perhaps with a fraction; none: the beginning.
func instantOf(seconds json.Number) (at time.Time, err error) {
	if seconds == "" {
		return at, nil
	}
	number, err := seconds.Float64()
	if err == nil && (number < 0 || number > 1<<40) {
		err = errors.New("it is no instant")
	}
	if err != nil {
		return at, fmt.Errorf("%s: %w", seconds, err)
	}
	return time.Unix(int64(number), 0), nil
}
