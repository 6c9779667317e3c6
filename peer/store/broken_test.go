package store

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
)

// TestBrokenStore lets a transaction fail in the two ways after which nobody
// knows what is on the disk.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(s *Store, last int) error{
		"input/output error":         func(s *Store, last int) error { return s.judge(syscall.EIO, last+1) },
		"no room for the last page":  func(s *Store, last int) error { return s.judge(syscall.ENOSPC, last) },
		"a page that makes no sense": func(s *Store, last int) error { return s.judge(fault{"page 7"}, last+1) },
	} {
		path := filepath.Join(t.TempDir(), "peer.db")
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows := []Put{{Table: "job", Key: "1", Value: []byte("kept")}}
		if err = s.Commit(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		var last int
		if err = s.db.View(func(tx *bbolt.Tx) error { last = tx.ID(); return nil }); err != nil {
			t.Fatal(err)
		}
		err = fail(s, last)
		if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "restart the peer") || !s.Stats().Broken {
			t.Errorf("%s: %v", name, err)
		}
		_, _, read := s.Get("job", "1")
		for what, answer := range map[string]error{"Commit": s.Commit(t.Context(), rows), "Get": read} {
			if !errors.Is(answer, ErrBroken) {
				t.Errorf("%s: then %s: %v", name, what, answer)
			}
		}
		if err = s.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		again, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("%s: opened anew: %v", name, err)
		}
		if value, _, getErr := again.Get("job", "1"); string(value) != "kept" || getErr != nil {
			t.Errorf("%s: opened anew: %q, %v", name, value, getErr)
		}
		if err = again.Close(); err != nil {
			t.Error(err)
		}
	}
}
