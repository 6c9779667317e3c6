package staging

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ChangedError says that a file is not as it was when it was noted.
type ChangedError struct {
	Name string
	How  string // what is different
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s has changed since the job was submitted: %s", e.Name, e.How)
}

// opener opens a file by its name below a directory, and waits for nothing.
type opener func(name string) (*os.File, error)

// below opens files below a directory as this process may, through links too.
func below(dir string) opener {
	return func(name string) (*os.File, error) {
		return openPath(filepath.Join(dir, filepath.FromSlash(name)))
	}
}

func openPath(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// Pack writes the archive of files below a directory. Each must be as it was noted: the error is a
// *[ChangedError] otherwise. The same files make the same archive.
func Pack(ctx context.Context, w io.Writer, dir string, files []protocol.StagedFile) error {
	return packer{open: below(dir), noted: true}.pack(ctx, w, files)
}

// packer is how files get into an archive.
type packer struct {
	open    opener
	noted   bool // files were noted with their SHA-256, and are checked; otherwise it is noted
	seconds bool // their times are whole seconds in the archive
}

// pack writes an archive.
func (p packer) pack(ctx context.Context, w io.Writer, files []protocol.StagedFile) error {
	archive := tar.NewWriter(w)
	for i := range files {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := p.packOne(ctx, archive, &files[i]); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (p packer) packOne(ctx context.Context, archive *tar.Writer, f *protocol.StagedFile) error {
	if f.IsDir() {
		header := headerOf(f)
		return archive.WriteHeader(&header)
	}
	file, err := openNoted(p.open, f)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	return p.packFile(ctx, archive, file, f)
}

// headerOf is how a file or directory begins in an archive.
func headerOf(f *protocol.StagedFile) tar.Header {
	header := tar.Header{Format: tar.FormatPAX, Name: f.Name, Mode: int64(f.Mode), Typeflag: tar.TypeDir}
	if !f.IsDir() {
		header.Typeflag, header.Size, header.ModTime = tar.TypeReg, f.Size, time.Unix(0, f.Modified)
	}
	return header
}

// openNoted opens a file that is as it was noted: the error is a *[ChangedError] otherwise.
func openNoted(open opener, f *protocol.StagedFile) (*os.File, error) {
	file, err := open(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &ChangedError{f.Name, "it is not there any more"}
	}
	if err != nil {
		return nil, err
	}
	if err = unchanged(file, f); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// readError says that a file could not be read, unlike one of the writing.
type readError struct {
	name string
	err  error
}

func (e *readError) Error() string { return fmt.Sprintf("read %s: %v", e.name, e.err) }
func (e *readError) Unwrap() error { return e.err }

// packFile writes an open file to an archive, and checks or notes its SHA-256.
func (p packer) packFile(ctx context.Context, archive *tar.Writer, file *os.File, f *protocol.StagedFile) error {
	header := headerOf(f)
	if p.seconds {
		header.ModTime = time.Unix(0, wholeSeconds(f.Modified))
	}
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	sum := sha256.New()
	from := &reader{ctx: ctx, from: file}
	n, err := io.Copy(io.MultiWriter(archive, sum), io.LimitReader(from, f.Size))
	switch digest := [32]byte(sum.Sum(nil)); {
	case from.failed != nil:
		return &readError{f.Name, from.failed}
	case err != nil:
		return fmt.Errorf("pack %s: %w", f.Name, err)
	case n != f.Size:
		return &ChangedError{f.Name, fmt.Sprintf("it has %d bytes instead of %d", n, f.Size)}
	case !p.noted:
		f.SHA256 = digest
	case digest != f.SHA256:
		return &ChangedError{f.Name, "its content is another"}
	}
	return unchanged(file, f) // it may have grown while it was read
}

// unchanged says how an open file is not as it was noted.
func unchanged(file *os.File, f *protocol.StagedFile) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return &readError{f.Name, err}
	case !info.Mode().IsRegular():
		return &ChangedError{f.Name, "it is no regular file any more"}
	case info.Size() != f.Size:
		return &ChangedError{f.Name, fmt.Sprintf("it has %d bytes instead of %d", info.Size(), f.Size)}
	case info.ModTime().UnixNano() != f.Modified:
		return &ChangedError{f.Name, "it was written at " + info.ModTime().Format(time.DateTime)}
	}
	return nil
}

// note is a file as it is now, without its SHA-256.
func note(name string, info fs.FileInfo) protocol.StagedFile {
	f := protocol.StagedFile{Name: name, Mode: uint32(info.Mode().Perm())}
	if info.IsDir() {
		f.Name += "/"
		return f
	}
	f.Size, f.Modified = info.Size(), info.ModTime().UnixNano()
	return f
}

// reader reads until a context ends.
type reader struct {
	ctx  context.Context //nolint:containedctx // of one reading
	from io.Reader

	failed error // of the reading
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		r.failed = context.Cause(r.ctx)
		return 0, r.failed
	}
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}
	return n, err
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
