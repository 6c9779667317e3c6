package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPageNamesRealTests: each test that docs/security.md names as showing something
// is there, and each of its rows names one, or says that there is none.
func TestSecurityPageNamesRealTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := testNames(t)
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)`")
	rows := 0
	for number, line := range strings.Split(string(page), "\n") {
		named := name.FindAllStringSubmatch(line, -1)
		for _, one := range named {
			if !known[one[1]] {
				t.Errorf("docs/security.md:%d: there is no %s", number+1, one[1])
			}
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) < 3 || !strings.HasPrefix(cells[0], "to ") {
			continue
		}
		rows++
		open := strings.Contains(line, "no test yet") || strings.HasPrefix(cells[1], "nothing")
		if len(named) == 0 && !open {
			t.Errorf("docs/security.md:%d: %q names no test, and does not say that there is none", number+1, cells[0])
		}
	}
	if rows < 30 {
		t.Errorf("docs/security.md has %d rows of threats; is its form another now?", rows)
	}
}

// testNames are all tests and fuzz targets of this repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
