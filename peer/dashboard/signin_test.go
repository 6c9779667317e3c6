package dashboard_test

import (
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
)

// openAtIssuer serves pages to which people sign in at a provider, where its user is ann.
func openAtIssuer(t *testing.T, node api.Node, config dashboard.Config, change func(*api.Config)) (*pages, *openidtest.Provider) {
	t.Helper()
	provider := openidtest.Start(t)
	trust, err := clientcert.ReadAuthorities(provider.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	issuer := openid.New(openid.Config{
		Name: "hpc", Issuer: provider.Issuer, Audience: "switchyard", Trust: trust, Rules: []openid.Rule{{Subject: "id2", User: "ann", Scopes: accesstokens.All()}},
		SignIn: openid.SignIn{Client: openidtest.PublicClient, Session: time.Hour},
	})
	t.Cleanup(issuer.Wait)
	p := openDrawn(t, node, config, func(c *api.Config) {
		c.Network.OIDC = []*openid.Verifier{issuer}
		if change != nil {
			change(c)
		}
	})
	p.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	provider.ComesBackTo(p.at + "/sign-in/hpc/callback")
	return p, provider
}

// signInLink is the link of a page to the issuer, as a path.
func signInLink(t *testing.T, text string) string {
	t.Helper()
	_, after, found := strings.Cut(text, `<li><a href="/sign-in/hpc`)
	rest, _, closed := strings.Cut(after, `">Sign in with hpc</a>`)
	if !found || !closed {
		t.Fatalf("no link to the issuer:\n%s", text)
	}
	return "/sign-in/hpc" + html.UnescapeString(rest)
}

// The page to sign in has a link to the issuer, which leads back to the page that the visitor wanted; no page has the code or the state, and
// no policy of a page names the issuer.
func TestSignInAtIssuer(t *testing.T) {
	t.Parallel()
	p, provider := openAtIssuer(t, smallGrid(), dashboard.Config{}, nil)
	_, _, text := p.get(t, "/jobs?user=ann")
	code, header, _ := p.get(t, signInLink(t, text))
	if code != http.StatusSeeOther || header.Get("Referrer-Policy") == "" {
		t.Fatal(code)
	}
	back := strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at)
	code, header, text = p.get(t, back)
	if code != http.StatusOK || !strings.Contains(text, `<meta http-equiv="refresh" content="0; url=/jobs?user=ann">`) || !strings.Contains(text, `<a href="/jobs?user=ann">`) {
		t.Errorf("%d\n%s", code, text)
	}
	if policy := header.Get("Content-Security-Policy"); header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(policy, "form-action 'self';") || strings.Contains(policy, provider.Issuer) {
		t.Errorf("%v", header)
	}
	checkPage(t, p, "/sign-in")
	came, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	code, _, again := p.get(t, back)
	if code != http.StatusUnauthorized || !strings.Contains(again, "You are not signed in: this sign-in has ended") {
		t.Errorf("again: %d\n%s", code, again)
	}
	for _, secret := range []string{came.Query().Get("code"), came.Query().Get("state")} {
		if secret == "" || strings.Contains(text, secret) || strings.Contains(again, secret) {
			t.Errorf("a page has %q", secret)
		}
	}
	if code, _, text = p.get(t, "/jobs"); code != http.StatusOK || !strings.Contains(text, "<span>ann</span>") {
		t.Errorf("%d\n%s", code, text)
	}
	if code, _ = p.post(t, "/sign-out", url.Values{}); code != http.StatusSeeOther {
		t.Error(code)
	}
	if code, _, _ = p.get(t, "/jobs"); code != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", code)
	}
}

// Wherever a link to sign in wants to lead, it leads to a page of this server.
func TestSignInsLeadToThisServer(t *testing.T) {
	t.Parallel()
	for some := range slices.Chunk([]string{
		"https://evil.example.org/", "//evil.example.org", `/\evil.example.org`, `\\evil.example.org`, "/\t/evil.example.org", "/\n/evil.example.org", "javascript:alert(1)", "evil.example.org", "",
		"/\x00/x", "https:/evil.example.org", "?next=//evil.example.org",
	}, 6) { // more at once are too fast
		p, provider := openAtIssuer(t, smallGrid(), dashboard.Config{}, nil)
		for _, next := range some {
			_, header, _ := p.get(t, "/sign-in/hpc?"+url.Values{"next": {next}}.Encode())
			_, _, text := p.get(t, strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at))
			if !strings.Contains(text, `content="0; url=/">`) || strings.Contains(text, "evil") {
				t.Errorf("%q:\n%s", next, text)
			}
		}
	}
}

// A sign-in that fails keeps the page that the visitor wanted, if it is one of this server.
func TestFailedSignInsLeadToThisServer(t *testing.T) {
	t.Parallel()
	for some := range slices.Chunk([]string{"https://evil.example.org/", "//evil.example.org", `/\evil.example.org`, "/\t/evil.example.org", "javascript:alert(1)", `/"><script>evil`}, 3) {
		p, _ := openAtIssuer(t, smallGrid(), dashboard.Config{}, nil)
		for _, next := range some {
			_, header, _ := p.get(t, "/sign-in/hpc?"+url.Values{"next": {next}}.Encode())
			sent, err := url.Parse(header.Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			code, _, text := p.get(t, "/sign-in/hpc/callback?"+url.Values{"state": {sent.Query().Get("state")}, "error": {"access_denied"}}.Encode())
			kept := strings.Contains(text, `name="next" value="/">`) && strings.HasSuffix(signInLink(t, text), "?next=%2F")
			if code != http.StatusUnauthorized || !kept && !strings.HasPrefix(next, `/"`) || strings.Contains(text, "<script>evil") || strings.Contains(text, "//evil") {
				t.Errorf("%q: %d\n%s", next, code, text)
			}
		}
	}
}

func TestFailedSignInsKeepThePage(t *testing.T) {
	t.Parallel()
	p, provider := openAtIssuer(t, smallGrid(), dashboard.Config{}, nil)
	const wanted = "/jobs?user=ann&state=RUNNING"
	_, header, _ := p.get(t, "/sign-in/hpc?"+url.Values{"next": {wanted}}.Encode())
	back, err := url.Parse(strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at))
	if err != nil {
		t.Fatal(err)
	}
	denied := back.Path + "?" + url.Values{"state": {back.Query().Get("state")}, "error": {"access_denied"}}.Encode()
	other := &http.Client{Transport: p.browser.Transport} // without the cookie
	answer, err := other.Get(p.at + denied)               //nolint:noctx // of the test's own server
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil || strings.Contains(string(said), "user=ann") {
		t.Errorf("another browser learns the page: %v\n%s", err, said)
	}
	code, _, text := p.get(t, denied)
	again := signInLink(t, text)
	if code != http.StatusUnauthorized || !strings.Contains(html.UnescapeString(text), `name="next" value="`+wanted+`">`) || again != "/sign-in/hpc?"+(url.Values{"next": {wanted}}).Encode() {
		t.Fatalf("%d, %s\n%s", code, again, text)
	}
	_, header, _ = p.get(t, again)
	ready := strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at)
	provider.SetDown(true)
	code, _, text = p.get(t, ready)
	if again = signInLink(t, text); code != http.StatusServiceUnavailable || again != "/sign-in/hpc?"+(url.Values{"next": {wanted}}).Encode() {
		t.Fatalf("%d, %s\n%s", code, again, text)
	}
	provider.SetDown(false)
	_, header, _ = p.get(t, again)
	code, _, text = p.get(t, strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at))
	if code != http.StatusOK || !strings.Contains(html.UnescapeString(text), `<a href="`+wanted+`">`) {
		t.Errorf("in the end: %d\n%s", code, text)
	}
	if code, _, _ = p.get(t, wanted); code != http.StatusOK {
		t.Errorf("the page: %d", code)
	}
	_, _, text = p.get(t, ready) // used up
	if !strings.Contains(text, `name="next" value="/">`) {
		t.Errorf("a sign-in that is not known leads to\n%s", text)
	}
}

// What goes wrong is on the page to sign in, which works on: what the issuer says, that it is down, and that there is none of the name.
func TestSignInsThatFail(t *testing.T) {
	t.Parallel()
	p, provider := openAtIssuer(t, smallGrid(), dashboard.Config{}, nil)
	_, header, _ := p.get(t, "/sign-in/hpc")
	back, err := url.Parse(strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at))
	if err != nil {
		t.Fatal(err)
	}
	denied := url.Values{"state": {back.Query().Get("state")}, "error": {"access_denied"}, "error_description": {"<b>Not</b> today"}}
	code, _, text := p.get(t, back.Path+"?"+denied.Encode())
	if code != http.StatusUnauthorized || !strings.Contains(text, provider.Issuer+" answers access_denied: &lt;b&gt;Not&lt;/b&gt; today") {
		t.Errorf("%d\n%s", code, text)
	}
	signInLink(t, text)
	if code, _, text = p.get(t, "/sign-in/other"); code != http.StatusNotFound || !strings.Contains(text, "no issuer") {
		t.Errorf("%d\n%s", code, text)
	}
	_, header, _ = p.get(t, "/sign-in/hpc")
	again := strings.TrimPrefix(provider.SignIn(t, header.Get("Location")), p.at)
	provider.SetDown(true)
	code, _, text = p.get(t, again)
	if code != http.StatusServiceUnavailable || !strings.Contains(text, "the site cannot ask "+provider.Issuer+" now") {
		t.Errorf("%d\n%s", code, text)
	}
	secret, _ := p.token(t, accesstokens.Read)
	if code, _ = p.post(t, "/sign-in", url.Values{"token": {secret}}); code != http.StatusSeeOther {
		t.Errorf("with a token of the site: %d", code)
	}
}

// A browser that comes from the issuer, which is another site, has its session at once.
func TestSignInInBrowser(t *testing.T) {
	t.Parallel()
	p, provider := openAtIssuer(t, smallGrid(), dashboard.Config{}, nil)
	at := strings.Replace(p.at, "127.0.0.1", "localhost", 1) // another site than that of the issuer
	provider.ComesBackTo(at + "/sign-in/hpc/callback")
	b := openTab(t, at, provider.Issuer)
	b.open(at + "/jobs?user=ann")
	b.do(chromedp.Click(`//a[text()="Sign in with hpc"]`))
	b.until(`location.pathname === "/jobs" && location.search === "?user=ann" && document.querySelector(".who span")?.textContent === "ann"`)
	b.until(`document.getElementById("live").textContent === "Up to date."`)
}
