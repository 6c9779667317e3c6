package process_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func asRefused(err error, refused **localsched.RefusedError) bool { return errors.As(err, refused) }

// note keeps what is to be known of an append.
type note struct{ began *int64 }

func (n *note) begin(size int64) error {
	n.began = &size
	return nil
}

func (n *note) undo() error {
	n.began = nil
	return nil
}

func (n *note) put(t *testing.T, path string, r io.Reader) error {
	t.Helper()
	d := &process.Deliverer{Shim: shimCommand}
	return d.Append(t.Context(), jobAccount(t), path, protocol.DefaultUmask, r, process.Appending{Began: n.began, Begin: n.begin, Undo: n.undo})
}

// TestAppendOnce: however often an append is tried, whatever was cut and whatever others have written
// meanwhile, what was to be appended is there, once.
func TestAppendOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line\n", 50_000)
	for name, tt := range map[string]struct {
		before, text string
		meanwhile    func(was string) string // what is in the file when it is tried again
		want         string
	}{
		"new":                 {"", "text", nil, "text"},
		"behind":              {"before\n", long, nil, "before\n" + long},
		"again":               {"before\n", long, func(was string) string { return was }, "before\n" + long},
		"cut":                 {"before\n", long, func(was string) string { return was[:70_000] }, "before\n" + long},
		"cut before anything": {"before\n", "text", func(string) string { return "before\n" }, "before\ntext"},
		"others behind it":    {"before\n", "text", func(was string) string { return was + "other" }, "before\ntextother"},
		"others in its place": {"before\n", "text", func(string) string { return "before\ntell" }, "before\ntelltext"},
		"others took it away": {"before\n", "text", func(string) string { return "" }, "text"},
		"nothing":             {"before\n", "", nil, "before\n"},
	} {
		path := filepath.Join(homeDir(t), "out")
		var n note
		if tt.before != "" {
			if err := put(t, path, strings.NewReader(tt.before)); err != nil {
				t.Fatal(err)
			}
		}
		tries := 1
		if tt.meanwhile != nil {
			tries = 3
		}
		for try := range tries {
			if err := n.put(t, path, strings.NewReader(tt.text)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if try == 0 && tt.meanwhile != nil {
				if err := put(t, path, strings.NewReader(tt.meanwhile(readFile(t, path)))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := readFile(t, path); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(tt.want))
		}
	}
}

// TestAppendAllOrNothing: when the source breaks, what was appended is taken back, and the next try is whole.
func TestAppendAllOrNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(homeDir(t), "out")
	if err := put(t, path, strings.NewReader("before\n")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the source broke")
	text := strings.Repeat("half", 100_000)
	var n note
	if err := n.put(t, path, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Error(err)
	}
	if got := readFile(t, path); got != "before\n" {
		t.Errorf("%d bytes are there", len(got))
	}
	if n.began != nil {
		t.Errorf("noted that it began at %d, though nothing is there", *n.began)
	}
	var other note // writes the same in its place
	for _, one := range []*note{&other, &n} {
		if err := one.put(t, path, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := readFile(t, path); got != "before\n"+text+text {
		t.Errorf("%d bytes are there then", len(got))
	}
	forgetful := errors.New("the disk is full")
	d := &process.Deliverer{Shim: shimCommand}
	err := d.Append(t.Context(), jobAccount(t), path, protocol.DefaultUmask, strings.NewReader(text), process.Appending{Begin: func(int64) error { return forgetful }})
	if got := readFile(t, path); !errors.Is(err, forgetful) || got != "before\n"+text+text {
		t.Errorf("what cannot be noted is appended: %v", err)
	}
}

// TestAppendForNothing: where output cannot go, it is not tried again; a device takes it.
func TestAppendForNothing(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	var n note
	for _, path := range []string{filepath.Join(dir, "no", "such", "dir"), dir, "relative"} {
		err := n.put(t, path, strings.NewReader("text"))
		if failed := new(process.DeliverError); !errors.As(err, &failed) || !failed.Permanent || failed.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := n.put(t, os.DevNull, strings.NewReader("text")); err != nil {
		t.Error(err)
	}
	if n.began != nil {
		t.Errorf("it has begun at %d", *n.began)
	}
}
