package localschedv1

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of fields, beside those of package wire.
const (
	MaxJobs   = 1 << 20        // jobs of a query, changes of a watch, tags of actions
	MaxReason = wire.MaxReason // bytes of any text for people

	maxList   = 64 // capabilities
	maxCursor = 4096
	maxID     = 256 // bytes of a local id, an account
)

// span checks a time in ms as it travels.
func span(field string, n int64) error {
	if n < -1 {
		return fmt.Errorf("%s: %d is negative; -1 is never", field, n)
	}
	return nil
}

// EncodeTag converts a tag.
func EncodeTag(t protocol.Tag) *Tag { return &Tag{Job: uint64(t.Job), Epoch: uint32(t.Epoch)} }

// DecodeTag checks and converts a tag. The error names the field.
func DecodeTag(m *Tag) (protocol.Tag, error) {
	if m == nil {
		return protocol.Tag{}, wire.Present("tag", false)
	}
	return readTag(m.GetJob(), m.GetEpoch())
}

func readTag(job uint64, epoch uint32) (protocol.Tag, error) {
	switch {
	case job == 0:
		return protocol.Tag{}, errors.New("tag: job: is 0, which is no job's number")
	case epoch == 0:
		return protocol.Tag{}, errors.New("tag: epoch: is 0; epochs start at 1")
	}
	return protocol.Tag{Job: protocol.JobID(job), Epoch: protocol.Epoch(epoch)}, nil
}
