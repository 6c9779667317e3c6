package staging_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFindWithin: the size of an archive is known before a file is read, and what is refused by it is not read.
func TestFindWithin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "d", strings.Repeat("ä", 80)), make([]byte, 513), 0o600),
		os.WriteFile(filepath.Join(dir, "b"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var bytes int64
	refuse := errors.New("too large")
	for _, why := range []error{nil, refuse} {
		ctx, cancel := context.WithCancel(t.Context())
		if why != nil {
			cancel() // reading would say so
		}
		found, err := staging.FindWithin(ctx, dir, []string{"d", "b"}, func(n int64, files []protocol.StagedFile) error {
			bytes = n
			if len(files) != 3 {
				t.Errorf("%+v", files)
			}
			return why
		})
		cancel()
		if !errors.Is(err, why) || why == nil && found.Bytes != bytes {
			t.Errorf("%+v, %v, of %d bytes", found, err, bytes)
		}
	}
}
