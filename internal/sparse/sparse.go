// Package sparse writes files in which long runs of zeros take no disk space. It is a package of its own because
// spools and the transfer of results share it, on both sides of the local scheduler's interface.
package sparse

import (
	"bytes"
	"errors"
	"io"
)

// block is the least run of zeros that becomes a hole, as file systems have them.
const block = 4096

// File is what is written to: an [os.File].
type File interface {
	io.WriterAt
	Truncate(size int64) error
}

// Append writes data at the end of a file that has size bytes, leaving out whole blocks of
// zeros, and returns its new size. Data without such blocks is one write.
func Append(f File, size int64, data []byte) (int64, error) {
	end := size + int64(len(data))
	written := 0 // data before it is in the file, or a hole there
	flush := func(to int) error {
		if written == to {
			return nil
		}
		_, err := f.WriteAt(data[written:to], size+int64(written))
		return err
	}
	for at := 0; at < len(data); {
		n := min(block-int((size+int64(at))%block), len(data)-at)
		if n == block && isZero(data[at:at+n]) {
			if err := flush(at); err != nil {
				return 0, err
			}
			written = at + n
		}
		at += n
	}
	if written == len(data) && written > 0 { // nothing was written where the file is to end
		if err := f.Truncate(end); err != nil {
			return 0, err
		}
		return end, nil
	}
	if err := flush(len(data)); err != nil {
		return 0, err
	}
	return end, nil
}

// isZero says whether a block has only zeros: it begins with one, and each byte is as the one before.
func isZero(data []byte) bool { return data[0] == 0 && bytes.Equal(data[1:], data[:len(data)-1]) }

// Copy appends all of r to an empty file.
func Copy(f File, r io.Reader) error {
	buffer := make([]byte, 64*block)
	for size := int64(0); ; {
		n, err := io.ReadFull(r, buffer)
		if n > 0 {
			var wrong error
			if size, wrong = Append(f, size, buffer[:n]); wrong != nil {
				return wrong
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
