package localdisk

import (
	"fmt"
	"io"
	"syscall"
)

// Reserve is how many bytes of a disk the files of jobs leave free: they are for the store and the records of the
// peer, which cannot wait.
const Reserve = 64 << 20

// lookEvery is after how many bytes the free space is looked at again.
const lookEvery = 16 << 20

// NoRoomError says that files of jobs would take what is kept free. It is an error for which [Full] holds.
type NoRoomError struct {
	Free uint64 // bytes
	Need int64  // bytes of the files, as far as they are known
}

func (e *NoRoomError) Error() string {
	if e.Need == 0 {
		return fmt.Sprintf("this site has %d MiB left, and the last %d are for its store", e.Free>>20, Reserve>>20)
	}
	return fmt.Sprintf("this site has %d MiB left for %d MiB of files, and the last %d are for its store",
		e.Free>>20, (e.Need+1<<20-1)>>20, Reserve>>20)
}

func (e *NoRoomError) Unwrap() error { return syscall.ENOSPC }

// Room says why a number of bytes more must not be written in the directory: the error is a *[NoRoomError], or that
// the free space is not known.
func Room(dir string, bytes int64) error {
	_, err := roomIn(dir, bytes)
	return err
}

// roomIn is how many bytes may be written, if that is as many as are to be.
func roomIn(dir string, bytes int64) (most uint64, err error) {
	free, err := Free(dir)
	if err != nil {
		return 0, err
	}
	if bytes = max(0, bytes); free < Reserve || free-Reserve < uint64(bytes) {
		return 0, &NoRoomError{free, bytes}
	}
	return free - Reserve, nil
}

// Sparing writes as w does, as long as [Room] has it that there is more for files in the directory: that is looked at
// every 16 MiB at least, since others write there too.
func Sparing(w io.Writer, dir string) io.Writer { return &sparing{w: w, dir: dir} }

type sparing struct {
	w    io.Writer
	dir  string
	left uint64 // bytes before the next look
}

func (s *sparing) Write(p []byte) (int, error) {
	if s.left < uint64(len(p)) {
		most, err := roomIn(s.dir, int64(len(p)))
		if err != nil {
			return 0, err
		}
		s.left = min(most, lookEvery+uint64(len(p)))
	}
	s.left -= uint64(len(p))
	return s.w.Write(p)
}
