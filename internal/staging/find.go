package staging

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Find finds what is to go with a job, by paths and patterns of files and directories below its working
// directory, and reads all of it for the digests. A path "FROM:NAME" is that of anything, and NAME that of the
// [Link] to it. The error joins all that is wrong: it names what is missing, what is neither a file nor a
// directory, and what lies outside of the directory.
func Find(ctx context.Context, dir string, paths []string) (*protocol.Staging, error) {
	return FindWithin(ctx, dir, paths, nil)
}

// FindWithin is [Find], but reads no file if the limit has an objection, which is the error then. Nil: it has none.
func FindWithin(ctx context.Context, dir string, paths []string, limit Limit) (*protocol.Staging, error) {
	s, out, err := look(dir, paths)
	if err == nil && limit != nil {
		err = limit(sizeOf(out.Inputs), out.Inputs)
	}
	if err != nil {
		return nil, err
	}
	sum, size := sha256.New(), new(counter)
	if err := (packer{open: s.open}).pack(ctx, io.MultiWriter(sum, size), out.Inputs); err != nil {
		return nil, fmt.Errorf("read the files of --stage-in: %w", err)
	}
	out.Bytes, out.SHA256 = int64(*size), [32]byte(sum.Sum(nil))
	return out, nil
}

// Limit says why an archive of that size, in bytes, with these files does not go with a job, before they are read.
type Limit func(bytes int64, files []protocol.StagedFile) error

// sizeOf is how many bytes the archive of files has.
func sizeOf(files []protocol.StagedFile) int64 {
	total := int64(archiveEnd)
	for _, f := range files {
		if total += archived(f); total < 0 {
			return math.MaxInt64
		}
	}
	return total
}

// Check says what [Find] would say is wrong, and reads no file: it is for jobs that stay at their site.
func Check(dir string, paths []string) error {
	_, _, err := look(dir, paths)
	return err
}

// look finds what there is, without digests.
func look(dir string, paths []string) (*search, *protocol.Staging, error) {
	s := &search{dir: dir, found: map[string]protocol.StagedFile{}, renamed: map[string]string{}}
	for _, add := range []func(string) error{s.rename, s.add} { // other names first: links with them may be there already
		for _, one := range paths {
			if err := add(one); err != nil {
				s.problems = append(s.problems, fmt.Errorf("--stage-in=%s: %w", one, err))
			}
		}
	}
	if n := len(s.found); n > protocol.MaxStagedFiles {
		s.problems = append(s.problems, fmt.Errorf("--stage-in names %d files and directories, at most %d are allowed; pack them into one file",
			n, protocol.MaxStagedFiles))
	}
	if n := len(s.links); n > protocol.MaxStagedLinks {
		s.problems = append(s.problems, fmt.Errorf("--stage-in names %d links, at most %d are allowed; name the directory that they are in", n, protocol.MaxStagedLinks))
	}
	if len(s.problems) > 0 {
		return nil, nil, errors.Join(s.problems...)
	}
	out := &protocol.Staging{Links: s.links, Places: s.places()}
	for _, f := range s.found {
		out.Inputs = append(out.Inputs, f)
	}
	slices.SortFunc(out.Inputs, func(a, b protocol.StagedFile) int { return cmp.Compare(a.Name, b.Name) })
	return s, out, nil
}

type search struct {
	dir      string
	found    map[string]protocol.StagedFile // by name
	renamed  map[string]string              // paths of what has another name in the directory, by that
	links    []string                       // names of what is a link in the directory, or will be one
	problems []error
}

// path is where something is that has a name in the directory, or will have it.
func (s *search) path(name string) string {
	for above := name; above != "."; above = path.Dir(above) {
		if from, ok := s.renamed[above]; ok {
			return filepath.Join(from, filepath.FromSlash(strings.TrimPrefix(name, above)))
		}
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// open opens what has a name in the directory, or will have it.
func (s *search) open(name string) (*os.File, error) { return openPath(s.path(name)) }

// rename notes what gets another name.
func (s *search) rename(given string) error {
	renaming, ok := renamingOf(given)
	if !ok {
		return nil
	}
	if err := renaming.check(s.dir); err != nil {
		return err
	}
	if before, taken := s.renamed[renaming.name]; taken && before != renaming.path(s.dir) {
		return fmt.Errorf("%s is already the name of %s; choose another one", renaming.name, before)
	}
	s.renamed[renaming.name] = renaming.path(s.dir)
	s.links = append(s.links, renaming.name)
	return nil
}

// add finds what one path names.
func (s *search) add(given string) error {
	if renaming, ok := renamingOf(given); ok {
		if s.renamed[renaming.name] != renaming.path(s.dir) {
			return nil // that is said
		}
		return s.addPath(renaming.name)
	}
	name, err := s.local(given)
	if err != nil {
		return err
	}
	if name == "." {
		return s.addTop()
	}
	if err = protocol.CheckStageOut(name); err != nil {
		return err
	}
	if literal(name) {
		if info, failed := os.Lstat(s.path(name)); failed == nil && info.Mode()&fs.ModeSymlink != 0 {
			s.links = append(s.links, name)
		}
		return s.addPath(name)
	}
	matched, err := fs.Glob(os.DirFS(s.dir), name)
	if err != nil {
		return err
	}
	matched = slices.DeleteFunc(matched, func(one string) bool { return !matches(name, one) })
	if len(matched) == 0 {
		return fmt.Errorf("no file matches it in %s", s.dir)
	}
	for _, one := range matched {
		if err = s.addPath(one); err != nil {
			return err
		}
	}
	return nil
}

// local is a path as it is named below the working directory.
func (s *search) local(given string) (string, error) {
	name := filepath.Clean(given)
	if filepath.IsAbs(name) {
		relative, err := filepath.Rel(s.dir, name)
		if err != nil {
			return "", err
		}
		name = relative
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("it is not below the working directory %s, where the job would look for it; give it a name there, as in %s:%s", s.dir, given, filepath.Base(name))
	}
	return name, nil
}

// addTop adds all that is in the working directory, but for what begins with a dot.
func (s *search) addTop() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err = s.addPath(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// addPath adds a file, or a directory with all that is in it. Links are followed to files, and where they are
// named also to directories.
func (s *search) addPath(name string) error {
	at := s.path(name)
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s in %s", filepath.Base(at), filepath.Dir(at))
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return s.take(name, info)
	case !info.IsDir():
		return fmt.Errorf("%s is neither a file nor a directory", name)
	}
	if err = s.take(name, info); err != nil {
		return err
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		one := path.Join(name, entry.Name())
		if _, ok := s.renamed[one]; ok {
			continue // the link that an earlier submission has made; it is added by itself
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			if to, failed := os.Stat(filepath.Join(at, entry.Name())); failed == nil && to.IsDir() { // it may lead back to here
				return fmt.Errorf("%s is a link to a directory; name that directory itself", one)
			}
		}
		if err = s.addPath(one); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) take(name string, info fs.FileInfo) error {
	if len(s.found) > protocol.MaxStagedFiles {
		return nil // that is said once
	}
	f := note(name, info)
	if err := protocol.CheckStagedName(f.Name); err != nil {
		return err
	}
	s.found[f.Name] = f
	return nil
}
