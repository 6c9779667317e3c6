package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/openid/openidtest"
)

// A person signs in to the pages of a site at its issuer, of two of which one does not answer. The session ends with the reload that gives the person to
// another user; the logs have who signed in and no secret.
func TestSignInAtIssuer(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	me, err := userName(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err = os.WriteFile(secret, []byte(openidtest.WebSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, More: fmt.Sprintf("[api]\nlisten = \"127.0.0.1:0\"\n"+
		"[[api.oidc]]\nname = \"hpc\"\nissuer = %q\naudience = \"switchyard\"\nca_file = %q\nsign_in_client = %q\nsign_in_secret_file = %q\n"+
		"[[api.oidc.user]]\nsubject = \"id2\"\nuser = %q\nscopes = [\"read\"]\n"+
		"[[api.oidc]]\nname = \"away\"\nissuer = \"https://127.0.0.1:1\"\naudience = \"switchyard\"\nsign_in_client = \"x\"\n"+
		"[[api.oidc.user]]\ngroup = \"x\"\nscopes = [\"read\"]\n", p.Issuer, p.CAFile, openidtest.WebClient, secret, me)})
	if err = g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	here := g.Sites[0]
	at := "https://" + apiAddress(t, here)
	p.ComesBackTo(at + "/sign-in/hpc/callback")
	authority, err := os.ReadFile(filepath.Join(here.Dir, "state", "api", "ca.pem"))
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
	browser := &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(address string) (code int, to, text string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header.Get("Location"), string(data)
	}
	if code, _, text := get(at + "/sign-in/away"); code != http.StatusServiceUnavailable || !strings.Contains(text, "cannot ask https://127.0.0.1:1 now") || !strings.Contains(text, "Sign in with hpc") {
		t.Errorf("at the issuer that is away: %d\n%s", code, text)
	}
	_, to, _ := get(at + "/sign-in/hpc?next=/site")
	back := p.SignIn(t, to)
	if code, _, text := get(back); code != http.StatusOK || !strings.Contains(text, "url=/site") {
		t.Fatalf("%d\n%s", code, text)
	}
	if code, _, text := get(at + "/site"); code != http.StatusOK || !strings.Contains(text, "<span>"+me+"</span>") {
		t.Errorf("signed in: %d\n%s", code, text)
	}
	edit(t, here, `subject = "id2"`, `subject = "id3"`)
	wantWords(t, g.at(t, here, "", "reload"), 0, "api.oidc[hpc].user[1].subject", "id3")
	if code, _, text := get(at + "/site"); code != http.StatusUnauthorized || !strings.Contains(text, "Your session has ended") {
		t.Errorf("after the reload: %d\n%s", code, text)
	}
	_, to, _ = get(at + "/sign-in/hpc")
	if code, _, text := get(p.SignIn(t, to)); code != http.StatusUnauthorized || !strings.Contains(text, "no table [[api.oidc.user]]") {
		t.Errorf("for whom there is no table: %d\n%s", code, text)
	}
	for name, file := range map[string]string{"log": here.Log, "audit log": filepath.Join(here.Dir, "state", "audit.jsonl")} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), `"token":"oidc:hpc:id2"`) {
			t.Errorf("the %s has not who signed in: %v", name, err)
		}
		for _, hidden := range []string{"eyJ", "code=", "state=", openidtest.WebSecret} {
			if strings.Contains(string(text), hidden) {
				t.Errorf("the %s has %q", name, hidden)
			}
		}
	}
}
