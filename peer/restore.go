package peer

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// epoch2026 is 2026-01-01 00:00 UTC: a new store's job ids begin at the
// milliseconds since then, above whatever an older store of this site gave out.
const epoch2026 protocol.Instant = 1_767_225_600_000

// restore takes the rows in. Rounds are forgotten; resume derives the rest.
func (p *Peer) restore(rows iter.Seq2[Record, error]) error {
	payloads := map[protocol.JobID]packed{}
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
		if payload.content == nil {
			return fmt.Errorf("job %v has no payload row", id)
		}
		j.packed = p.alike.pack(j.Spec.User, &j.JobRow, payload.payload(&j.JobRow))
	}
	if err := p.restoreApplications(); err != nil {
		return err
	}
	p.keepDeparted()
	for id, g := range p.guests {
		if payload := payloads[id]; payload.content != nil {
			g.payload = payload.payload(&JobRow{})
		}
		if one := p.byName[g.Origin]; one != nil {
			one.seenSeq = max(one.seenSeq, id.Seq())
			if g.Phase.open() {
				p.admit(one, g, +1)
			}
		}
	}
	for tag, r := range p.runs {
		switch {
		case p.jobs[tag.Job] != nil:
			r.request = p.jobs[tag.Job].Spec.On(&p.cfg.Capacity)
		case p.guests[tag.Job] != nil:
			r.request = p.guests[tag.Job].Spec.On(&p.cfg.Capacity)
		default:
			return fmt.Errorf("run %v belongs to no job", tag)
		}
		p.noteDraw(r)
	}
	return nil
}

func (p *Peer) restoreRow(rec Record, payloads map[protocol.JobID]packed) error { //nolint:cyclop // one case for each table
	switch row := rec.Row.(type) {
	case SiteRow:
		p.site = row
	case GenerationRow:
		p.generation = row.Generation
	case PartnerRow:
		if one := p.byName[row.Site]; one != nil {
			one.row = row
		} else {
			p.former[row.Site] = row
		}
	case JobRow:
		if row.Phase == Collecting && row.Outcome == nil {
			return fmt.Errorf("row %q: a job in phase %s has no outcome", rec.Key, row.Phase)
		}
		p.alike.row(&row)
		p.jobs[row.Spec.Job] = &job{JobRow: row}
		p.jobsOf[row.Spec.User]++
	case GuestRow:
		p.guests[row.Spec.Job] = &guest{GuestRow: row}
	case RunRow:
		p.runs[row.Tag] = &run{RunRow: row}
	case DedupRow:
		p.dedup[rec.Key] = row
	case PayloadRow:
		id, err := ParseJobKey(rec.Key)
		if err != nil {
			return fmt.Errorf("payload row %q: %w", rec.Key, err)
		}
		if row.Payload != nil {
			payloads[id] = p.alike.pack(owner(row.Payload.Env), &JobRow{}, row.Payload)
		}
	case ApplicationRow:
		p.applications[row.ID] = &application{ApplicationRow: row}
	case ExecutionRow:
		p.restoreExecutions(row)
	case ArchiveRow:
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
		first := uint64(max(p.now-epoch2026, 1))
		p.site = SiteRow{FirstStart: p.now, Incarnation: uint64(max(p.now, 1)), FirstSeq: first, NextSeq: first}
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
	for _, tag := range slices.SortedFunc(maps.Keys(p.runs), compareTags) {
		p.resumeRun(p.runs[tag])
	}
	p.lookThrough()
	p.tellDeparted(func(*partner) bool { return true })
	p.learnLoad()
	p.cursor = p.site.Cursor
	p.watch()
	p.beginSigma()
	p.beginPrices()
	p.after(protocol.Hour, timer{kind: pruneTimer})
}

// learnLoad asks the local scheduler for its load, so that partners know it
// before the first change.
func (p *Peer) learnLoad() {
	p.call(QuoteOp{}, func(result Result, err error) {
		if quoted, failed := resultAs[QuoteResult](result, err); failed == nil {
			p.setLoad(quoted.Load)
		}
	})
}

func (p *Peer) resumeJob(j *job) {
	if j.together() {
		p.releaseAgain(j.tag(), j.Phase == InGridQueue)
	}
	switch j.Phase {
	case InGridQueue:
		if j.Stuck == "" {
			p.queue.Put(j.Spec.Job)
		}
	case Holding:
		p.repeatJob(j.Spec.Job)
	case Offered, Granted, Handed, Recalling:
		if one := p.byName[j.Site]; one != nil && j.Phase != Offered {
			j.countsThere = true
			one.jobsThere++
		}
		j.doubted = j.Restored
		p.repeatJob(j.Spec.Job)
		p.watchReclaim(j)
	case Ending:
		p.repeatJob(j.Spec.Job)
	case Collecting:
		p.collect(j)
	case AtHome:
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
	p.releaseAgain(g.tag(), g.Hold != 0 && g.Phase == GuestIsAborted)
	if g.Phase == GuestIsPrepared && g.Hold == 0 {
		p.promise(g.tag(), g.Since, g.Spec.On(&p.cfg.Capacity))
	}
	p.repeatGuest(g.Spec.Job)
}

func (p *Peer) resumeRun(r *run) {
	if r.Restored {
		p.after(p.cfg.Settle, runTimerOf(r.Tag))
	}
	p.watchStartBy(r.Tag)
	switch r.Phase {
	case Submitting:
		if !p.holds(r.Tag) {
			p.promise(r.Tag, r.Since, r.request)
		}
		p.after(p.cfg.Settle, runTimerOf(r.Tag))
	case Queued, Running, Ended:
		p.reportGuest(r.Tag)
		p.pursue(r)
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
	old := p.now - protocol.Instant(p.cfg.Remember)
	for _, id := range oldOf(p.guests, func(g *guest) bool {
		return (g.Phase == GuestIsAborted || g.Phase == GuestIsClosed) && g.Since < old && !g.Untold
	}) {
		delete(p.guests, id)
		p.saveGuest(id)
	}
	for _, key := range oldOf(p.dedup, func(row DedupRow) bool { return row.At < old }) {
		delete(p.dedup, key)
		p.saveDedup(key)
	}
	p.pruneExecutions()
	p.after(protocol.Hour, timer{kind: pruneTimer})
}
