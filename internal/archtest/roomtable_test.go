package archtest

import (
	"errors"
	"slices"
	"strings"
)

// The marks around the table of rooms in docs/architecture.md.
const (
	tableStart = "<!-- rooms -->"
	tableEnd   = "<!-- /rooms -->"
)

// CheckRooms compares the packages' folders with the table of rooms in a
// markdown page, whose first column names each folder once in backticks. It
// returns what differs, sorted.
func CheckRooms(m *Module, page string) ([]string, error) {
	named, err := roomTable(page)
	if err != nil {
		return nil, err
	}
	var found []string
	for i, dir := range named {
		if slices.Contains(named[:i], dir) {
			found = append(found, dir+" stands twice in the table of rooms")
		}
		if !slices.ContainsFunc(m.Packages, func(p *Package) bool { return p.Folder == dir }) {
			found = append(found, dir+" stands in the table of rooms, but holds no package")
		}
	}
	for _, p := range m.Packages {
		if !slices.Contains(named, p.Folder) {
			found = append(found, p.Folder+" is missing in the table of rooms")
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// roomTable reads the folders that the table names; rows without a name in
// backticks, such as the header, name none.
func roomTable(page string) ([]string, error) {
	_, rest, ok := strings.Cut(page, tableStart)
	table, _, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return nil, errors.New("the page has no table between " + tableStart + " and " + tableEnd)
	}
	var folders []string
	for line := range strings.Lines(table) {
		cell, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !ok {
			continue
		}
		cell, _, _ = strings.Cut(cell, "|")
		if _, name, ok := strings.Cut(cell, "`"); ok {
			name, _, _ = strings.Cut(name, "`")
			folders = append(folders, strings.TrimSuffix(name, "/"))
		}
	}
	return folders, nil
}
