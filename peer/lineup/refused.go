package lineup

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Refused are the jobs that the local scheduler has refused, the first one first. It may take one when a
// job has left its queue: a batch system refuses, for example, a job whose user has too many.
type Refused struct {
	ids []protocol.JobID
}

// Add takes in a job that was just refused.
func (r *Refused) Add(j *tables.Job) {
	if !j.AwaitsMove {
		j.AwaitsMove = true
		r.ids = append(r.ids, j.Spec.Job)
	}
}

// maxTried bounds the jobs that try again at once, so that a great number of jobs that are always refused
// costs little.
const maxTried = 2

// Next takes out the next jobs that try the local scheduler again, and ends their exclusion from the site.
// Jobs that were refused last are the last to try again.
func (r *Refused) Next(jobs map[protocol.JobID]*tables.Job, site protocol.SiteName, now protocol.Instant) (tried []protocol.JobID) {
	for len(tried) < maxTried && len(r.ids) > 0 {
		j := jobs[r.ids[0]]
		r.ids = r.ids[1:]
		if j == nil {
			continue
		}
		j.AwaitsMove = false
		if j.Phase == row.JobInGridQueue && j.Excluded.Excludes(site, now) {
			j.Excluded.Allow(site)
			tried = append(tried, j.Spec.Job)
		}
	}
	return tried
}
