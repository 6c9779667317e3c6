package archtest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// Run is one call of go test.
type Run struct {
	Race    bool
	Tests   string   // a pattern for go test -run
	Folders []string // of the packages, sorted
}

// allTests is the pattern of all tests.
const allTests = "."

// Runs returns the calls of go test that run all tests of the module, each with the race
// detector where goroutines share something: in rooms that are not pure. Tests that
// [Room.Race] names run in both ways. The first call is the one without the detector.
func (r Rules) Runs(m *Module) []Run {
	plain := Run{Tests: allTests}
	var raced []Run
	for _, p := range m.Packages {
		room, _ := r.room(p.Folder)
		if len(p.Tests) == 0 {
			continue
		}
		if room.Pure || room.Race != "" {
			plain.Folders = append(plain.Folders, p.Folder)
		}
		if !room.Pure {
			raced = addTo(raced, cmp.Or(room.Race, allTests), p.Folder)
		}
	}
	return append([]Run{plain}, raced...)
}

// addTo adds a package to the run of the pattern, or makes that run.
func addTo(raced []Run, pattern, folder string) []Run {
	i := slices.IndexFunc(raced, func(run Run) bool { return run.Tests == pattern })
	if i < 0 {
		return append(raced, Run{Race: true, Tests: pattern, Folders: []string{folder}})
	}
	raced[i].Folders = append(raced[i].Folders, folder)
	return raced
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
