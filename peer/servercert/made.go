package servercert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/statedir"
)

// How long certificates are good that a peer makes, and how long before its end a server's is replaced.
const (
	lifeOfAuthority = 20 * 365 * 24 * time.Hour
	life            = 397 * 24 * time.Hour // the most that browsers take
	early           = 60 * 24 * time.Hour
)

// maker makes certificates of a server, by an authority of the peer's own.
type maker struct {
	dir   string
	hosts []string
}

// Made returns the files of a certificate for these host names and addresses, in a directory where the peer keeps an
// authority of its own. Clients trust its certificate, ca.pem, which stays; that of the server is replaced when the hosts
// change, and before it expires, also while the peer runs.
func Made(dir string, hosts []string, now time.Time) (*Files, error) {
	f := &Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), maker: &maker{dir, hosts}}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // clients read the certificate; keys are 0600
		return nil, err
	}
	pair, err := f.read()
	signed := err == nil && f.maker.signed(pair.Leaf)
	if signed && !f.maker.due(pair.Leaf, now) {
		return f, nil
	}
	err = f.maker.renew(f, now)
	if err != nil && signed && f.maker.fits(pair.Leaf) && pair.Leaf.NotAfter.After(now) {
		return f, nil // it is tried again, and said, while the peer runs
	}
	return f, err
}

// Authority is the file of the certificate that clients trust.
func (f *Files) Authority() string {
	if f.maker == nil {
		return ""
	}
	return f.maker.path("ca.pem")
}

func (m *maker) path(name string) string { return filepath.Join(m.dir, name) }

// due reports whether a certificate has to be replaced.
func (m *maker) due(cert *x509.Certificate, now time.Time) bool {
	return cert.NotAfter.Before(now.Add(early)) || !m.fits(cert)
}

// fits reports whether a certificate is for all hosts.
func (m *maker) fits(cert *x509.Certificate) bool {
	return !slices.ContainsFunc(m.hosts, func(host string) bool { return cert.VerifyHostname(host) != nil })
}

// signed reports whether the authority has signed a certificate. Its key may be elsewhere.
func (m *maker) signed(cert *x509.Certificate) bool {
	text, err := os.ReadFile(m.path("ca.pem"))
	if err != nil {
		return false
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	_, err = cert.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: cert.NotBefore})
	return err == nil
}

// renew makes a key and a certificate.
func (m *maker) renew(f *Files, now time.Time) error {
	authority, err := m.authority()
	if errors.Is(err, fs.ErrNotExist) {
		if err = m.found(now); err == nil {
			authority, err = m.authority()
		}
	}
	if err != nil {
		return fmt.Errorf("authority of the API's certificate: %w; restore the files, or delete both to have others made, which clients have to trust then", err)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Switchyard API of " + m.hosts[0]}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, host := range m.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return create(template, authority, f.Cert, f.Key)
}

// authority reads the peer's own.
func (m *maker) authority() (*tls.Certificate, error) {
	files := &Files{Cert: m.path("ca.pem"), Key: m.path("ca-key.pem")}
	return files.read()
}

// found makes the authority, unless its certificate is there, which clients trust. A key alone is of one that was never used.
func (m *maker) found(now time.Time) error {
	if _, err := os.Lstat(m.path("ca.pem")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there without its key", m.path("ca.pem"))
	}
	return create(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Switchyard authority of " + m.hosts[0]}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifeOfAuthority),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}, nil, m.path("ca.pem"), m.path("ca-key.pem"))
}

// create makes a key and its certificate, signed by an authority or by itself.
func create(template *x509.Certificate, authority *tls.Certificate, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	const serialBits = 127
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits)); err != nil {
		return err
	}
	parent, signer := template, crypto.PrivateKey(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err = statedir.Replace(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	return statedir.Replace(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o644)
}
