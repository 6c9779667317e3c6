package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Roster is the path of the file with the serial number and the digest of the last roster that counted at the site of a state directory.
func Roster(dir string) string { return filepath.Join(dir, "roster") }

// ReadRoster is what [NoteRoster] has noted; 0 and "" if there is no file.
func ReadRoster(dir string) (serial int64, digest string, err error) {
	text, err := os.ReadFile(Roster(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", fmt.Errorf("last roster: %w", err)
	}
	if _, err = fmt.Sscanf(string(text), "%d %64s\n", &serial, &digest); err != nil || len(digest) != 64 {
		return 0, "", fmt.Errorf("last roster: %s is not of a serial number and a digest; put it back from a backup, or remove it if the roster is new", Roster(dir))
	}
	return serial, digest, nil
}

// NoteRoster has [ReadRoster] return a roster that is about to count. It refuses one that is older than the last,
// as after a reload that compared with another state directory. It waits for the disk.
func NoteRoster(dir string, serial int64, digest string) error {
	noted, same, err := ReadRoster(dir)
	switch {
	case err != nil || noted == serial && same == digest:
		return err
	case serial < noted:
		return fmt.Errorf("last roster: %d has counted here, and %d is older", noted, serial)
	}
	// Who checks a configuration may be another account than the peer's.
	if err = Replace(Roster(dir), fmt.Appendf(nil, "%d %s\n", serial, digest), 0o644); err != nil {
		return fmt.Errorf("last roster: %w", err)
	}
	return nil
}
