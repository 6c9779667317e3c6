package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestNetworkFileSystems(t *testing.T) {
	t.Parallel()
	for magic, want := range map[int64]string{
		0x6969: "NFS", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x65735546: "FUSE", 0xfe534d42: "SMB",
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: "", 0x2fc12fc1: "", // ext4 xfs btrfs tmpfs overlay zfs
	} {
		if got := networkFSName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}

func TestRefusalOfNetworkFileSystem(t *testing.T) {
	t.Parallel()
	if name, err := networkFS(t.TempDir()); err != nil || name != "" {
		t.Skipf("the temporary folder is on %s (%v)", name, err)
	}
	for name, allow := range map[string]bool{"refused": false, "allowed": true} {
		err := judgeFS("NFS", filepath.Join(t.TempDir(), "peer.db"),
			Options{AllowNetworkFS: allow, Logger: slog.New(slog.DiscardHandler)})
		if errors.Is(err, ErrNetworkFS) == allow {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := networkFS(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
