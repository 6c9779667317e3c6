package results_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/results"
)

// TestSweep: what a killed peer was making of an archive goes at the next start; what is on its way stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	d := &results.Dir{Path: filepath.Join(t.TempDir(), "kept")}
	if err := d.Sweep(); err != nil {
		t.Errorf("without a directory: %v", err)
	}
	appendTo(t, open(t, d, 1), []byte("x"))
	keep(t, d, 2, 1, 0)
	want := names(t, d)
	if err := os.WriteFile(filepath.Join(d.Path, ".part-123"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Sweep(); err != nil {
		t.Error(err)
	}
	if got := names(t, d); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
