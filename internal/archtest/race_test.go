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
		{Path: "..."},
	}}
	tests := []string{"TestWorkers"}
	module := &archtest.Module{Packages: []*archtest.Package{
		{Folder: "core", Tests: tests},
		{Folder: "other", Tests: tests},
		{Folder: "shell/a", Tests: tests},
		{Folder: "shell/untested"},
		{Folder: "study", Tests: tests},
	}}
	want := []archtest.Run{
		{Tests: ".", Folders: []string{"core", "study"}},
		{Race: true, Tests: ".", Folders: []string{"other", "shell/a"}},
		{Race: true, Tests: "Workers", Folders: []string{"study"}},
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
	for _, folder := range []string{"a", "b", "c", "d"} {
		module.Packages = append(module.Packages, &archtest.Package{Folder: folder, Tests: []string{"TestWorkers"}})
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
