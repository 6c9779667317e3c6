package slurm

import (
	"math/bits"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// classOf is equal for spans of about the same length: within a factor of two, in minutes.
func classOf(d protocol.Duration) int {
	return 1 + bits.Len64(uint64(max(0, d)/protocol.Minute))
}
