package store_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/switchyard-hpc/switchyard/peer/store"
)

// verified verifies a store, and counts what was passed on.
func verified(path string) (report store.Report, passed int, err error) {
	report, err = store.Verify(path, func(string, store.Row) { passed++ })
	return report, passed, err
}

func TestVerify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	want := varied(t, path)
	before := read(t, path)
	report, passed, err := verified(path)
	if err != nil || passed != len(want) || len(report.Damage) != 0 || report.Format != 2 || report.FreePages == 0 {
		t.Fatalf("a whole store: %+v, %d rows, %v", report, passed, err)
	}
	tables := map[string]uint64{}
	for _, table := range report.Tables {
		tables[table.Table] = table.Rows
	}
	if len(report.Tables) != 4 || tables["job"] != 700 || tables["small"] != 2 || tables["empty"] != 0 || report.Tables[0].Bytes != 16001 {
		t.Errorf("tables: %+v", report.Tables)
	}
	if string(before) != string(read(t, path)) {
		t.Error("Verify has changed the file")
	}
}

// TestVerifyNamesAll damages several rows and expects all of them, and only them.
func TestVerifyNamesAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	want := varied(t, path)
	bolt(t, path, func(tx *bbolt.Tx) error {
		rows := tx.Bucket([]byte("job"))
		if err := rows.Put([]byte("00300"), []byte("damaged")); err != nil {
			return err
		}
		return tx.Bucket([]byte("small")).Put([]byte("b"), []byte("x"))
	})
	report, passed, err := verified(path)
	if err != nil || passed != len(want)-2 {
		t.Fatalf("%d rows of %d passed on, %v", passed, len(want), err)
	}
	var all []string
	for _, d := range report.Damage {
		all = append(all, d.Error())
	}
	text := strings.Join(all, "\n")
	for _, words := range []string{`table job, key "00300", page `, "fails its checksum", `table small, key "b"`, "table job: 700 rows should be there, 699 are"} {
		if !strings.Contains(text, words) {
			t.Errorf("the report does not say %q:\n%s", words, text)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d damages, want 4:\n%s", len(all), text)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "peer.db")
	_, _, err := verified(path)
	wantError(t, err, fs.ErrNotExist, path)
	s := open(t, path)
	_, _, err = verified(path)
	wantError(t, err, store.ErrLocked, path, "stop that one")
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text")
	write(t, text, []byte(strings.Repeat("not a database\n", 5000)))
	_, _, err = verified(text)
	wantError(t, err, store.ErrForeign, text)
	setFormat(t, path, []byte{0, 0, 0, 0, 0, 0, 0, 9})
	_, _, err = verified(path)
	wantError(t, err, store.ErrNewer, "format 9")
}

// TestLookKeepsNoPeerOut: a peer starts while its store is looked at, and what was read then does not count.
func TestLookKeepsNoPeerOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "peer.db")
	want := varied(t, path)
	rows := 0
	if report, err := store.Look(path, func(string, store.Row) { rows++ }); err != nil || rows != len(want) || len(report.Damage) != 0 || store.InUse(path) {
		t.Fatalf("%d rows of %d: %+v, %v; in use: %t", rows, len(want), report, err, store.InUse(path))
	}
	var peer *store.Store
	_, err := store.Look(path, func(string, store.Row) {
		if peer == nil {
			var err error
			if peer, err = store.Open(path, store.Options{AllowNetworkFS: true}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if !errors.Is(err, store.ErrLocked) || !store.InUse(path) {
		t.Errorf("of a store that a peer has opened meanwhile: %v; in use: %t", err, store.InUse(path))
	}
	if err = peer.Close(); err != nil {
		t.Fatal(err)
	}
	peer = nil
	if _, err = store.Look(path, func(string, store.Row) {
		if peer != nil {
			return
		}
		var openErr error
		if peer, openErr = store.Open(path, store.Options{AllowNetworkFS: true}); openErr != nil {
			t.Fatal(openErr)
		}
		if err = errors.Join(peer.Commit(t.Context(), []store.Put{{Table: "job", Key: "1", Value: []byte("x")}}), peer.Close()); err != nil {
			t.Fatal(err)
		}
	}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("of a store that a peer has changed meanwhile: %v", err)
	}
}
