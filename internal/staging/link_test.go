package staging_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
)

// TestAnotherName: what is found under another name is the same before its link is made and after that, and the
// job finds it there at its own site too.
func TestAnotherName(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"model": "in the directory"})
	write(t, outside, map[string]string{"data/x": "x", "data/y/z": "z"})
	paths := []string{"model:input/model", filepath.Join(outside, "data") + ":data"}
	before, err := staging.Find(t.Context(), dir, paths)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"data/", "data/x", "data/y/", "data/y/z", "input/model"}
	if got := namesOf(before.Inputs); !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
	for range 2 { // again they are there
		if err = staging.Link(dir, paths); err != nil {
			t.Fatal(err)
		}
	}
	after, archive := packed(t, dir, paths...)
	if after.SHA256 != before.SHA256 || after.Bytes != before.Bytes {
		t.Errorf("before the links: %+v, after them: %+v", before.Inputs, after.Inputs)
	}
	to := t.TempDir()
	if _, err = staging.Unpack(t.Context(), bytes.NewReader(archive), staging.Into{Root: open(t, to)}); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"input/model": "in the directory", "data/x": "x", "data/y/z": "z"} {
		for _, where := range []string{dir, to} {
			if got, err := os.ReadFile(filepath.Join(where, name)); err != nil || string(got) != content {
				t.Errorf("%s: %q, %v", filepath.Join(where, name), got, err)
			}
		}
	}
}

func TestNamesThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"model": "m", "there": "another"})
	for given, want := range map[string]string{
		"model:there":     "there is another there in " + dir,
		"model:../out":    `"../out" is no name below the working directory`,
		"model:/etc/x":    `"/etc/x" is no name below the working directory`,
		"model:.":         `"." is no name below the working directory`,
		"mod*:input":      "names one file or directory, without",
		"absent:input":    "there is no absent in " + dir,
		"/no/such/file:x": "there is no file in /no/such",
	} {
		_, err := staging.Find(t.Context(), dir, []string{given})
		if err == nil || !strings.HasPrefix(err.Error(), "--stage-in="+given+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestNamesBelowOthers: what is submitted again with another name in a directory that goes too is the same.
func TestNamesBelowOthers(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"d/a": "a"})
	write(t, outside, map[string]string{"x": "x"})
	paths := []string{"d", outside + ":d/e", "d/a:f", "d/a:f"}
	for range 2 {
		found, err := staging.Find(t.Context(), dir, paths)
		if err == nil {
			err = staging.Link(dir, paths)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := namesOf(found.Inputs), []string{"d/", "d/a", "d/e/", "d/e/x", "f"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	if _, err := staging.Find(t.Context(), dir, []string{"d/a:g", outside + ":g"}); err == nil ||
		!strings.Contains(err.Error(), "--stage-in="+outside+":g: g is already the name of "+filepath.Join(dir, "d", "a")) {
		t.Errorf("two of one name: %v", err)
	}
}
