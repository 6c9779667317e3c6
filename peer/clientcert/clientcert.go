// Package clientcert names the certificates of clients, as the configuration of a site does.
package clientcert

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// kinds are what a name begins with.
func kinds() []string { return []string{"dns:", "email:", "uri:", "subject:"} }

// Names are those of a certificate: its alternative names, as "dns:portal.example.org", "email:ada@example.org" and
// "uri:spiffe://example.org/portal", and its subject, as "subject:CN=portal,O=Example", in the order of RFC 4514.
func Names(cert *x509.Certificate) (names []string) {
	for _, name := range cert.DNSNames {
		names = append(names, "dns:"+strings.ToLower(name))
	}
	for _, address := range cert.EmailAddresses {
		names = append(names, "email:"+address)
	}
	for _, uri := range cert.URIs {
		names = append(names, "uri:"+uri.String())
	}
	if subject := cert.Subject.String(); subject != "" {
		names = append(names, "subject:"+subject)
	}
	return names
}

// CheckName says what is wrong with a name that is to be one of a certificate.
func CheckName(name string) error {
	for _, kind := range kinds() {
		rest, ok := strings.CutPrefix(name, kind)
		switch {
		case !ok:
			continue
		case rest == "":
			return fmt.Errorf("invalid %q; write what is to follow %s", name, kind)
		case kind == "dns:" && rest != strings.ToLower(rest):
			return fmt.Errorf("invalid %q; write names of hosts in lower case", name)
		case strings.Contains(rest, "*"):
			return fmt.Errorf("invalid %q; there are no patterns, write the whole name", name)
		}
		return nil
	}
	return fmt.Errorf("invalid %q; begin with %s", name, strings.Join(kinds(), ", "))
}

// ReadAuthorities reads the certificates of authorities in PEM from a file.
func ReadAuthorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, &os.PathError{Op: "read", Path: file, Err: errors.New("the file has no certificate in PEM")}
	}
	return pool, nil
}
