package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

func TestPeerSaysWhatIsWhere(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(root, "peer", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := archtest.CheckReadingOrder(load(t, root), "peer", string(doc))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error("peer/doc.go:", f)
	}
}

func TestCheckReadingOrderReportsEachDifference(t *testing.T) {
	t.Parallel()
	module := &archtest.Module{Path: "example.org/grid", Packages: []*archtest.Package{{
		Folder: "shell", Files: []string{"doc.go", "shell.go", "lost.go"},
		Imports: []archtest.Import{{Path: "example.org/grid/shell/adapter"}, {Path: "example.org/grid/tool"}},
	}}}
	doc := "// # What is where\n//\n//\tshell.go, gone.go  both\n//\tshell.go\n//\t         it is not adapter/, or lost.go\n"
	got, err := archtest.CheckReadingOrder(module, "shell", doc)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"adapter/ is not named", "gone.go is named, but is not there", "lost.go is not named", "shell.go is named twice"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err = archtest.CheckReadingOrder(module, "shell", "// Package shell."); err == nil {
		t.Error("no error without a list")
	}
}
