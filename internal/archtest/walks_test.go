package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

func TestWalksAreTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := archtest.CheckWalks(load(t, root), string(page))
	if err != nil {
		t.Fatal("docs/architecture.md:", err)
	}
	for _, f := range found {
		t.Error("docs/architecture.md:", f)
	}
}

func TestCheckWalksReportsEachDifference(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("testdata/walks.md")
	if err != nil {
		t.Fatal(err)
	}
	got, err := archtest.CheckWalks(load(t, grid), string(page))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`Wrong: there is no room ruin`,
		`Wrong: core has no function Stop`,
		"Wrong: core has no function Zero.Text",
		"Wrong: \"* `core`, `Run`: no colon behind the room.\\n\" is no step: it must begin as * `room`: `f`, `T.g`. ",
		`Wrong: change 2 of the form has the number 3`,
		`Short: it changes its form 1 times, and says 2`,
		`Silent: it does not say how often what walks changes its form`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestCheckWalksNeedsMarksAndWalks(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		"", "<!-- walks -->\n### A\n", "### A\n<!-- /walks -->\n", "<!-- walks -->\nprose\n<!-- /walks -->\n",
	} {
		if _, err := archtest.CheckWalks(&archtest.Module{}, page); err == nil {
			t.Errorf("%q: no error", page)
		}
	}
}
