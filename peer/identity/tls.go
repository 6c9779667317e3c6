package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// ServerTLS makes the TLS side of a site's own NATS server. Clients must show a
// certificate too; whose it is, [PeerKey] tells once the handshake is over.
func (k *Key) ServerTLS(site string, now time.Time) (*tls.Config, error) {
	certificate, err := k.certificate(site, now)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequireAnyClientCert,
	}, nil
}

// PartnerTLS makes the TLS side of a dial to a partner's NATS server. The
// partner is who proves to hold one of the accepted keys, whatever its address,
// certificate authority or dates: the handshake of TLS 1.3 proves that the
// server holds the private key of its certificate, and this checks that it is the
// partner's. So the default verification, which asks authorities about host names,
// is turned off and replaced, not left out. The name of the site goes along in the clear: a server
// whose key is refused can tell its operator by whom.
func (k *Key) PartnerTLS(site string, now time.Time, accepted ...string) (*tls.Config, error) {
	for _, public := range accepted {
		if err := ValidatePublic(public); err != nil {
			return nil, err
		}
	}
	certificate, err := k.certificate(site, now)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		ServerName:         site,
		Certificates:       []tls.Certificate{certificate},
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection pins the key instead
		// VerifyConnection also runs for resumed sessions, unlike
		// VerifyPeerCertificate.
		VerifyConnection: func(state tls.ConnectionState) error {
			key, err := PeerKey(state)
			if err == nil && !slices.Contains(accepted, key) {
				err = fmt.Errorf("the NATS server at this address has the key %s, not the partner's %s; check its url and public_key",
					key, strings.Join(accepted, " or "))
			}
			return err
		},
	}, nil
}

// PeerName returns what the other side of a connection calls itself in its certificate, which
// proves nothing.
func PeerName(state tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 {
		return ""
	}
	return state.PeerCertificates[0].Subject.CommonName
}

// PeerKey returns the public nkey that the other side of a connection has proved
// to hold.
func PeerKey(state tls.ConnectionState) (string, error) {
	if len(state.PeerCertificates) == 0 {
		return "", errors.New("the other side shows no certificate")
	}
	raw, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return "", errors.New("the other side's certificate is not made with a site's key")
	}
	return encodePublic(raw)
}

// certificate makes a certificate that the key signs for itself, kept in memory
// only.
func (k *Key) certificate(site string, now time.Time) (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: site},
		// The dates are not checked: partners pin the key.
		NotBefore: now.AddDate(-1, 0, 0),
		NotAfter:  now.AddDate(100, 0, 0),
		KeyUsage:  x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.private.Public(), k.private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the site's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: k.private}, nil
}
