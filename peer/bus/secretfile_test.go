package bus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/bus"
)

// TestExternalSecretsAreGuarded: none of the files with which the peer shows who it is at an
// external NATS system may be one that others can read.
func TestExternalSecretsAreGuarded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	for key, ext := range map[string]bus.External{"token": {Token: path}, "nkey": {Nkey: path}, "creds": {Creds: path}} {
		ext.URL = "nats://127.0.0.1:1"
		a, b := newSite(t, "cern"), newSite(t, "desy")
		bb, err := bus.New(bus.Config{
			Site: a.name, Key: a.key, External: &ext, Partners: []bus.Partner{b.partner()}, Card: a.card, Handler: a,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err = bb.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "[nats] "+key+" file "+path) ||
			!strings.Contains(err.Error(), "mode 0640") {
			t.Errorf("%s: got %v", key, err)
			bb.Close()
		}
	}
}
