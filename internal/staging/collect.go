package staging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Left is what a job has left in its working directory.
type Left struct {
	Root     *os.Root
	Patterns []string              // of what is wanted
	Before   []protocol.StagedFile // what was there when the job began: the pattern "." leaves out what is still so
	Owner    uint32                // uid of the job's account; files of others are not taken
	MaxBytes int64                 // that all of it together may have
	Partial  bool                  // the job may not have come to write all of it

	Room func(bytes int64) error // says why so much must not be written now, before any of it is; nil: it may
}

// MissingError says that what a user wants back is not there as it should be. Repeating cannot help.
type MissingError struct{ Reason string }

func (e *MissingError) Error() string { return e.Reason }

// Collect writes the archive of the files that a job has left and that are wanted, and lists them. A file that
// is named and not there, one that cannot be taken, and more than may be are a *[MissingError]. Notices, for
// people, are about what else is not among them.
func Collect(ctx context.Context, w io.Writer, left Left) (files []protocol.StagedFile, notices []string, err error) {
	c := collection{Left: left, before: map[string]protocol.StagedFile{}, used: make([]bool, len(left.Patterns))}
	for _, f := range left.Before {
		c.before[f.Name] = f
	}
	if err = fs.WalkDir(left.Root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		return c.look(ctx, name, entry, err)
	}); err != nil {
		return nil, nil, err
	}
	for i, pattern := range left.Patterns {
		switch {
		case c.used[i]:
		case literal(pattern) && !left.Partial:
			c.missing = append(c.missing, pattern+" is not there")
		case pattern != ".":
			notices = append(notices, "no file matches --stage-out="+pattern)
		}
	}
	if len(c.missing) > 0 {
		return nil, nil, &MissingError{c.list()}
	}
	if left.Room != nil {
		if err = left.Room(c.bytes); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(c.files, func(a, b protocol.StagedFile) int { return cmp.Compare(a.Name, b.Name) })
	err = pack(ctx, w, c.files, c.open, false)
	if changed, ok := errors.AsType[*ChangedError](err); ok { // nothing of the job runs any more
		err = &MissingError{changed.Name + " is being written by something else: " + changed.How}
	}
	return c.files, notices, err
}

type collection struct {
	Left

	before  map[string]protocol.StagedFile
	files   []protocol.StagedFile
	used    []bool // by pattern: it has named something
	bytes   int64
	missing []string
}

// list is what is wrong, bounded.
func (c *collection) list() string {
	const most = 5
	if n := len(c.missing); n > most {
		return strings.Join(c.missing[:most], "; ") + fmt.Sprintf("; %d more", n-most)
	}
	return strings.Join(c.missing, "; ")
}

// look takes one entry of the working directory, if it is wanted.
func (c *collection) look(ctx context.Context, name string, entry fs.DirEntry, failed error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed != nil {
		if name == "." {
			return failed
		}
		c.missing = append(c.missing, protocol.EscapeText(name)+" cannot be read")
		return fs.SkipDir
	}
	i := Matches(c.Patterns, name)
	if name == "." || i < 0 {
		return nil
	}
	c.used[i] = true
	if entry.IsDir() {
		return nil
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f := note(name, info)
	if was, ok := c.before[name]; ok && c.Patterns[i] == "." && was.Size == f.Size && was.Modified == f.Modified {
		return nil
	}
	c.take(f, info)
	if len(c.files) > protocol.MaxStagedFiles {
		return &MissingError{fmt.Sprintf("there are more than %d files of --stage-out; pack them into one", protocol.MaxStagedFiles)}
	}
	if c.bytes > c.MaxBytes {
		return &MissingError{fmt.Sprintf("the files of --stage-out have more than %d bytes, [staging] max_bytes of the site", c.MaxBytes)}
	}
	return nil
}

func (c *collection) take(f protocol.StagedFile, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	shown := protocol.EscapeText(f.Name)
	switch err := protocol.CheckStagedName(f.Name); {
	case err != nil:
		c.missing = append(c.missing, err.Error())
	case info.Mode()&fs.ModeSymlink != 0:
		c.missing = append(c.missing, shown+" is a link, and links do not travel")
	case !info.Mode().IsRegular():
		c.missing = append(c.missing, shown+" is no regular file")
	case !ok || st.Uid != c.Owner:
		c.missing = append(c.missing, shown+" belongs to another account")
	default:
		c.files, c.bytes = append(c.files, f), c.bytes+f.Size
	}
}

// open opens a file that was looked at. What is there now may be something else.
func (c *collection) open(name string) (*os.File, error) {
	file, err := c.Root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !info.Mode().IsRegular() || st.Uid != c.Owner {
			err = &MissingError{protocol.EscapeText(name) + " is no regular file of the job's account"}
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
