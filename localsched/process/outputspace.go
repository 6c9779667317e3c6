package process

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// reservedBytes is how many bytes of the spool's disk are kept for each output file of a guest,
// beyond what it has: a disk that fills up then takes little output from anybody, and nothing
// of it in silence.
const reservedBytes = 32 << 10

// spaceCheckInterval is how often a shim looks whether they are there.
const spaceCheckInterval = time.Second

// reserveSpace keeps the bytes after an open file's end; most bounds the file's size.
func reserveSpace(fd int, size, most int64) error {
	length := min(reservedBytes, most-size)
	if length <= 0 {
		return nil
	}
	for {
		err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, size, length)
		switch {
		case errors.Is(err, unix.EINTR):
		case localdisk.Full(err):
			return err
		case err == nil:
			return nil
		default: // this file system cannot do it
			return diskFullError(fd)
		}
	}
}

// diskFullError says of an open file's disk that it is full.
func diskFullError(fd int) error {
	var disk unix.Statfs_t
	if err := unix.Fstatfs(fd, &disk); err == nil && disk.Blocks > 0 && disk.Bavail == 0 {
		return unix.ENOSPC
	}
	return nil
}

// outputSpace watches that a guest's output has room on the disk.
type outputSpace struct {
	outputs []*output
	lost    bool // the disk was full when a file had used up its room
}

// output is an output file of a guest.
type output struct {
	file  *os.File
	limit int64 // bytes of it
	until int64 // its bytes to here have room
	short bool  // there was no more when it was last asked for
}

// openOutputSpace takes hold of a guest's output files. One that is not as it was made is left out.
func openOutputSpace(job spool.Job, dir string) *outputSpace {
	r := &outputSpace{}
	if !job.Submission.Private() {
		return r
	}
	out := job.Outputs(dir)
	paths := []string{out.Stdout, out.Stderr}
	if out.Stdout == out.Stderr {
		paths = paths[:1]
	}
	for _, path := range paths {
		if file, err := spool.OpenPlainToWrite(path, out.Owner); err == nil {
			r.outputs = append(r.outputs, &output{file: file, limit: out.Limit, until: min(reservedBytes, out.Limit)})
		}
	}
	return r
}

// reserve keeps space for what comes next.
func (r *outputSpace) reserve() {
	for _, o := range r.outputs {
		r.lost = o.reserve() || r.lost
	}
}

// reserve reports whether output was lost: the file has used its room up and there was no more, now
// or before.
func (o *output) reserve() (lost bool) {
	info, err := o.file.Stat()
	if err != nil {
		return false
	}
	size := info.Size()
	used := size >= o.until && size < o.limit
	before := o.short
	o.short = reserveSpace(int(o.file.Fd()), size, o.limit) != nil
	if !o.short {
		o.until = min(size+reservedBytes, o.limit)
	}
	return used && (before || o.short)
}

// close gives up the room that was not used, when the job has ended, and says so if output
// was lost.
func (r *outputSpace) close(job spool.Job, end *spool.End) {
	r.reserve()
	for _, o := range r.outputs {
		info, err := o.file.Stat()
		if err == nil && info.Size() < o.limit {
			err = o.file.Truncate(info.Size())
		}
		if err = errors.Join(err, o.file.Close()); err != nil {
			fmt.Fprintln(os.Stderr, "give up room for output:", err)
		}
	}
	if r.lost {
		job.LoseOutput(end)
	}
}
