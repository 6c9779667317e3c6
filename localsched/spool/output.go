package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxFetch bounds what one Fetch returns.
const maxFetch = 16 << 20

// Outputs are the files that a job's output goes to.
type Outputs struct {
	Owner  uint32 // uid of the account
	Stdout string // path; empty: nowhere
	Stderr string // path; empty: nowhere; equal to Stdout: both in one
}

// Outputs is where the output goes of a job whose folder is dir: a guest's to files
// within it.
func (j Job) Outputs(dir string) Outputs {
	payload := j.Submission.Payload
	out := Outputs{Owner: j.Account.UID, Stdout: payload.Stdout, Stderr: payload.Stderr}
	if !j.Submission.Guest {
		return out
	}
	out.Stdout, out.Stderr = filepath.Join(dir, outFile), filepath.Join(dir, errFile)
	if payload.Stdout == payload.Stderr {
		out.Stderr = out.Stdout
	}
	return out
}

func (o Outputs) path(stream protocol.Stream) string {
	if stream == protocol.Stderr {
		return o.Stderr
	}
	return o.Stdout
}

// Fetch reads up to size bytes, and at most 16 MiB, of a job's output from an offset
// on. Where both streams are in one file, both name it. The error wraps
// [localsched.ErrUnknownJob] when there is no such file of the job's account.
func (o Outputs) Fetch(tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	file, err := OpenPlain(o.path(stream), o.Owner)
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

// File is an output file of a guest.
type File struct {
	Stream protocol.Stream `json:"stream"`
	Size   int64           `json:"size"`   // in bytes
	SHA256 string          `json:"sha256"` // in hexadecimal
}

// Files describes the output files of a guest whose folder is dir; other jobs have
// none to tell of. The error is about those that are not in the list, such as one
// that the guest has removed.
func (j Job) Files(dir string) (files []File, err error) {
	if !j.Submission.Guest {
		return nil, nil
	}
	out := j.Outputs(dir)
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if stream == protocol.Stderr && out.Stderr == out.Stdout {
			break
		}
		file, failed := out.describe(stream)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		files = append(files, file)
	}
	return files, err
}

func (o Outputs) describe(stream protocol.Stream) (File, error) {
	file, err := OpenPlain(o.path(stream), o.Owner)
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return File{}, err
	}
	return File{Stream: stream, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
