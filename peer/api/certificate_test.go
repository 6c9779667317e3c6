package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// authority issues certificates for clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue makes a certificate that expires so long from now, and returns the files of it and its key.
func (a *authority) issue(t *testing.T, host string, ends time.Duration, usage x509.ExtKeyUsage) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host, Organization: []string{"Example"}}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-12 * time.Hour), NotAfter: time.Now().Add(ends), ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err = errors.Join(
		os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// showing is a client that shows a certificate.
func (s *site) showing(t *testing.T, certFile, keyFile string) *api.Client {
	t.Helper()
	client, err := api.DialServer(api.Server{URL: s.at, CertFile: certFile, KeyFile: keyFile, CAFile: s.ca})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// A certificate lets its client act as the user that the configuration names, within its scopes. Other certificates let nobody in,
// and tokens count as before.
func TestCertificates(t *testing.T) {
	t.Parallel()
	issuer := newAuthority(t)
	s := open(t, &peerFake{}, func(cfg *api.Config) {
		cfg.Network.TLS.ClientAuth, cfg.Network.TLS.ClientCAs = tls.VerifyClientCertIfGiven, issuer.pool()
		cfg.Network.Guests = func(account string) bool { return account == "bob" }
		cfg.Network.Clients = []api.CertClient{
			{Certificate: "dns:portal.example.org", User: "ann", Scopes: accesstokens.Scopes{accesstokens.Read}},
			{Certificate: "subject:CN=other.example.org,O=Example", User: "ops", Scopes: accesstokens.All()},
			{Certificate: "dns:guests.example.org", User: "bob", Scopes: accesstokens.All()},
			{Certificate: "dns:both.example.org", User: "ann", Scopes: accesstokens.All()},
			{Certificate: "subject:CN=both.example.org,O=Example", User: "ops", Scopes: accesstokens.All()},
			{Certificate: "dns:gone.example.org", User: "carol", Scopes: accesstokens.All()},
		}
	})
	const client, server = x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	for name, c := range map[string]struct {
		issuer *authority
		host   string
		ends   time.Duration
		usage  x509.ExtKeyUsage
		user   string // empty: refused
	}{
		"by its host":                {issuer, "portal.example.org", time.Hour, client, "ann"},
		"by its subject":             {issuer, "other.example.org", time.Hour, client, "ops"},
		"expired":                    {issuer, "portal.example.org", -time.Hour, client, ""},
		"of another authority":       {newAuthority(t), "portal.example.org", time.Hour, client, ""},
		"of a server":                {issuer, "portal.example.org", time.Hour, server, ""},
		"for two tables":             {issuer, "both.example.org", time.Hour, client, ""},
		"of an account of guests":    {issuer, "guests.example.org", time.Hour, client, ""},
		"of a user who is not there": {issuer, "gone.example.org", time.Hour, client, ""},
	} {
		certFile, keyFile := c.issuer.issue(t, c.host, c.ends, c.usage)
		info, err := s.showing(t, certFile, keyFile).Info(t.Context())
		if info.User != c.user || (err == nil) != (c.user != "") {
			t.Errorf("%s: %q, %v", name, info.User, err)
		}
	}
	certFile, keyFile := issuer.issue(t, "portal.example.org", time.Hour, client)
	portal := s.showing(t, certFile, keyFile)
	if _, err := portal.Submit(t.Context(), api.Submission{}); codeOf(err) != view.Denied || !strings.Contains(err.Error(), "the certificate has no scope submit") {
		t.Errorf("beyond its scopes: %v", err)
	}
	if !strings.Contains(s.logs.String(), `token=dns:portal.example.org`) {
		t.Errorf("the log does not say who called: %s", s.logs)
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(s.token(t, "ops", accesstokens.Read)), 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := api.DialServer(api.Server{URL: s.at, TokenFile: token, CertFile: certFile, KeyFile: keyFile, CAFile: s.ca})
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if info, err := both.Info(t.Context()); err != nil || info.User != "ops" {
		t.Errorf("with a token and a certificate: %q, %v", info.User, err)
	}
}

// A page of another site, which can have a browser show the certificate of its user, changes nothing.
func TestCertificateOfBrowser(t *testing.T) {
	t.Parallel()
	issuer := newAuthority(t)
	s := open(t, &peerFake{}, func(cfg *api.Config) {
		cfg.Network.TLS.ClientAuth, cfg.Network.TLS.ClientCAs = tls.VerifyClientCertIfGiven, issuer.pool()
		cfg.Network.Clients = []api.CertClient{{Certificate: "dns:portal.example.org", User: "ann", Scopes: accesstokens.All()}}
	})
	shown, err := tls.LoadX509KeyPair(issuer.issue(t, "portal.example.org", time.Hour, x509.ExtKeyUsageClientAuth))
	if err != nil {
		t.Fatal(err)
	}
	browser := s.browser(t)
	browser.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{shown}
	for origin, code := range map[string]int{"https://evil.example.org": http.StatusForbidden, s.at: http.StatusBadRequest, "": http.StatusBadRequest} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.at+"/v1/jobs", strings.NewReader("{"))
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		response, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != code {
			t.Errorf("from %q: %s", origin, response.Status)
		}
	}
}

// A certificate that no table is for is refused in words.
func TestUnknownCertificate(t *testing.T) {
	t.Parallel()
	issuer := newAuthority(t)
	s := open(t, &peerFake{}, func(cfg *api.Config) {
		cfg.Network.TLS.ClientAuth, cfg.Network.TLS.ClientCAs = tls.VerifyClientCertIfGiven, issuer.pool()
	})
	certFile, keyFile := issuer.issue(t, "portal.example.org", time.Hour, x509.ExtKeyUsageClientAuth)
	_, err := s.showing(t, certFile, keyFile).Info(t.Context())
	if codeOf(err) != view.Denied || !strings.Contains(err.Error(), "dns:portal.example.org, subject:CN=portal.example.org,O=Example stands for no user") {
		t.Errorf("%v", err)
	}
	if err = os.Chmod(keyFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err = api.DialServer(api.Server{URL: s.at, CertFile: certFile, KeyFile: keyFile}); err == nil || !strings.Contains(err.Error(), "key of the client") {
		t.Errorf("a key that all may read: %v", err)
	}
}
