package view

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Counts are how many jobs a site has that have not ended, of its users and guests. They name no user.
type Counts struct {
	Lines []CountLine `json:"lines"` // by origin, site, state and reason
}

// CountLine counts the jobs that have these in common. An element of an array is a job.
type CountLine struct {
	Origin protocol.SiteName `json:"origin"`
	Site   protocol.SiteName `json:"site"` // where they are placed; empty: the grid queue
	State  protocol.State    `json:"state"`
	Reason string            `json:"reason"` // a word of Switchyard, or Other; empty: none is given
	Jobs   int               `json:"jobs"`
	CPUs   int               `json:"cpus"` // of all of them
}

// CountsOf counts jobs.
func CountsOf(jobs []Job) Counts {
	lines := map[CountLine]*CountLine{}
	for i := range jobs {
		job, n := &jobs[i], 1
		if job.Array != nil {
			n = job.Array.Elements.Len()
		}
		key := CountLine{Origin: job.Origin, Site: job.Site, State: job.State, Reason: ReasonClass(job.Reason)}
		if lines[key] == nil {
			line := key
			lines[key] = &line
		}
		lines[key].Jobs += n
		lines[key].CPUs += n * job.CPUs
	}
	counts := Counts{Lines: make([]CountLine, 0, len(lines))}
	for _, line := range lines {
		counts.Lines = append(counts.Lines, *line)
	}
	slices.SortFunc(counts.Lines, func(x, y CountLine) int {
		return cmp.Or(cmp.Compare(x.Origin, y.Origin), cmp.Compare(x.Site, y.Site), cmp.Compare(x.State, y.State), cmp.Compare(x.Reason, y.Reason))
	})
	return counts
}
