package statedir_test

import (
	"os"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/statedir"
)

// TestKeysAreNoted: each once, in the order of their first use.
func TestKeysAreNoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if keys, err := statedir.ReadKeys(dir); err != nil || len(keys) > 0 {
		t.Errorf("a new directory has %v, %v", keys, err)
	}
	for _, c := range []struct {
		use  string
		want []string
	}{{"U1", []string{"U1"}}, {"U2", []string{"U1", "U2"}}, {"U1", []string{"U1", "U2"}}} {
		noted, err := statedir.NoteKey(dir, c.use)
		read, failed := statedir.ReadKeys(dir)
		if err != nil || failed != nil || !slices.Equal(noted, c.want) || !slices.Equal(read, c.want) {
			t.Errorf("after %s: %v, %v; read %v, %v", c.use, noted, err, read, failed)
		}
	}
	if err := os.Remove(statedir.Keys(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(statedir.Keys(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if keys, err := statedir.NoteKey(dir, "U1"); err == nil {
		t.Errorf("without a file that can be read: %v", keys)
	}
}
