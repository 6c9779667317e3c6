package slurmlinks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/slurmlinks"
)

// TestMakeAndRemove: links are made for all users, lead to a newer program after another call, and go without what
// somebody else has put there.
func TestMakeAndRemove(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "commands")
	for _, program := range []string{"/opt/1/switchyard", "/opt/2/switchyard", "/opt/2/switchyard"} {
		if err := slurmlinks.Make(program, dir); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(slurmlinks.Names()) {
			t.Fatalf("%v, %v", entries, err)
		}
		for _, name := range slurmlinks.Names() {
			if got, err := os.Readlink(filepath.Join(dir, name)); err != nil || got != program {
				t.Errorf("%s leads to %q (%v), want %q", name, got, err, program)
			}
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if err := slurmlinks.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
	if err := slurmlinks.Remove(dir); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestFilesOfOthers are neither replaced nor removed, and the other commands are there.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "sbatch")
	if err := os.WriteFile(own, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := slurmlinks.Make("/opt/switchyard", dir); err == nil || !strings.HasPrefix(err.Error(), own+" is there and is no link") {
		t.Errorf("Make: %v", err)
	}
	if _, err := os.Readlink(filepath.Join(dir, "squeue")); err != nil {
		t.Error(err)
	}
	if err := slurmlinks.Remove(dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left are %v, %v", entries, err)
	}
	if data, err := os.ReadFile(own); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
}
