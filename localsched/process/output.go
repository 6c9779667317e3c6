package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxFetch bounds what one Fetch returns.
const maxFetch = 16 << 20

// errNotPlain says that what should be an output file is something else, or
// somebody else's.
var errNotPlain = errors.New("it is not a regular file of the job's account")

// openPlain opens a job's output file for reading. A job may put anything in its
// place, and the peer may be root: links and files of others are refused, pipes
// and devices not waited for.
func openPlain(path string, owner account) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(file.Fd()), &st); err == nil {
		if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Uid != owner.UID {
			err = fmt.Errorf("%s: %w", path, errNotPlain)
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Fetch implements [localsched.Scheduler]. Where both streams are in one file,
// both name it. It returns at most 16 MiB.
func (s *Scheduler) Fetch(
	ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	j, err := s.find(ctx, tag)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, unknown(tag)
	}
	path := j.stdout
	if stream == protocol.Stderr {
		path = j.stderr
	}
	file, err := openPlain(path, j.account)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%v of job %v: %w", stream, tag, localsched.ErrUnknownJob)
	}
	if err != nil {
		return nil, fmt.Errorf("%v of job %v: %w: %w", stream, tag, localsched.ErrUnknownJob, err)
	}
	data := make([]byte, min(max(0, size), maxFetch))
	n, err := file.ReadAt(data, max(0, offset))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%v of job %v: %w", stream, tag, err)
	}
	return data[:n], nil
}

// describeFiles describes a guest's output files. One that the guest has removed
// is not among them.
func (w *watch) describeFiles() (files []fileRecord) {
	if !w.record.Submission.Guest {
		return nil
	}
	stdout, stderr := outputs(w.dir, w.record.Submission)
	for _, f := range []struct {
		stream protocol.Stream
		path   string
	}{{protocol.Stdout, stdout}, {protocol.Stderr, stderr}} {
		if f.stream == protocol.Stderr && stderr == stdout {
			break
		}
		record, err := describeFile(f.path, w.record.Account)
		if err != nil {
			fmt.Fprintln(os.Stderr, "describe the output:", err)
			continue
		}
		record.Stream = f.stream
		files = append(files, record)
	}
	return files
}

func describeFile(path string, owner account) (fileRecord, error) {
	file, err := openPlain(path, owner)
	if err != nil {
		return fileRecord{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fileRecord{}, err
	}
	return fileRecord{Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
