// Package statedir knows what a peer keeps in its state directory beside the database, and
// so whether a directory without a database is a new one or has lost it.
package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

// Database is the path of the database in a state directory.
func Database(dir string) string { return filepath.Join(dir, "switchyard.db") }

// ErrLost says that the database is missing or empty, and that a peer has run there.
var ErrLost = errors.New("the database is lost")

// Trace is something that shows that a peer has run.
type Trace struct {
	Path string // in the state directory
	What string // "3 jobs of the local queue"
}

// look is where a trace may be, and what it is. A directory counts by its entries.
type look struct {
	path string
	what string // of a file; of a directory what its entries are
}

// looks are all places to look at. Whatever a peer makes only once it has a database
// belongs here.
func looks() []look {
	return []look{
		{"spool/jobs", "jobs of the local queue"},
		{"spool/reservations", "reservations for jobs"},
		{"spool/holds", "reservations for jobs, of a version before 0.1"},
		{"slurm", "entries of jobs in Slurm"},
		{"gate", "entries of jobs that a power budget keeps waiting"},
		{"kept", "outputs that are kept for their users"},
		{"tokens.json", "tokens of the API over TCP"},
		{"machine.json", "what the local scheduler said of its machine"},
		{"witness.json", "which database this directory had last"},
		{"public_keys", "public keys that the site has had"},
		{"roster", "which roster of the grid counted last"},
	}
}

// Traces lists what shows that a peer has run in the directory; none of a directory that
// does not exist.
func Traces(dir string) ([]Trace, error) {
	var all []Trace
	for _, l := range looks() {
		what, err := l.in(dir)
		if err != nil {
			return nil, fmt.Errorf("look for traces of an earlier peer: %w", err)
		}
		if what != "" {
			all = append(all, Trace{Path: l.path, What: what})
		}
	}
	return all, nil
}

// in says what there is, "" for nothing.
func (l look) in(dir string) (string, error) {
	path := filepath.Join(dir, filepath.FromSlash(l.path))
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.IsDir():
		return l.what, nil
	}
	entries, err := os.ReadDir(path)
	count := 0
	for _, entry := range entries {
		if entry.Name() != "lost+found" { // of a file system of its own
			count++
		}
	}
	if count == 0 {
		return "", err
	}
	return fmt.Sprintf("%d %s", count, l.what), err
}

// Check refuses a directory whose database is missing or empty although a peer has run
// there: taken for a new site it would not know the jobs that are there. The error wraps
// [ErrLost] and says what was found, and what to do.
func Check(dir string) error {
	state, err := databaseState(dir)
	if err != nil || state == "" {
		return err
	}
	traces, err := Traces(dir)
	if err != nil || len(traces) == 0 {
		return err
	}
	found := make([]string, len(traces))
	for i, trace := range traces {
		found[i] = fmt.Sprintf("%s (%s)", trace.Path, trace.What)
	}
	return fmt.Errorf("%w: %s %s, but a peer has run in %s and has left %s; put back the database from a backup and run"+
		" \"switchyard recover\", or, to abandon all earlier jobs, start once with \"switchyard peer --new-store\","+
		" which sets aside what is there", ErrLost, Database(dir), state, dir, strings.Join(found, ", "))
}

// databaseState says how the database is not there; "": it is.
func databaseState(dir string) (string, error) {
	info, err := os.Stat(Database(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist", nil
	case err != nil:
		return "", err
	case info.Size() == 0:
		return "is empty", nil
	}
	return "", nil
}

// SetAside renames the database, if there is one, and all traces, so that a peer begins
// again there. It returns the new paths. A path is renamed where it is, because it may be
// on a file system of its own.
func SetAside(dir string, now time.Time) (moved []string, err error) {
	traces, err := Traces(dir)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(traces)+1)
	for _, trace := range traces {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(trace.Path)))
	}
	if _, err = os.Stat(Database(dir)); err == nil { // last: until then a second try finds the same
		paths = append(paths, Database(dir))
	}
	suffix := ".set-aside-" + now.UTC().Format("20060102T150405Z")
	for _, path := range paths {
		if err := os.Rename(path, path+suffix); err != nil {
			return moved, fmt.Errorf("set aside what an earlier peer has left: %w; move it away by hand", err)
		}
		moved = append(moved, path+suffix)
	}
	return moved, nil
}

// WriteJSON writes a file of a state directory as [Replace] does. On a full disk the error says where
// it is and how many bytes are needed.
func WriteJSON(path string, value any) error {
	data, err := json.Marshal(value)
	if err == nil {
		err = Replace(path, append(data, '\n'), 0o600)
	}
	if localdisk.Full(err) {
		err = fmt.Errorf("%w; free space or raise the quota on %s, %d bytes are needed",
			err, localdisk.Describe(filepath.Dir(path)), len(data)+1)
	}
	return err
}

// Replace writes a file as a whole or not at all, and so that a power failure does not take it back.
func Replace(path string, data []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil {
		err = SyncDir(filepath.Dir(path))
	}
	return err
}

// SyncDir has the names in a directory survive a power failure.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
