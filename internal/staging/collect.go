package staging

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Left is what a job has left in its working directory.
type Left struct {
	Root     *os.Root
	Patterns []string              // of what is wanted; of several that name a file, the first counts
	Before   []protocol.StagedFile // what was there when the job began: the pattern "." leaves out what is still so
	Owner    uint32                // uid of the job's account; files of others are not taken
	MaxBytes int64                 // that the archive may have
	Limit    string                // what says so, for people: a site and a key of its configuration
	Partial  bool                  // the job may not have come to write all of it
	Fetched  bool                  // the patterns are those of a user who fetches files, not of --stage-out

	Room  func(bytes int64) error // says why so much must not be written now, before any of it is; nil: it may
	Again func() error            // makes what was written not count, since it comes once again; nil: a file that cannot be read to its end fails all

	MaxEntries int           // how many names are looked at; 0: [defaultMaxEntries]
	MaxTime    time.Duration // how long the looking takes at most; 0: [defaultMaxTime]
}

// The looking is bounded, since a job can leave what it likes.
const (
	defaultMaxEntries = 1 << 20
	defaultMaxTime    = 5 * time.Minute
)

// MissingError says that some of what a user wants back does not come. Repeating cannot help.
type MissingError struct{ Reason string }

func (e *MissingError) Error() string { return e.Reason }

// Collect writes the archive of the files that a job has left and that are wanted, and lists them. If the error is
// a *[MissingError], what it names is not among them, and the others are: a file that is named and not there, one
// that cannot be taken, and what is more than may be. Notices, for people, are about what else is not among them,
// such as links. With any other error, and if no file is listed with a *[MissingError], the archive is of no use.
func Collect(ctx context.Context, w io.Writer, left Left) (files []protocol.StagedFile, notices []string, err error) {
	c := collection{
		Left: left, before: map[string]protocol.StagedFile{}, used: make([]bool, len(left.Patterns)), taken: map[string]bool{},
		bytes: archiveEnd,
	}
	for _, f := range left.Before {
		c.before[f.Name] = f
	}
	c.takeNamed()
	if err = c.takeMatching(ctx); err != nil {
		return nil, nil, err
	}
	if left.Room != nil {
		if err = left.Room(c.bytes); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(c.files, func(a, b protocol.StagedFile) int { return cmp.Compare(a.Name, b.Name) })
	if err = c.pack(ctx, w); err != nil {
		return nil, nil, err
	}
	if text := c.skipped.text("; "); text != "" {
		notices = append(notices, "not among the files that come back: "+text)
	}
	for i, pattern := range left.Patterns {
		if !c.used[i] && pattern != "." && !c.stopped {
			notices = append(notices, "no file matches "+c.named(pattern))
		}
	}
	if text := c.missing.text("; "); text != "" {
		return c.files, notices, &MissingError{text}
	}
	return c.files, notices, nil
}

// option is by what the patterns were given.
func (l *Left) option() string {
	if l.Fetched {
		return "the patterns"
	}
	return "--stage-out"
}

// named is a pattern as it was given.
func (l *Left) named(pattern string) string {
	if l.Fetched {
		return pattern
	}
	return l.option() + "=" + pattern
}

type collection struct {
	Left

	before  map[string]protocol.StagedFile
	files   []protocol.StagedFile
	taken   map[string]bool // by name: the files that were, and what was named and cannot be
	used    []bool          // by pattern: it has named something, or it is said that it has not
	bytes   int64           // of the archive
	missing someOf          // what does not come though it is wanted
	skipped someOf          // what does not come, as links do not
	full    bool            // there are more files than may travel
	entries int             // that were looked at
	stopped bool            // the looking has come to one of its bounds
}

// takeNamed takes the files that patterns name one by one: what else there is cannot crowd them out.
func (c *collection) takeNamed() {
	for i, pattern := range c.Patterns {
		name := strings.TrimSuffix(pattern, "/")
		if !literal(pattern) {
			continue
		}
		info, err := c.Root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			if !c.Partial {
				c.used[i] = true
				c.missing.add(pattern + " is not there")
			}
		case err != nil:
			c.used[i] = true
			c.missing.add(pattern + " cannot be read: " + reasonOf(err))
		case info.IsDir():
			c.used[i] = behindLink(c.Root, name)
			if c.used[i] {
				c.missing.add(pattern + " is a directory behind a link, and links are not followed")
			}
		case pattern != name:
			c.used[i] = true
			c.missing.add(pattern + " is no directory")
		default:
			c.take(name, info, c.use(name))
		}
	}
}

// behindLink says whether one of the directories above a name is a link.
func behindLink(root *os.Root, name string) bool {
	for i, r := range name {
		if r != '/' {
			continue
		}
		if info, err := root.Lstat(name[:i]); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// reasonOf is what an error of the operating system says, without paths of this site.
func reasonOf(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return err.Error()
}

// errStopped says that the looking has come to one of its bounds.
var errStopped = errors.New("the looking has come to its bounds")

// takeMatching looks through the directories in which there can be something that is wanted.
func (c *collection) takeMatching(ctx context.Context) error {
	most := cmp.Or(c.MaxTime, defaultMaxTime)
	limited, cancel := context.WithTimeoutCause(ctx, most, errStopped)
	defer cancel()
	err := c.lookInto(limited, c.Root, ".")
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !errors.Is(err, errStopped):
		return err
	}
	c.stopped = true
	switch {
	case c.full:
	case limited.Err() != nil:
		c.missing.add(fmt.Sprintf("looking for what matches %s took more than %v", c.option(), most))
	default:
		c.missing.add(fmt.Sprintf("there are more than %d files and directories where %s looks", cmp.Or(c.MaxEntries, defaultMaxEntries), c.option()))
	}
	return nil
}

// lookInto looks for what is wanted in a directory, and below it. Each directory is opened from the one above it:
// by its whole name the time would rise with the square of the depth.
func (c *collection) lookInto(ctx context.Context, dir *os.Root, name string) error {
	named, all := wantedIn(c.Patterns, name)
	for _, one := range named {
		if all {
			break
		}
		if err := c.look(ctx, dir, name, one); err != nil {
			return err
		}
	}
	if !all {
		return nil
	}
	list, err := dir.Open(".")
	if err != nil {
		return c.unreadable(name, err)
	}
	defer list.Close() //nolint:errcheck // only read
	for {
		const batch = 256
		entries, err := list.ReadDir(batch)
		for _, entry := range entries {
			if failed := c.look(ctx, dir, name, entry.Name()); failed != nil {
				return failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return c.unreadable(name, err)
		}
	}
}

// unreadable notes that a directory cannot be read in which there can be something that is wanted. If that is the
// working directory itself, it is the error.
func (c *collection) unreadable(name string, err error) error {
	switch {
	case name == ".":
		return err
	case !errors.Is(err, fs.ErrNotExist):
		c.missing.add(protocol.EscapeText(name) + " cannot be read: " + reasonOf(err))
		c.use(name)
	}
	return nil
}

// use notes which patterns name something, and says which is the first; -1: none is.
func (c *collection) use(name string) (first int) {
	first = -1
	for i, pattern := range c.Patterns {
		if first >= 0 && c.used[i] || !matches(pattern, name) {
			continue
		}
		c.used[i] = true
		if first < 0 {
			first = i
		}
	}
	return first
}

// look takes one entry of a directory, if it is wanted, and looks into it.
func (c *collection) look(ctx context.Context, dir *os.Root, above, entry string) error {
	if c.entries++; ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.entries > cmp.Or(c.MaxEntries, defaultMaxEntries) {
		return errStopped
	}
	name := entry
	if above != "." {
		name = above + "/" + entry
	}
	named, all := wantedIn(c.Patterns, name)
	deeper := all || len(named) > 0
	i := Matches(c.Patterns, name)
	if i < 0 && !deeper {
		return nil
	}
	info, err := dir.Lstat(entry)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return c.unreadable(name, err)
	}
	c.use(name)
	switch {
	case info.IsDir() && deeper:
		return c.enter(ctx, dir, name, entry)
	case info.IsDir():
	case i >= 0:
		c.take(name, info, i)
	case info.Mode()&fs.ModeSymlink != 0: // what is behind it may be wanted
		c.skipped.add(protocol.EscapeText(name) + " is a link, and links do not travel")
	}
	if c.full {
		return errStopped
	}
	return nil
}

// enter looks into a directory, if what is there can travel.
func (c *collection) enter(ctx context.Context, dir *os.Root, name, entry string) error {
	if err := protocol.CheckStagedName(name + "/x"); err != nil {
		c.missing.add(err.Error())
		return nil
	}
	below, err := dir.OpenRoot(entry)
	if err != nil {
		return c.unreadable(name, err)
	}
	defer below.Close() //nolint:errcheck // only read
	return c.lookInto(ctx, below, name)
}

// take decides about a file, link or special file that a pattern names.
func (c *collection) take(name string, info fs.FileInfo, pattern int) {
	if c.taken[name] {
		return
	}
	f := note(name, info)
	if was, ok := c.before[name]; ok && c.Patterns[pattern] == "." && was.Size == f.Size && was.Modified == f.Modified {
		return
	}
	none := &c.skipped
	if slices.Contains(c.Patterns, name) {
		none, c.taken[name] = &c.missing, true
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	shown := protocol.EscapeText(name)
	size := archived(f)
	switch err := protocol.CheckStagedName(name); {
	case info.Mode()&fs.ModeSymlink != 0:
		none.add(shown + " is a link, and links do not travel")
	case !info.Mode().IsRegular():
		none.add(shown + " is no regular file")
	case err != nil:
		c.missing.add(err.Error())
	case !ok || st.Uid != c.Owner:
		c.missing.add(shown + " belongs to another account")
	case len(c.files) >= protocol.MaxStagedFiles:
		c.missing.add(fmt.Sprintf("there are more than %d files of %s; pack them into one", protocol.MaxStagedFiles, c.option()))
		c.full = true
	case size > c.MaxBytes-c.bytes:
		c.missing.add(fmt.Sprintf("%s has %d bytes, and all files of %s together at most %d (%s)", shown, f.Size, c.option(), c.MaxBytes, c.Limit))
	default:
		c.files, c.bytes, c.taken[name] = append(c.files, f), c.bytes+size, true
	}
}

// Sizes in an archive.
const (
	block      = 512
	archiveEnd = 2 * block
	maxHeader  = 8 << 10 // more than any header has, with what rounds up the content
)

// archived is how many bytes a file takes in an archive.
func archived(f protocol.StagedFile) int64 {
	size := new(counter)
	header := headerOf(&f)
	if err := tar.NewWriter(size).WriteHeader(&header); err != nil || f.Size > math.MaxInt64-maxHeader {
		return math.MaxInt64 // no archive takes it
	}
	return int64(*size) + (f.Size+block-1)/block*block
}

// pack writes the archive of what was taken. What is not any more as it was, or cannot be read, is left out: if that
// shows when its content is under way, all is written again without it.
func (c *collection) pack(ctx context.Context, w io.Writer) error {
	for {
		broken, err := c.packOnce(ctx, w)
		if err != nil || broken == nil {
			return err
		}
		if c.Again == nil {
			return broken
		}
		if err = c.Again(); err != nil {
			return err
		}
	}
}

// packOnce writes the archive. Broken is why it is of no use: the files left were looked through all the same, so that
// it is written once again, not once for each.
func (c *collection) packOnce(ctx context.Context, w io.Writer) (broken, err error) {
	archive := tar.NewWriter(w)
	packed := make([]protocol.StagedFile, 0, len(c.files))
	for _, f := range c.files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		file, err := openNoted(c.open, &f)
		if err != nil {
			c.missing.add(lackOf(&f, err))
			continue
		}
		err = errors.Join((packer{open: c.open}).packFile(ctx, archive, file, &f), file.Close())
		switch _, unread := errors.AsType[*readError](err); {
		case err == nil:
			packed = append(packed, f)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case unread || isChanged(err):
			text := lackOf(&f, err)
			c.missing.add(text)
			archive, broken = tar.NewWriter(io.Discard), &MissingError{text}
		default:
			return nil, err
		}
	}
	c.files = packed
	return broken, archive.Close()
}

func isChanged(err error) bool {
	_, ok := errors.AsType[*ChangedError](err)
	return ok
}

// lackOf says why a file that was taken does not come.
func lackOf(f *protocol.StagedFile, err error) string {
	name := protocol.EscapeText(f.Name)
	if changed, ok := errors.AsType[*ChangedError](err); ok { // nothing of the job runs any more
		return name + " is being written by something else: " + changed.How
	}
	if failed, ok := errors.AsType[*readError](err); ok {
		return name + " cannot be read: " + reasonOf(failed.err)
	}
	return name + " " + reasonOf(err)
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
			err = errors.New("is no regular file of the job's account")
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// someOf is a list of what may be a great deal: the first few, and how many more.
type someOf struct {
	first []string
	more  int
}

func (s *someOf) add(text string) {
	const most = 5
	if len(s.first) < most {
		s.first = append(s.first, text)
	} else {
		s.more++
	}
}

func (s *someOf) text(between string) string {
	text := strings.Join(s.first, between)
	if s.more > 0 {
		text += fmt.Sprintf("%s%d more", between, s.more)
	}
	return text
}
