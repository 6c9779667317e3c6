package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Module is a Go module as far as the rules look at it.
type Module struct {
	Path     string
	Dir      string              // absolute
	Entries  []string            // names at the root
	Packages []*Package          // the module's own, by folder
	imports  map[string][]string // of third-party packages, by import path
}

// Package is one of the module's own packages; of its test files only the names of the
// tests count.
type Package struct {
	Folder     string // relative to the module's root
	Imports    []Import
	Uses       []Use
	Goroutines []string // where go statements stand
	Functions  []string // as f, and T.f of the methods of a type T
	Files      []string // the names of those that are no tests
	Tests      []string // the names of what go test runs, sorted
}

// Import is one import of one file.
type Import struct {
	Path string
	Dot  bool   // the names are used bare, so that no [Use] tells of them
	At   string // file:line, relative to the module's root
}

// Use is one mention of a name of an imported package.
type Use struct{ Path, Name, At string }

// listed is what the loader reads from go list.
type listed struct {
	ImportPath, Dir                   string
	Standard                          bool
	Imports                           []string
	GoFiles, CgoFiles, IgnoredGoFiles []string
	TestGoFiles, XTestGoFiles         []string
	Module                            *struct {
		Path, Dir string
		Main      bool
	}
}

// Load reads the module that holds dir with go list. Packages need not compile,
// but their files must parse.
func Load(ctx context.Context, dir string) (*Module, error) {
	packages, err := list(ctx, dir)
	if err != nil {
		return nil, err
	}
	m := &Module{imports: map[string][]string{}}
	for _, p := range packages {
		switch {
		case p.Standard:
		case p.Module == nil || !p.Module.Main:
			m.imports[p.ImportPath] = p.Imports
		default:
			m.Path, m.Dir = p.Module.Path, p.Module.Dir
			own, failed := read(m.Dir, p)
			if failed != nil {
				return nil, failed
			}
			m.Packages = append(m.Packages, own)
		}
	}
	if len(m.Packages) == 0 {
		return nil, fmt.Errorf("go list finds no package in %s", dir)
	}
	slices.SortFunc(m.Packages, func(a, b *Package) int { return strings.Compare(a.Folder, b.Folder) })
	m.Entries, err = entries(m.Dir)
	return m, err
}

func list(ctx context.Context, dir string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps",
		"-json=ImportPath,Dir,Standard,Imports,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles,Module", "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	var packages []listed
	decoder := json.NewDecoder(bytes.NewReader(out))
	for decoder.More() {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func entries(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, entry := range list {
		names[i] = entry.Name()
	}
	return names, nil
}

// read parses all files of a package, those for other systems and build tags
// too, so that no build constraint hides an import.
func read(root string, p listed) (*Package, error) {
	folder, err := filepath.Rel(root, p.Dir)
	if err != nil {
		return nil, err
	}
	own := &Package{Folder: filepath.ToSlash(folder)}
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if err := own.parse(root, filepath.Join(p.Dir, name)); err != nil {
			return nil, err
		}
		own.Files = append(own.Files, name)
	}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		if err := own.parseTests(filepath.Join(p.Dir, name)); err != nil {
			return nil, err
		}
	}
	slices.Sort(own.Tests)
	return own, nil
}
