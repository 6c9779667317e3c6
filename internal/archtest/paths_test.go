package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourcePath is a file or folder of this repository, as pages name it.
var sourcePath = regexp.MustCompile("`((?:cmd|docs|examples|internal|localsched|peer|plugins|protocol)(?:/[A-Za-z0-9_.-]+)+)`")

// TestPagesNameWhatIsThere: the files and folders that pages name exist. Decisions are history.
func TestPagesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	pages := []string{"CONTRIBUTING.md", "README.md", "SECURITY.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && path == "docs/decisions" {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, path := range sourcePath.FindAllStringSubmatch(line, -1) {
				named++
				if _, err := os.Stat(filepath.Join(root, path[1])); err != nil {
					t.Errorf("%s:%d: there is no %s", page, i+1, path[1])
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d paths are looked at", named)
	}
}
