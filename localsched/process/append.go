package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// appendMain writes its input behind what is in a file, with the rights of the account. An earlier try,
// if there was one, began when the file had the size that is given.
func appendMain(path, umask string, earlier []string) int {
	unix.CloseOnExec(allFD)
	if err := setUmask(umask); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	a := appending{from: bufio.NewReader(os.Stdin), ask: os.Stdout, answers: os.NewFile(allFD, "all")}
	for _, word := range earlier {
		began, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitUsage
		}
		a.began = &began
	}
	return placed(a.to(path))
}

// appending is one try to append. The file stays locked meanwhile, so that of several appends each is in
// one piece.
type appending struct {
	from    *bufio.Reader
	ask     io.Writer // for the peer to note the size of the file before anything is written
	answers io.Reader // of the peer, as on [allFD]
	began   *int64    // the size of the file when an earlier try began; nil: none has

	whole bool // the peer has said that it has sent everything
	noted bool // the peer has noted where this try began
}

func (a *appending) to(path string) error {
	info, err := writable(path)
	if err != nil {
		return err
	}
	if info != nil && info.Mode()&fs.ModeCharDevice != 0 {
		return writeDevice(path, a.from)
	}
	access := os.O_WRONLY
	if a.began != nil {
		access = os.O_RDWR // what is there is compared
	}
	file, err := os.OpenFile(path, access|os.O_CREATE|os.O_APPEND|unix.O_NOCTTY, newFile)
	if err != nil {
		return err
	}
	lockFile(file)
	err = a.appendTo(file)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// lockFile waits for a lock, where the file system has any.
func lockFile(file *os.File) {
	for errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_EX), unix.EINTR) {
	}
}

// appendTo writes what is not in the file yet, or nothing if it cannot write it all.
func (a *appending) appendTo(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	missing, err := a.missing(file, info.Size())
	if err != nil {
		return err
	}
	written, err := io.Copy(file, missing)
	if err == nil {
		err = a.hearAll()
	}
	if err != nil {
		err = errors.Join(err, a.undo(file, info.Size(), written))
	}
	return err
}

// undo takes back what this try has written. If others, who need not lock the file, have written behind it,
// all stays. If nothing of the append is in the file any more, the peer forgets where it began: others may
// write the same there.
func (a *appending) undo(file *os.File, size, written int64) error {
	info, err := file.Stat()
	if err != nil || info.Size() != size+written {
		return err
	}
	if err = file.Truncate(size); err != nil || !a.noted {
		return err
	}
	_, err = fmt.Fprintln(a.ask, undone)
	return err
}

// missing is what is to be written behind the end of the file. It is less than everything if that is
// there from where an earlier try began, to its end or to that of the file.
func (a *appending) missing(file io.ReaderAt, size int64) (io.Reader, error) {
	if a.began == nil || *a.began > size {
		return a.from, a.begin(size)
	}
	there := bufio.NewReader(io.NewSectionReader(file, *a.began, size-*a.began))
	for same := int64(0); ; same++ {
		next, err := a.from.ReadByte()
		if errors.Is(err, io.EOF) {
			return bytes.NewReader(nil), nil
		}
		if err != nil {
			return nil, err
		}
		has, err := there.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return a.from, a.from.UnreadByte()
		case err != nil:
			return nil, err
		case has != next: // others have written there
			if err = a.from.UnreadByte(); err != nil {
				return nil, err
			}
			return io.MultiReader(io.NewSectionReader(file, *a.began, same), a.from), a.begin(size)
		}
	}
}

// begin has the peer note where the append begins.
func (a *appending) begin(size int64) error {
	if _, err := fmt.Fprintln(a.ask, size); err != nil {
		return err
	}
	err := a.hear(byteBegin)
	a.noted = err == nil
	return err
}

// undone is what a shim says once nothing of an append is in the file.
const undone = "undone"

// hearAll returns once the peer has sent everything.
func (a *appending) hearAll() error {
	if a.whole {
		return nil
	}
	return a.hear(byteAll)
}

// hear waits for an answer of the peer.
func (a *appending) hear(want byte) error {
	for {
		var answer [1]byte
		if _, err := io.ReadFull(a.answers, answer[:]); err != nil {
			return errCut
		}
		a.whole = a.whole || answer[0] == byteAll
		if answer[0] == want {
			return nil
		}
	}
}
