package store_test

import (
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
