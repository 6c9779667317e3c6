package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/process"
)

// TestMark: a mark is there as the account's until it is removed, and nowhere where the account cannot write; one that a
// killed process has left is made anew.
func TestMark(t *testing.T) {
	t.Parallel()
	d, dir, account := &process.Deliverer{Shim: shimCommand}, homeDir(t), jobAccount(t)
	path := filepath.Join(dir, ".mark")
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	mark := []byte(strings.Repeat("m", process.MarkSize))
	remove, err := d.Mark(t.Context(), account, path, mark)
	if err != nil {
		t.Fatal(err)
	}
	if got, failed := d.ReadMark(t.Context(), account, path); failed != nil || string(got) != string(mark) {
		t.Errorf("%q, %v", got, failed)
	}
	if err = remove(); err != nil {
		t.Error(err)
	}
	only(t, dir)
	_, err = d.ReadMark(t.Context(), account, path)
	if failed := new(process.DeliverError); !errors.As(err, &failed) || !failed.Permanent {
		t.Errorf("of a file that is gone: %v", err)
	}
	if err = os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	if got, failed := d.ReadMark(t.Context(), account, path); failed == nil {
		t.Errorf("through a link: %q", got)
	}
	_, err = d.Mark(t.Context(), account, filepath.Join(dir, "no", "such", "dir"), mark)
	if failed := new(process.DeliverError); !errors.As(err, &failed) || !failed.Permanent {
		t.Errorf("in no directory: %v", err)
	}
}

// TestMarkGoes: a mark does not outlive the call that it is for.
func TestMarkGoes(t *testing.T) {
	t.Parallel()
	d, dir, account := &process.Deliverer{Shim: shimCommand}, homeDir(t), jobAccount(t)
	ctx, cancel := context.WithCancel(t.Context())
	remove, err := d.Mark(ctx, account, filepath.Join(dir, ".mark"), []byte(strings.Repeat("m", process.MarkSize)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = remove() // that it was ended is no matter
	only(t, dir)
}
