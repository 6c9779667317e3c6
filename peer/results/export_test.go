package results

import (
	"io"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Pack is what a [Deliverer] has done as an account.
func (d *Dir) Pack(job protocol.JobID, files *protocol.Staging, write func(io.Writer) error) error {
	return d.pack(job, files, write)
}
