package archtest_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

// root is this repository.
const root = "../.."

func TestSwitchyardKeepsItsRules(t *testing.T) {
	t.Parallel()
	for _, found := range archtest.Switchyard().Check(load(t, root)) {
		t.Error(found)
	}
}

// TestPluginTemplates: what plugin new writes imports no more than the example plugins may.
func TestPluginTemplates(t *testing.T) {
	t.Parallel()
	module := load(t, root)
	files := filepath.Join(root, "plugins", "skeleton", "files", "go")
	for _, kind := range []string{"policy", "localsched", "price"} {
		all, err := filepath.Glob(filepath.Join(files, kind, "*.go.tmpl"))
		if err != nil {
			t.Fatal(err)
		}
		program := slices.DeleteFunc(all, func(path string) bool { return strings.HasSuffix(path, "_test.go.tmpl") })
		plugin, err := archtest.ReadPlugin("a new "+kind, program)
		if err != nil || len(plugin.Imports) < 4 {
			t.Fatalf("%s: %+v, %v", kind, plugin, err)
		}
		for _, found := range archtest.Switchyard().CheckPlugin(module, plugin) {
			t.Error(found)
		}
	}
}

func TestArchitecturePageListsEveryRoom(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("docs/architecture.md is not written yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := archtest.CheckRooms(load(t, root), string(page))
	if err != nil {
		t.Fatal("docs/architecture.md:", err)
	}
	for _, f := range found {
		t.Error("docs/architecture.md:", f)
	}
}

// loaded reads each module once for all tests, which leave it as it is. It looks at every
// directory first: what go list reads is unknown to the cache of test results, and a new room
// must not go unseen.
var loaded = map[string]func() (*archtest.Module, error){
	root: sync.OnceValues(func() (*archtest.Module, error) { return read(root) }),
	grid: sync.OnceValues(func() (*archtest.Module, error) { return read(grid) }),
}

func read(dir string) (*archtest.Module, error) {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return archtest.Load(context.Background(), dir)
}

func load(t *testing.T, dir string) *archtest.Module {
	t.Helper()
	module, err := loaded[dir]()
	if err != nil {
		t.Fatal(err)
	}
	return module
}
