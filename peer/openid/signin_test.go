package openid_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
)

const comeBack = "https://north.example.org:9760/sign-in/hpc/callback"

// signer is a verifier at whose provider people sign in, for eight hours.
func signer(t *testing.T, p *openidtest.Provider, change func(*openid.Config)) (*openid.Verifier, *clock) {
	t.Helper()
	trust, err := clientcert.ReadAuthorities(p.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	p.ComesBackTo(comeBack)
	c := &clock{}
	cfg := openid.Config{Issuer: p.Issuer, Audience: "switchyard", Trust: trust, Rules: []openid.Rule{anyToken}, Now: c.now, SignIn: openid.SignIn{
		Client: openidtest.WebClient, Secret: func() (string, error) { return openidtest.WebSecret, nil }, Scopes: []string{"profile"}, Session: 8 * time.Hour,
	}}
	if change != nil {
		change(&cfg)
	}
	v := openid.New(cfg)
	t.Cleanup(v.Wait)
	return v, c
}

// begin begins a sign-in with a state, and returns it and the answer of the provider.
func begin(t *testing.T, v *openid.Verifier, p *openidtest.Provider, state string) (*openid.Attempt, url.Values) {
	t.Helper()
	var attempt *openid.Attempt
	address, err := v.Begin(t.Context(), comeBack, func(a *openid.Attempt) string {
		attempt = a
		return state
	})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if q := asked.Query(); q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("nonce")) < 20 || q.Get("state") != state ||
		q.Get("response_type") != "code" || !slices.Contains(strings.Fields(q.Get("scope")), "openid") || q.Get("redirect_uri") != comeBack {
		t.Errorf("asked for %s", address)
	}
	back, err := url.Parse(p.SignIn(t, address))
	if err != nil || !strings.HasPrefix(back.String(), comeBack+"?") || back.Query().Get("state") != state {
		t.Fatalf("came back to %s, %v", back, err)
	}
	return attempt, back.Query()
}

// People sign in by the rules for access tokens, with and without a secret of the client, for as long as the session may last and the rules say so.
func TestSignIn(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	for name, change := range map[string]func(*openid.Config){
		"with a secret": nil,
		"without":       func(c *openid.Config) { c.SignIn.Client, c.SignIn.Secret = openidtest.PublicClient, nil },
		"by its name": func(c *openid.Config) {
			c.Rules = []openid.Rule{{Email: "test-user2@zitadel.ch", Scopes: read}}
			c.SignIn.Scopes = []string{"profile", "email"}
		},
	} {
		v, c := signer(t, p, change)
		attempt, answer := begin(t, v, p, "state-of-"+name[:4])
		token, err := v.Finish(t.Context(), attempt, answer)
		want := "ada"
		if name == "by its name" {
			want = "test-user2"
		}
		if err != nil || token.User != want || token.Named != (want == "ada") || token.Subject != "id2" || !slices.Equal(token.Scopes, read) {
			t.Fatalf("%s: %+v, %v", name, token, err)
		}
		_, err = v.Finish(t.Context(), attempt, answer)
		refusedAs(t, err, "invalid_grant")
		c.pass(8*time.Hour - time.Minute)
		if err = v.Good(&token); err != nil {
			t.Errorf("%s: before the end of the session: %v", name, err)
		}
		c.pass(3 * time.Minute)
		refusedAs(t, v.Good(&token), "expired")
		c.pass(-time.Hour)
		v.SetRules(nil)
		refusedAs(t, v.Good(&token), "no table")
	}
}

// ID tokens of other sign-ins, clients, times and kinds are refused, and so is a code that comes with another proof key.
func TestSignInsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	v, _ := signer(t, p, nil)
	for name, c := range map[string]struct {
		change map[string]any // of the ID token; nil: without the claim
		words  string
	}{
		"another nonce":       {map[string]any{"nonce": "n-0S6_WzA2Mj"}, "nonce"},
		"no nonce":            {map[string]any{"nonce": nil}, "nonce"},
		"another audience":    {map[string]any{"aud": "others", "azp": nil}, "audience"},
		"that of the API":     {map[string]any{"aud": "switchyard", "azp": nil}, "audience"},
		"another client":      {map[string]any{"azp": "others"}, "azp"},
		"several, no client":  {map[string]any{"aud": []string{openidtest.WebClient, "others"}, "azp": nil}, "azp"},
		"expired":             {map[string]any{"exp": time.Now().Add(-2 * time.Minute).Unix()}, "expired"},
		"made in the future":  {map[string]any{"iat": time.Now().Add(10 * time.Minute).Unix()}, "not good yet"},
		"another issuer":      {map[string]any{"iss": "https://login.example.org"}, "not for this site"},
		"an access token":     {map[string]any{"typ": "Bearer"}, "no ID token"},
		"no subject":          {map[string]any{"sub": nil}, "no subject"},
		"no end":              {map[string]any{"exp": nil}, "when it ends"},
		"an end far too late": {map[string]any{"exp": time.Now().Add(1000 * time.Hour).Unix()}, "too long"},
	} {
		p.ChangeIDTokens(func(claims map[string]any) {
			for claim, value := range c.change {
				if claims[claim] = value; value == nil {
					delete(claims, claim)
				}
			}
		})
		attempt, answer := begin(t, v, p, "a-state")
		if _, err := v.Finish(t.Context(), attempt, answer); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			refusedAs(t, err, c.words)
		}
	}
	p.ChangeIDTokens(func(claims map[string]any) { claims["typ"] = "ID" }) // as Keycloak does
	attempt, answer := begin(t, v, p, "a-state")
	if _, err := v.Finish(t.Context(), attempt, answer); err != nil {
		t.Errorf("of Keycloak: %v", err)
	}
	attempt, _ = begin(t, v, p, "one")
	_, answer = begin(t, v, p, "another")
	_, err := v.Finish(t.Context(), attempt, answer) // whose proof key is another
	refusedAs(t, err, "invalid_grant")
	v.SetRules([]openid.Rule{{Subject: "s-1", User: "ada", Scopes: read}})
	attempt, answer = begin(t, v, p, "a-state")
	_, err = v.Finish(t.Context(), attempt, answer)
	refusedAs(t, err, "no table [[api.oidc.user]]")
}

// What the issuer answers instead of a code is said with its words, in one line.
func TestAnswersOfIssuers(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	v, _ := signer(t, p, nil)
	attempt, _ := begin(t, v, p, "a-state")
	for text, words := range map[string]string{
		"error=access_denied&error_description=Not+today": "access_denied: Not today", "error=x&error_description=a%0Ab": `x: a\u000ab`,
		"":        "no code",
		"code=no": "invalid_grant",
		"code=no&iss=https%3A%2F%2Fevil.example.org":          "not from " + p.Issuer,
		"error=denied&iss=https%3A%2F%2Fevil.example.org":     "not from " + p.Issuer,
		"code=" + strings.Repeat("a", 5000):                   "no code",
		"error=" + strings.Repeat("a", 5000) + "&x=no+reason": p.Issuer + " answers aaa",
	} {
		answer, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Finish(t.Context(), attempt, answer)
		refusedAs(t, err, words)
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("%.20s: %d bytes", text, len(err.Error()))
		}
	}
}

// Without the issuer, its endpoints or the secret of the client, signing in does not work, and the reason is for the log.
func TestSignInsThatCannotBe(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	unavailable := func(name string, err error, why string) {
		t.Helper()
		failed, ok := errors.AsType[*openid.UnavailableError](err)
		if !ok || strings.Contains(failed.Error(), "secret") || why != "" && !strings.Contains(failed.Why.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	tried := func(change func(*openid.Config)) error {
		v, _ := signer(t, p, change)
		_, err := v.Begin(t.Context(), comeBack, func(*openid.Attempt) string {
			t.Error("it is remembered")
			return ""
		})
		return err
	}
	unavailable("no secret", tried(func(c *openid.Config) {
		c.SignIn.Secret = func() (string, error) { return "", errors.New("cannot read /secret") }
	}), "/secret")
	v, _ := signer(t, p, func(c *openid.Config) { c.SignIn.Secret = func() (string, error) { return "another-secret", nil } })
	attempt, answer := begin(t, v, p, "a-state")
	_, err := v.Finish(t.Context(), attempt, answer)
	refusedAs(t, err, "invalid_client")
	v, c := signer(t, p, nil)
	attempt, answer = begin(t, v, p, "a-state")
	p.SetDown(true)
	_, err = v.Finish(t.Context(), attempt, answer)
	unavailable("while it is down", err, "502")
	unavailable("before the first is known", tried(nil), "")
	p.SetDown(false)
	if token, failed := v.Finish(t.Context(), attempt, answer); failed != nil {
		t.Errorf("once it is back: %+v, %v", token, failed)
	}
	p.SetDown(true)
	c.pass(25 * time.Hour)
	_, err = v.Begin(t.Context(), comeBack, func(*openid.Attempt) string { return "" })
	unavailable("a day later", err, "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err = v.Finish(ctx, attempt, answer); err == nil {
		t.Error("without anybody who waits: no error")
	}
}

// The endpoints of an issuer are those over TLS only, and the one for codes leads nowhere else.
func TestEndpointsOfIssuers(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	v, _ := signer(t, p, nil)
	for name, c := range map[string]struct {
		change func(document map[string]any)
		why    string
	}{
		"no endpoint":     {func(d map[string]any) { delete(d, "authorization_endpoint") }, "no authorization_endpoint"},
		"over plain HTTP": {func(d map[string]any) { d["token_endpoint"] = "http://login.example.org/token" }, "no token_endpoint"},
	} {
		p.ChangeDocument(c.change)
		other, _ := signer(t, p, nil)
		_, err := other.Begin(t.Context(), comeBack, func(*openid.Attempt) string { return "" })
		if failed, ok := errors.AsType[*openid.UnavailableError](err); !ok || failed.Why == nil || !strings.Contains(failed.Why.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err = other.Find(t.Context(), p.Token(t, forUs)); err != nil {
			t.Errorf("%s: its access tokens: %v", name, err)
		}
	}
	p.ChangeDocument(nil)
	attempt, answer := begin(t, v, p, "a-state")
	p.RedeemBy(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.Issuer+"/elsewhere", http.StatusTemporaryRedirect)
	}))
	_, err := v.Finish(t.Context(), attempt, answer)
	if failed, ok := errors.AsType[*openid.UnavailableError](err); !ok || !strings.Contains(failed.Why.Error(), "307") {
		t.Errorf("redirected: %v", err)
	}
	p.RedeemBy(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token": "a", "token_type": "Bearer"}`))
	}))
	_, err = v.Finish(t.Context(), attempt, answer)
	refusedAs(t, err, "no ID token")
}
