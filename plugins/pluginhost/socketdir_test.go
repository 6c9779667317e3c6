package pluginhost_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Directories of hosts that were killed before they locked them are swept, those that are
// new are not.
func TestFreshDirectoriesAreSwept(t *testing.T) { //nolint:paralleltest // it sets the environment
	temp := shortDir(t)
	t.Setenv("TMPDIR", temp)
	kept := filepath.Join(temp, "new-switchyard-plugin-1")
	bare, unlocked := filepath.Join(temp, "new-switchyard-plugin-2"), filepath.Join(temp, "new-switchyard-plugin-3")
	hourAgo := time.Now().Add(-time.Hour)
	if err := errors.Join(
		os.Mkdir(kept, 0o700), os.Mkdir(bare, 0o700), os.Mkdir(unlocked, 0o700),
		os.WriteFile(filepath.Join(unlocked, "lock"), nil, 0o600),
		os.Chtimes(bare, hourAgo, hourAgo), os.Chtimes(unlocked, hourAgo, hourAgo),
	); err != nil {
		t.Fatal(err)
	}
	_ = up(t, specOf(t, "moody"))
	for path, want := range map[string]bool{kept: true, bare: false, unlocked: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
