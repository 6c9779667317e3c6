package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tokens of the issuer act for the users that the site gives them, within scopes, beside tokens of the site; a token that names its user
// itself is never root's.
func TestTokensOfAnIssuer(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	trust, err := clientcert.ReadAuthorities(p.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	issuer := openid.New(openid.Config{Name: "hpc", Issuer: p.Issuer, Audience: "switchyard", Trust: trust, Rules: []openid.Rule{
		{Subject: "s-ann", User: "ann", Scopes: accesstokens.Scopes{accesstokens.Read}},
		{Subject: "s-root", User: "root", Scopes: accesstokens.All()},
		{Group: "hpc", Scopes: accesstokens.All()},
	}})
	t.Cleanup(issuer.Wait)
	s := open(t, &peerFake{}, func(c *api.Config) {
		c.Network.OIDC, c.Events = []*openid.Verifier{issuer}, eventstream.New(protocol.InstantOf(time.Now()), 16, 1<<20)
		c.Network.Guests = func(account string) bool { return account == "bob" }
	})
	as := func(subject string, more map[string]any) *api.Client {
		return s.as(t, p.Token(t, openidtest.Claims{Subject: subject, Audience: []string{"switchyard"}, More: more}))
	}
	ann := as("s-ann", nil)
	is := func(client *api.Client, user string) {
		t.Helper()
		if info, failed := client.Info(t.Context()); failed != nil || info.User != user {
			t.Errorf("%+v, %v, want %s", info, failed, user)
		}
	}
	is(ann, "ann")
	if err = ann.Cancel(t.Context(), jobA); codeOf(err) != view.Denied || !strings.Contains(err.Error(), "scope submit") {
		t.Errorf("beyond its scopes: %v", err)
	}
	is(as("s-root", nil), "root") // by the site's word
	named := func(user string) *api.Client {
		return as("s-x", map[string]any{"groups": []string{"hpc"}, "preferred_username": user})
	}
	is(named("ann"), "ann")
	for user, says := range map[string]string{"root": "neither root nor", "bob": "partners' users", "nobody-known": "no user"} {
		if _, err = named(user).Info(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s by the token's word: %v", user, err)
		}
	}
	if _, err = as("s-none", nil).Info(t.Context()); codeOf(err) != view.Denied || !strings.Contains(err.Error(), "api.oidc.user") {
		t.Errorf("a subject that no rule is for: %v", err)
	}
	is(s.as(t, s.token(t, "ops", accesstokens.Read)), "ops") // a token of the site
	if text := s.logs.String(); strings.Contains(text, "eyJ") || !strings.Contains(text, "s-none") {
		t.Error("the log has a token, or not the subject")
	}
	issuer.SetRules(nil)
	if _, err = ann.Info(t.Context()); codeOf(err) != view.Denied {
		t.Errorf("after its rule is gone: %v", err)
	}
}

// Tokens of several issuers stand for the users whom the site gives to each, and the logs say of whom each is.
func TestTokensOfSeveralIssuers(t *testing.T) {
	t.Parallel()
	var issuers []*openid.Verifier
	var providers []*openidtest.Provider
	for i, name := range []string{"hpc", "eosc"} {
		p := openidtest.Start(t)
		trust, err := clientcert.ReadAuthorities(p.CAFile)
		if err != nil {
			t.Fatal(err)
		}
		user := []string{"ann", "bob"}[i]
		issuers = append(issuers, openid.New(openid.Config{
			Name: name, Issuer: p.Issuer, Audience: "switchyard", Trust: trust, Rules: []openid.Rule{{Subject: "s-1", User: user, Scopes: accesstokens.All()}},
		}))
		providers = append(providers, p)
		t.Cleanup(issuers[i].Wait)
	}
	a := openAudited(t, &peerFake{reply: view.Done{}}, func(c *api.Config) { c.Network.OIDC = issuers })
	for i, user := range []string{"ann", "bob"} {
		client := a.as(t, providers[i].Token(t, openidtest.Claims{Subject: "s-1", Audience: []string{"switchyard"}}))
		if info, err := client.Info(t.Context()); err != nil || info.User != user {
			t.Errorf("%+v, %v, want %s", info, err, user)
		}
		if err := client.Cancel(t.Context(), jobA); err != nil {
			t.Error(err)
		}
		if e := a.last(t, i+1); e.User != user || e.Token != []string{"oidc:hpc:s-1", "oidc:eosc:s-1"}[i] {
			t.Errorf("%+v", e)
		}
	}
	other := openidtest.Start(t).Token(t, openidtest.Claims{Subject: "s-1", Audience: []string{"switchyard"}})
	providers[0].SetDown(true) // is not asked
	for name, c := range map[string]struct{ token, words string }{
		"of another issuer": {other, "of no issuer of the site"}, "no JSON": {"eyJ.eyJ.x", "cannot be read"},
	} {
		if _, err := a.as(t, c.token).Info(t.Context()); codeOf(err) != view.Denied || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// While the issuer is down, its tokens are answered that they cannot be verified now, and those of the site go on.
func TestIssuerOfTokensIsDown(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	trust, err := clientcert.ReadAuthorities(p.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	issuer := openid.New(openid.Config{Name: "hpc", Issuer: p.Issuer, Audience: "switchyard", Trust: trust, Rules: []openid.Rule{{User: "ann", Scopes: accesstokens.All()}}})
	t.Cleanup(issuer.Wait)
	s := open(t, &peerFake{}, func(c *api.Config) { c.Network.OIDC = []*openid.Verifier{issuer} })
	text := p.Token(t, openidtest.Claims{Subject: "s", Audience: []string{"switchyard"}})
	p.SetDown(true)
	for range 30 { // more than tokens that are not good may come from one address
		if _, err = s.as(t, text).Info(t.Context()); codeOf(err) != view.Unavailable || !strings.Contains(err.Error(), p.Issuer) {
			t.Fatalf("without the issuer: %v", err)
		}
	}
	if _, err = s.as(t, s.token(t, "ann", accesstokens.Read)).Info(t.Context()); err != nil {
		t.Errorf("a token of the site: %v", err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err = os.WriteFile(file, []byte("no.token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = api.DialServer(api.Server{URL: s.at, TokenFile: file}); err == nil {
		t.Error("a file without a token is taken")
	}
}
