package daemon

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
)

// findings are the findings about the peer, its database and its ports at a site whose peer listens at an address.
func findings(t *testing.T, dir, address string) (found []string) {
	t.Helper()
	cfg := &config.Config{}
	cfg.Site.StateDir, cfg.Site.Socket, cfg.NATS.Listen = settings.Path(dir), settings.Path(filepath.Join(dir, "s")), address
	e := &examination{cfg: cfg, peer: api.Dial(string(cfg.Site.Socket)), patience: 50 * time.Millisecond}
	e.lookAtPeer(t.Context())
	e.lookAtStore()
	e.lookAtListeners(t.Context())
	for _, one := range e.findings {
		if one.Check != "disk" {
			found = append(found, string(one.Verdict)+" "+one.Check+": "+one.What)
		}
	}
	return found
}

// TestDoctorOfHungPeer: a peer that takes requests and answers none, or has no socket any more, is not taken for a stopped one, whose database
// is free, and at whose addresses nothing may answer.
func TestDoctorOfHungPeer(t *testing.T) {
	t.Parallel()
	for name, accepts := range map[string]bool{"takes requests": true, "has no socket": false} {
		dir := shortDir(t)
		db, err := store.Open(statedir.Database(dir), store.Options{AllowNetworkFS: true})
		if err != nil {
			t.Fatal(err)
		}
		port, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if accepts {
			socket, listenErr := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
			if listenErr != nil {
				t.Fatal(listenErr)
			}
			t.Cleanup(func() { _ = socket.Close() })
		}
		found := findings(t, dir, port.Addr().String())
		if len(found) != 2 || !strings.HasPrefix(found[0], "failed peer: it runs and does not answer") || found[1] != "ok port: [nats] listen "+port.Addr().String() {
			t.Errorf("a hung peer that %s: %q", name, found)
		}
		if err = db.Close(); err != nil {
			t.Fatal(err)
		}
		_ = port.Close()
		_ = os.Remove(filepath.Join(dir, "s"))
		found = findings(t, dir, port.Addr().String())
		if len(found) != 3 || !strings.HasPrefix(found[0], "warning peer: it does not run") || !strings.HasPrefix(found[1], "ok database") || !strings.HasPrefix(found[2], "ok port") {
			t.Errorf("a stopped peer: %q", found)
		}
	}
}

// TestDoctorOfAddresses: at the addresses of a stopped peer nothing answers, and they are of this machine.
func TestDoctorOfAddresses(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String(): "is not free", "192.0.2.1:0": "is no address of this machine",
	} {
		found := findings(t, shortDir(t), address)
		if !slices.ContainsFunc(found, func(one string) bool { return strings.HasPrefix(one, "failed port") && strings.Contains(one, want) }) {
			t.Errorf("%s: %q", address, found)
		}
	}
}
