package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// file is the file of a log. It is for one goroutine.
type file struct {
	Config

	now  *os.File    // nil: it must be opened
	info fs.FileInfo // of it, as it was opened
	size int64
	torn bool // the last line may not be whole

	rotateAfter time.Time // when to try again what has failed
	unsaid      error     // why the file was not set aside; nil: it was, or that has been said
}

// rotatePause is how long after a failed rotation the next one is tried.
const rotatePause = time.Minute

// write appends a line to the file that the path names now.
func (f *file) write(line []byte) error {
	if err := f.follow(); err != nil {
		return err
	}
	if f.size > 0 && f.size+int64(len(line)) > f.MaxSize && !time.Now().Before(f.rotateAfter) {
		if err := f.rotate(); err != nil {
			f.failedTo(err)
		} else {
			f.rotateAfter = time.Time{}
		}
	}
	if f.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.now.Write(line)
	f.size += int64(n)
	if err != nil {
		f.torn = f.torn || n > 0
		return errors.Join(err, f.close())
	}
	f.torn = false
	return nil
}

// failedTo has the file go on as it is, and says so once.
func (f *file) failedTo(err error) {
	if f.rotateAfter.IsZero() {
		f.unsaid = err
	}
	f.rotateAfter = time.Now().Add(rotatePause)
}

// follow opens the file if it is not open, or if another program has moved it away (logrotate does). While there can be no new one,
// entries go on in the old one.
func (f *file) follow() error {
	if f.now == nil {
		return f.open()
	}
	if there, err := os.Stat(f.Path); err == nil && os.SameFile(there, f.info) || time.Now().Before(f.rotateAfter) {
		return nil
	}
	if err := f.reopen(); err != nil {
		f.failedTo(err)
	} else {
		f.rotateAfter = time.Time{}
	}
	return nil
}

// reopen opens the file that the path names, and closes the old one. If it cannot be opened, the old one stays.
func (f *file) reopen() error {
	old := *f
	if err := f.open(); err != nil {
		return err
	}
	return old.now.Close()
}

// close closes the file; it is opened again with the next entry.
func (f *file) close() error {
	if f.now == nil {
		return nil
	}
	err := f.now.Close()
	f.now = nil
	return err
}

// open opens the file, which no other account may read.
func (f *file) open() error {
	opened, err := os.OpenFile(f.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%s is a symbolic link, which is not followed; name the file itself", f.Path)
	}
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", f.Path)
	}
	if err == nil && info.Mode().Perm()&^0o600 != 0 {
		if err = opened.Chmod(0o600); err != nil {
			err = fmt.Errorf("%s has mode %04o, and other accounts must not read it: %w", f.Path, info.Mode().Perm(), err)
		}
	}
	last := []byte{'\n'}
	if err == nil && info.Size() > 0 {
		_, err = opened.ReadAt(last, info.Size()-1)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(err, opened.Close())
	}
	f.now, f.info, f.size, f.torn = opened, info, info.Size(), last[0] != '\n'
	return nil
}

// rotate sets the file aside, drops the oldest one, and opens a new one. If that fails, the open file stays.
func (f *file) rotate() error {
	aside := func(n int) string {
		if n == 0 {
			return f.Path
		}
		return fmt.Sprintf("%s.%d", f.Path, n)
	}
	if err := os.Remove(aside(f.Files - 1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for n := f.Files - 2; n >= 0; n-- {
		if err := os.Rename(aside(n), aside(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return f.reopen()
}
