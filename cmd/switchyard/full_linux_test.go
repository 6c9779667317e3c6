package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// smallState mounts a file system with room for size bytes, and has the site keep its
// state there.
func smallState(t *testing.T, site *testbed.Site, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	text, err := os.ReadFile(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "state_dir") {
			lines[i] = fmt.Sprintf("state_dir = %q", dir)
		}
	}
	if err = os.WriteFile(site.Config, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A peer that has no room to start names the file system, what it needs, and what to do.
func TestStartOnAFullDisk(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	site := g.Sites[0]
	dir := smallState(t, site, 2<<20)
	for _, free := range []int{0, 4 << 10, 16 << 10, 40 << 10, 100 << 10, 512 << 10} {
		if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 2<<20-free), 0o600); err != nil && free > 4<<10 {
			t.Fatal(err)
		}
		got := g.at(t, site, "", "peer", "--config", site.Config)
		wantWords(t, got, 1, "no room to start", "needs 1024 KiB", "free space or raise the quota", dir)
		if strings.Contains(got.stderr, `site name ""`) || strings.Contains(got.stderr, "panic") {
			t.Errorf("with %d bytes free: %s", free, got.stderr)
		}
	}
}
