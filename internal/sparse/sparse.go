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
// zeros, and returns its new size.
func Append(f File, size int64, data []byte) (int64, error) {
	end := size + int64(len(data))
	hole := false
	for len(data) > 0 {
		n := min(block-int(size%block), len(data))
		piece := data[:n]
		hole = n == block && len(bytes.TrimLeft(piece, "\x00")) == 0
		if !hole {
			if _, err := f.WriteAt(piece, size); err != nil {
				return 0, err
			}
		}
		size, data = size+int64(n), data[n:]
	}
	if hole { // nothing was written where the file is to end
		if err := f.Truncate(end); err != nil {
			return 0, err
		}
	}
	return end, nil
}

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
