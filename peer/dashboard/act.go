package dashboard

import (
	"context"
	"net/http"
	"net/url"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// act is what a visitor may do with a job.
type act struct {
	Name     string // in the path of its page
	Title    string
	Question string // that the visitor confirms

	fits func(job *view.Job) bool
	do   func(ctx context.Context, peer *api.Client, name protocol.JobName) error
}

// acts are all that there are.
func acts() []act {
	held := func(job *view.Job) bool {
		return job.Reason == view.ReasonHeldByUser || job.Reason == view.ReasonHeldByAdmin
	}
	return []act{
		{
			"cancel", "Cancel", "Cancel this job? If it runs, it is ended. This cannot be taken back.",
			func(job *view.Job) bool { return !job.State.Terminal() && !job.Guest },
			func(ctx context.Context, peer *api.Client, name protocol.JobName) error {
				return peer.CancelElements(ctx, name)
			},
		},
		{
			"hold", "Hold", "Hold this job? It does not start until it is released.",
			func(job *view.Job) bool { return job.State == protocol.Pending && !job.Guest && !held(job) },
			func(ctx context.Context, peer *api.Client, name protocol.JobName) error { return peer.Hold(ctx, name) },
		},
		{
			"release", "Release", "Release this job? It starts as soon as it may.",
			func(job *view.Job) bool { return job.State == protocol.Pending && !job.Guest && held(job) },
			func(ctx context.Context, peer *api.Client, name protocol.JobName) error {
				return peer.Release(ctx, name)
			},
		},
	}
}

// fitting are those that a job is in a state for.
func fitting(job *view.Job) (fit []act) {
	for _, one := range acts() {
		if one.fits(job) {
			fit = append(fit, one)
		}
	}
	return fit
}

// mayAct reports whether the visitor may change any jobs.
func mayAct(visitor *api.Visitor) bool {
	return visitor.User != "" && visitor.Scopes.Has(accesstokens.Submit)
}

// actPage asks a visitor to confirm.
type actPage struct {
	Act  act
	Job  view.Job
	Path string // of the job
}

// requestedAct is the act and the job that a request names.
func requestedAct(r *request) (page actPage, name protocol.JobName, err error) {
	if r.visitor.User == "" {
		return page, name, &pageError{http.StatusForbidden, "Sign in to change jobs."}
	}
	if name, err = protocol.ParseJobName(r.PathValue("job")); err != nil {
		return page, name, notFound("%q is no job: %v.", r.PathValue("job"), err)
	}
	for _, one := range acts() {
		if one.Name == r.PathValue("act") {
			page.Act, page.Path = one, "/jobs/"+url.PathEscape(name.String())
			page.Job, err = r.visitor.Peer.Job(r.Context(), name)
			return page, name, err
		}
	}
	return page, name, notFound("There is no page %s.", r.URL.Path)
}

// confirmAct asks a visitor whether to do it. To look at the page changes nothing.
func (d *Dashboard) confirmAct(r *request) error {
	page, _, err := requestedAct(r)
	if err != nil {
		return err
	}
	return d.show(r, http.StatusOK, "act", frame{Title: page.Act.Title + " job " + page.Job.Label(), Path: "/jobs", Body: &page})
}

// doAct does it, with the rights of the visitor, and shows the job.
func (*Dashboard) doAct(r *request) error {
	page, name, err := requestedAct(r)
	if err != nil {
		return err
	}
	if err = page.Act.do(r.Context(), r.visitor.Peer, name); err != nil {
		return err
	}
	http.Redirect(r.w, r.Request, page.Path, http.StatusSeeOther)
	return nil
}
