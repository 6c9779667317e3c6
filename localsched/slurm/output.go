package slurm

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Fetch implements [localsched.Scheduler]. Where both streams are in one file,
// both name it. It returns at most 16 MiB.
func (s *Scheduler) Fetch(
	_ context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	j, err := s.get(tag)
	if err != nil {
		return nil, err
	}
	if j == nil || s.stateOf(j) == making {
		return nil, localsched.UnknownJob(tag)
	}
	return j.outputs.Fetch(tag, stream, offset, size)
}
