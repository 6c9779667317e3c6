package archtest_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPageNamesRealTests: each test that docs/security.md names as showing something
// is there, and each of its rows names one, or says that there is none.
func TestSecurityPageNamesRealTests(t *testing.T) {
	t.Parallel()
	repository := repositoryTexts(t)
	known := repository.testNames()
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9_]*)`")
	rows := 0
	for number, line := range repository.page(t, "docs/security.md").lines {
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
func (all *texts) testNames() map[string]bool {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	names := map[string]bool{}
	for _, file := range all.files {
		if !strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		for _, found := range declared.FindAllStringSubmatch(file.text, -1) {
			names[found[1]] = true
		}
	}
	return names
}
