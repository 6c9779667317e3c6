// Package servercert has the certificate with which a peer serves the API over TCP: the site's own, which is
// read again when its files change, or one that the peer makes.
package servercert

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

// Files are where a certificate and its key are, in PEM. Its methods may be called from any goroutine.
type Files struct {
	Cert, Key string
	Failed    func(error) // is called when the files have changed and cannot be used; the certificate before them goes on

	maker *maker // nil: the files are the site's

	mu     sync.Mutex
	seen   state
	loaded *tls.Certificate
}

// state is by what a change of the files is noticed.
type state struct {
	modified [2]time.Time
	size     [2]int64
	err      string // of looking at them
}

const maxFile = 1 << 20 // bytes

// TLS is the configuration of a server with the certificate. The error says what is wrong with the files.
func (f *Files) TLS() (*tls.Config, error) {
	if err := f.load(time.Now()); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.current(), nil },
	}, nil
}

// Ends is when the certificate expires that a handshake would get now. It is the zero time before [Files.TLS].
func (f *Files) Ends() time.Time {
	if cert := f.current(); cert != nil && cert.Leaf != nil {
		return cert.Leaf.NotAfter
	}
	return time.Time{}
}

// current is the certificate of the files, or the one before while they cannot be read.
func (f *Files) current() *tls.Certificate {
	if err := f.load(time.Now()); err != nil && f.Failed != nil {
		f.Failed(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaded
}

// load reads the files if they have changed. What is wrong with them is said once.
func (f *Files) load(now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.maker != nil && f.loaded != nil && f.maker.due(f.loaded.Leaf, now) {
		if err := f.maker.renew(f, now); err != nil {
			return f.once(state{err: err.Error()}, err)
		}
	}
	var found state
	for i, path := range []string{f.Cert, f.Key} {
		info, err := os.Stat(path)
		if err != nil {
			return f.once(state{err: err.Error()}, err)
		}
		found.modified[i], found.size[i] = info.ModTime(), info.Size()
	}
	if f.loaded != nil && found == f.seen {
		return nil
	}
	f.seen = found
	pair, err := f.read()
	if err != nil {
		return err
	}
	f.loaded = pair
	return nil
}

// once is an error, if it was not there at the last look.
func (f *Files) once(found state, err error) error {
	if f.loaded != nil && f.seen == found {
		return nil
	}
	f.seen = found
	return err
}

// read reads the pair. Only its owner may read the key.
func (f *Files) read() (*tls.Certificate, error) {
	cert, err := os.ReadFile(f.Cert)
	if err != nil {
		return nil, err
	}
	key, err := fileguard.Secret(f.Key, maxFile)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", f.Cert, f.Key, err)
	}
	if pair.Leaf == nil {
		pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	return &pair, err
}
