package spans

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// placement is a job in a local queue.
type placement struct {
	job                    Job
	site                   protocol.SiteName
	epoch                  protocol.Epoch
	parent                 protocol.SpanID
	from                   protocol.Instant // when room was prepared for it
	queued, started, ended protocol.Instant // in the local queue, and its run; 0: not
	state                  protocol.State   // of its end; zero: it has not run to one
}

// ran takes over when the job ran from its view, which knows it better than log events.
func (p *placement) ran(v *view.Job) {
	if v.Started != 0 {
		p.started, p.ended = v.Started, v.Ended
	}
	p.state = v.State
}

// spans are those of a placement that is over at an instant.
func (p *placement) spans(over protocol.Instant) []Span {
	which := uint64(p.epoch)
	attributes := []Attribute{text(keySite, p.site), number(keyEpoch, p.epoch)}
	if p.state != 0 {
		attributes = append(attributes, text(keyState, p.state.String()))
	}
	whole := p.job.make(Placement, which, p.parent, p.from, over, attributes...)
	whole.Failed = p.state.Terminal() && p.state != protocol.Completed
	out := []Span{whole}
	below := func(name Name, from, to protocol.Instant) {
		if from != 0 {
			out = append(out, p.job.make(name, which, whole.ID, from, to, attributes...))
		}
	}
	end := over
	if p.ended != 0 {
		end = min(p.ended, over)
	}
	if p.started != 0 {
		below(LocalQueue, p.queued, p.started)
		below(Run, p.started, end)
		out[len(out)-1].Failed = whole.Failed
	} else {
		below(LocalQueue, p.queued, end)
	}
	return out
}

// Guest is a job of another site at this one.
type Guest struct {
	Job

	Origin protocol.SiteName
	Epoch  protocol.Epoch
}

// At are the spans of a guest that has left the site, from its log events there, and from how it ran; nil: it did not. None if
// its trace is not sampled.
func (g Guest) At(site protocol.SiteName, run *view.Job, story []event.LogEvent) []Span {
	if !g.Sampled() {
		return nil
	}
	p := placement{job: g.Job, site: site, epoch: g.Epoch, parent: g.span(HandOff, uint64(g.Epoch))}
	var over protocol.Instant
	for i := range story {
		e := &story[i]
		if e.Epoch != g.Epoch {
			continue
		}
		switch e.Kind { //nolint:exhaustive // the others are no steps of a guest
		case event.LogGuestPrepared:
			p.from = e.At
		case event.LogGuestAccepted:
			p.queued = e.At
		case event.LogGuestStarted:
			p.started = e.At
		case event.LogGuestClosed, event.LogGuestAborted:
			over = e.At
		}
	}
	if run != nil {
		p.ran(run)
	}
	p.settle(over)
	over = max(over, p.from, p.queued, p.started, p.ended)
	out := p.spans(over)
	out[0].Remote = true
	if p.ended != 0 {
		out = append(out, g.make(Results, uint64(g.Epoch), out[0].ID, p.ended, over, text(keySite, site), number(keyEpoch, g.Epoch)))
	}
	for i := range out {
		out[i].Attributes = append(out[i].Attributes, text(keyOrigin, g.Origin))
	}
	return out
}

// settle has the placement begin at the first of its instants that is known.
func (p *placement) settle(over protocol.Instant) {
	for _, at := range []protocol.Instant{p.queued, p.started, over} {
		if p.from == 0 {
			p.from = at
		}
	}
}
