package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Received takes an authenticated message from a partner. It waits while the node has too
// much to do, or too many messages of this partner before it.
func (n *Node) Received(from protocol.SiteName, m protocol.Message) {
	if result, ok := m.(protocol.Result); ok {
		m = n.brought.set(from, result)
	}
	if reply, ok := m.(protocol.QuoteReply); ok {
		if after, ok := n.requests.answered(from, reply.Round, time.Now()); ok {
			n.cfg.Meter.Answered(from, after)
		}
	}
	places := n.places.of(from, m)
	select {
	case places <- struct{}{}:
	case <-n.done:
		return
	}
	select {
	case n.events <- inboxItem{event: event.MessageIn{From: from, Body: m}, place: places}:
	case <-n.done:
	}
}

// Messages of one partner that may wait for the loop at once. A quote request may hold
// thousands of jobs, so there is a place for one only. The rest of the loop's inbox is for
// others.
const (
	messagePlaces  = 32
	questionPlaces = 1
)

// places are who may put messages into the loop's inbox: a flood of one partner fills its own
// places and waits, at its own expense.
type places struct {
	mu        sync.Mutex
	byPartner map[protocol.SiteName]*partnerPlaces
}

type partnerPlaces struct{ messages, questions chan struct{} }

// of are the places for a message; what is put into them is taken out when the loop has taken
// the message.
func (p *places) of(from protocol.SiteName, m protocol.Message) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.byPartner[from]
	if one == nil {
		if p.byPartner == nil {
			p.byPartner = make(map[protocol.SiteName]*partnerPlaces)
		}
		one = &partnerPlaces{
			messages: make(chan struct{}, messagePlaces), questions: make(chan struct{}, questionPlaces),
		}
		p.byPartner[from] = one
	}
	if _, question := m.(protocol.QuoteRequest); question {
		return one.questions
	}
	return one.messages
}

// Connected takes the verified card of a partner with which a session is up.
func (n *Node) Connected(card protocol.Card) { n.post(event.Connected{Card: card}) }

// Disconnected says that there is no session with the partner, and why if a key is refused.
func (n *Node) Disconnected(site protocol.SiteName, why string) {
	n.post(event.Disconnected{Site: site, Reason: why})
}

// Rejected counts what a gate of the network refused.
func (n *Node) Rejected(reason string) { n.cfg.Meter.Rejected(reason) }

// Digest takes a partner's load as gossip tells it.
func (n *Node) Digest(d protocol.Digest, age protocol.Duration) {
	n.post(event.DigestSeen{Digest: d, Age: age})
}

// Alive takes the identity of a site that gossips.
func (n *Node) Alive(seen event.MemberSeen) { n.post(seen) }

// Gone says that a site does not gossip any more. That is a hint which changes
// nothing: sessions say which partners can be reached.
func (n *Node) Gone(site protocol.SiteName) { n.log.Info("member_gone", "site", site) }

// Fetch serves up to size bytes of a job's output to a partner, if the job is its
// own, or of the files that go with a job which the partner has got. The error is a [protocol.ErrOutputGone] when asking again is of no use.
func (n *Node) Fetch(
	ctx context.Context, from protocol.SiteName, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	if offset < 0 || size < 1 {
		return nil, fmt.Errorf("job %v: offset %d and size %d name no piece of a file", tag, offset, size)
	}
	inputs := stream == protocol.StageInArchive
	_, err := n.Ask(ctx, func(asked event.AskID) event.Event {
		return event.AskOutput{Asked: asked, From: from, Tag: tag, Inputs: inputs}
	})
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Code == view.NotFound {
		return nil, fmt.Errorf("%w: %w", protocol.ErrOutputGone, err)
	}
	if err != nil {
		return nil, err
	}
	if inputs {
		return n.serveInputs(ctx, from, tag, offset, min(size, MaxChunk))
	}
	return n.cfg.Scheduler.Fetch(ctx, tag, stream, offset, min(size, MaxChunk))
}
