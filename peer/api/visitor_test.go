package api_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// browser is a client that keeps cookies, and trusts the site.
func (s *site) browser(t *testing.T) *http.Client {
	t.Helper()
	authority, err := os.ReadFile(s.ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// shown are pages that say who looks at them.
type shown struct {
	watch func(ctx context.Context, peer *api.Client)
}

func (s *shown) Watch(ctx context.Context, peer *api.Client) {
	if s.watch != nil {
		s.watch(ctx, peer)
	}
}

func (*shown) Show(w http.ResponseWriter, r *http.Request, visitor *api.Visitor) {
	switch r.Method + " " + r.URL.Path {
	case "POST /sign-in":
		if err := visitor.SignIn(w, r.FormValue("token")); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	case "POST /sign-out":
		visitor.SignOut(w)
	case "GET /sign-in/hpc", "GET /sign-in/none":
		address, err := visitor.BeginSignIn(w, strings.TrimPrefix(r.URL.Path, "/sign-in/"), r.FormValue("next"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, address, http.StatusSeeOther)
	case "GET /sign-in/hpc/callback", "GET /sign-in/eosc/callback":
		next, err := visitor.FinishSignIn(w, strings.Split(r.URL.Path, "/")[2])
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, "next=%s", next)
	default:
		_, _ = fmt.Fprintf(w, "user=%s peer=%t expired=%t", visitor.User, visitor.Peer != nil, visitor.Expired)
	}
}

// withPages has the site show pages, to visitors of all kinds if they are public.
func withPages(public bool) func(*api.Config) {
	return func(cfg *api.Config) { cfg.Network.Pages, cfg.Network.Public = &shown{}, public }
}

// page is an answer to a browser.
type page struct {
	code    int
	ends    bool // the connection ends with it
	cookies []*http.Cookie
	from    *url.URL
	to      string // where a redirect leads
}

// visit asks for a page, and returns the answer and its text.
func (s *site) visit(t *testing.T, browser *http.Client, method, path string, form url.Values) (page, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return page{response.StatusCode, response.Close, response.Cookies(), response.Request.URL, response.Header.Get("Location")}, string(text)
}

// signIn has a browser sign in.
func (s *site) signIn(t *testing.T, browser *http.Client, secret string) int {
	t.Helper()
	response, _ := s.visit(t, browser, http.MethodPost, "/sign-in", url.Values{"token": {secret}})
	return response.code
}

// refusedPage asks for a page until it is refused, and returns that answer.
func (s *site) refusedPage(t *testing.T, path string) page {
	t.Helper()
	browser := s.browser(t)
	for range 100_000 {
		if response, _ := s.visit(t, browser, http.MethodGet, path, nil); response.code != http.StatusOK {
			return response
		}
	}
	t.Fatal("all pages are answered")
	return page{}
}

// Pages for those who have not signed in are paced by address, also where there are none but the one to sign in. What pages load is not, and
// many pages keep nobody from signing in; nor do many visits to the page to sign in keep those out who have.
func TestVisitorsArePaced(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{true, false} {
		s := open(t, &peerFake{}, withPages(public))
		refused := s.refusedPage(t, "/")
		if refused.code != http.StatusTooManyRequests || !refused.ends {
			t.Errorf("public %t: %d, the connection ends: %t", public, refused.code, refused.ends)
		}
		browser := s.browser(t)
		for range 200 {
			if response, _ := s.visit(t, browser, http.MethodGet, "/assets/x.css", nil); response.code != http.StatusOK {
				t.Fatalf("public %t: an asset: %d", public, response.code)
			}
		}
		if code := s.signIn(t, browser, s.token(t, "ann", accesstokens.Read)); code != http.StatusOK {
			t.Errorf("public %t: signing in: %d", public, code)
		}
		if refused = s.refusedPage(t, "/sign-in"); refused.code != http.StatusTooManyRequests {
			t.Errorf("public %t: the page to sign in: %d", public, refused.code)
		}
		if _, text := s.visit(t, browser, http.MethodGet, "/", nil); text != "user=ann peer=true expired=false" {
			t.Errorf("public %t: %s", public, text)
		}
		if response, _ := s.visit(t, s.browser(t), http.MethodPost, "/sign-out", nil); response.code != http.StatusOK {
			t.Errorf("public %t: signing out: %d", public, response.code)
		}
	}
}

// The session of a user who is let in no more ends, and the browser forgets it; one who comes too often goes on with it, and can sign out.
func TestVisitorsWhoAreRefused(t *testing.T) {
	t.Parallel()
	var guest atomic.Bool
	s := open(t, &peerFake{}, func(cfg *api.Config) {
		withPages(false)(cfg)
		cfg.Network.Rate = 1
		cfg.Network.Guests = func(account string) bool { return account == "bob" && guest.Load() }
	})
	browser, fast := s.browser(t), s.browser(t)
	if code := s.signIn(t, browser, s.token(t, "bob", accesstokens.Read)); code != http.StatusOK {
		t.Fatal(code)
	}
	guest.Store(true)
	response, text := s.visit(t, browser, http.MethodGet, "/", nil)
	if text != "user= peer=false expired=true" {
		t.Errorf("%d %s", response.code, text)
	}
	guest.Store(false)
	if _, text = s.visit(t, browser, http.MethodGet, "/", nil); text != "user= peer=false expired=false" {
		t.Errorf("with no cookie: %s", text)
	}
	if code := s.signIn(t, fast, s.token(t, "ann", accesstokens.Read)); code != http.StatusOK {
		t.Fatal(code)
	}
	kept := fast.Jar.Cookies(response.from)
	for tries := 0; response.code != http.StatusTooManyRequests; tries++ {
		if response, _ = s.visit(t, fast, http.MethodGet, "/", nil); tries > 10_000 {
			t.Fatal("all pages are answered")
		}
	}
	if response, _ = s.visit(t, fast, http.MethodPost, "/sign-out", nil); response.code != http.StatusOK {
		t.Errorf("signing out: %d", response.code)
	}
	fast.Jar.SetCookies(response.from, kept)
	if _, text = s.visit(t, fast, http.MethodGet, "/", nil); text != "user= peer=false expired=true" {
		t.Errorf("with the cookie of before: %s", text)
	}
}

// currentPages are pages that stay open while their user becomes one who is let in no more.
type currentPages struct {
	shown

	change func()
}

func (c *currentPages) Show(w http.ResponseWriter, r *http.Request, visitor *api.Visitor) {
	if r.URL.Path != "/changes" {
		c.shown.Show(w, r, visitor)
		return
	}
	before := visitor.Current()
	c.change()
	_, _ = fmt.Fprint(w, before, " ", visitor.Current())
}

// A page that is open ends with its user's access, also while the token is good.
func TestOpenPagesEndWithTheirUser(t *testing.T) {
	t.Parallel()
	var guest atomic.Bool
	s := open(t, &peerFake{}, func(cfg *api.Config) {
		cfg.Network.Pages = &currentPages{change: func() { guest.Store(true) }}
		cfg.Network.Guests = func(account string) bool { return account == "bob" && guest.Load() }
	})
	browser := s.browser(t)
	if code := s.signIn(t, browser, s.token(t, "bob", accesstokens.Read)); code != http.StatusOK {
		t.Fatal(code)
	}
	if _, text := s.visit(t, browser, http.MethodGet, "/changes", nil); text != "true false" {
		t.Errorf("before and after: %s", text)
	}
}

// A session is its browser's: the cookie goes to this host over TLS, to no script and from no other site's page, and has the name of the site, as
// ports of several sites may be forwarded to one host. It ends with its token.
func TestSessionCookie(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, withPages(false))
	browser := s.browser(t)
	secret := s.token(t, "ann", accesstokens.Read)
	response, _ := s.visit(t, browser, http.MethodPost, "/sign-in", url.Values{"token": {secret}})
	cookies := response.cookies
	if len(cookies) != 1 {
		t.Fatalf("%v", cookies)
	}
	if c := cookies[0]; c.Name != "__Host-switchyard-here" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || strings.Contains(secret, c.Value) {
		t.Errorf("%v", c)
	}
	if err := s.book.Revoke(strings.Split(secret, "_")[1], "ann", protocol.InstantOf(time.Now())); err != nil {
		t.Fatal(err)
	}
	if _, text := s.visit(t, browser, http.MethodGet, "/", nil); text != "user= peer=false expired=true" {
		t.Errorf("with a revoked token: %s", text)
	}
}

// Pages of other sites change nothing in the name of one who has signed in.
func TestSessionsOfOtherPages(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, withPages(false))
	browser := s.browser(t)
	if code := s.signIn(t, browser, s.token(t, "ann", accesstokens.All()...)); code != http.StatusOK {
		t.Fatal(code)
	}
	for _, path := range []string{"/", "/sign-in", "/sign-out"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", "https://evil.example.org")
		response, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	if response, _ := s.visit(t, browser, http.MethodPost, "/v1/jobs", nil); response.code != http.StatusUnauthorized {
		t.Errorf("the API by a cookie: %d", response.code)
	}
}

// Who fails to sign in is in the log and the audit log, as one who shows a token that is not good, and the token is not.
func TestFailedSignIns(t *testing.T) {
	t.Parallel()
	a := openAudited(t, &peerFake{}, withPages(false))
	good := a.token(t, "ann", accesstokens.Submit)
	for _, secret := range []string{"sy_nothing", good} {
		if code := a.signIn(t, a.browser(t), secret); code != http.StatusUnauthorized {
			t.Errorf("%d", code)
		}
	}
	if n := strings.Count(a.logs.String(), "level=WARN msg=api_request_refused"); n != 2 || strings.Contains(a.logs.String(), "sy_nothing") {
		t.Errorf("%d lines of the log, or a token there", n)
	}
	if e := a.last(t, 2); e.Path != "/sign-in" || e.Action != http.MethodPost || e.Result != string(view.Denied) || !strings.Contains(e.Reason, "no scope read") {
		t.Errorf("the audit log has %+v", e)
	}
}

// A fault of the pages while they watch does not end the peer: they begin again.
func TestPagesThatFail(t *testing.T) {
	t.Parallel()
	again, times := make(chan struct{}), 0
	s := open(t, &peerFake{}, func(cfg *api.Config) {
		cfg.Network.Pages = &shown{watch: func(context.Context, *api.Client) {
			if times++; times == 1 {
				panic("a fault")
			}
			close(again)
		}}
	})
	<-again
	if !strings.Contains(s.logs.String(), "pages_failed") {
		t.Errorf("the log does not say so: %s", s.logs)
	}
}

// Who signs in is in the audit log, with what they may do, and never the token.
func TestSignInsAreAudited(t *testing.T) {
	t.Parallel()
	a := openAudited(t, &peerFake{}, withPages(false))
	secret := a.token(t, "ann", accesstokens.Read)
	if code := a.signIn(t, a.browser(t), secret); code != http.StatusOK {
		t.Fatal(code)
	}
	e := a.last(t, 1)
	if e.Action != "POST /sign-in" || e.User != "ann" || e.UID == nil || e.Token != strings.Split(secret, "_")[1] || e.Result != audit.Done || e.From == "" || !slices.Equal(e.Changed, []string{"scopes read"}) {
		t.Errorf("%+v", e)
	}
	if _, text := a.entries(t); strings.Contains(text, secret) || strings.Contains(a.logs.String(), secret) {
		t.Error("a log has the token")
	}
}
