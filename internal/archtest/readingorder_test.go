package archtest

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

// readingStart is the heading under which a package's doc.go names its files and rooms in an
// order in which they can be read.
const readingStart = "// # What is where\n"

var (
	// readingLine is a line of that list; in the first column are names.
	readingLine = regexp.MustCompile(`(?m)^//\t((?:[a-z0-9]+(?:\.go|/)(?:, )?)+)`)
	readingName = regexp.MustCompile(`[a-z0-9]+(?:\.go|/)`)
)

// CheckReadingOrder compares the list in the text of a room's doc.go with the room: each of its
// files but doc.go is named once, and so is each room below it that it imports. It returns what
// differs, sorted.
func CheckReadingOrder(m *Module, room, doc string) ([]string, error) {
	i := slices.IndexFunc(m.Packages, func(p *Package) bool { return p.Folder == room })
	_, list, ok := strings.Cut(doc, readingStart)
	if i < 0 || !ok {
		return nil, errors.New("the doc.go of " + room + " has no list under # What is where")
	}
	var named []string
	for _, line := range readingLine.FindAllStringSubmatch(list, -1) {
		named = append(named, readingName.FindAllString(line[1], -1)...)
	}
	there := m.readable(m.Packages[i])
	var found []string
	for k, name := range named {
		if slices.Contains(named[:k], name) {
			found = append(found, name+" is named twice")
		}
		if !slices.Contains(there, name) {
			found = append(found, name+" is named, but is not there")
		}
	}
	for _, name := range there {
		if !slices.Contains(named, name) {
			found = append(found, name+" is not named")
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// readable are the files of a package, and with a slash the rooms below it that it imports.
func (m *Module) readable(p *Package) (names []string) {
	for _, file := range p.Files {
		if file != "doc.go" {
			names = append(names, file)
		}
	}
	below := path.Join(m.Path, p.Folder) + "/"
	for _, target := range p.targets() {
		if room, ok := strings.CutPrefix(target, below); ok {
			names = append(names, room+"/")
		}
	}
	return names
}
