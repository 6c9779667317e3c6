package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

func textLog(to io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

// wantError expects an error that is of a kind and says certain words.
func wantError(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got %v; want %v", err, kind)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

func TestSecondPeer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	open(t, path)
	_, err := store.Open(path, store.Options{LockTimeout: time.Millisecond})
	wantError(t, err, store.ErrLocked, path, "another peer is running", "state directory of its own")
}

func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "no", "peer.db")
	_, err := store.Open(path, store.Options{})
	wantError(t, err, fs.ErrNotExist, path, "make it, with mode 0700")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(filepath.Join(file, "peer.db"), store.Options{}); err == nil {
		t.Error("a file as folder was accepted")
	}
	if _, err := store.Open(t.TempDir(), store.Options{}); err == nil {
		t.Error("a folder as file was accepted")
	}
}

func TestModeIsTightened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

// bolt changes a file behind the store's back.
func bolt(t *testing.T, path string, f func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = errors.Join(db.Update(f), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOtherFiles(t *testing.T) {
	t.Parallel()
	text := bytes.Repeat([]byte("not a database\n"), 5000)
	for name, c := range map[string]struct {
		make func(path string)
		kind error
		word string
	}{
		"text":       {func(path string) { write(t, path, text) }, store.ErrForeign, "put back a backup"},
		"short text": {func(path string) { write(t, path, text[:100]) }, store.ErrForeign, "put back a backup"},
		"zeros":      {func(path string) { write(t, path, make([]byte, 16<<10)) }, store.ErrForeign, "put back a backup"},
		"other program": {func(path string) {
			bolt(t, path, func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("members")); return err })
		}, store.ErrForeign, `bucket "members"`},
		"newer": {func(path string) { setFormat(t, path, binary.BigEndian.AppendUint64(nil, 3)) }, store.ErrNewer, "format 3"},
		"odd":   {func(path string) { setFormat(t, path, []byte("two")) }, store.ErrForeign, "format version"},
	} {
		path := filepath.Join(t.TempDir(), "peer.db")
		c.make(path)
		before := read(t, path)
		_, err := store.Open(path, store.Options{})
		t.Logf("%s: %v", name, err)
		wantError(t, err, c.kind, path, c.word)
		if !bytes.Equal(before, read(t, path)) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func setFormat(t *testing.T, path string, version []byte) {
	t.Helper()
	open(t, path).Close()
	bolt(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("switchyard")).Put([]byte("format"), version) })
}

// TestDamage spoils each page of a store in turn: opening and reading may fail
// with an error, and must not panic or hang.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	s := open(t, whole)
	for i := range 200 {
		commit(t, s, put(fmt.Sprintf("%03d", i), strings.Repeat("v", 100)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content := read(t, whole)
	const page = 4096
	refused := 0
	for i := range len(content) / page {
		spoiled := bytes.Clone(content)
		copy(spoiled[i*page:], bytes.Repeat([]byte{0xa5}, page))
		refused += tryDamaged(t, filepath.Join(dir, fmt.Sprint("spoiled", i)), spoiled)
		cut := content[:i*page]
		if i >= 3 { // shorter files are not even a beginning
			refused += tryDamaged(t, filepath.Join(dir, fmt.Sprint("cut", i)), cut)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
	t.Logf("%d of %d damages noticed", refused, 2*len(content)/page)
}

// tryDamaged returns 1 if the damage was noticed.
func tryDamaged(t *testing.T, path string, content []byte) int {
	t.Helper()
	write(t, path, content)
	s, err := store.Open(path, store.Options{})
	if err != nil {
		if !errors.Is(err, store.ErrForeign) {
			wantError(t, err, store.ErrDamaged, path, "switchyard store verify")
		}
		return 1
	}
	noticed := 0
	for _, err := range s.Load("job") {
		if err != nil {
			noticed = 1
		}
	}
	if s.Commit(t.Context(), []store.Put{put("000", "new"), put("150", "new")}) != nil {
		noticed = 1
	}
	_ = s.Close()
	s, err = store.Open(path, store.Options{}) // the lock must be free in any case
	if err == nil {
		_ = s.Close()
	} else if errors.Is(err, store.ErrLocked) {
		t.Errorf("%s: still locked after Close", path)
	}
	return noticed
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	s := openWith(t, path, store.Options{CompactOver: 1 << 40})
	const n = 80
	var erase []store.Put
	for i := range n {
		key := fmt.Sprintf("%03d", i)
		commit(t, s, store.Put{Table: "big", Key: key, Value: make([]byte, 1<<20)}, put(key, "kept"))
		erase = append(erase, store.Put{Table: "big", Key: key})
	}
	commit(t, s, erase[1:]...)
	commit(t, s, put("last", "kept"))
	before := s.Stats()
	if before.FileBytes < 64<<20 || before.FreeBytes < before.FileBytes/2 {
		t.Fatalf("the file is not worth compacting: %+v", before)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path+".compact", []byte("left over from a crash"))

	var log bytes.Buffer
	again, err := store.Open(path, store.Options{Logger: textLog(&log)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	after := again.Stats()
	if after.FileBytes > 24<<20 || !strings.Contains(log.String(), "store_compacted") {
		t.Errorf("%d bytes became %d; log: %s", before.FileBytes, after.FileBytes, &log)
	}
	if got := rows(t, again, "job"); len(got) != n+1 {
		t.Errorf("%d rows after compaction, want %d", len(got), n+1)
	}
	commit(t, again, put("new", ""))
	if _, err = os.Stat(path + ".compact"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is still there: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != again.Stats().FileBytes {
		t.Errorf("the compacted file: %v, %v", info, err)
	}
	_, err = store.Open(path, store.Options{LockTimeout: time.Millisecond})
	wantError(t, err, store.ErrLocked)
}
