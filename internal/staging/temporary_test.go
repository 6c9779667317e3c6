package staging_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
)

// TestTwoBringBackOneFile: two jobs of a user bring back a file of one name at once. It is that of the one or of
// the other, and what a process that was killed has left of it goes with the next one.
func TestTwoBringBackOneFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	slow, quick := strings.Repeat("slow", 5000), strings.Repeat("quick", 3000)
	archive := back(t, map[string]string{"out/result": slow})
	from, to := io.Pipe()
	ended := make(chan error, 1)
	root := open(t, home)
	go func() {
		_, err := staging.Unpack(t.Context(), from, staging.Into{Root: root})
		ended <- errors.Join(err, from.Close()) // which ends the writing, too
	}()
	if _, err := to.Write(archive[:len(archive)/2]); err != nil {
		t.Fatal(err)
	}
	under := temporaries(t, home)
	if len(under) != 1 {
		t.Fatalf("it is written as %q", under)
	}
	result := filepath.Join(home, "out", "result")
	other := back(t, map[string]string{"out/result": quick})
	if _, err := staging.Unpack(t.Context(), bytes.NewReader(other), staging.Into{Root: open(t, home)}); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(result); err != nil || string(got) != quick {
		t.Errorf("of the quick one are %d bytes, %v", len(got), err)
	}
	_, err := to.Write(archive[len(archive)/2:])
	if err == nil {
		err = to.Close()
	}
	if failed := <-ended; err != nil || failed != nil {
		t.Errorf("the slow one: %v, %v", err, failed)
	}
	if got, failed := os.ReadFile(result); failed != nil || string(got) != slow {
		t.Errorf("of the slow one are %d bytes, %v", len(got), failed)
	}
	if left := temporaries(t, home); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if err = os.WriteFile(under[0], []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = staging.Unpack(t.Context(), bytes.NewReader(other), staging.Into{Root: open(t, home)}); err != nil {
		t.Error(err)
	}
	if left := temporaries(t, home); len(left) > 0 {
		t.Errorf("of one that was killed are %q", left)
	}
}

func temporaries(t *testing.T, home string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "*", ".switchyard-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
