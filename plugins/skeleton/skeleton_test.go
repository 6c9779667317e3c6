package skeleton_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/skeleton"
)

// What is written names the plugin and what it is built against, and leaves nothing to fill in.
// That it runs is tested with the command.
func TestWrite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		language string
		kinds    []string
		names    []string
	}{
		{skeleton.Go, pluginhost.Kinds(), []string{"README.md", "go.mod", "main.go", "mine.toml"}},
		{skeleton.Python, []string{"policy"}, []string{"README.md", "mine", "policy.py", "test_policy.py", "mine.toml", "switchyard_plugin/__init__.py"}},
	} {
		for _, kind := range test.kinds {
			s := skeleton.Skeleton{Language: test.language, Kind: kind, Name: "mine", Source: skeleton.SourceHere()}
			if err := s.Complete(); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "mine")
			if err := s.Write(dir); err != nil {
				t.Fatal(err)
			}
			for _, name := range test.names {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || strings.ContainsAny(string(text), "«»") {
					t.Errorf("%s of %s in %s: %v\n%s", name, kind, test.language, err, text)
				}
				if name == "go.mod" && !strings.Contains(string(text), s.Source) {
					t.Errorf("%s is not built against %s:\n%s", kind, s.Source, text)
				}
			}
			if err := s.Write(dir); err == nil {
				t.Errorf("%s is written over a directory that exists", kind)
			}
		}
	}
}

func TestCompleteRefuses(t *testing.T) {
	t.Parallel()
	here := skeleton.SourceHere()
	for want, s := range map[string]skeleton.Skeleton{
		"is no kind of plugin":     {Language: skeleton.Go, Kind: "queue", Name: "x", Source: here},
		"is no name of a plugin":   {Language: skeleton.Go, Kind: "policy", Name: "Bad Name", Source: here},
		"begin with a letter":      {Language: skeleton.Python, Kind: "policy", Name: "1st"},
		"is no checkout":           {Language: skeleton.Go, Kind: "policy", Name: "mine", Source: t.TempDir()},
		"name its source":          {Language: skeleton.Go, Kind: "policy", Name: "mine"},
		"\"\" is no name of a plu": {Language: skeleton.Go, Kind: "policy", Source: here},
		"use go or python":         {Language: "perl", Kind: "policy", Name: "mine"},
		"use --language go":        {Language: skeleton.Python, Kind: "price", Name: "mine"},
	} {
		if err := s.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}
