package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Desk is where a site admits jobs.
type Desk struct {
	Site       eligible.Site
	Number     protocol.SiteNumber
	MaxJobs    int    // of this site that have not ended
	MaxOfUser  int    // of them of one user
	MaxArray   int    // above the highest index of an array
	MaxStaging int64  // bytes of files that may go with one of them to another site; 0: none
	MaxCycle   int    // that the site takes in a period, over all senders; 0: any number
	Stopped    string // why the site takes no jobs now; empty: it does
	Accounts   rules.Accounts
	Mapping    association.Table // of what its own jobs are charged to, and where they run
	Policy     *policy.Description
	Objectives *broker.Objectives
	Partners   []Partner // those that are configured, in order
	Now        protocol.Instant

	ExportRemote []string // variables that leave with every job

	user string // of the jobs that are looked at now
}

// Partner is what is known of another site, by its card.
type Partner struct {
	eligible.Site

	MaxJobs int // that it takes of this site at once; 0: any number
	MaxCPUs int // of them together; 0: any number

	Mapping *association.Table // of what this site's jobs are charged to there; nil: not known

	Shared      []string // directories that this site says it shares with it
	SharedThere []string // those that it says it shares with this site
}

// Shares says whether a job can run in place at the partner.
func (one *Partner) Shares(payload *protocol.Payload) bool {
	return payload != nil && payload.SharedBy(one.Shared, one.SharedThere)
}

// MayLeaveTo says which partners may get one of the jobs, and at which of them all would run in place. One that is not known
// yet may get any.
func (d *Desk) MayLeaveTo(specs []protocol.Spec, payloads []*protocol.Payload) view.Elsewhere {
	out := view.Elsewhere{Site: d.Site.Name}
	if d.Policy.LocalOnly() {
		return out
	}
	for i := range d.Partners {
		if one := &d.Partners[i]; one.mayGet(specs) {
			out.MayLeaveTo, out.ExportRemote = append(out.MayLeaveTo, one.Name), d.ExportRemote
			if !slices.ContainsFunc(payloads, func(p *protocol.Payload) bool { return !one.Shares(p) }) {
				out.InPlace = append(out.InPlace, one.Name)
			}
		}
	}
	return out
}

func (one *Partner) mayGet(specs []protocol.Spec) bool {
	for i := range specs {
		if verdict := one.Judge(&specs[i], false); verdict == eligible.Eligible || verdict == eligible.NotKnown {
			return true
		}
	}
	return false
}

// Unknown says whether no site that is known can run a job in any of its shapes, and one that is not
// might.
func (d *Desk) Unknown(j *row.Job) bool {
	shapes := 1
	if d.Policy.DecidesApplications() {
		shapes = max(1, len(j.Shapes()))
	}
	for shape := range shapes {
		spec := j.Shaped(shape)
		if _, certain := d.eligibility(&spec, j.Together()); certain {
			return false
		}
	}
	return true
}

// eligibility goes by the site cards: whether a site that is known can run the job, and whether that, or
// the contrary, is certain.
func (d *Desk) eligibility(spec *protocol.Spec, together bool) (can, certain bool) {
	certain = true
	for i := range 1 + len(d.Partners) {
		site := d.site(i)
		switch site.Judge(spec, together) {
		case eligible.Eligible:
			if d.unmapped(i, spec) == "" {
				return true, true
			}
		case eligible.NotKnown:
			certain = false
		case eligible.NotNamed, eligible.Barred, eligible.TooLarge, eligible.NoContainers, eligible.HoldsNoRoom:
		}
	}
	return false, certain
}

// refusals are why the sites cannot run a job that none can.
func (d *Desk) refusals(spec *protocol.Spec, together bool) []view.SiteRefusal {
	all := make([]view.SiteRefusal, 1+len(d.Partners))
	for i := range all {
		site := d.site(i)
		all[i] = view.SiteRefusal{Site: site.Name, Reason: site.IneligibleReason(spec, together)}
		if all[i].Reason == "" {
			all[i].Reason = d.unmapped(i, spec)
		}
	}
	return all
}

// mapping is what accounts, partitions and QOS of this site's jobs mean at this site (0) or at a partner; nil: that is
// not known.
func (d *Desk) mapping(i int) *association.Table {
	if i == 0 {
		return &d.Mapping
	}
	return d.Partners[i-1].Mapping
}

// unmapped is why this site (0) or a partner does not take the account, the partition or the QOS that a job asks
// for; empty: it does, or may.
func (d *Desk) unmapped(i int, spec *protocol.Spec) string {
	if table := d.mapping(i); table != nil {
		if _, err := table.Map(d.Site.Name, cmp.Or(spec.User, d.user), spec.Association); err != nil {
			return err.Error()
		}
	}
	return ""
}

// ShapeNotices says that of several counts of CPUs the first is used, if the policy chooses none; it is the same
// for all jobs with the same count.
func (d *Desk) ShapeNotices(jobs []protocol.Job) (notices []string) {
	if d.Policy.DecidesApplications() {
		return nil
	}
	for i := range jobs {
		if len(jobs[i].Component.Shapes) == 0 {
			continue
		}
		notice := fmt.Sprintf("--cpus names several counts of CPUs: the policy %s of this site chooses none, and uses the first, %d", d.Policy.Name, jobs[i].Spec.CPUs)
		if !slices.Contains(notices, notice) {
			notices = append(notices, notice)
		}
	}
	return notices
}

// AssociationNotices says what of the jobs' accounts, partitions and QOS has no effect at which of the sites
// where they may run, each once.
func (d *Desk) AssociationNotices(user string, jobs []protocol.Job) (notices []string) {
	sites, notes := map[string][]string{}, []string(nil)
	for k := range jobs {
		spec := &jobs[k].Spec
		for i := range 1 + len(d.Partners) {
			site, table := d.site(i), d.mapping(i)
			if table == nil || site.Judge(spec, false) != eligible.Eligible {
				continue
			}
			mapped, err := table.Map(d.Site.Name, user, spec.Association)
			if err != nil || mapped.Note == "" || slices.Contains(sites[mapped.Note], string(site.Name)) {
				continue
			}
			if sites[mapped.Note] == nil {
				notes = append(notes, mapped.Note)
			}
			sites[mapped.Note] = append(sites[mapped.Note], string(site.Name))
		}
	}
	for _, note := range notes {
		notices = append(notices, strings.Join(sites[note], ", ")+": "+note)
	}
	return notices
}

// site is this site (0), or a partner, as one that jobs may be sent to.
func (d *Desk) site(i int) eligible.Site {
	if i == 0 {
		return d.Site
	}
	site := d.Partners[i-1].Site
	if d.Policy.LocalOnly() {
		site.Capacity, site.Barred = &protocol.Capacity{}, fmt.Sprintf("the policy %s sends no job away", d.Policy.Name)
	}
	return site
}

// Spec is that of a new job of a user.
func (d *Desk) Spec(one *protocol.Job, user string, id protocol.JobID, now protocol.Instant) protocol.Spec {
	spec := one.Spec
	spec.Job, spec.User, spec.Submitted = id, user, now
	spec.Sites = d.sites(one)
	spec.StageIn, spec.StageOut = 0, false
	if one.Payload != nil {
		spec.StageIn, spec.StageOut = one.Payload.Staging.BytesOf(), one.Payload.Staging.ComesBack()
		spec.Data = max(spec.Data, spec.StageIn) // the user may know of more
	}
	spec.PowerClass = protocol.PowerClassOf(d.Site.Name, user, spec.Name)
	d.setReferenceSpeed(&spec)
	return spec
}

// setReferenceSpeed says which CPUs a job's wall time is meant for, if the submitter does not.
func (d *Desk) setReferenceSpeed(spec *protocol.Spec) {
	if spec.MHz == 0 && spec.Mflops == 0 {
		spec.MHz, spec.Mflops = d.Site.Capacity.MHz, d.Site.Capacity.Mflops
	}
}

// Job is the row of a new job, a component of an application or of none (0), and what it runs.
func (d *Desk) Job(one *protocol.Job, spec protocol.Spec, application protocol.JobID) (row.Job, protocol.Payload) {
	payload := *one.Payload
	payload.Env = withoutArray(payload.Env)
	payload.Stdout, payload.Stderr = expand(payload.Stdout, spec.Job), expand(payload.Stderr, spec.Job)
	payload.Input = expand(payload.Input, spec.Job)
	if payload.Stderr == payload.Stdout {
		payload.Stderr = payload.Stdout // the same string, once in memory
	}
	if application != 0 {
		payload.Env = append(slices.Clip(payload.Env), "SWITCHYARD_APPLICATION="+application.String())
	}
	return rowOf(one, spec, payload, application), payload
}

// Array is the row of a new array, and what its elements run.
func (*Desk) Array(one *protocol.Job, spec protocol.Spec) (row.Array, protocol.Payload) {
	payload := *one.Payload
	payload.Env = withoutArray(payload.Env)
	return row.Array{Job: rowOf(one, spec, payload, 0), Asked: *one.Array, Pending: one.Array.Indexes}, payload
}

// withoutArray is an environment without the variables of the element, if any, from which the job was submitted.
func withoutArray(env []string) []string {
	ofArray := func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return protocol.IsArrayVariable(name)
	}
	if !slices.ContainsFunc(env, ofArray) {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), ofArray)
}

func rowOf(one *protocol.Job, spec protocol.Spec, payload protocol.Payload, application protocol.JobID) row.Job {
	stored := row.Job{
		Spec: spec, Phase: row.JobInGridQueue, State: protocol.Pending,
		WorkDir: payload.WorkDir, Stdout: payload.Stdout, Stderr: payload.Stderr,
		Application: application, Component: broker.NewComponent(one), Export: one.Export, Mail: one.Mail, NoRequeue: one.NoRequeue,
	}
	stored.SetConditions(one.Conditions)
	return stored
}

// expand is a file name of a job on its own.
func expand(name string, id protocol.JobID) string { return row.FileName(name, id, protocol.Element{}) }

// Known are the partners that jobs may be sent to, by their cards.
func Known(partners []*partner.Partner) (all []Partner) {
	for _, one := range partners {
		if one.Departed {
			continue
		}
		known := Partner{Site: one.AsSite(), Shared: one.Shared, SharedThere: one.SharedThere()}
		if one.Card != nil {
			known.MaxJobs, known.MaxCPUs = one.Card.MaxJobs, one.Card.MaxCPUs
			known.Mapping = (*association.Table)(one.Card.Associations)
		}
		all = append(all, known)
	}
	return all
}

// Submitted answers the submission of jobs whose IDs are those from the first on.
func (d *Desk) Submitted(jobs []protocol.Job, first protocol.JobID, count int) view.Submitted {
	specs, payloads, ids := make([]protocol.Spec, len(jobs)), make([]*protocol.Payload, len(jobs)), make([]protocol.JobID, count)
	for i := range jobs {
		specs[i], payloads[i] = jobs[i].Spec, jobs[i].Payload
		specs[i].Sites = d.sites(&jobs[i])
	}
	for i := range ids {
		ids[i] = first + protocol.JobID(i)
	}
	return view.Submitted{Elsewhere: d.MayLeaveTo(specs, payloads), Jobs: ids}
}

// UnknownNotice is what the submitter of a job reads that no known site can run.
func UnknownNotice(id protocol.JobID) string {
	return fmt.Sprintf("job %v: no site that is known can run it; it waits for one that is not known yet", id)
}
