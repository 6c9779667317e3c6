package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// RefusedError says that a question was answered by a refusal.
type RefusedError view.Refusal

func (e *RefusedError) Error() string { return e.Reason }

// Refusal is what was answered.
func (e *RefusedError) Refusal() view.Refusal { return view.Refusal(*e) }

// Ask puts a question to the peer and waits for the answer, which is durable.
// event makes the question with the given number. The error is a *[RefusedError]
// when the peer refuses, [ErrStopped], or that of ctx; the last two leave open
// whether the question took effect.
func (n *Node) Ask(ctx context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	id := event.AskID(n.lastID.Add(1))
	ev := question(id)
	reply, err := n.ask(ctx, id, inboxItem{event: ev})
	var refused *RefusedError
	if _, submission := ev.(event.Submit); submission && errors.As(err, &refused) {
		n.cfg.Meter.Refused(refused.Code)
	}
	return reply, err
}

func (n *Node) ask(ctx context.Context, id event.AskID, l inboxItem) (view.Reply, error) {
	if err := n.room(l.event); err != nil {
		return nil, err
	}
	answer := n.asked.expect(id)
	defer n.asked.forget(id)
	select {
	case <-n.closing:
		return nil, ErrStopped
	default:
	}
	select {
	case n.asks <- l:
	case <-n.closing:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return n.await(ctx, answer)
}

func (n *Node) await(ctx context.Context, answer <-chan view.Reply) (view.Reply, error) {
	select {
	case reply := <-answer:
		return granted(reply)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.done:
	}
	select { // the answer may have been the last thing done
	case reply := <-answer:
		return granted(reply)
	default:
		return nil, ErrStopped
	}
}

func granted(reply view.Reply) (view.Reply, error) {
	if no, ok := reply.(view.Refusal); ok {
		return nil, (*RefusedError)(&no)
	}
	return reply, nil
}

// Reconfigure has rounds opened and decided in another way from here on: the machine is
// reconfigured, and decider is asked. The error is as that of [Node.Ask].
func (n *Node) Reconfigure(ctx context.Context, runtime rules.RuntimeConfig, decider policy.Policy) error {
	id := event.AskID(n.lastID.Add(1))
	_, err := n.ask(ctx, id, inboxItem{event: event.Reconfigure{Asked: id, Runtime: runtime}, policy: decider})
	if err == nil {
		n.packing.maxUserBytes.Store(runtime.MaxUserStaging)
	}
	return err
}

// granting says whether a question was granted.
func granting(answers []event.Answer) bool {
	return slices.ContainsFunc(answers, func(a event.Answer) bool {
		_, done := a.Reply.(view.Done)
		return done
	})
}

// room refuses new jobs when the disk is nearly full.
func (n *Node) room(ev event.Event) error {
	if _, ok := ev.(event.Submit); !ok || n.cfg.Space == nil {
		return nil
	}
	free, err := n.cfg.Space()
	if err != nil || free >= n.cfg.Reserve {
		return nil //nolint:nilerr // not knowing is no reason to refuse; the store checks for itself
	}
	return &RefusedError{
		Code: view.Unavailable,
		Reason: fmt.Sprintf("the peer's disk has %d MiB left, and the last %d are for the jobs that are there; "+
			"free space in the file system of its state directory and submit again", free>>20, n.cfg.Reserve>>20),
	}
}

// Ready says why the peer would not take jobs now, if so: it does not answer while
// ctx lasts, or its disk is nearly full.
func (n *Node) Ready(ctx context.Context) error {
	if _, err := n.Ask(ctx, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} }); err != nil {
		return fmt.Errorf("the peer does not answer: %w", err)
	}
	return n.room(event.Submit{})
}

// askers are the questions that wait for answers.
type askers struct {
	mu   sync.Mutex
	byID map[event.AskID]chan view.Reply
}

func (a *askers) expect(id event.AskID) <-chan view.Reply {
	answer := make(chan view.Reply, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = make(map[event.AskID]chan view.Reply)
	}
	a.byID[id] = answer
	return answer
}

func (a *askers) forget(id event.AskID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byID, id)
}

func (a *askers) answer(answers []event.Answer) {
	if len(answers) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, answer := range answers {
		if waiting := a.byID[answer.Asked]; waiting != nil {
			waiting <- answer.Reply // it has room for the one answer
			delete(a.byID, answer.Asked)
		}
	}
}

// cardAsk is a question for the site's card.
type cardAsk struct {
	to    protocol.SiteName
	card  protocol.Card
	ready chan struct{}
}

func (c *cardAsk) answer() {
	if c != nil {
		close(c.ready)
	}
}

// Card is the site's card for a partner. It waits until the node runs; a node
// that has stopped gives an empty card.
func (n *Node) Card(to protocol.SiteName) protocol.Card {
	ask := &cardAsk{to: to, ready: make(chan struct{})}
	select {
	case n.events <- inboxItem{card: ask}:
	case <-n.done:
		return protocol.Card{}
	}
	select {
	case <-ask.ready:
		return ask.card
	case <-n.done:
		return protocol.Card{}
	}
}
