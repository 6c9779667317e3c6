package protocol

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// MaxSharedDirs is how many directories two sites may share.
const MaxSharedDirs = 32

// CheckSharedDir says what is wrong with the name of a directory that two sites share, if anything: it is an absolute
// path in its shortest form, and not the root of all.
func CheckSharedDir(dir string) error {
	switch {
	case !strings.HasPrefix(dir, "/"):
		return fmt.Errorf("%.80q is not an absolute path", dir)
	case dir == "/":
		return errors.New("/ is the whole system; name the directories that are shared")
	case path.Clean(dir) != dir:
		return fmt.Errorf("%.80q is not in its shortest form; write %q", dir, path.Clean(dir))
	case len(dir) > MaxPath:
		return fmt.Errorf("%.80q has %d bytes, at most %d are allowed", dir, len(dir), MaxPath)
	}
	return CheckText(dir)
}

// CheckSharedDirs says what is wrong with the directories that a card names, if anything.
func CheckSharedDirs(dirs []string) error {
	if len(dirs) > MaxSharedDirs {
		return wrongField("shared", "has %d directories, at most %d are allowed", len(dirs), MaxSharedDirs)
	}
	for i, dir := range dirs {
		if err := CheckSharedDir(dir); err != nil {
			return &FieldError{"shared", err}
		}
		if i > 0 && dirs[i-1] >= dir {
			return wrongField("shared", "%.80q does not sort after %.80q", dir, dirs[i-1])
		}
	}
	return nil
}

// SharedBy says whether the job can run in place where its site and its origin name these directories as shared: all that it
// names is in one that both name. Paths are compared as texts.
func (p *Payload) SharedBy(origin, site []string) bool {
	if p.WorkDir == "" || p.Input != "" { // who reads a file stays at its origin
		return false
	}
	paths := []string{p.WorkDir, p.Stdout, p.Stderr}
	if p.Staging != nil {
		paths = append(paths, p.Staging.Places...)
	}
	return !slices.ContainsFunc(paths, func(name string) bool {
		return name != "" && name != "/dev/null" && (!below(origin, name) || !below(site, name))
	})
}

// DirsInPlace are the directories in which a job that runs in place works and has its output, each once, the working directory
// first. Their sites find out of each whether it is one and the same.
func DirsInPlace(workDir, stdout, stderr string) []string {
	dirs := []string{workDir}
	for _, file := range []string{stdout, stderr} {
		if dir := path.Dir(file); file != "" && file != "/dev/null" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// below says whether a path is one of the directories, or below one. One that is not in its shortest form is not.
func below(dirs []string, name string) bool {
	return path.Clean(name) == name && slices.ContainsFunc(dirs, func(dir string) bool {
		return strings.HasPrefix(name, dir) && (len(name) == len(dir) || name[len(dir)] == '/')
	})
}
