package staging

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Sending are files of this machine that are to lie below a directory of another one.
type Sending struct {
	Files *protocol.Staging // as they are to lie there: without links, and none outside of the directory

	search *search
	here   []protocol.StagedFile // as they are on this machine
}

// FindToSend finds files as [FindWithin] does, for another machine. Their times there are whole seconds, since some file
// systems keep no more.
func FindToSend(ctx context.Context, dir string, paths []string, limit Limit) (*Sending, error) {
	s, found, err := look(dir, paths)
	if err == nil && limit != nil {
		err = limit(sizeOf(found.Inputs), found.Inputs)
	}
	if err != nil {
		return nil, err
	}
	sum, size := sha256.New(), new(counter)
	if err = (packer{open: s.open, seconds: true}).pack(ctx, io.MultiWriter(sum, size), found.Inputs); err != nil {
		return nil, fmt.Errorf("read the files of --stage-in: %w", err)
	}
	out := &Sending{search: s, here: found.Inputs}
	out.Files = &protocol.Staging{Bytes: int64(*size), SHA256: [32]byte(sum.Sum(nil)), Inputs: slices.Clone(found.Inputs)}
	for i := range out.Files.Inputs {
		if f := &out.Files.Inputs[i]; !f.IsDir() {
			f.Modified = wholeSeconds(f.Modified)
		}
	}
	return out, nil
}

// Write writes the archive. The error is a *[ChangedError] if a file is not as it was found.
func (s *Sending) Write(ctx context.Context, w io.Writer) error {
	return packer{open: s.search.open, noted: true, seconds: true}.pack(ctx, w, s.here)
}

// wholeSeconds is a time in nanoseconds since the Unix epoch without its fraction of a second. It is never 0, which stands for no time.
func wholeSeconds(ns int64) int64 {
	second := time.Unix(0, ns).Truncate(time.Second).UnixNano()
	if second == 0 {
		return int64(time.Second)
	}
	return second
}
