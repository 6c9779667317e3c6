package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

func TestRefusalOfNetworkFileSystem(t *testing.T) {
	t.Parallel()
	if name, err := localdisk.NetworkFS(t.TempDir()); err != nil || name != "" {
		t.Skipf("the temporary folder is on %s (%v)", name, err)
	}
	for name, allow := range map[string]bool{"refused": false, "allowed": true} {
		err := judgeFS("NFS", filepath.Join(t.TempDir(), "peer.db"),
			Options{AllowNetworkFS: allow, Logger: slog.New(slog.DiscardHandler)})
		if errors.Is(err, ErrNetworkFS) == allow {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := localdisk.NetworkFS(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
