package lives

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxUnknown bounds what partners can have this site remember of jobs that it does not know.
const maxUnknown = 10_000

// NoteUnknown remembers for the operator that a partner speaks of a placement of a job of this
// site which the rows do not have; j is the job by the rows, nil where they have none.
func (s *Store) NoteUnknown(partner protocol.SiteName, tag protocol.Tag, j *row.Job) {
	if !s.TracksLives() || tag.Job.Origin() != s.here.Number || len(s.unknown) >= maxUnknown {
		return
	}
	if j == nil && s.IssuedHere(tag.Job) || j != nil && j.Epoch >= tag.Epoch {
		return
	}
	if s.unknown == nil {
		s.unknown = map[protocol.Tag]protocol.SiteName{}
	}
	s.unknown[tag] = partner
}

// SpokenOf says whether a partner speaks of a placement of a job later than a tag's.
func (s *Store) SpokenOf(tag protocol.Tag) bool {
	for other := range s.unknown {
		if other.Job == tag.Job && other.Epoch > tag.Epoch {
			return true
		}
	}
	return false
}

// viewUnknown shows the placements that partners speak of and the rows do not have, in order.
func (s *Store) viewUnknown() (jobs []view.UnknownJob) {
	for _, tag := range slices.SortedFunc(maps.Keys(s.unknown), row.CompareTags) {
		jobs = append(jobs, view.UnknownJob{Tag: tag, Site: s.unknown[tag]})
	}
	return jobs
}
