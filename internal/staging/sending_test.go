package staging_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/staging"
)

// TestSending: what is sent lies below another directory, without links, and can be packed there as it was noted, whatever fractions of
// a second the times have here.
func TestSending(t *testing.T) {
	t.Parallel()
	here, outside, there := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, here, map[string]string{"a": "a", "sub/b": "b", "epoch": "e"})
	write(t, outside, map[string]string{"model": "m"})
	at := time.Unix(1_700_000_000, 123_456_789)
	err := errors.Join(os.Chtimes(filepath.Join(here, "a"), at, at), os.Chtimes(filepath.Join(here, "epoch"), time.Unix(0, 5), time.Unix(0, 5)), os.Symlink("a", filepath.Join(here, "link")))
	if err != nil {
		t.Fatal(err)
	}
	sending, err := staging.FindToSend(t.Context(), here, []string{"a", "sub", "epoch", "link", filepath.Join(outside, "model") + ":in/model"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = os.Lstat(filepath.Join(here, "in")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has made something here: %v", err)
	}
	if f := sending.Files; len(f.Links)+len(f.Places) > 0 || f.Check() != nil {
		t.Errorf("%+v, %v", f, f.Check())
	}
	var archive bytes.Buffer
	if err = sending.Write(t.Context(), &archive); err != nil || int64(archive.Len()) != sending.Files.Bytes || sha256.Sum256(archive.Bytes()) != sending.Files.SHA256 {
		t.Fatalf("wrote %d of %d bytes, %v", archive.Len(), sending.Files.Bytes, err)
	}
	if _, err = staging.Unpack(t.Context(), &archive, staging.Into{Root: open(t, there), Umask: 0o022}); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err = staging.Pack(t.Context(), &again, there, sending.Files.Inputs); err != nil || sha256.Sum256(again.Bytes()) != sending.Files.SHA256 {
		t.Errorf("packed there: %v", err)
	}
	write(t, here, map[string]string{"a": "b"})
	if err = sending.Write(t.Context(), &archive); !errors.As(err, new(*staging.ChangedError)) {
		t.Errorf("a file that has changed: %v", err)
	}
}
