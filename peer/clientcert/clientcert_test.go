package clientcert_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/clientcert"
)

func TestNames(t *testing.T) {
	t.Parallel()
	cert := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "portal", Organization: []string{"Example"}},
		DNSNames: []string{"Portal.example.org"}, EmailAddresses: []string{"ada@example.org"},
		URIs: []*url.URL{{Scheme: "spiffe", Host: "example.org", Path: "/portal"}},
	}
	names := clientcert.Names(cert)
	want := []string{"dns:portal.example.org", "email:ada@example.org", "uri:spiffe://example.org/portal", "subject:CN=portal,O=Example"}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for _, name := range names {
		if err := clientcert.CheckName(name); err != nil {
			t.Error(err)
		}
	}
	if names = clientcert.Names(&x509.Certificate{}); len(names) != 0 {
		t.Errorf("a certificate without names has %q", names)
	}
}

func TestInvalidNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "portal.example.org", "dns:", "dns:*.example.org", "dns:Portal", "CN=portal"} {
		if clientcert.CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

func TestReadAuthorities(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.pem")
	for _, text := range []string{"", "no certificate\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := clientcert.ReadAuthorities(file); err == nil {
			t.Errorf("%q has certificates", text)
		}
	}
	if _, err := clientcert.ReadAuthorities(file + "x"); err == nil {
		t.Error("a file that is not there has certificates")
	}
}
