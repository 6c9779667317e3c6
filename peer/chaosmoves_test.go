package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
)

// TestChaosMoves lets random grids with a nemesis place jobs again that wait in local queues. No job may be lost or start
// twice, whatever fails meanwhile; and some do move.
func TestChaosMoves(t *testing.T) {
	t.Parallel()
	moves := 0
	var last *peertest.World
	count := func() {
		if last == nil {
			return
		}
		for _, s := range last.Sites() {
			for _, job := range s.Finished() {
				moves += job.Moves
			}
		}
	}
	runSeeds(t, func(i uint64) uint64 { return 3 * (i + 4_000_000) }, func(c *chaos) {
		count()
		last = c.world
	})
	if count(); *chaosSeed == 0 && moves == 0 {
		t.Error("no job has moved")
	}
}
