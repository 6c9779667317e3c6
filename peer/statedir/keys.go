package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Keys is the path of the file with the public keys that the site of a state directory has had. A line is a key.
func Keys(dir string) string { return filepath.Join(dir, "public_keys") }

// ReadKeys are the public keys that a site has had, in the order in which it began to use them, as they are in the file; none if
// there is no file.
func ReadKeys(dir string) ([]string, error) {
	text, err := os.ReadFile(Keys(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("public keys of the site: %w", err)
	}
	return strings.Fields(string(text)), nil
}

// NoteKey has [ReadKeys] list a key that the site is about to use. It waits for the disk, and returns the list.
func NoteKey(dir, public string) ([]string, error) {
	keys, err := ReadKeys(dir)
	if err != nil || slices.Contains(keys, public) {
		return keys, err
	}
	keys = append(keys, public)
	if err = Replace(Keys(dir), []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("public keys of the site: %w", err)
	}
	return keys, nil
}
