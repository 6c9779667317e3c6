package dashboard_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
)

// writeStudy writes a study as the simulator does.
func writeStudy(t *testing.T, dir, title string, written time.Time) {
	t.Helper()
	if _, err := (report.Page{Title: title, Lead: "What comes of it."}).WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "index.html"), written, written); err != nil {
		t.Fatal(err)
	}
}

// Studies are listed, the latest first, and shown; nothing else of the directory or outside of it is.
func TestStudies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	studies := filepath.Join(dir, "studies")
	writeStudy(t, filepath.Join(studies, "heavy load"), "Heavy <load> & more", time.Unix(1_700_000_000, 0))
	writeStudy(t, filepath.Join(studies, "light"), "Light load", time.Unix(1_800_000_000, 0))
	writeStudy(t, filepath.Join(dir, "outside"), "Outside", time.Unix(1_800_000_000, 0))
	for name, text := range map[string]string{
		"studies/light/index.svg": "for few", "studies/broken/notes.html": "for few", "studies/index.html": "for few", "studies/.git/index.html": "for few", "studies/light/deep/index.html": "for few",
		"index.html": "for few",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"linked": "../outside"} {
		if err := os.Symlink(to, filepath.Join(studies, link)); err != nil {
			t.Fatal(err)
		}
	}
	p := openDrawn(t, smallGrid(), dashboard.Config{Studies: studies}, nil)
	if status, _, _ := p.get(t, "/studies/light/"); status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", status)
	}
	secret, _ := p.token(t, accesstokens.Read)
	if status, text := p.post(t, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		t.Fatalf("sign-in: %d %s", status, text)
	}
	status, _, list := p.get(t, "/studies")
	light, heavy := strings.Index(list, `<a href="/studies/light/">Light load</a>`), strings.Index(list, `<a href="/studies/heavy%20load/">Heavy &lt;load&gt; &amp; more</a>`)
	if status != http.StatusOK || light < 0 || heavy < light || strings.Contains(list, "Outside") || strings.Contains(list, "broken") || !strings.Contains(list, `<a href="/studies" aria-current="page">`) {
		t.Errorf("the list: %d %s", status, list)
	}
	checkPage(t, p, "/studies")
	status, header, page := p.get(t, "/studies/heavy%20load/")
	if status != http.StatusOK || !strings.Contains(page, "What comes of it.") || header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(header.Get("Content-Security-Policy"), "sandbox;") {
		t.Errorf("a study: %d %v %s", status, header, page)
	}
	for _, path := range []string{
		"/studies/light/index.svg", "/studies/light/none.html", "/studies/linked/", "/studies/broken/", "/studies/.git/", "/studies/%2e/", "/studies/light%2f../", "/studies/light%2fdeep/",
		"/studies/..%2foutside/", "/studies/%2e%2e/", "/studies/..%2f/", "/studies/none/",
	} {
		if status, _, text := p.get(t, path); status != http.StatusNotFound || strings.Contains(text, "for few") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	without := signedIn(t, smallGrid(), accesstokens.Read)
	if status, _, text := without.get(t, "/studies"); status != http.StatusNotFound || strings.Contains(text, `<li><a href="/studies"`) {
		t.Errorf("a site without studies: %d %s", status, text)
	}
}
