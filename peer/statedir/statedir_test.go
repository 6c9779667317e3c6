package statedir_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/statedir"
)

// filled makes a state directory with these files; a path that ends in / is a directory.
func filled(t *testing.T, paths ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range paths {
		name, content, _ := strings.Cut(path, "=")
		full := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(full), 0o700)
		if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(full, 0o700))
		} else {
			err = errors.Join(err, os.WriteFile(full, []byte(content), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLostDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paths []string
		words []string // of the refusal; none: there is none
	}{
		"new":                    {nil, nil},
		"new, with its database": {[]string{"switchyard.db=rows"}, nil},
		"in use":                 {[]string{"switchyard.db=rows", "machine.json={}", "spool/jobs/1.1/script"}, nil},
		"prepared by hand":       {[]string{"spool/jobs/", "spool/lost+found/", "kept/lost+found/", "kept/", "site.key"}, nil},
		"empty and new":          {[]string{"switchyard.db="}, nil},
		"jobs, no database":      {[]string{"spool/jobs/1.1/script", "spool/jobs/2.1/script"}, []string{"does not exist", "spool/jobs (2 jobs"}},
		"jobs, empty database":   {[]string{"switchyard.db=", "spool/jobs/1.1/script"}, []string{"is empty", "spool/jobs (1 jobs"}},
		"machine":                {[]string{"switchyard.db=", "machine.json={}"}, []string{"machine.json"}},
		"witness":                {[]string{"witness.json={}"}, []string{"witness.json"}},
		"reservations":           {[]string{"spool/reservations/1.1"}, []string{"spool/reservations"}},
		"older reservations":     {[]string{"spool/holds/1.1"}, []string{"spool/holds"}},
		"Slurm":                  {[]string{"slurm/jobs/1.1/script"}, []string{"slurm ("}},
		"kept output":            {[]string{"kept/ann/1.out"}, []string{"kept ("}},
		"several":                {[]string{"machine.json={}", "witness.json={}"}, []string{"machine.json (", "witness.json ("}},
	} {
		dir := filled(t, c.paths...)
		err := statedir.Check(dir)
		if len(c.words) == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, statedir.ErrLost) {
			t.Errorf("%s: %v; want ErrLost", name, err)
			continue
		}
		for _, word := range append(c.words, dir, "switchyard recover", "--new-store") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", name, err, word)
			}
		}
	}
	if err := statedir.Check(filepath.Join(t.TempDir(), "not made yet")); err != nil {
		t.Errorf("a directory that does not exist: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	t.Parallel()
	dir := filled(t, "switchyard.db=", "machine.json={}", "spool/jobs/1.1/script=run", "kept/", "site.key=secret")
	moved, err := statedir.SetAside(dir, time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"spool/jobs", "machine.json", "switchyard.db"}
	for i := range want {
		want[i] = filepath.Join(dir, want[i]) + ".set-aside-20261122T100000Z"
	}
	if !slices.Equal(moved, want) {
		t.Errorf("moved %q, want %q", moved, want)
	}
	if err = statedir.Check(dir); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	script, err := os.ReadFile(filepath.Join(want[0], "1.1", "script"))
	if err != nil || string(script) != "run" {
		t.Errorf("the job's script: %q, %v", script, err)
	}
	if _, err = os.Stat(filepath.Join(dir, "site.key")); err != nil {
		t.Errorf("the key: %v", err)
	}
}
