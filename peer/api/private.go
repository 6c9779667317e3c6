package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// manages reports whether the caller sees and may cancel the jobs of all users.
func (s *server) manages(who caller) bool {
	return who.may(accesstokens.Operate) && (who.admin || slices.Contains(s.Admins, who.user))
}

// sees says whether the caller may look at the job. A guest's user is one of another site, whatever the name: here it is its
// account's. An account that runs jobs of this site's users does not see these: a user of the site has other ways to look at them.
func (s *server) sees(who caller, job *view.Job) bool {
	whose := job.Whose()
	return !s.Private || s.manages(who) || whose != "" && whose == who.user
}

// jobFor is the job as its caller sees it. One that the caller may not see is answered for
// like one that is not there.
func (s *server) jobFor(ctx context.Context, who caller, id protocol.JobID) (view.Job, error) {
	job, err := s.Node.Job(ctx, id)
	if err == nil && s.sees(who, &job) {
		return job, nil
	}
	if err != nil && !s.hides(who, refusalOf(err).Code) {
		return view.Job{}, err
	}
	return view.Job{}, refuse(view.NotFound, "job %v is not known here, or has ended", id)
}

// hides says whether a refusal is one that who sees only their own jobs may not distinguish from that of a job that is not there. A job of
// another site's that has ended here is refused as one.
func (s *server) hides(who caller, code view.RefusalCode) bool {
	return s.Private && (code == view.NotFound || code == view.Denied && !s.manages(who))
}

// requested is the id of the job that the request names, if the caller may see that job.
func (s *server) requested(r *http.Request, who caller) (protocol.JobID, error) {
	id, err := s.jobID(r, who)
	if err != nil || !s.Private {
		return id, err
	}
	_, err = s.jobFor(r.Context(), who, id)
	return id, err
}

// seen are those of the jobs that the caller may see.
func (s *server) seen(who caller, jobs []view.Job) []view.Job {
	return slices.DeleteFunc(jobs, func(job view.Job) bool { return !s.sees(who, &job) })
}
