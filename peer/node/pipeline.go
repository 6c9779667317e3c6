package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// stepper is the first stage: the loop around the machine.
type stepper struct {
	*Node
	next *batch
	// policy decides rounds. It changes in the step that tells the machine so, and
	// rounds that were handed to another before keep that one.
	policy policy.Policy
	wake   protocol.Instant
	timer  *time.Timer
}

// step runs the machine until ctx ends, and gives batches to out whenever that
// takes one.
func (n *Node) step(ctx context.Context, out chan<- *batch) {
	defer close(out)
	s := &stepper{Node: n, next: newBatch(), policy: n.cfg.Policy, timer: time.NewTimer(time.Hour)}
	s.timer.Stop()
	defer s.timer.Stop()
	s.advance(inboxItem{event: event.Tick{}})
	for ctx.Err() == nil {
		s.releaseAtOnce(ctx)
		s.turn(ctx, out)
	}
	close(n.closing)
	if !s.next.empty() && n.failed.reason() == nil {
		n.behind.Add(1)
		out <- s.next
	}
}

// releaseAtOnce lets effects out without the detour through the other stages
// when these have nothing in hand and there is nothing to write: so are quotes
// asked for and given.
func (s *stepper) releaseAtOnce(ctx context.Context) {
	if len(s.next.rows) > 0 || len(s.next.effects) == 0 || s.behind.Load() > 0 || s.failed.reason() != nil {
		return
	}
	s.startCalls(ctx, s.next)
	s.next = newBatch()
}

// turn waits for one thing and does it.
func (s *stepper) turn(ctx context.Context, out chan<- *batch) {
	events, asks := s.events, s.asks
	if s.next.full() {
		events = nil
	}
	if s.next.full() || s.next.asked >= askWeight {
		asks = nil
	}
	// What waits already goes along; what may come later does not hold up.
	if s.next.empty() || len(events)+len(asks) > 0 {
		out = nil
	}
	select {
	case <-ctx.Done():
	case l := <-events:
		s.take(l)
	case l := <-asks:
		s.next.asked += s.take(l)
	case <-s.timer.C:
		s.wake = 0
		s.advance(inboxItem{event: event.Tick{}})
	case out <- s.next:
		s.behind.Add(1)
		s.next = newBatch()
	}
}

// take handles a letter and returns its weight.
func (s *stepper) take(l inboxItem) int {
	if l.place != nil {
		<-l.place
	}
	if l.card != nil {
		l.card.card = s.core.Card(l.card.to)
		s.next.effects = append(s.next.effects, effects{card: l.card})
		s.next.weight++
		return 1
	}
	weight := weightOf(l.event)
	s.advance(l)
	if s.next.empty() {
		return 0 // nothing came of it; a batch of nothing is never handed on, and must not fill up
	}
	s.next.weight += weight
	return weight
}

// weightOf is how much of a batch an event may fill: jobs that are submitted bring rows, those
// that a partner asks about lines of a reply.
func weightOf(ev event.Event) int {
	switch ev := ev.(type) { //nolint:gochecksumtype // the others are about one thing
	case event.Submit:
		return max(1, len(ev.Jobs))
	case event.MessageIn:
		if request, ok := ev.Body.(protocol.QuoteRequest); ok {
			return 1 + len(request.Jobs)/8
		}
	}
	return 1
}

// advance steps the machine, and before that tells it if the clock was set forward.
func (s *stepper) advance(l inboxItem) {
	now, skipped := s.clock.step()
	if skipped > 0 {
		s.stepAt(now, inboxItem{event: event.ClockSet{By: skipped}})
	}
	s.stepAt(now, l)
}

// stepAt steps the machine. The timer is set at once: an early tick is harmless.
func (s *stepper) stepAt(now protocol.Instant, l inboxItem) {
	ready := s.core.Step(now, l.event)
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Stepped(now, l.event, ready)
	}
	if ready.Fault != nil {
		s.broken(l.event, ready.Fault)
		return
	}
	if l.policy != nil && granting(ready.Answers) {
		s.policy = l.policy
	}
	s.next.add(ready, s.policy)
	if ready.Wake == s.wake {
		return
	}
	s.wake = ready.Wake
	if s.wake == 0 {
		s.timer.Stop()
		return
	}
	s.timer.Reset(s.clock.until(s.wake))
}

// write is the second stage: it makes batches durable, one at a time, and hands
// them on. After a failure it hands on nothing.
func (n *Node) write(in <-chan *batch, out chan<- *batch) {
	defer close(out)
	for {
		select {
		case b, ok := <-in:
			if !ok {
				return
			}
			if n.failed.reason() != nil || !n.commit(b) {
				continue // the loop ends by itself; what is behind stays so
			}
			out <- b
		case <-n.facts.due:
			n.saveFacts()
		}
	}
}

// commit makes a batch and the facts at hand durable. Facts alone are no reason
// for a transaction yet.
func (n *Node) commit(b *batch) bool {
	if len(b.rows) == 0 {
		return true
	}
	puts, err := b.puts()
	if err == nil {
		var ends []Put
		ends, err = n.endPuts(b.rows)
		puts = append(puts, ends...)
	}
	if err == nil {
		err = n.save(append(puts, n.facts.take()...))
	}
	if err != nil {
		n.fail(err)
		return false
	}
	n.facts.taken()
	n.testify(b.rows)
	return true
}

// saveFacts makes the facts at hand durable.
func (n *Node) saveFacts() {
	if n.failed.reason() != nil {
		return
	}
	if err := n.save(n.facts.take()); err != nil {
		n.fail(err)
		return
	}
	n.facts.taken()
}

// broken stops the peer after a step that broke one of its rules. What earlier steps brought and
// is not durable yet is lost as in a crash: nothing of it was sent or shown.
func (n *Node) broken(ev event.Event, fault error) {
	n.log.Error("peer_fault", "event", fmt.Sprintf("%T", ev), "error", fault)
	n.failed.set(fault)
}

// save waits until the changes are durable.
func (n *Node) save(puts []Put) error {
	if len(puts) == 0 {
		return nil
	}
	answer := make(chan error, 1)
	n.cfg.Store.Enqueue(puts, func(err error) { answer <- err })
	return <-answer
}

func (n *Node) fail(err error) {
	err = fmt.Errorf("the peer stops, because it cannot keep its state; nothing was shown that is not stored: %w", err)
	n.log.Error("store_failed", "error", err)
	n.failed.set(err)
}

// release is the third stage: it lets the effects of durable batches out.
func (n *Node) release(ctx context.Context, in <-chan *batch) {
	for b := range in {
		n.startCalls(ctx, b)
		n.behind.Add(-1)
	}
}

// startCalls lets the effects of a durable batch out. Calls end with ctx.
func (n *Node) startCalls(ctx context.Context, b *batch) {
	for _, record := range b.rows {
		n.moves.take(record)
		n.meterEnd(record)
		n.mails.take(record)
		n.notices.take(record)
	}
	n.changes.take(b.rows, n.clock.now())
	for _, e := range b.effects {
		n.send(ctx, e.messages)
		n.begin(ctx, e.calls, e.policy)
		n.links.advertise(e.digest)
		if e.starts != nil && n.cfg.AllowStarts != nil {
			n.cfg.AllowStarts(*e.starts)
		}
		n.tell(ctx, e.facts)
		n.changes.log(e.facts)
		n.asked.answer(e.answers)
		e.card.answer()
	}
	n.changes.forget()
	n.traces.take(b.rows)
	n.waits.wake(b)
	n.dropPacks(b)
}

// send hands messages to the transport. The machine repeats what gets lost.
func (n *Node) send(ctx context.Context, messages []event.Outgoing) {
	if len(messages) == 0 {
		return
	}
	transport := n.links.transport()
	if transport == nil {
		return
	}
	for _, m := range messages {
		if result, ok := m.Body.(protocol.Result); ok && small(result.Outcome.Files) && n.sendWhole(ctx, transport, m.To, result) {
			continue
		}
		n.sendOne(transport, m)
	}
}

func (n *Node) sendOne(transport Transport, m event.Outgoing) {
	if request, ok := m.Body.(protocol.QuoteRequest); ok {
		n.requests.sent(m.To, request.Round, time.Now())
	}
	err := transport.Send(m.To, m.Body)
	if err == nil {
		return
	}
	log := n.log.Debug
	if _, unsendable := errors.AsType[*peerv1.UnsendableError](err); unsendable {
		log = n.log.Warn // not the partner's silence, as it will seem to be
	}
	log("message_not_sent", "to", m.To, "kind", m.Body.Kind(), "error", err)
}
