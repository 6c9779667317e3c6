package spans

import (
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// OfJob are the spans at its origin of a job that has ended, from its log events there. None if its trace is not sampled, or if the
// view is of an array: each element has a trace of its own.
func OfJob(v *view.Job, story []event.LogEvent) []Span {
	w := way{Job: jobOfView(v), site: v.Origin, queued: v.Submitted}
	if !w.Sampled() || v.Array != nil {
		return nil
	}
	w.whole = w.make(Whole, 0, w.parent(), v.Submitted, v.Ended,
		text(keyOrigin, v.Origin), number(keyCPUs, v.CPUs), number(keyRestarts, v.Restarts), text(keyState, v.State.String()))
	w.whole.Remote = v.Traceparent != ""
	for i := range story {
		w.take(&story[i])
	}
	w.end(v)
	return append([]Span{w.whole}, w.spans...)
}

// parent is the span of the program that submitted the job.
func (j Job) parent() protocol.SpanID {
	_, span, _ := j.Parent.Parts()
	return span
}

// way is what the log events of a job have said so far.
type way struct {
	Job

	site    protocol.SiteName // the origin
	whole   Span
	spans   []Span           // that are over
	queued  protocol.Instant // since when the job is in the grid queue; 0: it is not
	offer   *Span            // the hand-off that is under way; nil: none is
	offered protocol.Epoch   // of the offer
	place   *placement       // in the own local queue; nil: it is not there
}

func (w *way) take(e *event.LogEvent) {
	w.leaveOutBefore(e.Epoch)
	switch e.Kind { //nolint:exhaustive // the others are no steps of a job's way
	case event.LogRoundDecided, event.LogJobDeferred, event.LogJobPlacedLocally, event.LogMoveBegun:
		w.round(e)
	case event.LogJobCommitted:
		w.leaveQueue(e.At)
		w.place = &placement{job: w.Job, site: w.site, epoch: e.Epoch, parent: w.whole.ID, from: e.At, queued: e.At}
	case event.LogJobOffered:
		w.beginOffer(e)
	case event.LogReserved, event.LogJobGranted:
		w.progress(e)
	case event.LogJobHandedOff:
		w.endOffer(e.At, false)
		w.leaveQueue(e.At) // a peer whose store is older than the hand-off logs no grant
	case event.LogJobStarted:
		w.endOffer(e.At, false)
		w.whole.Moments = append(w.whole.Moments, Moment{string(e.Kind), e.At})
		if w.place != nil {
			w.place.started = e.At
		}
	case event.LogOfferRefused, event.LogJobRequeued, event.LogJobReclaimed, event.LogJobMoved:
		w.requeue(e)
	case event.LogJobEnded:
		w.whole.End = max(w.whole.End, e.At)
	}
}

// leaveOutBefore leaves out what is under way at an epoch before the given one. The log events of how it went on are lost.
func (w *way) leaveOutBefore(epoch protocol.Epoch) {
	if w.offered < epoch {
		w.offer = nil
	}
	if w.place != nil && w.place.epoch < epoch {
		w.place = nil
	}
}

// queue is the span of the present stay in the grid queue; without one the job as a whole.
func (w *way) queue() protocol.SpanID {
	if w.queued == 0 {
		return w.whole.ID
	}
	return w.span(GridQueue, uint64(w.queued)) //nolint:gosec // instants are positive
}

// round takes a round; a decision without one has no quotes.
func (w *way) round(e *event.LogEvent) {
	if e.Round == 0 {
		return
	}
	more := []Attribute{
		number(keyRound, e.Round), text(keyResult, e.Kind), number(keyAsked, e.Asked), number(keyAnswered, e.Answered),
	}
	if len(e.Silent) > 0 {
		more = append(more, Attribute{Key: keySilent, Texts: e.Silent})
	}
	if e.Site != "" {
		more = append(more, text(keySite, e.Site))
		if wait, ok := quotedWait(e); ok {
			more = append(more, number(keyWait, wait))
		}
	}
	w.spans = append(w.spans, w.make(Round, uint64(e.At), w.queue(), e.At.Add(-e.Duration), e.At, more...)) //nolint:gosec // as above
}

// quotedWait is the wait that the chosen site has quoted, in the shape that was chosen.
func quotedWait(e *event.LogEvent) (protocol.Duration, bool) {
	for i := range e.Quotes {
		if q := &e.Quotes[i]; q.Site == e.Site && q.Declined == "" && (e.CPUs == 0 || q.CPUs == e.CPUs) {
			return q.AWT, true
		}
	}
	return 0, false
}

// beginOffer begins a hand-off. A member of a start-together group is offered to its origin, too, which is none.
func (w *way) beginOffer(e *event.LogEvent) {
	if e.Site == w.site {
		return
	}
	w.offered = e.Epoch
	w.offer = new(w.make(HandOff, uint64(e.Epoch), w.queue(), e.At, e.At, text(keySite, e.Site), number(keyEpoch, e.Epoch)))
}

// progress notes a step of the hand-off. A job that is granted has left the grid queue.
func (w *way) progress(e *event.LogEvent) {
	if w.offer != nil {
		w.offer.Moments = append(w.offer.Moments, Moment{string(e.Kind), e.At})
	}
	if e.Kind == event.LogJobGranted {
		w.leaveQueue(e.At)
	}
}

// requeue has the job leave where it is for the grid queue, if it has not been there all the time.
func (w *way) requeue(e *event.LogEvent) {
	w.endOffer(e.At, true)
	w.endPlacement(e.At)
	if w.queued == 0 {
		w.whole.Moments = append(w.whole.Moments, Moment{string(e.Kind), e.At})
		w.queued = e.At
	}
}

func (w *way) leaveQueue(at protocol.Instant) {
	if w.queued != 0 {
		w.spans = append(w.spans, w.make(GridQueue, uint64(w.queued), w.whole.ID, w.queued, at)) //nolint:gosec // as above
		w.queued = 0
	}
}

func (w *way) endOffer(at protocol.Instant, failed bool) {
	if w.offer != nil {
		w.offer.End, w.offer.Failed = max(w.offer.Start, at), failed
		w.spans = append(w.spans, *w.offer)
		w.offer = nil
	}
}

func (w *way) endPlacement(at protocol.Instant) {
	if w.place != nil {
		w.spans = append(w.spans, w.place.spans(at)...)
		w.place = nil
	}
}

// end ends what is under way with the job, whose log events may lack the last ones before a crash.
func (w *way) end(v *view.Job) {
	w.whole.Attributes = append(w.whole.Attributes, text(keySite, v.Site), number(keyExit, v.ExitCode), number(keySignal, v.Signal))
	w.whole.Failed = v.State != protocol.Completed
	if w.queued != 0 && v.CommittedAt >= w.queued {
		w.leaveQueue(v.CommittedAt)
	}
	w.leaveOutBefore(v.Epoch)
	here := v.Site == w.site
	if !here {
		w.place = nil
	}
	if w.place == nil && here && v.Started != 0 && v.CommittedAt != 0 {
		w.place = &placement{job: w.Job, site: w.site, epoch: v.Epoch, parent: w.whole.ID, from: v.CommittedAt, queued: v.CommittedAt}
	}
	if w.place != nil {
		w.place.ran(v)
		w.endPlacement(max(v.Ended, w.place.from))
	}
	if v.Started != 0 { // where it was offered last
		w.endOffer(v.Started, false)
	}
	w.endOffer(w.whole.End, true)
	w.leaveQueue(w.whole.End)
	if !here && v.Started != 0 {
		w.spans = append(w.spans, w.make(Results, 0, w.whole.ID, v.Ended, w.whole.End, text(keySite, v.Site), number(keyEpoch, v.Epoch)))
	}
}
