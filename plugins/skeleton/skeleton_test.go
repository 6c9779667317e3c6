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
// That it compiles is tested with the command.
func TestWrite(t *testing.T) {
	t.Parallel()
	for _, kind := range pluginhost.Kinds() {
		s := skeleton.Skeleton{Kind: kind, Name: "mine", Source: skeleton.SourceHere()}
		if err := s.Complete(); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "mine")
		if err := s.Write(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"README.md", "go.mod", "main.go", "mine.toml"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || strings.ContainsAny(string(text), "«»") {
				t.Errorf("%s of %s: %v\n%s", name, kind, err, text)
			}
			if name == "go.mod" && !strings.Contains(string(text), s.Source) {
				t.Errorf("%s is not built against %s:\n%s", kind, s.Source, text)
			}
		}
		if err := s.Write(dir); err == nil {
			t.Errorf("%s is written over a folder that is there", kind)
		}
	}
}

func TestCompleteRefuses(t *testing.T) {
	t.Parallel()
	here := skeleton.SourceHere()
	for want, s := range map[string]skeleton.Skeleton{
		"is no kind of plugin":     {Kind: "queue", Name: "x", Source: here},
		"is no name of a plugin":   {Kind: "policy", Name: "Bad Name", Source: here},
		"begin with a letter":      {Kind: "policy", Name: "1st", Source: here},
		"is no checkout":           {Kind: "policy", Name: "mine", Source: t.TempDir()},
		"name its source":          {Kind: "policy", Name: "mine"},
		"\"\" is no name of a plu": {Kind: "policy", Source: here},
	} {
		if err := s.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}
