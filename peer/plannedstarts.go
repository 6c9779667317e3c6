package peer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxPlannedStarts is how many jobs of the local queue the local scheduler is asked about at once: those that have waited
// longest.
const maxPlannedStarts = 10_000

// awaitPlannedStarts sets the timer by which the local scheduler is asked when it plans to start what waits in its queue.
func (p *Peer) awaitPlannedStarts() {
	if timer := due.Once(due.PlannedStartsTimer); p.cfg.PlannedStarts > 0 && !p.timers.Has(timer) {
		p.after(p.cfg.PlannedStarts, timer)
	}
}

// askPlannedStarts asks the local scheduler when it plans to start what waits in its queue, and will ask again. Once nothing
// waits, the next job that does sets the timer.
func (p *Peer) askPlannedStarts() {
	if tags := p.queuedTags(); len(tags) > 0 {
		p.awaitPlannedStarts()
		p.call(event.PlannedStartsOp{Tags: tags}, plannedStarts{tags})
	}
}

// queuedTags are the placements that wait in the local queue and are wanted there, at most [maxPlannedStarts] and those that
// have waited longest first.
func (p *Peer) queuedTags() []protocol.Tag {
	var queued []*localrun.Run
	for _, r := range p.rows.Runs {
		if r.Phase == row.RunQueued && !r.Withdraw {
			queued = append(queued, r)
		}
	}
	slices.SortFunc(queued, func(a, b *localrun.Run) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), row.CompareTags(a.Tag, b.Tag))
	})
	tags := make([]protocol.Tag, min(len(queued), maxPlannedStarts))
	for i := range tags {
		tags[i] = queued[i].Tag
	}
	return tags
}

// plannedStarts asks when placements are planned to start.
type plannedStarts struct{ tags []protocol.Tag }

func (c plannedStarts) answered(p *Peer, result event.Result, err error) {
	answer, err := step.ResultAs[event.PlannedStartsResult](result, err)
	if err != nil {
		p.logEvent(event.LogEvent{Kind: event.LogCallFailed, Site: p.cfg.Site, Text: clip("planned starts: " + err.Error())})
		return
	}
	starts := make(map[protocol.Tag]protocol.Instant, len(answer.Starts))
	for _, one := range answer.Starts {
		starts[one.Tag] = one.Start
	}
	abroad := map[protocol.SiteName][]protocol.PlannedStart{}
	for _, tag := range c.tags {
		r := p.rows.Runs[tag]
		if r == nil || r.Phase != row.RunQueued {
			continue
		}
		start := starts[tag]
		if j := p.rows.Jobs[tag.Job]; j != nil {
			j.NotePlannedStart(start, p.now)
		} else if g := p.rows.Guests[tag.Job]; g != nil && (start != 0 || r.PlannedStart.Start != 0) {
			abroad[g.Origin] = append(abroad[g.Origin], protocol.PlannedStart{Tag: tag, Wait: p.waitUntil(start)})
		}
		r.PlannedStart = view.PlannedStart{Start: start, Stated: p.now}
	}
	for _, origin := range slices.Sorted(maps.Keys(abroad)) {
		p.sendPlannedStarts(origin, abroad[origin])
	}
}

// waitUntil is the time until a planned start, for another site; [protocol.Never] if none is planned.
func (p *Peer) waitUntil(start protocol.Instant) protocol.Duration {
	if start == 0 {
		return protocol.Never
	}
	return max(0, start.Sub(p.now))
}

// sendPlannedStarts tells the origin of guests when they are planned to start.
func (p *Peer) sendPlannedStarts(origin protocol.SiteName, starts []protocol.PlannedStart) {
	if p.site.Mute() { // the rows may be a copy's
		return
	}
	for some := range slices.Chunk(starts, protocol.MaxPlannedStarts) {
		p.send(origin, protocol.PlannedStarts{Starts: some})
	}
}

// handlePlannedStarts notes when a partner plans to start jobs of this origin that wait there. Those that it does not have,
// or that have started, are passed over: the message may be late.
func (p *Peer) handlePlannedStarts(one *partner.Partner, m protocol.PlannedStarts) {
	for _, planned := range m.Starts {
		j := p.rows.At(one.Site, planned.Tag)
		if j == nil || !j.AtPartner() {
			continue
		}
		if planned.Wait == protocol.Never {
			j.NotePlannedStart(0, p.now)
		} else {
			j.NotePlannedStart(p.now.Add(planned.Wait), p.now)
		}
	}
}
