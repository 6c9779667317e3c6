package peer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// submit takes jobs in, all or none.
func (p *Peer) submit(ev event.Submit) {
	if p.site.Listening && p.site.Recovery == "" && p.site.Twin.Boot == 0 {
		p.early = append(p.early, ev)
		return
	}
	key := ev.User + "\x00" + ev.Key
	if row, ok := p.dedup[key]; ok && ev.Key != "" {
		p.answer(ev.Asked, view.Submitted{Elsewhere: p.mayLeave(specsOf(ev.Jobs)), Jobs: p.idsFrom(row.First, row.Count)})
		return
	}
	if refusal, ok := p.refuseSubmission(ev); ok {
		p.answer(ev.Asked, refusal)
		return
	}
	first := protocol.NewJobID(p.cfg.Number, p.site.NextSeq)
	var notices []string
	ev.Application, ev.Jobs = p.withWeights(ev.Application, ev.Jobs)
	a := p.takeApplication(ev)
	for i := range ev.Jobs {
		j := p.newJob(ev.User, &ev.Jobs[i], a)
		if j.unknown {
			notices = append(notices, fmt.Sprintf(
				"job %v: no site that is known can run it; it waits for one that is not known yet", j.Spec.Job))
		}
	}
	p.saveSite()
	if ev.Key != "" {
		p.dedup[key] = row.Dedup{First: first, Count: len(ev.Jobs), At: p.now}
		p.saveDedup(key)
	}
	p.answer(ev.Asked, view.Submitted{Elsewhere: p.mayLeave(specsOf(ev.Jobs)), Jobs: p.idsFrom(first, len(ev.Jobs)), Notices: notices})
}

func specsOf(jobs []protocol.Job) []protocol.Spec {
	specs := make([]protocol.Spec, len(jobs))
	for i := range jobs {
		specs[i] = jobs[i].Spec
	}
	return specs
}

// mayLeave says which partners may get one of the jobs. One that is not known yet may.
func (p *Peer) mayLeave(specs []protocol.Spec) view.Elsewhere {
	l := view.Elsewhere{Site: p.cfg.Site}
	if p.cfg.Policy.KeepsAll() {
		return l
	}
	for _, one := range p.partners.All() {
		site := one.AsSite()
		may := func(spec protocol.Spec) bool {
			verdict := site.Judge(&spec, false)
			return verdict == eligible.Eligible || verdict == eligible.NotKnown
		}
		if !one.Departed && slices.ContainsFunc(specs, may) {
			l.MayLeaveTo = append(l.MayLeaveTo, one.Site)
		}
	}
	return l
}

func (p *Peer) idsFrom(first protocol.JobID, count int) []protocol.JobID {
	out := make([]protocol.JobID, count)
	for i := range out {
		out[i] = first + protocol.JobID(i)
	}
	return out
}

func (p *Peer) newJob(user string, one *protocol.Job, a *application) *job {
	id := protocol.NewJobID(p.cfg.Number, p.site.NextSeq)
	p.site.NextSeq++
	spec := one.Spec
	spec.Job, spec.User, spec.Submitted = id, user, p.now
	spec.Like = protocol.Likeness(p.cfg.Site, user, spec.Name)
	p.stateSpeed(&spec)
	payload := *one.Payload
	payload.Stdout, payload.Stderr = expand(payload.Stdout, id), expand(payload.Stderr, id)
	if payload.Stderr == payload.Stdout {
		payload.Stderr = payload.Stdout
	}
	j := &job{
		Job: row.Job{
			Spec: spec, Phase: row.JobInGridQueue, State: protocol.Pending,
			WorkDir: payload.WorkDir, Stdout: payload.Stdout, Stderr: payload.Stderr,
			Component: p.component(one), Export: one.Export,
		},
	}
	p.alike.Row(&j.Job)
	j.unknown = p.noKnownSite(j)
	if a != nil {
		j.Application = a.ID
		a.join(j)
		payload.Env = append(slices.Clip(payload.Env), "SWITCHYARD_APPLICATION="+a.ID.String())
	}
	j.packed = p.alike.Pack(user, &j.Job, &payload)
	p.jobs[id] = j
	p.jobsOf[user]++
	p.queue.Put(id)
	p.saveJob(id)
	p.savePayload(id)
	p.fact(event.Fact{Kind: event.JobSubmitted, Job: id, Text: spec.Name})
	if p.keepsOwn(j) {
		p.keep([]protocol.JobID{id}, "its user lets it run here only")
	}
	return j
}

func (j *job) payload() *protocol.Payload { return j.packed.Unpack(&j.Job) }

// expand puts the job's id for %j and %A in a file name, and a percent sign for
// %%. The submitter has expanded all the rest.
func expand(name string, id protocol.JobID) string {
	if !strings.Contains(name, "%") {
		return name
	}
	return strings.NewReplacer("%%", "%", "%j", id.String(), "%A", id.String()).Replace(name)
}

func (p *Peer) refuseSubmission(ev event.Submit) (view.Refusal, bool) {
	if why := p.site.StopReason(); why != "" {
		return view.Refusal{Code: view.NotNow, Reason: why}, true
	}
	if len(ev.Jobs) == 0 {
		return view.Refusal{Code: view.BadRequest, Reason: "the submission has no jobs; send 1 or more"}, true
	}
	if len(p.jobs)+len(ev.Jobs) > p.cfg.MaxGridJobs {
		return view.Refusal{Code: view.NotNow, Reason: fmt.Sprintf(
			"%s has %s here that did not end yet, and [limits] max_jobs is %d: submit again when some have ended",
			p.cfg.Site, protocol.Count(len(p.jobs), "job"), p.cfg.MaxGridJobs)}, true
	}
	if open := p.jobsOf[ev.User]; open+len(ev.Jobs) > p.cfg.MaxUserJobs {
		return view.Refusal{Code: view.Denied, Reason: fmt.Sprintf(
			"%s has %s here that did not end yet, and would have %d more; [limits] max_jobs_per_user is %d: submit again when some have ended",
			ev.User, protocol.Count(open, "job"), len(ev.Jobs), p.cfg.MaxUserJobs)}, true
	}
	if _, err := p.cfg.Accounts.Local(ev.User); err != nil {
		return view.Refusal{Code: view.Denied, Reason: err.Error()}, true
	}
	for i := range ev.Jobs {
		if ev.Jobs[i].Payload == nil {
			return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf("job %d of %d: no script", i+1, len(ev.Jobs))}, true
		}
	}
	return p.refuseJobs(ev.User, ev.Application, ev.Jobs)
}

// refuseJobs says why none of the jobs can be taken, or asked about.
func (p *Peer) refuseJobs(user string, a *protocol.Application, jobs []protocol.Job) (view.Refusal, bool) {
	if why := quoting.TooLargeReason(user, jobs); a != nil && why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	refusal, refused := p.refuseEach(jobs)
	if why := p.refuseWishes(a, jobs); why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: joined(why, refusal.Reason)}, true
	}
	if refused {
		return refusal, true
	}
	return p.refuseGroups(jobs)
}

// mostRefused bounds the jobs of which a refusal says why.
const mostRefused = 8

// refuseEach says of all jobs that cannot run why, and of the first what each site says.
func (p *Peer) refuseEach(jobs []protocol.Job) (all view.Refusal, refused bool) {
	var reasons []string
	wrong := 0
	for i := range jobs {
		one, ok := p.refuseJob(&jobs[i])
		if !ok {
			continue
		}
		if wrong++; wrong > mostRefused {
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
	if wrong > mostRefused {
		reasons = append(reasons, fmt.Sprintf("and %d more", wrong-mostRefused))
	}
	all.Reason = joined(reasons...)
	return all, wrong > 0
}

// refuseJob says why a job can run in none of its shapes.
func (p *Peer) refuseJob(one *protocol.Job) (view.Refusal, bool) {
	if err := one.Check(); err != nil {
		return view.Refusal{Code: view.BadRequest, Reason: err.Error()}, true
	}
	refusal, refused := p.refuseSpec(one.Spec, one.Component.Together > 0)
	if why := p.longName(one.Payload); why != "" {
		return view.Refusal{Code: view.BadRequest, Reason: why}, true
	}
	for _, s := range one.Component.Shapes {
		if !refused || refusal.Code != view.NoSite || !p.cfg.Policy.DecidesApplications() {
			break
		}
		spec := one.Spec
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
		refusal, refused = p.refuseSpec(spec, one.Component.Together > 0)
	}
	return refusal, refused
}

// longName says which of a job's files has a name that no partner could be sent, once the job's
// id stands in it; empty: none. An offer that cannot be sent would look like the partner's silence.
func (p *Peer) longName(payload *protocol.Payload) string {
	if payload == nil {
		return ""
	}
	id := protocol.NewJobID(p.cfg.Number, protocol.SeqsPerSite-1) // all ids of a site are as long
	for _, file := range []struct{ is, name string }{{"stdout", expand(payload.Stdout, id)}, {"stderr", expand(payload.Stderr, id)}} {
		if len(file.name) > protocol.MaxPath {
			return fmt.Sprintf("the name of the job's %s has %d bytes, with the job's id for %%j; give one of at most %d",
				file.is, len(file.name), protocol.MaxPath)
		}
	}
	return ""
}

// stateSpeed says which CPUs a job's wall time is meant for, if the submitter does not.
func (p *Peer) stateSpeed(spec *protocol.Spec) {
	if spec.MHz == 0 && spec.Mflops == 0 {
		spec.MHz, spec.Mflops = p.cfg.Capacity.MHz, p.cfg.Capacity.Mflops
	}
}

func (p *Peer) refuseSpec(spec protocol.Spec, held bool) (view.Refusal, bool) {
	p.stateSpeed(&spec)
	for _, name := range spec.Sites {
		if one := p.partners.Of(name); name != p.cfg.Site && (one == nil || one.Departed) {
			return view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf(
				"site %q is neither this site nor a partner of it; `switchyard sites` lists them", name)}, true
		}
	}
	can, known, noes := p.whoCanRun(spec, held)
	if !can && known {
		return view.Refusal{Code: view.NoSite, Reason: "no site can run this job", Sites: noes}, true
	}
	return view.Refusal{}, false
}

// noKnownSite says whether no site that is known can run the job in any of its shapes, and
// one that is not might.
func (p *Peer) noKnownSite(j *job) bool {
	shapes := 1
	if p.cfg.Policy.DecidesApplications() {
		shapes = max(1, len(j.Shapes()))
	}
	for shape := range shapes {
		if _, certain, _ := p.whoCanRun(j.Shaped(shape), j.Together()); certain {
			return false
		}
	}
	return true
}

// whoCanRun goes by the site cards: whether a site that is known can run the job;
// whether that, or the contrary, is certain; and every known site's no. A job that is held
// starts together with others.
func (p *Peer) whoCanRun(spec protocol.Spec, held bool) (can, certain bool, noes []view.SiteRefusal) {
	certain = true
	judge := func(site eligible.Site) {
		switch site.Judge(&spec, held) {
		case eligible.Eligible:
			can = true
		case eligible.NotKnown:
			certain = false
		case eligible.NotNamed, eligible.Barred, eligible.TooLarge, eligible.HoldsNoRoom:
			noes = append(noes, view.SiteRefusal{Site: site.Name, Reason: site.Why(&spec, held)})
		}
	}
	judge(p.here())
	for _, one := range p.partners.All() {
		if one.Departed {
			continue
		}
		site := one.AsSite()
		if p.cfg.Policy.KeepsAll() {
			site.Capacity, site.Barred = &protocol.Capacity{}, fmt.Sprintf("the policy %s sends no job away", p.cfg.Policy.Name)
		}
		judge(site)
	}
	return can, certain || can, noes
}

// finish ends a job of this origin, if nothing of it can start any more: see [Peer.endCancelled].
func (p *Peer) finish(j *job, state protocol.State, reason string) {
	if state == protocol.Cancelled {
		p.endCancelled(j, reason)
		return
	}
	p.conclude(j, state, reason)
}

// conclude has a job leave the core for the archive.
func (p *Peer) conclude(j *job, state protocol.State, reason string) {
	id := j.Spec.Job
	j.State, j.Reason, j.Stuck = state, clip(reason), ""
	if j.Ended == 0 {
		j.Ended = p.now
	}
	p.fact(event.Fact{Kind: event.JobEnded, Job: id, Site: j.Site, Epoch: j.Epoch, State: state, Text: j.Reason})
	p.noteBenefit(j)
	p.settleComponent(j)
	view := p.finishedView(j)
	p.epilogue(j)
	p.leaveSite(j)
	p.leaveApplication(j)
	p.queue.Remove(id)
	p.stopTimers(j)
	delete(p.jobs, id)
	if p.jobsOf[j.Spec.User]--; p.jobsOf[j.Spec.User] == 0 {
		delete(p.jobsOf, j.Spec.User)
	}
	p.saveJob(id)
	p.savePayload(id)
	p.out.Records = append(p.out.Records, row.Record{Table: row.ArchiveTable, Key: row.JobKey(id), Row: row.Archived{View: view}})
}

// stopTimers ends what is repeated or waited for because of the job.
func (p *Peer) stopTimers(j *job) {
	for _, kind := range []timerKind{jobTimer, collectTimer, reclaimTimer} {
		p.timers.Stop(timer{kind: kind, job: j.Spec.Job})
	}
}

// finishWith ends a job as its outcome says.
func (p *Peer) finishWith(j *job) {
	p.finish(j, j.Outcome.State, j.Outcome.Reason)
}

// backToQueue returns a job that is proven not to run anywhere to the grid queue,
// or ends it if it was to be cancelled.
func (p *Peer) backToQueue(j *job, kind event.FactKind, why string) {
	p.fact(event.Fact{Kind: kind, Job: j.Spec.Job, Site: j.Site, Epoch: j.Epoch, Text: clip(why)})
	p.timers.Stop(timer{kind: jobTimer, job: j.Spec.Job})
	p.timers.Stop(timer{kind: reclaimTimer, job: j.Spec.Job})
	p.leaveSite(j)
	j.Unplace()
	switch {
	case j.Cancelling && j.Restored:
		p.conclude(j, protocol.Cancelled, "outcome unknown: "+lives.RestoredReason)
		return
	case j.Cancelling:
		p.finish(j, protocol.Cancelled, "")
		return
	}
	if end := cmp.Or(p.apart(j), p.hopeless(j.application)); end != "" && !j.Restored {
		p.finish(j, protocol.Cancelled, end)
		return
	}
	p.moveJob(j, row.JobInGridQueue)
	j.Reason, j.detail, j.doubted = clip(why), "", false
	p.saveJob(j.Spec.Job)
	if j.Restored {
		p.stick(j)
		return
	}
	p.queue.Put(j.Spec.Job)
}

// comeBack returns a job that its site had to the grid queue. Of a group the others are
// wanted back, too. While they are on their way it rests, so that one round has them all.
func (p *Peer) comeBack(j *job, kind event.FactKind, why string) {
	held, misses := j.Hold != 0, p.misses(j)
	if misses {
		p.groupMissed(j, why)
	}
	p.backToQueue(j, kind, why)
	if held && p.partFrom(j, why) && j.Stuck == "" && p.inQueue(j) {
		p.hold(j, p.jitter(min(p.cfg.Sigma, p.cfg.RetryMax)), j.Reason, "")
	}
}

// inQueue says whether a job that was put back into the grid queue is there, and has not ended.
func (p *Peer) inQueue(j *job) bool { return p.jobs[j.Spec.Job] == j && j.Phase == row.JobInGridQueue }

// leaveSite takes the job off its partner's count.
func (p *Peer) leaveSite(j *job) {
	p.timers.Stop(timer{kind: startTimer, job: j.Spec.Job, epoch: j.Epoch})
	if one := p.partners.Of(j.Site); one != nil && j.countsThere {
		one.JobsThere--
	}
	j.countsThere = false
}

// shun keeps the site from being asked about the job for σ; under cycles also in the next one,
// or the policy would have the same choice again, and make it.
func (p *Peer) shun(j *job, site protocol.SiteName) { p.shunFor(j, site, p.shunTime()) }

func (p *Peer) shunTime() protocol.Duration {
	if p.cfg.Initiation == policy.Cycle {
		return max(p.cfg.Sigma, 2*p.cfg.Cycle) // at least one and a half
	}
	return p.cfg.Sigma
}

func (p *Peer) shunFor(j *job, site protocol.SiteName, d protocol.Duration) {
	if j.shunned == nil {
		j.shunned = map[protocol.SiteName]protocol.Instant{}
	}
	j.shunned[site] = p.now.Add(p.jitter(d))
	if site == p.cfg.Site {
		j.notHere = ""
	}
}

// refusedByScheduler is how the reason of a job begins that a batch system has refused.
const refusedByScheduler = "the local scheduler refused it: "

// shunHere keeps a job from the own site for a while, and says why. A batch system that refuses a
// job because its user has too many takes it when its queue has moved.
func (p *Peer) shunHere(j *job, why string) {
	p.shun(j, p.cfg.Site)
	j.notHere = clip(why)
	if !j.awaitsMove {
		j.awaitsMove = true
		p.awaitMove = append(p.awaitMove, j.Spec.Job)
	}
}

// queueMoved lets the next jobs that the own scheduler has refused try it again, since something
// has left its queue. They are few, so that very many that it refuses for ever cost little, and
// those that were refused last come last.
func (p *Peer) queueMoved() {
	const most = 2
	for tried := 0; tried < most && len(p.awaitMove) > 0; {
		j := p.jobs[p.awaitMove[0]]
		p.awaitMove = p.awaitMove[1:]
		if j == nil {
			continue
		}
		j.awaitsMove = false
		if j.Phase == row.JobInGridQueue && j.shuns(p.cfg.Site, p.now) {
			delete(j.shunned, p.cfg.Site)
			p.queue.Wake(j.Spec.Job)
			tried++
		}
	}
}

func (j *job) shuns(site protocol.SiteName, now protocol.Instant) bool {
	until, ok := j.shunned[site]
	return ok && now < until
}

func (j *job) tag() protocol.Tag { return protocol.Tag{Job: j.Spec.Job, Epoch: j.Epoch} }
