package servercert_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/servercert"
)

// meet has a client that trusts the certificate of one file alone meet a server.
func meet(t *testing.T, conf *tls.Config, trusted string) error {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", conf)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		conn, failed := listener.Accept()
		if failed == nil {
			_, _ = io.Copy(io.Discard, conn) // the handshake, too
			failed = conn.Close()
		}
		served <- failed
	}()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(read(t, trusted)))
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err == nil {
		err = conn.Close()
	}
	<-served
	if closed := listener.Close(); closed != nil {
		t.Error(closed)
	}
	return err
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A certificate that the peer makes is trusted by those who have the file of its authority, which stays. It stays while it is
// good, and is replaced for other hosts and before it expires; clients notice nothing.
func TestMade(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "api"), time.Now()
	hosts := []string{"here.example", "127.0.0.1"}
	made := func(hosts []string, now time.Time) *servercert.Files {
		t.Helper()
		files, err := servercert.Made(dir, hosts, now)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	files := made(hosts, now)
	conf, err := files.TLS()
	if err != nil {
		t.Fatal(err)
	}
	authority := read(t, files.Authority())
	trusted := func(files *servercert.Files) {
		t.Helper()
		if conf, err = files.TLS(); err != nil {
			t.Fatal(err)
		}
		if err = meet(t, conf, files.Authority()); err != nil || read(t, files.Authority()) != authority {
			t.Errorf("the authority is another, or not trusted: %v", err)
		}
	}
	trusted(files)
	if info, failed := os.Stat(files.Key); failed != nil || info.Mode() != 0o600 {
		t.Errorf("the key has mode %v, %v", info.Mode(), failed)
	}
	first := read(t, files.Cert)
	if made(hosts, now.Add(300*24*time.Hour)); read(t, files.Cert) != first {
		t.Error("a good certificate was made anew")
	}
	trusted(made(append(hosts, "there.example"), now))
	second := read(t, files.Cert)
	if second == first {
		t.Error("a certificate for other hosts stayed")
	}
	if made(append(hosts, "there.example"), now.Add(350*24*time.Hour)); read(t, files.Cert) == second {
		t.Error("a certificate that expires soon stayed")
	}
	if err = os.Remove(filepath.Join(dir, "ca-key.pem")); err != nil {
		t.Fatal(err)
	}
	made(append(hosts, "there.example"), now) // which has its certificate already
	if _, err = servercert.Made(dir, append(hosts, "elsewhere.example"), now); err == nil || !strings.Contains(err.Error(), "restore the files") {
		t.Errorf("an authority without its key: %v", err)
	}
}

// A certificate that a peer has made long ago is replaced while the peer runs.
func TestRenewed(t *testing.T) {
	t.Parallel()
	dir, old := filepath.Join(t.TempDir(), "api"), time.Now().Add(-350*24*time.Hour)
	files, err := servercert.Made(dir, []string{"127.0.0.1"}, old)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := files.TLS() // has read the old one
	if err != nil {
		t.Fatal(err)
	}
	first := read(t, files.Cert)
	if err = meet(t, conf, files.Authority()); err != nil || read(t, files.Cert) == first {
		t.Errorf("%v, and it is the same: %t", err, read(t, files.Cert) == first)
	}
	if files.Ends().Before(time.Now().Add(300 * 24 * time.Hour)) {
		t.Errorf("it ends at %v", files.Ends())
	}
}

// Files that change are read again; while they are not a pair, the certificate before them is served.
func TestFilesThatChange(t *testing.T) {
	t.Parallel()
	one, err := servercert.Made(filepath.Join(t.TempDir(), "one"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	two, err := servercert.Made(filepath.Join(t.TempDir(), "two"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	dir, failures := t.TempDir(), 0
	files := &servercert.Files{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k"), Failed: func(error) { failures++ }}
	if _, err = files.TLS(); err == nil {
		t.Error("no error without files")
	}
	changed := time.Now()
	put := func(path, text string) {
		t.Helper()
		if err = os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		changed = changed.Add(time.Second)
		if err = os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	put(files.Cert, read(t, one.Cert))
	put(files.Key, read(t, one.Key))
	conf, err := files.TLS()
	if err != nil {
		t.Fatal(err)
	}
	put(files.Cert, read(t, two.Cert))
	if err = meet(t, conf, one.Authority()); err != nil || failures != 1 {
		t.Errorf("while the key is another's: %v, %d failures", err, failures)
	}
	put(files.Key, read(t, two.Key))
	if err = meet(t, conf, two.Authority()); err != nil {
		t.Errorf("with both files: %v", err)
	}
	if err = os.Remove(files.Cert); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err = meet(t, conf, two.Authority()); err != nil {
			t.Errorf("without a file: %v", err)
		}
	}
	if failures != 2 {
		t.Errorf("%d failures were reported, each is to be once", failures)
	}
}

// The end is that of the present files, though nobody has connected since they changed.
func TestEndsWithoutCallers(t *testing.T) {
	t.Parallel()
	old, err := servercert.Made(filepath.Join(t.TempDir(), "old"), []string{"127.0.0.1"}, time.Now().Add(-350*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	next, err := servercert.Made(filepath.Join(t.TempDir(), "next"), []string{"127.0.0.1"}, time.Now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	dir, failures := t.TempDir(), 0
	files := &servercert.Files{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k"), Failed: func(error) { failures++ }}
	changed := time.Now()
	put := func(from *servercert.Files) {
		t.Helper()
		changed = changed.Add(time.Second)
		for path, text := range map[string]string{files.Cert: read(t, from.Cert), files.Key: read(t, from.Key)} {
			if failed := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, changed, changed)); failed != nil {
				t.Fatal(failed)
			}
		}
	}
	put(old)
	if _, err = files.TLS(); err != nil {
		t.Fatal(err)
	}
	first := files.Ends()
	if put(next); !files.Ends().After(first.Add(300 * 24 * time.Hour)) {
		t.Errorf("it ended at %v, and with other files ends at %v", first, files.Ends())
	}
	second := files.Ends()
	if err = os.Remove(files.Key); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if ends := files.Ends(); !ends.Equal(second) || failures != 1 {
			t.Errorf("without its key it ends at %v after %d failures", ends, failures)
		}
	}
	if _, err = old.TLS(); err != nil { // which the peer has made
		t.Fatal(err)
	}
	if old.Ends().Before(time.Now().Add(300 * 24 * time.Hour)) {
		t.Errorf("the peer's own ends at %v", old.Ends())
	}
}
