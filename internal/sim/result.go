package sim

import (
	"hash/fnv"
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Placement is what became of one job.
type Placement struct {
	Site   int              // index of the site that ran it; -1 if no site did
	Queued protocol.Instant // when it came into the local queue of the site, since the workload's beginning; 0 under the scheme [Ideal]
	Start  protocol.Instant // as Queued
	End    protocol.Instant
}

// Result is the outcome of a simulation.
type Result struct {
	Placements []Placement // of the workload's jobs, in their order
	Traffic    Traffic
	Events     int64  // that the peers and machines were given
	Hash       uint64 // of all that happened in order; the same seed gives the same
	History    int    // how many of the first jobs are not measured
	Virtual    bool   // jobs ran on the one virtual machine of the scheme [Ideal]

	Applications []Achieved // in the order of Config.Applications
	Ledgers      []Ledger   // of the sites; none where no site charges and there are no applications
}

// Traffic is what went over the network.
type Traffic struct {
	Messages int64
	Bytes    int64 // as the messages are encoded on the wire, without frames
	Lost     int64
}

// hash mixes the placements, what was counted, and a hash of the steps.
func (r *Result) hash(steps uint64) uint64 {
	h := fnv.New64a()
	var line []byte
	put := func(numbers ...int64) {
		line = line[:0]
		for _, n := range numbers {
			line = append(strconv.AppendInt(line, n, 10), ' ')
		}
		_, _ = h.Write(line) // a hash takes everything
	}
	for _, p := range r.Placements {
		put(int64(p.Site), int64(p.Start), int64(p.End))
	}
	for i := range r.Applications {
		for _, c := range r.Applications[i].Components {
			put(int64(c.Site), int64(c.Start), int64(c.End), int64(c.CPUs), int64(c.Cost))
		}
	}
	put(r.Traffic.Messages, r.Traffic.Lost)
	return h.Sum64() ^ steps
}
