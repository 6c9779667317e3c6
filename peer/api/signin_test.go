package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// atIssuer is a site with pages to which people sign in at an issuer of the name hpc.
type atIssuer struct {
	*audited

	provider *openidtest.Provider
	issuer   *openid.Verifier
}

// openAtIssuer runs a site at which the user of the provider is ann, with scopes.
func openAtIssuer(t *testing.T, scopes ...accesstokens.Scope) *atIssuer {
	t.Helper()
	p := openidtest.Start(t)
	trust, err := clientcert.ReadAuthorities(p.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	signIn := openid.SignIn{Client: openidtest.WebClient, Secret: func() (string, error) { return openidtest.WebSecret, nil }, Session: time.Hour}
	issuers := []*openid.Verifier{
		openid.New(openid.Config{Name: "hpc", Issuer: p.Issuer, Audience: "switchyard", Trust: trust, SignIn: signIn, Rules: []openid.Rule{{Subject: "id2", User: "ann", Scopes: scopes}}}),
		openid.New(openid.Config{Name: "eosc", Issuer: "https://aai.example.org", Audience: "switchyard", Trust: trust, SignIn: signIn}),
		openid.New(openid.Config{Name: "tokens", Issuer: "https://tokens.example.org", Audience: "switchyard", Trust: trust}),
	}
	t.Cleanup(issuers[0].Wait)
	a := &atIssuer{openAudited(t, &peerFake{}, func(c *api.Config) {
		withPages(false)(c)
		c.Network.OIDC = issuers
	}), p, issuers[0]}
	p.ComesBackTo(a.at + "/sign-in/hpc/callback")
	return a
}

// leave has a browser begin to sign in and come to the provider, and returns where that sends it back to, as a path with its query.
func (a *atIssuer) leave(t *testing.T, browser *http.Client, next string) string {
	t.Helper()
	answer, text := a.visit(t, browser, http.MethodGet, "/sign-in/hpc?"+url.Values{"next": {next}}.Encode(), nil)
	if answer.code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.code, text)
	}
	return strings.TrimPrefix(a.provider.SignIn(t, answer.to), a.at)
}

// comes checks what a browser is shown that comes back.
func (a *atIssuer) comes(t *testing.T, browser *http.Client, path string, code int, words string) page {
	t.Helper()
	answer, text := a.visit(t, browser, http.MethodGet, path, nil)
	if answer.code != code || !strings.Contains(text, words) {
		t.Errorf("%.60s: %d %s, want %d %s", path, answer.code, text, code, words)
	}
	return answer
}

// A person signs in at the issuer: the browser has the session in a cookie of its own, the logs have who signed in and no secret, and the session ends
// with the rule that it is by.
func TestSignInAtIssuer(t *testing.T) {
	t.Parallel()
	a := openAtIssuer(t, accesstokens.Read, accesstokens.Submit)
	browser := a.browser(t)
	back := a.leave(t, browser, "/jobs?user=ann")
	answer := a.comes(t, browser, back, http.StatusOK, "next=/jobs?user=ann")
	if len(answer.cookies) != 2 {
		t.Fatalf("%v", answer.cookies)
	}
	session, begun := answer.cookies[0], answer.cookies[1]
	if session.Name != "__Host-switchyard-here" || !session.Secure || !session.HttpOnly || session.SameSite != http.SameSiteStrictMode || session.Path != "/" || session.Domain != "" {
		t.Errorf("the session is in %v", session)
	}
	if begun.Name != "__Host-switchyard_sign_in-here" || begun.MaxAge >= 0 {
		t.Errorf("what was begun is in %v", begun)
	}
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user=ann peer=true expired=false" {
		t.Errorf("then: %s", text)
	}
	e := a.last(t, 1)
	if e.Action != "GET /sign-in/hpc/callback" || e.Path != "/sign-in/hpc/callback" || e.User != "ann" || e.UID == nil || *e.UID != 60001 || e.Token != "oidc:hpc:id2" ||
		e.Result != audit.Done || !slices.Equal(e.Changed, []string{"scopes read,submit"}) {
		t.Errorf("the audit log has %+v", e)
	}
	_, inAudit := a.entries(t)
	came, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{came.Query().Get("code"), came.Query().Get("state"), session.Value, openidtest.WebSecret, "eyJ"} {
		if len(secret) < 3 || strings.Contains(a.logs.String(), secret) || strings.Contains(inAudit, secret) {
			t.Errorf("%q is empty, or in a log", secret)
		}
	}
	if !strings.Contains(a.logs.String(), "msg=session_begun token=oidc:hpc:id2 user=ann") {
		t.Errorf("the log has\n%s", a.logs.String())
	}
	a.issuer.SetRules([]openid.Rule{{Subject: "id2", User: "ann", Scopes: accesstokens.Scopes{accesstokens.Read}}})
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user= peer=false expired=true" {
		t.Errorf("with another rule: %s", text)
	}
	a.comes(t, browser, a.leave(t, browser, "/"), http.StatusOK, "next=/")
	if answer, _ = a.visit(t, browser, http.MethodPost, "/sign-out", nil); answer.code != http.StatusOK {
		t.Error(answer.code)
	}
	browser.Jar.SetCookies(answer.from, []*http.Cookie{session})
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user= peer=false expired=true" {
		t.Errorf("after signing out: %s", text)
	}
}

// Only the browser that has begun a sign-in ends it, once, by the issuer at which it began, and another browser does not spoil it.
func TestSignInsOfOthers(t *testing.T) {
	t.Parallel()
	a := openAtIssuer(t, accesstokens.Read)
	ours, theirs, fresh := a.browser(t), a.browser(t), a.browser(t)
	const words = "begun in another browser"
	back := a.leave(t, ours, "/")
	a.leave(t, theirs, "/")
	a.comes(t, theirs, back, http.StatusUnauthorized, words) // who has begun one, too
	a.comes(t, fresh, back, http.StatusUnauthorized, words)  // who has not
	a.comes(t, ours, strings.Replace(back, "state=", "state=x", 1), http.StatusUnauthorized, words)
	a.comes(t, ours, "/sign-in/hpc/callback?code=x", http.StatusUnauthorized, words)
	a.comes(t, ours, "/sign-in/hpc/callback?error=stolen&error_description=Call+us", http.StatusUnauthorized, words)
	a.comes(t, ours, strings.Replace(back, "/hpc/", "/eosc/", 1), http.StatusUnauthorized, words)
	a.comes(t, ours, back, http.StatusOK, "next=/")
	a.comes(t, ours, back, http.StatusUnauthorized, words) // again
	for _, browser := range []*http.Client{theirs, fresh} {
		if _, text := a.visit(t, browser, http.MethodGet, "/", nil); !strings.HasPrefix(text, "user= ") {
			t.Errorf("then: %s", text)
		}
	}
	first, second := a.leave(t, ours, "/jobs"), a.leave(t, ours, "/site") // two windows of a browser
	a.comes(t, ours, second, http.StatusOK, "next=/site")
	a.comes(t, ours, first, http.StatusUnauthorized, words) // which has forgotten its secret with that
	if all, _ := a.entries(t); all[0].Action != http.MethodGet || all[0].Path != "/sign-in/hpc/callback" || all[0].Result != string(view.Denied) || !strings.Contains(all[0].Reason, words) {
		t.Errorf("the audit log begins with %+v", all[0])
	}
}

// Who signs in again has one session: the one before ends, whose cookie does not come with the page that the issuer leads to. One that failed ends nothing.
func TestSignInReplacesTheSession(t *testing.T) {
	t.Parallel()
	a := openAtIssuer(t, accesstokens.Read)
	browser := a.browser(t)
	before := a.comes(t, browser, a.leave(t, browser, "/"), http.StatusOK, "next=/")
	old := before.cookies[0]
	back := a.leave(t, browser, "/")
	browser.Jar.SetCookies(before.from, []*http.Cookie{{Name: old.Name, Path: "/", MaxAge: -1}}) // as browsers do with cookies that are SameSite=Strict
	a.comes(t, browser, back, http.StatusOK, "next=/")
	other := a.browser(t)
	other.Jar.SetCookies(before.from, []*http.Cookie{old})
	if _, text := a.visit(t, other, http.MethodGet, "/", nil); text != "user= peer=false expired=true" {
		t.Errorf("with the session of before: %s", text)
	}
	a.provider.ChangeIDTokens(func(claims map[string]any) { claims["nonce"] = "another" })
	a.comes(t, browser, a.leave(t, browser, "/"), http.StatusUnauthorized, "nonce")
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user=ann peer=true expired=false" {
		t.Errorf("after a sign-in that failed: %s", text)
	}
}

// What a sign-in remembers is bounded: a page with a longer path is forgotten, and a longer host refused.
func TestWhatSignInsRememberIsBounded(t *testing.T) {
	t.Parallel()
	a := openAtIssuer(t, accesstokens.Read)
	browser := a.browser(t)
	for length, want := range map[int]string{2048: "next=/aaa", 2049: "next=/"} {
		_, text := a.visit(t, browser, http.MethodGet, a.leave(t, browser, "/"+strings.Repeat("a", length-1)), nil)
		if !strings.HasPrefix(text, want) || want == "next=/" && text != want {
			t.Errorf("%d bytes: %.40s", length, text)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.at+"/sign-in/hpc", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = strings.Repeat("a", 301)
	answer, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized || len(answer.Cookies()) > 0 {
		t.Errorf("a host of 301 bytes: %s", answer.Status)
	}
}

// What the issuer says is held against the rules, and no session begins without them.
func TestSignInsAtIssuerThatAreRefused(t *testing.T) {
	t.Parallel()
	a := openAtIssuer(t, accesstokens.Submit)
	browser := a.browser(t)
	a.comes(t, browser, a.leave(t, browser, "/"), http.StatusUnauthorized, "no scope read")
	for user, words := range map[string]string{"root": "neither root nor", "nobody-known": "no user", "../x": "no name of a user"} {
		a.issuer.SetRules([]openid.Rule{{Scopes: accesstokens.All()}})
		a.provider.ChangeIDTokens(func(claims map[string]any) { claims["preferred_username"] = user })
		a.comes(t, browser, a.leave(t, browser, "/"), http.StatusUnauthorized, words)
	}
	a.provider.ChangeIDTokens(func(claims map[string]any) { claims["nonce"] = "another" })
	a.comes(t, browser, a.leave(t, browser, "/"), http.StatusUnauthorized, "nonce")
	a.provider.ChangeIDTokens(nil)
	a.issuer.SetRules(nil)
	a.comes(t, browser, a.leave(t, browser, "/"), http.StatusUnauthorized, "[[api.oidc.user]]")
	back, err := url.Parse(a.leave(t, browser, "/"))
	if err != nil {
		t.Fatal(err)
	}
	a.comes(t, browser, back.Path+"?"+url.Values{"state": {back.Query().Get("state")}, "error": {"access_denied"}, "error_description": {"Not today"}}.Encode(),
		http.StatusUnauthorized, a.provider.Issuer+" answers access_denied: Not today")
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user= peer=false expired=false" {
		t.Errorf("then: %s", text)
	}
	for _, path := range []string{"/sign-in/none", "/sign-in/hpc"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized || len(answer.Cookies()) > 0 {
			t.Errorf("%s by a page of another site: %s", path, answer.Status)
		}
	}
}

// Sign-ins have their pace, also of those who have signed in, and an issuer that is down is no fault of who comes back.
func TestSignInsAtIssuerArePaced(t *testing.T) {
	t.Parallel()
	a := openAtIssuer(t, accesstokens.Read)
	browser := a.browser(t)
	a.comes(t, browser, a.leave(t, browser, "/"), http.StatusOK, "next=/")
	back := a.leave(t, browser, "/")
	a.provider.SetDown(true)
	a.comes(t, browser, back, http.StatusUnauthorized, "cannot ask "+a.provider.Issuer)
	if text := a.logs.String(); !strings.Contains(text, "502") || strings.Contains(text, "code=") {
		t.Errorf("the log has not why, or the code:\n%s", text)
	}
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user=ann peer=true expired=false" {
		t.Errorf("the session of before: %s", text)
	}
	for _, one := range []*http.Client{browser, a.browser(t)} {
		refused := 0
		for i := range 10_000 {
			answer, _ := a.visit(t, one, http.MethodGet, fmt.Sprintf("/sign-in/hpc/callback?state=%d", i), nil)
			if answer.code == http.StatusTooManyRequests {
				refused++
				break
			}
		}
		if refused == 0 {
			t.Error("any number of them is answered")
		}
	}
	if _, text := a.visit(t, browser, http.MethodGet, "/", nil); text != "user=ann peer=true expired=false" {
		t.Errorf("other pages of who has signed in: %s", text)
	}
}
