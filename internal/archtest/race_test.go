package archtest_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

func TestRunsRaceWhatIsNotPure(t *testing.T) {
	t.Parallel()
	rules := archtest.Rules{Rooms: []archtest.Room{
		{Path: "core", Pure: true},
		{Path: "shell/*"},
		{Path: "study", Race: "Workers"},
		{Path: "wiring", Plain: "^TestSim"},
		{Path: "..."},
	}}
	tests := []string{"TestWorkers"}
	module := &archtest.Module{Packages: []*archtest.Package{
		{Folder: "core", Tests: tests},
		{Folder: "other", Tests: tests},
		{Folder: "shell/a", Tests: tests},
		{Folder: "shell/untested"},
		{Folder: "study", Tests: tests},
		{Folder: "wiring", Tests: tests},
	}}
	want := []archtest.Run{
		{Tests: ".", Skip: "^$", Folders: []string{"core", "study"}},
		{Tests: "^TestSim", Skip: "^$", Folders: []string{"wiring"}},
		{Race: true, Tests: ".", Skip: "^TestSim", Folders: []string{"other", "shell/a", "wiring"}},
		{Race: true, Tests: "Workers", Skip: "^$", Folders: []string{"study"}},
	}
	if got := rules.Runs(module); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// No package with tests may be left out of what make test runs.
func TestRunsHaveEveryPackageWithTests(t *testing.T) {
	t.Parallel()
	module, rules := load(t, root), archtest.Switchyard()
	var all []string
	for _, run := range rules.Runs(module) {
		if run.Tests == "." {
			all = append(all, run.Folders...)
		}
	}
	slices.Sort(all)
	var want []string
	for _, p := range module.Packages {
		if len(p.Tests) > 0 {
			want = append(want, p.Folder)
		}
	}
	if len(want) < 50 || !slices.Equal(all, want) {
		t.Errorf("the runs have %q, the module has tests in %q", all, want)
	}
}

func TestPatternsForTheRaceDetectorNameTests(t *testing.T) {
	t.Parallel()
	rules := archtest.Rules{Rooms: []archtest.Room{
		{Path: "a", Race: "Workers"}, {Path: "b", Race: "Gone"}, {Path: "c", Race: "("}, {Path: "d", Race: "Workers", Pure: true},
	}}
	module := &archtest.Module{}
	for _, dir := range []string{"a", "b", "c", "d"} {
		module.Packages = append(module.Packages, &archtest.Package{Folder: dir, Tests: []string{"TestWorkers"}})
	}
	want := []string{
		`b has no test for the race detector, which the rules call "Gone"`,
		"d is pure, so that the rules must not name tests for the race detector",
		"the rules name the tests \"(\" of c: error parsing regexp: missing closing ): `(`",
	}
	if got := rules.Check(module); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A name that is skipped in one room must not be in another.
func TestPlainPatternsNameTestsOfTheirRoomAlone(t *testing.T) {
	t.Parallel()
	rules := archtest.Rules{Rooms: []archtest.Room{
		{Path: "a", Plain: "^TestSim"},
		{Path: "b"},
		{Path: "c", Pure: true},
		{Path: "d", Plain: "^TestGone"},
		{Path: "e", Plain: "("},
		{Path: "f", Race: "Simple"},
	}}
	module := &archtest.Module{}
	for _, dir := range []string{"a", "b", "c", "d", "e", "f"} {
		module.Packages = append(module.Packages, &archtest.Package{Folder: dir, Tests: []string{"TestSimple"}})
	}
	want := []string{
		"b has a test TestSimple, which is skipped as those of a are: rename it",
		`d has a test TestSimple, which is skipped as those of a are: rename it`,
		`d has no test that the rules call "^TestGone"`,
		"e has a test TestSimple, which is skipped as those of a are: rename it",
		"the rules name the tests \"(\" of e: error parsing regexp: missing closing ): `(`",
	}
	if got := rules.Check(module); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
