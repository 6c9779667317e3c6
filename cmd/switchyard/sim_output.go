package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
)

// output is a flag that names a file; the file - is the standard output.
type output struct{ flag, path string }

// outputs checks the files that will be written, before anything is simulated for
// them: each can be made, and none is another one or what is read. It tells whether
// one is the standard output, which then has nothing else.
func (a *app) outputs(inputs []string, files ...output) (whole bool, err error) {
	var there []string
	if a.json {
		there = append(there, "--json")
	}
	taken := map[string]string{}
	for _, input := range inputs {
		taken[resolved(input)] = "an input file"
	}
	for _, file := range files {
		switch file.path {
		case "":
			continue
		case "-":
			there = append(there, "--"+file.flag+" -")
			continue
		}
		if other := taken[resolved(file.path)]; other != "" {
			return false, usage("--%s would overwrite %s, %s; name another file", file.flag, other, file.path)
		}
		taken[resolved(file.path)] = "the file of --" + file.flag
		if err := writable(file.path); err != nil {
			return false, fmt.Errorf("--%s: %w", file.flag, err)
		}
	}
	if len(there) > 1 {
		return false, usage("only one of %s can use the standard output; set files for the others", strings.Join(there, " and "))
	}
	return len(there) == 1 && !a.json, nil
}

// resolved is one name for a file, however it is written.
func resolved(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if there, err := filepath.EvalSymlinks(path); err == nil {
		return there
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// writable says why a file could not be written. It makes none.
func writable(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		return file.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("missing directory %s for %s", dir, filepath.Base(path))
	}
	return nil
}

// writeFile makes a file with what write gives; - is the standard output.
func (a *app) writeFile(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(a.stdout)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeAsked makes a file if one was asked for.
func (a *app) writeAsked(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	return a.writeFile(path, write)
}

// writeTables prints tables with an empty line between them.
func (a *app) writeTables(tables ...*console.Table) error {
	for i, t := range tables {
		if i > 0 {
			a.printf("\n")
		}
		if err := t.Write(a.stdout, "", true); err != nil {
			return err
		}
	}
	return nil
}
