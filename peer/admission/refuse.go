package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RefuseCount says why a user cannot submit this number of jobs now: open are those of the site that have
// not ended, and ofUser those of the user among them.
func (d *Desk) RefuseCount(user string, jobs, open, ofUser int) (view.Refusal, bool) {
	switch {
	case jobs == 0:
		return view.Refusal{Code: view.BadRequest, Reason: "the submission has no jobs; send 1 or more"}, true
	case open+jobs > d.MaxJobs:
		return view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf(
			"%s has %s here that did not end yet, and [limits] max_active_jobs is %d: submit again when some have ended",
			d.Site.Name, protocol.Count(open, "job"), d.MaxJobs)}, true
	case ofUser+jobs > d.MaxOfUser:
		return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf(
			"%s has %s here that did not end yet, and would have %d more; [limits] max_jobs_per_user is %d: submit again when some have ended",
			user, protocol.Count(ofUser, "job"), jobs, d.MaxOfUser)}, true
	}
	return view.Refusal{}, false
}

// arrayReason says why an array cannot be taken, alone or with other jobs; empty: it can, or there is none.
func (d *Desk) arrayReason(a *protocol.Application, jobs []protocol.Job) string {
	for i := range jobs {
		switch array := jobs[i].Array; {
		case array == nil:
		case a != nil || len(jobs) > 1:
			return "an array is submitted on its own: components of applications, and jobs that are submitted together, have no elements"
		case array.Indexes.Last() >= d.MaxArray:
			return fmt.Sprintf("the array has the index %d, and [limits] max_array_size of %s is %d: use indexes below that",
				array.Indexes.Last(), d.Site.Name, d.MaxArray)
		}
	}
	return ""
}

// refuseEmpty says which job has nothing to run.
func refuseEmpty(jobs []protocol.Job) (view.Refusal, bool) {
	for i := range jobs {
		if jobs[i].Payload == nil {
			return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf("job %d of %d: no script", i+1, len(jobs))}, true
		}
	}
	return view.Refusal{}, false
}

// dependenciesReason says that the jobs wait for more jobs than a submission may have looked up; empty: they do not.
func dependenciesReason(jobs []protocol.Job) string {
	total := 0
	for i := range jobs {
		if d := jobs[i].Conditions.Dependency; d != nil {
			total += len(d.Terms)
		}
	}
	if total <= protocol.MaxDependenciesTogether {
		return ""
	}
	return fmt.Sprintf("the dependencies of the %s together name %d jobs; at most %d are allowed in one submission: submit the jobs in several",
		protocol.Count(len(jobs), "job"), total, protocol.MaxDependenciesTogether)
}

// Refuse says why none of the jobs can be taken, or asked about.
func (d *Desk) Refuse(a *protocol.Application, jobs []protocol.Job) (view.Refusal, bool) {
	refusal, refused := d.refuseEach(jobs)
	if why := d.Objectives.Refuse(a, jobs); why != "" {
		if refusal.Reason != "" {
			why += "; " + refusal.Reason
		}
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	if refused {
		return refusal, true
	}
	return d.refuseGroups(jobs)
}

// maxRefused bounds the jobs of which a refusal says why.
const maxRefused = 8

// refuseEach says of all jobs that cannot run why, and of the first what each site says.
func (d *Desk) refuseEach(jobs []protocol.Job) (all view.Refusal, refused bool) {
	var reasons []string
	wrong := 0
	for i := range jobs {
		one, ok := d.refuseJob(&jobs[i])
		if !ok {
			continue
		}
		if wrong++; wrong > maxRefused {
			continue
		}
		if len(jobs) > 1 {
			one.Reason = fmt.Sprintf("job %d of %d, %s: %s", i+1, len(jobs), cmp.Or(jobs[i].Component.Name, jobs[i].Spec.Name), one.Reason)
		}
		reasons = append(reasons, one.Reason)
		if all.Code == "" || all.Code == view.NoSite && one.Code != view.NoSite {
			all = one
		}
	}
	if wrong > maxRefused {
		reasons = append(reasons, fmt.Sprintf("and %d more", wrong-maxRefused))
	}
	all.Reason = strings.Join(reasons, "; ")
	return all, wrong > 0
}

// refuseJob says why a job can run in none of its shapes.
func (d *Desk) refuseJob(one *protocol.Job) (view.Refusal, bool) {
	if err := one.Check(); err != nil {
		return view.Refusal{Code: view.BadRequest, Reason: err.Error()}, true
	}
	if why := d.longName(one.Payload); why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	if why := d.lateReason(one); why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	if why := d.filesReason(one); why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	asked := one.Spec
	asked.Sites = d.sites(one)
	if !one.Spec.Allows(d.Site.Name) && readsFile(one) {
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
			"the job's standard input is a file of %s, which is not among the sites that it names; name %s too, or have the script read the file where it runs",
			d.Site.Name, d.Site.Name)}, true
	}
	refusal, refused := d.refuseSpec(asked, one.Component.Together > 0)
	for _, s := range one.Component.Shapes {
		if !refused || refusal.Code != view.NoSite || !d.Policy.DecidesApplications() {
			break
		}
		spec := asked
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
		refusal, refused = d.refuseSpec(spec, one.Component.Together > 0)
	}
	if refused && refusal.Code == view.NoSite && readsFile(one) {
		refusal.Reason += fmt.Sprintf("; its standard input is a file of %s, so that it can run only there", d.Site.Name)
	}
	return refusal, refused
}

// lateReason says that a job cannot end by its deadline, if it takes its whole time limit; empty: it can.
func (d *Desk) lateReason(one *protocol.Job) string {
	deadline, start := one.Conditions.Deadline, max(d.Now, one.Conditions.Begin)
	limit := one.Spec.WallTime
	for _, s := range one.Component.Shapes {
		limit = min(limit, s.WallTime)
	}
	if deadline == 0 || start.Add(limit) <= deadline {
		return ""
	}
	return fmt.Sprintf("the job cannot end by its deadline, %s: its time limit is %s, and it starts at %s or later; give a later deadline or a shorter limit",
		deadline.Text(), limit.Text(), start.Text())
}

// readsFile says whether a job's standard input is a file of its origin.
func readsFile(one *protocol.Job) bool { return one.Payload != nil && one.Payload.Input != "" }

// sites are those where a job may run: of one that reads a file of this site, this one.
func (d *Desk) sites(one *protocol.Job) []protocol.SiteName {
	if readsFile(one) {
		return []protocol.SiteName{d.Site.Name}
	}
	return one.Spec.Sites
}

// longName says which of a job's files has a name that no partner could be sent, once the job's
// id stands in it; empty: none. An offer that cannot be sent would look like the partner's silence.
func (d *Desk) longName(payload *protocol.Payload) string {
	if payload == nil {
		return ""
	}
	id := protocol.NewJobID(d.Number, protocol.SeqsPerSite-1) // all ids of a site are as long
	for _, file := range []struct{ is, name string }{{"stdout", expand(payload.Stdout, id)}, {"stderr", expand(payload.Stderr, id)}, {"standard input", expand(payload.Input, id)}} {
		if len(file.name) > protocol.MaxPath {
			return fmt.Sprintf("the name of the job's %s has %d bytes, with the job's id for %%j; give one of at most %d",
				file.is, len(file.name), protocol.MaxPath)
		}
	}
	return ""
}

// refuseSpec says why a job can run in none of the sites that it names, or in none at all.
func (d *Desk) refuseSpec(spec protocol.Spec, together bool) (view.Refusal, bool) {
	d.setReferenceSpeed(&spec)
	for _, name := range spec.Sites {
		if !d.knows(name) {
			return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
				"site %q is neither this site nor a partner of it; `switchyard sites` lists them", name)}, true
		}
	}
	if can, certain := d.eligibility(&spec, together); !can && certain {
		return view.Refusal{Code: view.NoSite, Reason: "no site can run this job", Sites: d.refusals(&spec, together)}, true
	}
	return view.Refusal{}, false
}

// knows says whether a site is this one or a partner of it.
func (d *Desk) knows(name protocol.SiteName) bool {
	if name == d.Site.Name {
		return true
	}
	return slices.ContainsFunc(d.Partners, func(one Partner) bool { return one.Name == name })
}

// RefuseSubmission says why a user cannot submit the jobs now: open are those of the site that have not
// ended, and ofUser those of the user among them.
func (d *Desk) RefuseSubmission(user string, a *protocol.Application, jobs []protocol.Job, open, ofUser int) (view.Refusal, bool) {
	if d.Stopped != "" {
		return view.Refusal{Code: view.Unavailable, Reason: d.Stopped}, true
	}
	if refusal, ok := d.RefuseCount(user, protocol.CountJobs(jobs), open, ofUser); ok {
		return refusal, true
	}
	if _, err := d.Accounts.Local(user); err != nil {
		return view.Refusal{Code: view.Denied, Reason: err.Error()}, true
	}
	if refusal, ok := refuseEmpty(jobs); ok {
		return refusal, true
	}
	return d.refuse(user, a, jobs)
}

// RefuseQuestion says why a user cannot ask about the jobs; front says that the choices between cost and
// time are asked for.
func (d *Desk) RefuseQuestion(user string, a *protocol.Application, jobs []protocol.Job, front bool) (view.Refusal, bool) {
	switch {
	case len(jobs) == 0:
		return view.Refusal{Code: view.BadRequest, Reason: "the question has no jobs; send 1 or more"}, true
	case front && !d.Policy.DecidesApplications():
		return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
			"the policy %s of this site weighs no cost against time; ask at a site with the policy iss", d.Policy.Name)}, true
	}
	return d.refuse(user, a, jobs)
}

// refuse says why none of the jobs of a user can be taken, or asked about.
func (d *Desk) refuse(user string, a *protocol.Application, jobs []protocol.Job) (view.Refusal, bool) {
	if why := quoting.TooLargeReason(user, jobs); a != nil && why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	if why := cmp.Or(d.arrayReason(a, jobs), dependenciesReason(jobs)); why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	of := *d
	of.user = user
	return of.Refuse(a, jobs)
}
