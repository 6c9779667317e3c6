// Package witness keeps what a peer's database must not be older than, outside the database:
// a small file beside it, and a copy elsewhere; the machine that the state directory is on;
// and a lock on the site's key, so that one machine runs one peer of a site.
package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Name is the file's name in its directory.
const Name = "witness.json"

// size is that of the file, so that it is written at once and in place.
const size = 512

// record is the file's content.
type record struct {
	PublicKey string        `json:"public_key"`
	Life      protocol.Life `json:"life"`
}

// File remembers how far a store has come. It is written after each transaction without
// waiting for the disk: after the end of the process the kernel has it, and after a power cut
// an older one does no harm. It is not safe for use from several goroutines.
type File struct {
	key    string
	file   *os.File
	copies []string
}

// Open opens or makes the file in a directory, for a site that has had the public keys, the first of which
// the file names. The latest life that it or a copy in one of
// the other directories remembers is returned; zero: none, or those of another site's key.
// Directories that do not exist are left out.
func Open(keys []string, dir string, others ...string) (*File, protocol.Life, error) {
	path := filepath.Join(dir, Name)
	latest, err := read(path, keys)
	if err != nil {
		return nil, protocol.Life{}, err
	}
	w := &File{key: keys[0]}
	for _, other := range others {
		if info, failed := os.Stat(other); failed != nil || !info.IsDir() {
			continue
		}
		w.copies = append(w.copies, filepath.Join(other, Name))
		life, failed := read(filepath.Join(other, Name), keys)
		if failed != nil {
			return nil, protocol.Life{}, failed
		}
		if after(life, latest) {
			latest = life
		}
	}
	if w.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, protocol.Life{}, fmt.Errorf("witness file: %w", err)
	}
	return w, latest, nil
}

// after orders lives by how far they have come.
func after(a, b protocol.Life) bool {
	switch {
	case a.Incarnation != b.Incarnation:
		return a.Incarnation > b.Incarnation
	case a.Generation != b.Generation:
		return a.Generation > b.Generation
	}
	return a.Boot > b.Boot
}

// read reads a file. One that is missing, or that a power cut has left without sense, says
// nothing.
func read(path string, keys []string) (protocol.Life, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return protocol.Life{}, nil
	}
	if err != nil {
		return protocol.Life{}, fmt.Errorf("witness file: %w", err)
	}
	var r record
	if json.Unmarshal(data, &r) != nil || !slices.Contains(keys, r.PublicKey) {
		return protocol.Life{}, nil //nolint:nilerr // documented
	}
	return r.Life, nil
}

// Write notes how far the store has come. With begun, at the start of a life, it waits for
// the disk, and writes the copies as well.
func (w *File) Write(life protocol.Life, begun bool) error {
	data, err := encode(w.key, life)
	if err != nil {
		return err
	}
	if _, err = w.file.WriteAt(data, 0); err != nil {
		return fmt.Errorf("witness file: %w", err)
	}
	if !begun {
		return nil
	}
	if err = w.file.Sync(); err != nil {
		return fmt.Errorf("witness file: %w", err)
	}
	for _, path := range w.copies {
		if err = writeCopy(path, data); err != nil {
			return fmt.Errorf("copy of the witness file: %w", err)
		}
	}
	return nil
}

// encode writes a record, padded, so that a later one always covers it. It is done for each
// transaction, and takes a tenth of the time that encoding/json would. A public key has no
// character that JSON would escape.
func encode(key string, life protocol.Life) ([]byte, error) {
	data := append(append(make([]byte, 0, size), `{"public_key":"`...), key...)
	data = strconv.AppendUint(append(data, `","life":{"incarnation":`...), life.Incarnation, 10)
	data = strconv.AppendUint(append(data, `,"boot":`...), life.Boot, 10)
	data = strconv.AppendInt(append(data, `,"begun_ms":`...), int64(life.Begun), 10)
	data = strconv.AppendUint(append(data, `,"generation":`...), life.Generation, 10)
	data = append(data, "}}"...)
	if len(data) >= size {
		return nil, fmt.Errorf("witness file: %d bytes do not fit in %d", len(data), size)
	}
	for len(data) < size-1 {
		data = append(data, ' ')
	}
	return append(data, '\n'), nil
}

func writeCopy(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	return errors.Join(err, file.Sync(), file.Close())
}

// Close closes the file.
func (w *File) Close() error { return w.file.Close() }
