package sim

import (
	"hash/fnv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Placement is what became of one job.
type Placement struct {
	Site  int              // index of the site that ran it; -1: nobody ran it
	Start protocol.Instant // since the workload's beginning, as Job.Submit
	End   protocol.Instant
}

// Result is the outcome of a simulation.
type Result struct {
	Placements []Placement // of the workload's jobs, in their order
	Traffic    Traffic
	Events     int64  // that the peers and machines were given
	Hash       uint64 // of all that happened in order; the same seed gives the same
}

// Traffic is what went over the network.
type Traffic struct {
	Messages int64
	Bytes    int64 // as the messages are encoded on the wire, without frames
	Lost     int64
}

// hash mixes the placements and what was counted.
func (r *Result) hash(events uint64) uint64 {
	h := fnv.New64a()
	var word [8]byte
	put := func(v uint64) {
		for i := range word {
			word[i] = byte(v >> (8 * i))
		}
		_, _ = h.Write(word[:]) // a hash takes everything
	}
	for _, p := range r.Placements {
		put(uint64(p.Site))
		put(uint64(p.Start))
		put(uint64(p.End))
	}
	put(uint64(r.Traffic.Messages))
	put(events)
	return h.Sum64()
}
