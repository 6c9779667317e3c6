package spool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxFetch bounds what one Fetch returns.
const maxFetch = 16 << 20

// DefaultMaxOutput is how many bytes a guest may write to a file, and so to each stream
// of its output, when nothing else is configured.
const DefaultMaxOutput = 1 << 30

// Outputs are the files that a job's output goes to.
type Outputs struct {
	Owner  uint32 // uid of the account
	Stdout string // path; empty: nowhere
	Stderr string // path; empty: nowhere; equal to Stdout: both in one
	Append bool   // it goes behind what is in them already
	Limit  int64  // bytes of each file that are read; what is beyond is not there. 0: no limit

	archive string // of files that go back, written by the peer; empty: none do
}

// Outputs is where the output goes of a job whose directory is dir: a guest's to files
// within it.
func (j Job) Outputs(dir string) Outputs {
	payload := j.Submission.Payload
	out := Outputs{Owner: j.Account.UID, Stdout: payload.Stdout, Stderr: payload.Stderr}
	if !j.Submission.Private() {
		out.Append = payload.AppendOutput
		return out
	}
	out.Limit = j.FileLimit()
	if payload.Staging.ComesBack() {
		out.archive = filepath.Join(dir, filesFile)
	}
	out.Stdout, out.Stderr = filepath.Join(dir, outFile), filepath.Join(dir, errFile)
	if payload.Stdout == payload.Stderr {
		out.Stderr = out.Stdout
	}
	return out
}

// FileLimit is how many bytes the job may write to a file. 0: no limit, since the job is
// not a guest.
func (j Job) FileLimit() int64 {
	if !j.Submission.Private() {
		return 0
	}
	return cmp.Or(j.MaxOutput, DefaultMaxOutput)
}

func (o Outputs) path(stream protocol.Stream) string {
	if stream == protocol.Stderr {
		return o.Stderr
	}
	return o.Stdout
}

// open opens the file of a stream, as far as its account could have put it there; the archive of files that go
// back is the peer's own.
func (o Outputs) open(stream protocol.Stream) (*os.File, error) {
	switch {
	case stream == protocol.StageInArchive || stream == protocol.StageOutArchive && o.archive == "":
		return nil, fs.ErrNotExist
	case stream == protocol.StageOutArchive:
		return OpenPlain(o.archive, uint32(os.Geteuid())) //nolint:gosec // it is not negative
	}
	return OpenPlain(o.path(stream), o.Owner)
}

// Fetch reads up to size bytes, and at most 16 MiB, of a job's output from an offset
// on. Where both streams are in one file, both name it. The error wraps
// [localsched.ErrUnknownJob] when there is no such file of the job's account.
func (o Outputs) Fetch(tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	file, err := o.open(stream)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%v of job %v: %w", stream, tag, localsched.ErrUnknownJob)
	}
	if err != nil {
		return nil, fmt.Errorf("%v of job %v: %w: %w", stream, tag, localsched.ErrUnknownJob, err)
	}
	offset = max(0, offset)
	most := maxFetch
	if stream != protocol.StageOutArchive {
		most = o.beyond(offset)
	}
	data := make([]byte, min(max(0, size), maxFetch, most))
	n, err := file.ReadAt(data, offset)
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

// beyond is how many bytes there may be from an offset on.
func (o Outputs) beyond(offset int64) int {
	if o.Limit == 0 {
		return maxFetch
	}
	return int(min(max(0, o.Limit-offset), maxFetch))
}

// Files describes the output files of a guest whose directory is dir, up to the limit of their
// sizes; other jobs have none to tell of. A notice, for the submitter, is about a file that
// was cut, or that is not in the list, such as one that the guest has removed or that takes
// too long to read. It ends soon when the context does.
func (j Job) Files(ctx context.Context, dir string) (files []File, notices []string) {
	if !j.Submission.Private() {
		return nil, nil
	}
	out := j.Outputs(dir)
	ctx, cancel := context.WithTimeout(ctx, readTimeout(out.Limit))
	defer cancel()
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if stream == protocol.Stderr && out.Stderr == out.Stdout {
			break
		}
		file, err := out.describe(ctx, stream)
		if err != nil {
			notices = append(notices, fmt.Sprintf("%v is not returned: %v", stream, reasonOf(err)))
			continue
		}
		if file.Size >= out.Limit {
			notices = append(notices, fmt.Sprintf("%v ended at %s, [localsched] max_output", stream, SizeText(out.Limit)))
		}
		files = append(files, file)
	}
	return files, notices
}

// AddOutputFiles adds to how a job has ended the output files that [Job.Files] finds, the archive of the
// files that go back with it, and notices. While there is no room on the disk for that archive, full is true and only
// the rest is added: the caller tries [Job.AddArchive] later.
func (j Job) AddOutputFiles(ctx context.Context, dir string, end *End) (full bool) {
	var notices []string
	end.Files, notices = j.Files(ctx, dir)
	const asExitCode = 128 + int(syscall.SIGXFSZ)
	limit := j.FileLimit()
	if limit > 0 && len(notices) == 0 && (end.Signal == int(syscall.SIGXFSZ) || end.ExitCode == asExitCode) {
		notices = []string{fmt.Sprintf("a file reached %s, the most that a partner's job may write to one, [localsched] max_output", SizeText(limit))}
	}
	end.Reason = Noted(end.Reason, notices...)
	return j.AddArchive(ctx, dir, end)
}

// readTimeout is how long files of a size may take to be read, on a slow disk too.
func readTimeout(limit int64) time.Duration {
	const each = 1 << 30 // bytes
	return time.Duration(1+min(limit/each, 1<<20)) * time.Minute
}

// reasonOf says why a file is not returned, without its path, which is of no use to
// somebody at another site.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the job has removed it"
	case errors.Is(err, ErrNotPlain):
		return ErrNotPlain.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "it could not be read in time"
	case errors.Is(err, context.Canceled):
		return "the reading of it was stopped"
	}
	return err.Error()
}

// SizeText prints a number of bytes for people.
func SizeText(bytes int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if size := int64(1) << (40 - 10*i); bytes >= size && bytes%size == 0 {
			return fmt.Sprintf("%d %s", bytes/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func (o Outputs) describe(ctx context.Context, stream protocol.Stream) (File, error) {
	file, err := OpenPlain(o.path(stream), o.Owner)
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(whileAllowed{ctx, file}, o.Limit))
	if err = errors.Join(err, file.Close()); err != nil {
		return File{}, err
	}
	return File{Stream: stream, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// whileAllowed reads until the context ends.
type whileAllowed struct {
	ctx  context.Context //nolint:containedctx // of one reading
	from io.Reader
}

// Read implements [io.Reader].
func (r whileAllowed) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
