package archtest

import (
	"cmp"
	"slices"
	"strings"
)

// Run is one call of go test.
type Run struct {
	Race    bool
	Tests   string   // a pattern for go test -run
	Skip    string   // a pattern for go test -skip; "^$" skips nothing
	Folders []string // of the packages, sorted
}

// The patterns of all tests and of none.
const (
	allTests = "."
	noTests  = "^$"
)

// Runs returns the calls of go test that run all tests of the module, each with the race
// detector where goroutines share something: in rooms that are not pure. Tests that
// [Room.Race] names run in both ways. The first calls are those without the detector.
func (r Rules) Runs(m *Module) []Run {
	plain := []Run{{Tests: allTests, Skip: noTests}}
	var raced []Run
	for _, p := range m.Packages {
		room, _ := r.room(p.Folder)
		if len(p.Tests) == 0 {
			continue
		}
		if room.Pure || room.Race != "" {
			plain[0].Folders = append(plain[0].Folders, p.Folder)
		}
		if room.Plain != "" {
			plain = addTo(plain, Run{Tests: room.Plain, Skip: noTests}, p.Folder)
		}
		switch {
		case room.Pure:
		case room.Race != "":
			raced = addTo(raced, Run{Race: true, Tests: room.Race, Skip: noTests}, p.Folder)
		default:
			raced = addTo(raced, Run{Race: true, Tests: allTests, Skip: r.plainTests()}, p.Folder)
		}
	}
	return append(plain, raced...)
}

// plainTests is the pattern of all tests that [Room.Plain] names.
func (r Rules) plainTests() string {
	var patterns []string
	for _, room := range r.Rooms {
		if room.Plain != "" {
			patterns = append(patterns, room.Plain)
		}
	}
	return cmp.Or(strings.Join(patterns, "|"), noTests)
}

// addTo adds a package to the run with these patterns, or makes that run.
func addTo(runs []Run, like Run, folder string) []Run {
	i := slices.IndexFunc(runs, func(run Run) bool { return run.Tests == like.Tests })
	if i < 0 {
		like.Folders = []string{folder}
		return append(runs, like)
	}
	runs[i].Folders = append(runs[i].Folders, folder)
	return runs
}
