package api

import (
	"context"
	"net/http"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The job ID of an element follows from that of its array and its index, and that of an index that the array does not have is
// another job's. So the array is asked before the name of an element becomes a job ID.

// jobID is the ID of the job, array or element that the request names.
func (s *server) jobID(r *http.Request, who caller) (protocol.JobID, error) {
	name, err := protocol.ParseJobName(r.PathValue("id"))
	if err != nil {
		return 0, refuse(view.BadRequest, "%v", err)
	}
	id, one := name.ID()
	if !one {
		return 0, refuse(view.BadRequest, "%v names several jobs; name one, or an array", name)
	}
	return id, s.checkElements(r.Context(), who, name)
}

// checkElements refuses the name of elements of an array that does not have them, or is not known.
func (s *server) checkElements(ctx context.Context, who caller, name protocol.JobName) error {
	if name.Elements.IsZero() {
		return nil
	}
	array, err := s.jobFor(ctx, who, name.Job)
	if err != nil {
		return err
	}
	return refuseUnknownElements(name, &array)
}

// refuseUnknownElements refuses the name of elements that a job or an array does not have.
func refuseUnknownElements(name protocol.JobName, job *view.Job) error {
	if job.Array == nil {
		return refuse(view.NotFound, "job %v is no job array, so there is no %v", name.Job, name)
	}
	if unknown := name.Elements.Without(job.Array.Elements); !unknown.IsZero() {
		return refuse(view.NotFound, "array %v has no elements %v; its elements are %v", name.Job, unknown, job.Array.Elements)
	}
	return nil
}

// jobIDs are the IDs of jobs, arrays and elements that a list is to have. What is not known is not refused, but not in the
// list: of the elements of an array that is not known there is only the ID of the array, which is not known either.
func (s *server) jobIDs(ctx context.Context, who caller, names []protocol.JobName) (ids []protocol.JobID, err error) {
	named := 0
	for _, name := range names {
		if named += max(1, name.Elements.Len()); named > maxValues {
			return nil, refuse(view.BadRequest, "job: more than %d jobs and elements are named; name fewer, or the array", maxValues)
		}
	}
	for _, name := range names {
		if name.Elements.IsZero() {
			ids = append(ids, name.Job)
			continue
		}
		array, err := s.jobFor(ctx, who, name.Job)
		switch {
		case err == nil:
			err = refuseUnknownElements(name, &array)
		case refusalOf(err).Code == view.NotFound:
			ids = append(ids, name.Job)
			continue
		}
		if err != nil {
			return nil, err
		}
		for index := range name.Elements.All() {
			ids = append(ids, protocol.Element{Array: name.Job, Index: index}.ID())
		}
	}
	return ids, nil
}
