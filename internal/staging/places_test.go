package staging_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/staging"
)

// TestPlaces: what a job reads or writes outside of its working directory is where links lead, and where files with other names
// are, each once.
func TestPlaces(t *testing.T) {
	t.Parallel()
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(above, name) }
	for _, dir := range []string{"x/sub", "big/model", "other", "out"} {
		if err = os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"x/plain", "x/sub/plain", "big/model/a", "big/model/b", "other/c", "other/d"} {
		if err = os.WriteFile(at(file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err = errors.Join(os.Symlink(at("other/c"), at("x/sub/c")), os.Symlink("../other/d", at("x/d")), os.Symlink("plain", at("x/same")),
		os.Symlink(at("out"), at("x/out")), os.Symlink(at("x"), at("link"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir         string
		paths, want []string
	}{
		{"x", []string{"plain", "same", "sub/plain"}, nil},
		{"link", []string{"plain", "same"}, nil},
		{"x", []string{"sub", "d"}, []string{at("other/d"), at("other/c")}},
		{"x", []string{at("big/model") + ":in", "../other/d:dd"}, []string{at("other/d"), at("big/model")}},
	} {
		found, err := staging.Find(t.Context(), at(tt.dir), tt.paths)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(tt.want)
		if slices.Sort(found.Places); !slices.Equal(found.Places, tt.want) {
			t.Errorf("%q in %s: %q, want %q", tt.paths, tt.dir, found.Places, tt.want)
		}
	}
	got := staging.OutPlaces(at("x"), []string{".", "plain", "*.dat", "out", "out/deep/file", "new/file", "sub/c"})
	if want := []string{at("out"), at("other/c")}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPlacesOfOutput: the files of a job's output are where links lead, there or not, of names that are not known yet as far
// as they are.
func TestPlacesOfOutput(t *testing.T) {
	t.Parallel()
	above, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(above, name) }
	if err = errors.Join(os.MkdirAll(at("x/plain"), 0o755), os.MkdirAll(at("scratch/logs"), 0o755), os.Symlink(at("scratch/logs"), at("x/logs")),
		os.Symlink("../scratch/later/one", at("x/log")), os.Symlink("plain", at("x/inside")), os.Symlink(at("scratch"), at("x/50%")),
		os.Symlink("round", at("x/round"))); err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string][]string{
		"x/out":          nil,
		"x/%j.out":       nil,
		"x/plain/new/%j": nil,
		"x/inside/%j":    nil,
		"other/%j":       nil, // as it is named
		"x/logs/%j.out":  {at("scratch/logs")},
		"x/logs/a":       {at("scratch/logs/a")},
		"x/logs/a/b-%j":  {at("scratch/logs/a")},
		"x/log":          {at("scratch/later/one")}, // which is not there yet
		"x/50%%/%5j/b":   {at("scratch")},
		"x/round":        {"/"},
	} {
		if got := staging.OutPlaces(at("x"), nil, at(output), "/dev/null"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
	}
}
