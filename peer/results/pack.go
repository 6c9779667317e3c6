package results

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// packOf is the archive of the files that go with a job. Once it is old it is removed like a part, and made again if
// it is asked for.
func (d *Dir) packOf(job protocol.JobID) string {
	return filepath.Join(d.Path, fmt.Sprintf("%d.packed%s", job, partSuffix))
}

// pack has the archive of a job's files written, unless it is here as a whole. It is the one that was noted when the
// job was submitted, or it is an error.
func (d *Dir) pack(job protocol.JobID, files *protocol.Staging, write func(io.Writer) error) error {
	path := d.packOf(job)
	if info, err := os.Lstat(path); err == nil && info.Size() == files.Bytes {
		return nil
	}
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return fmt.Errorf("make the directory of results: %w", err)
	}
	temp, err := os.CreateTemp(d.Path, temporaryPattern)
	if err != nil {
		return fmt.Errorf("keep the files of a job: %w", err)
	}
	sum, buffer := sha256.New(), bufio.NewWriterSize(localdisk.Sparing(temp, d.Path), 1<<18)
	err = write(io.MultiWriter(buffer, sum))
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = temp.Sync() // what has its name is the whole of it, after a crash of the machine too
	}
	if err == nil && [sha256.Size]byte(sum.Sum(nil)) != files.SHA256 {
		err = changedError{}
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// changedError is about files that are other ones, though each by itself is as it was: the submitter's command may
// be of another version.
type changedError struct{}

func (changedError) Error() string {
	return "the job's files are not those that were submitted, by their SHA-256; submit the job again with the command of the peer's version"
}

// Permanent says that repeating cannot help.
func (changedError) Permanent() bool { return true }

// packed is a piece of the archive.
func (d *Dir) packed(job protocol.JobID, offset int64, size int) (data []byte, err error) {
	data, err = readPiece(d.packOf(job), offset, size)
	if err != nil {
		return nil, fmt.Errorf("read the files of job %v: %w", job, err)
	}
	return data, nil
}

// readPiece reads up to size bytes of a file; fewer or none at its end.
func readPiece(path string, offset int64, size int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	n, err := file.ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return data[:n], nil
}

// dropFile removes a file that need not be there.
func dropFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
