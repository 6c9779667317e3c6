package process

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

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
		return nil, localsched.UnknownJob(tag)
	}
	return j.outputs.Fetch(tag, stream, offset, size)
}
