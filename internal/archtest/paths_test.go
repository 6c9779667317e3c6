package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourcePath is a file or directory of this repository, as pages name it.
var sourcePath = regexp.MustCompile("`((?:cmd|docs|examples|internal|localsched|peer|plugins|protocol)(?:/[A-Za-z0-9_.-]+)+)`")

// TestPagesNameWhatIsThere: the files and directories that pages name exist. Decisions are history.
func TestPagesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	repository := repositoryTexts(t)
	var pages []page
	for _, path := range []string{"CONTRIBUTING.md", "README.md", "SECURITY.md"} {
		pages = append(pages, repository.page(t, path))
	}
	for _, page := range repository.pages {
		if strings.HasPrefix(page.path, "docs/") && !strings.HasPrefix(page.path, "docs/decisions/") {
			pages = append(pages, page)
		}
	}
	named := 0
	for _, page := range pages {
		for i, line := range page.lines {
			for _, path := range sourcePath.FindAllStringSubmatch(line, -1) {
				named++
				if _, err := os.Stat(filepath.Join(root, path[1])); err != nil {
					t.Errorf("%s:%d: there is no %s", page.path, i+1, path[1])
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d paths are looked at", named)
	}
}
