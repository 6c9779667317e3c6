package reproduce

import (
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The links of XSEDE. The table of [MC 5.8], from measurements of GridFTP that are no
// longer to be had, is not known; these stand in for it: a transfer gets 250 MB/s where
// both ends are on the backbone of 10 Gbit/s, 60 MB/s where one is a campus cluster, and
// packets take 20 ms, and 10 ms more for each zone between.
const (
	backbone   = 250_000_000 // bytes a second
	campus     = 60_000_000
	nearby     = 20 * protocol.Millisecond
	acrossZone = 10 * protocol.Millisecond
)

// drawnData has each job's data drawn from [dataSizes].
const drawnData = -1

// dataSizes are those of [MC 5.8], in bytes, of which each job has one.
func dataSizes() []int64 {
	const kilobyte, megabyte, terabyte = 1_000, 1_000_000, 1_000_000_000_000
	return []int64{
		0, kilobyte, megabyte, 10 * megabyte, 100 * megabyte, 500 * megabyte,
		gigabyte, 10 * gigabyte, 100 * gigabyte, 500 * gigabyte, terabyte, 10 * terabyte,
	}
}

// links are those between the systems.
func links(systems []workload.System) [][]sim.DataLink {
	all := make([][]sim.DataLink, len(systems))
	for a, from := range systems {
		all[a] = make([]sim.DataLink, len(systems))
		for b, to := range systems {
			zones := (max(from.ZoneLag, to.ZoneLag) - min(from.ZoneLag, to.ZoneLag)) / protocol.Hour
			all[a][b] = sim.DataLink{
				Latency: nearby + zones*acrossZone, Bandwidth: min(uplink(from), uplink(to)),
			}
		}
	}
	return all
}

// uplink is what a system sends and takes: the clusters of universities have less.
func uplink(s workload.System) int64 {
	switch s.Name {
	case "Mason", "Steele", "Queenbee":
		return campus
	default:
		return backbone
	}
}
