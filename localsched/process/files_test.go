package process_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/localsched/process"
)

// Files are placed below a directory that is made, as the account, and collected from there; what is not taken is named.
func TestPlaceAndCollect(t *testing.T) {
	t.Parallel()
	d, account, home := &process.Deliverer{Shim: shimCommand}, jobAccount(t), homeDir(t)
	from, dir := t.TempDir(), filepath.Join(home, "new", "run")
	if err := errors.Join(os.WriteFile(filepath.Join(from, "a"), []byte("first"), 0o666), os.Mkdir(filepath.Join(from, "sub"), 0o755), os.WriteFile(filepath.Join(from, "sub", "b"), []byte("b"), 0o600)); err != nil {
		t.Fatal(err)
	}
	sending, err := staging.FindToSend(t.Context(), from, []string{"."}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err = sending.Write(t.Context(), &archive); err != nil {
		t.Fatal(err)
	}
	if err = d.Place(t.Context(), account, dir, 0o022, bytes.NewReader(archive.Bytes())); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "a", "sub", "sub/b"} {
		info, lacks := os.Stat(filepath.Join(dir, name))
		at, failed := os.Stat(home)
		if lacks != nil || failed != nil || owner(info) != owner(at) {
			t.Errorf("%s: %v, %v", name, lacks, failed)
		}
	}
	if err = os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var back bytes.Buffer
	said, err := d.Collect(t.Context(), account, dir, []string{"a", "sub", "link", "none", "*.txt"}, 1<<20, "a limit", &back)
	if err != nil || !strings.Contains(said.Missing, "link is a link") || !strings.Contains(said.Missing, "none is not there") || len(said.Notices) != 1 || said.Notices[0] != "no file matches *.txt" {
		t.Errorf("%+v, %v", said, err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files, err := staging.Unpack(t.Context(), &back, staging.Into{Root: root})
	if err != nil || len(files) != 2 || files[0].Name != "a" || files[1].Name != "sub/b" {
		t.Errorf("%+v, %v", files, err)
	}
	for name, c := range map[string]struct {
		dir, pattern string
		most         int64
		says         string
	}{
		"none":         {dir, "none", 1 << 20, "none is not there"},
		"too large":    {dir, "a", 100, "a limit"},
		"no directory": {filepath.Join(home, "other"), "a", 1 << 20, "no such file"},
	} {
		_, err = d.Collect(t.Context(), account, c.dir, []string{c.pattern}, c.most, "a limit", &back)
		if failed, ok := errors.AsType[*process.DeliverError](err); !ok || !failed.Permanent || !strings.Contains(failed.Reason, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err = d.Place(t.Context(), account, "/proc/none", 0o022, bytes.NewReader(archive.Bytes())); !errors.As(err, new(*process.DeliverError)) {
		t.Errorf("where none can be: %v", err)
	}
	if err = d.Place(t.Context(), account, dir, 0o022, strings.NewReader("no archive at all")); !errors.As(err, new(*process.DeliverError)) {
		t.Errorf("no archive: %v", err)
	}
}
