package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// content is all that a store holds, by table and key.
func content(s *store.Store) (map[string]string, error) {
	all := map[string]string{}
	for _, table := range []string{"job", "big", "small", "empty"} {
		for row, err := range s.Load(table) {
			if err != nil {
				return nil, err
			}
			all[table+" "+row.Key] = string(row.Value)
			value, found, err := s.Get(table, row.Key)
			if err != nil {
				return nil, err
			}
			if !found || !bytes.Equal(value, row.Value) {
				return nil, fmt.Errorf("silently: table %s: Load has key %s, Get has %q", table, row.Key, value)
			}
		}
	}
	return all, nil
}

// varied makes a store of about 40 pages of every kind, and returns what it holds.
func varied(t *testing.T, path string) map[string]string {
	t.Helper()
	s := open(t, path)
	for round := range 3 {
		var puts []store.Put
		for i := range 300 {
			puts = append(puts, put(fmt.Sprintf("%05d", i*3+round), fmt.Sprintf("%d %s", i, strings.Repeat("v", i%150))))
		}
		commit(t, s, puts...)
	}
	commit(t, s, store.Put{Table: "big", Key: "a", Value: bytes.Repeat([]byte("long"), 4000)},
		store.Put{Table: "small", Key: "a", Value: []byte("1")}, store.Put{Table: "small", Key: "b", Value: []byte{}},
		store.Put{Table: "empty", Key: "gone", Value: []byte("x")})
	var gone []store.Put
	for i := range 200 {
		gone = append(gone, store.Put{Table: "job", Key: fmt.Sprintf("%05d", i)})
	}
	commit(t, s, append(gone, store.Put{Table: "empty", Key: "gone"})...)
	want, err := content(s)
	if err != nil || len(want) != 900-200+3 {
		t.Fatalf("%d rows, %v", len(want), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestFlippedBits flips single bits all over the file, more of them where pages have
// their headers. Each is refused with a remedy, or all rows are what was written, and
// stay so when more is written.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	want := varied(t, whole)
	data := read(t, whole)
	path := filepath.Join(dir, "flipped.db")
	refused, harmless := 0, 0
	for _, bit := range sampleBits(len(data)) {
		data[bit/8] ^= 1 << (bit % 8)
		write(t, path, data)
		data[bit/8] ^= 1 << (bit % 8)
		err := readAndWrite(t, path, want, harmless%4 == 0)
		switch {
		case err == nil:
			harmless++
		case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrForeign):
			refused++
			if !strings.Contains(err.Error(), "switchyard store verify") || !strings.Contains(err.Error(), path) {
				t.Errorf("bit %d: no remedy or no path: %v", bit, err)
			}
		case errors.Is(err, store.ErrNewer):
			refused++
		default:
			t.Errorf("bit %d of byte %d of page %d: %v", bit%8, bit/8%4096, bit/8/4096, err)
		}
	}
	t.Logf("%d bits in %d pages: %d refused, %d harmless", refused+harmless, len(data)/4096, refused, harmless)
	if refused == 0 || harmless == 0 {
		t.Error("the sample is one-sided")
	}
}

// sampleBits are some bits of the beginnings of the pages, and fewer of the rest.
func sampleBits(size int) (bits []int) {
	const page, head = 4096 * 8, 160 * 8
	dense, sparse := 7, 1009
	if testing.Short() {
		dense, sparse = 97, 6007
	}
	for bit := 0; bit < size*8; {
		bits = append(bits, bit)
		if bit%page < head {
			bit += dense
		} else {
			bit += sparse
		}
	}
	return bits
}

// readAndWrite expects what was written; if it is to write it then writes some more, and
// expects a whole file.
func readAndWrite(t *testing.T, path string, want map[string]string, write bool) error {
	t.Helper()
	s, err := store.Open(path, store.Options{AllowNetworkFS: true})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	got, err := content(s)
	if err != nil {
		return err
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("silently: %d rows, %d were written, or they differ", len(got), len(want))
	}
	if !write {
		return nil
	}
	if err = s.Commit(t.Context(), []store.Put{put("00301", "new"), {Table: "small", Key: "c", Value: []byte("new")}}); err != nil {
		return err
	}
	if err = s.Close(); err != nil {
		return err
	}
	again, err := store.Open(path, store.Options{AllowNetworkFS: true})
	if err != nil {
		return fmt.Errorf("silently, and found at the next start: %v", err) //nolint:errorlint // it must not count as refused in time
	}
	return again.Close()
}

// TestMovedRow changes rows behind the store's back in ways that leave all pages whole.
func TestMovedRow(t *testing.T) {
	t.Parallel()
	rowsOf := func(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket([]byte("job")) }
	for name, c := range map[string]struct {
		change func(*bbolt.Tx) error
		words  []string
	}{
		"moved": {func(tx *bbolt.Tx) error {
			return rowsOf(tx).Put([]byte("1"), bytes.Clone(rowsOf(tx).Get([]byte("2"))))
		}, []string{"table job", `key "1"`, "checksum"}},
		"changed": {func(tx *bbolt.Tx) error {
			value := bytes.Clone(rowsOf(tx).Get([]byte("2")))
			value[len(value)-1]++
			return rowsOf(tx).Put([]byte("2"), value)
		}, []string{"table job", `key "2"`, "checksum"}},
		"cut off": {func(tx *bbolt.Tx) error { return rowsOf(tx).Put([]byte("2"), []byte("x")) }, []string{`key "2"`}},
		"lost":    {func(tx *bbolt.Tx) error { return rowsOf(tx).Delete([]byte("2")) }, []string{"table job", "3 rows should be there, 2 are"}},
		"stale": {func(tx *bbolt.Tx) error {
			return rowsOf(tx).Put([]byte("3"), rowsOf(tx).Get([]byte("old")))
		}, []string{`key "3"`}},
		"table lost": {func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("job")) }, []string{"table job", "0 are"}},
		"tallies lost": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("switchyard")).Delete([]byte("tables"))
		}, []string{"missing"}},
		"all lost": {func(tx *bbolt.Tx) error {
			return errors.Join(tx.DeleteBucket([]byte("job")), tx.DeleteBucket([]byte("switchyard")))
		}, []string{"had tables, and they are gone"}},
	} {
		path := filepath.Join(t.TempDir(), "peer.db")
		s := open(t, path)
		commit(t, s, put("1", "one"), put("2", "two"), put("old", "three"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		bolt(t, path, c.change)
		_, err := store.Open(path, store.Options{})
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantError(t, err, store.ErrDamaged, append(c.words, path, "switchyard store verify", "switchyard recover")...)
	}
}

// formatOne makes a file as versions before checksums did.
func formatOne(t *testing.T, path string, rows int) {
	t.Helper()
	bolt(t, path, func(tx *bbolt.Tx) error {
		own, err := tx.CreateBucket([]byte("switchyard"))
		if err == nil {
			err = own.Put([]byte("format"), binary.BigEndian.AppendUint64(nil, 1))
		}
		jobs, jobsErr := tx.CreateBucket([]byte("job"))
		for i := range rows {
			jobsErr = errors.Join(jobsErr, jobs.Put(fmt.Appendf(nil, "%05d", i), fmt.Append(nil, "value of ", i)))
		}
		_, emptyErr := tx.CreateBucket([]byte("empty"))
		return errors.Join(err, jobsErr, emptyErr)
	})
}

// TestUpgradeToChecksums opens a file without checksums, beside what a crash in an
// earlier upgrade left.
func TestUpgradeToChecksums(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	const n = 3000
	formatOne(t, path, n)
	write(t, path+".compact", []byte("left over from a crash"))
	var log bytes.Buffer
	s := openWith(t, path, store.Options{Logger: textLog(&log)})
	if !strings.Contains(log.String(), "store_upgraded") || !strings.Contains(log.String(), "from=1 to=2") {
		t.Errorf("log: %s", &log)
	}
	got := rows(t, s, "job")
	if len(got) != n || string(got[7].Value) != "value of 7" {
		t.Fatalf("%d rows after the upgrade", len(got))
	}
	commit(t, s, put("00007", "new"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	bolt(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("job")).Delete([]byte("00008")) })
	_, err := store.Open(path, store.Options{})
	wantError(t, err, store.ErrDamaged, "3000 rows should be there, 2999 are")
}
