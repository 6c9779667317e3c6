package archtest

import (
	"cmp"
	"fmt"
	"regexp"
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

// checkPlain checks that the patterns of [Room.Plain] name tests of their rooms, and none
// of another that runs under the race detector: go test -skip would leave that out.
func (r Rules) checkPlain(m *Module) (found []string) {
	for _, named := range r.Rooms {
		if named.Plain == "" {
			continue
		}
		pattern, err := regexp.Compile(named.Plain)
		if err != nil {
			found = append(found, fmt.Sprintf("the rules name the tests %q of %s: %v", named.Plain, named.Path, err))
			continue
		}
		own := false
		for _, p := range m.Packages {
			room, _ := r.room(p.Folder)
			i := slices.IndexFunc(p.Tests, pattern.MatchString)
			own = own || room == named && i >= 0
			if room != named && !room.Pure && room.Race == "" && i >= 0 {
				found = append(found, fmt.Sprintf("%s has a test %s, which is skipped as those of %s are: rename it",
					p.Folder, p.Tests[i], named.Path))
			}
		}
		if !own {
			found = append(found, fmt.Sprintf("%s has no test that the rules call %q", named.Path, named.Plain))
		}
	}
	return found
}

// checkRace checks that the patterns of [Room.Race] name tests: one that matches none
// would leave a room without the race detector in silence.
func (r Rules) checkRace(m *Module) (found []string) {
	for _, p := range m.Packages {
		room, _ := r.room(p.Folder)
		if room.Race == "" {
			continue
		}
		pattern, err := regexp.Compile(room.Race)
		switch {
		case err != nil:
			found = append(found, fmt.Sprintf("the rules name the tests %q of %s: %v", room.Race, p.Folder, err))
		case room.Pure:
			found = append(found, p.Folder+" is pure, so that the rules must not name tests for the race detector")
		case !slices.ContainsFunc(p.Tests, pattern.MatchString):
			found = append(found, fmt.Sprintf("%s has no test for the race detector, which the rules call %q", p.Folder, room.Race))
		}
	}
	return found
}
