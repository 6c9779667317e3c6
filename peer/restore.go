package peer

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// restore takes the rows in. Rounds are forgotten; resume derives the rest.
func (p *Peer) restore(rows iter.Seq2[row.Record, error]) error {
	payloads := map[protocol.JobID]compact.Payload{}
	for rec, err := range rows {
		if err != nil {
			return err
		}
		if err := p.restoreRow(rec, payloads); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.jobs)) { // in this order neighbours are alike
		payload, j := payloads[id], p.jobs[id]
		if payload.None() {
			return fmt.Errorf("job %v has no payload row", id)
		}
		j.packed = p.alike.Pack(j.Spec.User, &j.Job, payload.Unpack(&j.Job))
	}
	if err := p.restoreApplications(); err != nil {
		return err
	}
	p.keepDeparted()
	for id, g := range p.guests {
		if payload := payloads[id]; !payload.None() {
			g.payload = payload.Unpack(&row.Job{})
		}
		if one := p.partners.Of(g.Origin); one != nil {
			one.SeenSeq = max(one.SeenSeq, id.Seq())
			if g.Phase.Open() {
				p.countGuest(one, g, +1)
			}
		}
	}
	for tag, r := range p.runs {
		switch {
		case p.jobs[tag.Job] != nil:
			r.Request = p.jobs[tag.Job].Spec.ScaledRequest(&p.cfg.Capacity)
		case p.guests[tag.Job] != nil:
			r.Request = p.guests[tag.Job].Spec.ScaledRequest(&p.cfg.Capacity)
		default:
			return fmt.Errorf("run %v belongs to no job", tag)
		}
		p.noteDraw(r)
	}
	return nil
}

func (p *Peer) restoreRow(rec row.Record, payloads map[protocol.JobID]compact.Payload) error { //nolint:cyclop // one case for each table
	switch stored := rec.Row.(type) {
	case row.Site:
		p.site.Site = stored
	case row.Generation:
		p.site.Generation = stored.Generation
	case row.Partner:
		p.partners.Restore(stored)
	case row.Job:
		if stored.Phase == row.JobStagingOut && stored.Outcome == nil {
			return fmt.Errorf("row %q: a job in phase %s has no outcome", rec.Key, stored.Phase)
		}
		p.alike.Row(&stored)
		p.jobs[stored.Spec.Job] = &job{Job: stored}
		p.jobsOf[stored.Spec.User]++
	case row.Guest:
		p.guests[stored.Spec.Job] = &guest{Guest: stored}
	case row.Run:
		p.runs[stored.Tag] = &localrun.Run{Run: stored}
	case row.Dedup:
		p.dedup[rec.Key] = stored
	case row.Payload:
		id, err := ParseJobKey(rec.Key)
		if err != nil {
			return fmt.Errorf("payload row %q: %w", rec.Key, err)
		}
		if stored.Payload != nil {
			payloads[id] = p.alike.Pack(compact.Owner(stored.Payload.Env), &row.Job{}, stored.Payload)
		}
	case row.Application:
		p.applications[stored.ID] = &application{Application: stored}
	case row.Executions:
		p.history.Restore(stored)
	case row.Archived:
	default:
		return fmt.Errorf("row %q of table %s has no content", rec.Key, rec.Table)
	}
	return nil
}

// restoreApplications finds the components of each application.
func (p *Peer) restoreApplications() error {
	for _, id := range slices.Sorted(maps.Keys(p.jobs)) {
		j := p.jobs[id]
		if j.Application == 0 {
			continue
		}
		a := p.applications[j.Application]
		if a == nil {
			return fmt.Errorf("job %v is of application %v, which has no row", id, j.Application)
		}
		a.join(j)
	}
	for _, a := range p.applications {
		p.followAll(a)
	}
	return nil
}

// ParseJobKey is the job id that a row has as its key.
func ParseJobKey(key string) (protocol.JobID, error) {
	for len(key) > 1 && key[0] == '0' {
		key = key[1:]
	}
	return protocol.ParseJobID(key)
}

// resume is the beginning of the first step: a new store gets its counters, and
// all that was under way is taken up again.
func (p *Peer) resume() {
	fresh := p.site.FirstStart == 0
	if fresh {
		p.site.Found(p.now)
		p.saveSite()
	}
	p.beginLife(fresh)
	p.resumeIntake()
	for _, id := range slices.Sorted(maps.Keys(p.jobs)) {
		p.resumeJob(p.jobs[id])
	}
	for _, id := range slices.Sorted(maps.Keys(p.applications)) {
		p.watchLimit(p.applications[id])
	}
	for _, id := range slices.Sorted(maps.Keys(p.guests)) {
		p.resumeGuest(p.guests[id])
	}
	for _, tag := range slices.SortedFunc(maps.Keys(p.runs), row.CompareTags) {
		p.resumeRun(p.runs[tag])
	}
	p.scheduleQueueCheck()
	p.logDeparted(func(*partner.Partner) bool { return true })
	p.learnLoad()
	p.watched.Cursor = p.site.Cursor
	p.watch()
	p.beginLoadChecks()
	p.beginPrices()
	p.after(protocol.Hour, timer{kind: pruneTimer})
}

// learnLoad asks the local scheduler for its load, so that partners know it
// before the first change.
func (p *Peer) learnLoad() { p.call(event.QuoteOp{}, learnLoad{}) }

// learnLoad asks for the first load.
type learnLoad struct{}

func (learnLoad) answered(p *Peer, result event.Result, err error) {
	if quoted, failed := step.ResultAs[event.QuoteResult](result, err); failed == nil {
		p.setLoad(quoted.Load)
	}
}

func (p *Peer) resumeJob(j *job) {
	if j.Together() {
		p.releaseAgain(j.Tag(), j.Phase == row.JobInGridQueue)
	}
	switch j.Phase {
	case row.JobInGridQueue:
		if j.OperatorReason == "" {
			p.queue.Put(j.Spec.Job)
		}
	case row.JobReserving:
		p.sendForPhase(j.Spec.Job)
	case row.JobOffered, row.JobGranted, row.JobHandedOff, row.JobRecalling:
		if one := p.partners.Of(j.Site); one != nil && j.Phase != row.JobOffered {
			j.countsThere = true
			one.JobsThere++
		}
		j.ownershipPending = j.Restored
		p.sendForPhase(j.Spec.Job)
		p.armReclaimTimer(j)
	case row.JobEnding:
		p.sendForPhase(j.Spec.Job)
	case row.JobStagingOut:
		p.collect(j)
	case row.JobCommittedLocal:
	}
}

// releaseAgain gives up what the epoch before the present one may still hold here, and the
// present one when it is over: a crash may have come between the rows and the batch system.
func (p *Peer) releaseAgain(tag protocol.Tag, over bool) {
	for range 2 {
		if over && p.cfg.Reserves && tag.Epoch > 0 && p.runs[tag] == nil {
			p.release(tag)
		}
		tag.Epoch, over = max(tag.Epoch, 1)-1, true
	}
}

func (p *Peer) resumeGuest(g *guest) {
	p.releaseAgain(g.Tag(), g.ReserveFrom != 0 && g.Phase == row.GuestAborted)
	if g.Phase == row.GuestPrepared && g.ReserveFrom == 0 {
		p.tentatives.Add(g.Tag(), g.Since, g.Spec.ScaledRequest(&p.cfg.Capacity))
	}
	p.repeatGuest(g.Spec.Job)
}

func (p *Peer) resumeRun(r *localrun.Run) {
	if r.Restored {
		p.after(p.cfg.SubmitRecheckDelay, runTimerOf(r.Tag))
	}
	p.watchStartBy(r.Tag)
	switch r.Phase {
	case row.RunSubmitting:
		if !p.hasReservation(r.Tag) {
			p.tentatives.Add(r.Tag, r.Since, r.Request)
		}
		p.after(p.cfg.SubmitRecheckDelay, runTimerOf(r.Tag))
	case row.RunQueued, row.RunRunning, row.RunEnded:
		p.reportGuest(r.Tag)
		p.continueWithdrawal(r)
	}
}

// oldOf are the keys, in order, of what is to be forgotten.
func oldOf[K cmp.Ordered, V any](all map[K]V, old func(V) bool) (keys []K) {
	for key, v := range all {
		if old(v) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// prune forgets tombstones and submission keys that nobody can ask for any more, and
// components that nobody has run for long.
func (p *Peer) prune() {
	if p.site.Recovery != "" || p.now < p.keepAll {
		p.after(protocol.Hour, timer{kind: pruneTimer})
		return
	}
	old := p.now - protocol.Instant(p.cfg.TombstoneTTL)
	for _, id := range oldOf(p.guests, func(g *guest) bool {
		return (g.Phase == row.GuestAborted || g.Phase == row.GuestClosed) && g.Since < old && !g.ReturnUnacked
	}) {
		delete(p.guests, id)
		p.saveGuest(id)
	}
	for _, key := range oldOf(p.dedup, func(row row.Dedup) bool { return row.At < old }) {
		delete(p.dedup, key)
		p.saveDedup(key)
	}
	for _, key := range p.history.Prune() {
		p.saveExecutions(key)
	}
	p.after(protocol.Hour, timer{kind: pruneTimer})
}
