package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// texts are the Go files and the pages of this repository. Paths are relative to its root, with slashes.
type texts struct {
	positions *token.FileSet // file names in it begin with root
	files     []goFile
	pages     []page
}

type goFile struct {
	path string
	text string
	tree *ast.File // nil for tests and testdata
	test *ast.File // without comments; nil for all but tests
}

type page struct {
	path  string
	lines []string
}

// readTexts reads each of them once for all tests.
var readTexts = sync.OnceValues(func() (*texts, error) {
	all := &texts{positions: token.NewFileSet()}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return all.read(path)
	})
	return all, err
})

func (all *texts) read(path string) error {
	isGo := strings.HasSuffix(path, ".go")
	if !isGo && !strings.HasSuffix(path, ".md") {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	relative = filepath.ToSlash(relative)
	if !isGo {
		all.pages = append(all.pages, page{relative, strings.Split(string(text), "\n")})
		return nil
	}
	file := goFile{path: relative, text: string(text)}
	switch {
	case within(relative, "testdata"):
	case strings.HasSuffix(path, "_test.go"):
		file.test, err = parser.ParseFile(all.positions, path, text, parser.SkipObjectResolution)
	default:
		file.tree, err = parser.ParseFile(all.positions, path, text, parser.SkipObjectResolution|parser.ParseComments)
	}
	all.files = append(all.files, file)
	return err
}

// repositoryTexts returns the result of the walk.
func repositoryTexts(t *testing.T) *texts {
	t.Helper()
	all, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// page returns the page at a path.
func (all *texts) page(t *testing.T, path string) page {
	t.Helper()
	at := slices.IndexFunc(all.pages, func(p page) bool { return p.path == path })
	if at < 0 {
		t.Fatalf("there is no %s", path)
	}
	return all.pages[at]
}

// within reports whether a file is in a directory of one of these names, at any depth.
func within(path string, directories ...string) bool {
	elements := strings.Split(path, "/")
	return slices.ContainsFunc(elements[:len(elements)-1], func(name string) bool {
		return slices.Contains(directories, name)
	})
}
