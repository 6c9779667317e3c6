package localschedv1

import (
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of fields, beside those of package wire.
const (
	MaxJobs   = 1 << 20            // jobs of a query, changes of a watch, tags of actions
	MaxReason = protocol.MaxReason // bytes of any text for people

	maxList   = 64 // capabilities
	maxCursor = 4096
	maxID     = 256 // bytes of a local id, an account
)

// DecodeTag checks and converts a tag. The error names the field.
func DecodeTag(m *commonv1.Tag) (protocol.Tag, error) {
	tag := commonv1.DecodeTag(m)
	return tag, commonv1.CheckTag(tag)
}

func sameJob(job, of protocol.JobID) error {
	if job != of {
		return wire.Wrong("job", "is %v, but the tag's is %v", job, of)
	}
	return nil
}
