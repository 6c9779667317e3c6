package archtest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

// grid is the small module that breaks the rules of gridRules.
const grid = "testdata/grid"

func gridRules() archtest.Rules {
	return archtest.Rules{
		TopLevel: []string{"nouns", "core", "guess", "shell", "tool", "cmd", "third", "go.mod"},
		Rooms: []archtest.Room{
			{Path: "nouns", Level: 1, Pure: true},
			{Path: "guess", Level: 2, Pure: true},
			{Path: "core", Level: 5, Pure: true},
			{Path: "shell", Level: 6},
			{Path: "shell/*", Level: 4},
			{Path: "tool/...", Level: 3, Planned: true},
			{Path: "hall", Level: 3},
			{Path: "annex/*", Level: 3, Planned: true},
			{Path: "cmd/...", Level: 9},
		},
		Never: []archtest.Never{
			{From: "shell", To: "tool/...", Why: "tools are injected"},
			{From: "...", To: "cmd/...", Why: "nothing imports cmd"},
			{From: "cellar", To: "nouns", Why: "it is dark"},
		},
		Libraries: []archtest.Library{
			{Modules: []string{"example.org/gossiper"}, Rooms: []string{"shell/*"}},
			{Modules: []string{"example.org/stats"}, Rooms: []string{"guess", "shed"}},
		},
		Clean: archtest.Clean{
			Std:    []string{"time"},
			Banned: map[string][]string{"time": {"Now"}},
		},
		Plugins: archtest.Plugins{Examples: "shell/*", Own: []string{"nouns"}, Modules: []string{"example.org/gossiper"}},
	}
}

func TestCheckReportsEachViolationAndNothingElse(t *testing.T) {
	t.Parallel()
	want := []string{
		"attic is in no room: give it one in the rules and in docs/architecture.md",
		"attic is not one of the names at the top level",
		"core is pure and must not reach example.org/gossiper (by core > example.org/grid/shell/adapter)",
		"core is pure and must not reach shell/adapter (by core)",
		"core/core.go:14: core is pure and must not start a goroutine",
		"core/core.go:15: core is pure and must not use time.Now",
		"core/core.go:5: core is pure and must not import os",
		"core/core_plan9.go:3: core is pure and must not import net",
		"core/dot.go:3: core is pure and must not import time by a dot",
		"guess is pure and must not reach example.org/stray (by guess > example.org/stats)",
		"shell/other is a plugin and must not reach example.org/grid/shell/adapter (by shell/other)",
		"shell/other is a plugin and must not reach example.org/stray (by shell/other)",
		"shell/other/other.go:6: example.org/stray has no room: one third-party library, one room",
		"shell/shell.go:5: shell must not import example.org/gossiper: only shell/* may",
		"shell/shell.go:6: shell must not import tool/deep: tools are injected",
		"the rules allow plugins to import nouns, and no example does; drop it",
		"the rules call the room tool/... planned, but it has packages; drop the mark",
		"the rules name cellar under never, but no room is called that",
		"the rules name shed under example.org/stats, but no room is called that",
		"the rules name the room hall, which has no package; mark it planned or drop it",
		"tool/tool.go:5: tool must not import cmd/grid/words: nothing imports cmd",
		"tool/tool.go:6: tool must not import shell/adapter: arrows point down",
	}
	got := gridRules().Check(load(t, grid))
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestCheckRoomsReportsEachDifference(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("testdata/rooms.md")
	if err != nil {
		t.Fatal(err)
	}
	got, err := archtest.CheckRooms(load(t, grid), string(page))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cmd/grid/words is missing in the table of rooms",
		"ruin stands in the table of rooms, but holds no package",
		"shell/other stands twice in the table of rooms",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheckRoomsNeedsBothMarks(t *testing.T) {
	t.Parallel()
	module := &archtest.Module{}
	for _, page := range []string{"", "<!-- rooms -->\n| `a` |\n", "| `a` |\n<!-- /rooms -->\n"} {
		if _, err := archtest.CheckRooms(module, page); err == nil {
			t.Errorf("%q: no error", page)
		}
	}
}

func TestLoadNeedsAModule(t *testing.T) {
	t.Parallel()
	if _, err := archtest.Load(t.Context(), t.TempDir()); err == nil {
		t.Error("no error for a folder outside any module")
	}
}
