package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// asked is a site a with the partners b and c, whose calls are not answered by themselves.
type asked struct {
	*peer.Peer
	now   protocol.Instant
	calls []event.Call     // quote calls that are not answered
	sent  []event.Outgoing // since the last look
	facts map[event.LogKind]int
}

func newAsked(t *testing.T, maxJobs int) *asked {
	t.Helper()
	cfg := goodConfig()
	cfg.Capacity = protocol.Capacity{CPUs: 8, Nodes: 1}
	cfg.Partners = []rules.Partner{{Site: "b", MaxJobs: maxJobs}, {Site: "c", MaxJobs: maxJobs}}
	p, err := peer.New(cfg, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{Peer: p, now: peertest.Epoch, facts: map[event.LogKind]int{}}
	a.step(event.Tick{})
	a.answerAll() // what the site asks at its start
	for i, site := range []protocol.SiteName{"b", "c"} {
		a.step(event.Connected{Card: protocol.Card{
			Site: site, Number: protocol.SiteNumber(i + 2), Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
			Capacity: protocol.Capacity{CPUs: 8, Nodes: 1},
		}})
	}
	return a
}

func (a *asked) step(ev event.Event) {
	ready := a.Step(a.now, ev)
	for _, call := range ready.Calls {
		if _, quotes := call.Op.(event.QuoteOp); quotes {
			a.calls = append(a.calls, call)
		}
	}
	a.sent = append(a.sent, ready.Messages...)
	for _, f := range ready.LogEvents {
		a.facts[f.Kind]++
	}
}

// hear has a message of a partner come in and returns what the site says to it at once.
func (a *asked) hear(from protocol.SiteName, m protocol.Message) []protocol.Message {
	a.sent = nil
	a.step(event.MessageIn{From: from, Body: m})
	return a.saidTo(from)
}

func (a *asked) saidTo(site protocol.SiteName) (all []protocol.Message) {
	for _, m := range a.sent {
		if m.To == site {
			all = append(all, m.Body)
		}
	}
	a.sent = nil
	return all
}

// answer answers the oldest quote call: every job starts at once.
func (a *asked) answer() {
	call := a.calls[0]
	a.calls = a.calls[1:]
	op, _ := call.Op.(event.QuoteOp)
	result := event.QuoteResult{Quotes: make([]protocol.Quote, len(op.Query.Jobs)), Load: protocol.Load{CPUs: 8}}
	a.step(event.CallDone{ID: call.ID, Result: result})
}

func (a *asked) answerAll() {
	for len(a.calls) > 0 {
		a.answer()
	}
}

func question(number protocol.SiteNumber, round, jobs int) protocol.QuoteRequest {
	m := protocol.QuoteRequest{Round: protocol.RoundID(round), Deadline: 2 * protocol.Second}
	for i := range jobs {
		m.Jobs = append(m.Jobs, protocol.Spec{
			Request: protocol.Request{Job: protocol.NewJobID(number, uint64(i+1)), CPUs: 1, WallTime: protocol.Minute}, User: "ann",
		})
	}
	return m
}

// replyTo is the reply to a round among messages; it must be there once.
func replyTo(t *testing.T, round int, all []protocol.Message) protocol.QuoteReply {
	t.Helper()
	var found []protocol.QuoteReply
	for _, m := range all {
		if reply, ok := m.(protocol.QuoteReply); ok && reply.Round == protocol.RoundID(round) {
			found = append(found, reply)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d replies to round %d", len(found), round)
	}
	return found[0]
}

// TestQuoteFloodOfAPartner sends far more questions than can be answered: the local scheduler
// has two of them in hand and one waits, the newest; another partner's question and the site's
// own job are looked at as ever.
func TestQuoteFloodOfAPartner(t *testing.T) {
	t.Parallel()
	const flood = 500
	a := newAsked(t, 10_000)
	for round := 1; round <= flood; round++ {
		said := a.hear("b", question(2, round, 400))
		if len(a.calls) > 2 {
			t.Fatalf("after %d questions %d calls are under way, want 2", round, len(a.calls))
		}
		if round <= 3 {
			continue // two are in hand, one waits
		}
		before := replyTo(t, round-1, said)
		if len(before.Quotes) != 400 || before.Quotes[0].Declined != "a newer question took its place" {
			t.Fatalf("the question before: %+v", before.Quotes[0])
		}
	}
	if got := a.facts[event.LogQuoteRequestDropped]; got != flood-3 {
		t.Errorf("%d questions counted as dropped, want %d", got, flood-3)
	}
	a.hear("c", question(3, 7, 1))
	a.step(event.Submit{User: "ann", Jobs: []protocol.Job{{Spec: question(1, 0, 1).Jobs[0], Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}}})
	if len(a.calls) != 4 {
		t.Errorf("%d calls, want 2 of b, 1 of c and 1 of the site's own round", len(a.calls))
	}
	a.sent = nil
	a.answerAll()
	toB, toC := []protocol.Message{}, []protocol.Message{}
	for _, m := range a.sent {
		switch m.To {
		case "b":
			toB = append(toB, m.Body)
		case "c":
			toC = append(toC, m.Body)
		}
	}
	for _, round := range []int{1, 2, flood} {
		if reply := replyTo(t, round, toB); reply.Quotes[0].Declined != "" {
			t.Errorf("round %d is declined: %s", round, reply.Quotes[0].Declined)
		}
	}
	if reply := replyTo(t, 7, toC); reply.Quotes[0].Declined != "" {
		t.Errorf("the other partner's is declined: %s", reply.Quotes[0].Declined)
	}
}

// TestQuestionThatWaitsTooLong is not worked on, since the reply is not read.
func TestQuestionThatWaitsTooLong(t *testing.T) {
	t.Parallel()
	a := newAsked(t, 100)
	for round := 1; round <= 3; round++ {
		a.hear("b", question(2, round, 1))
	}
	op, _ := a.calls[0].Op.(event.QuoteOp)
	if want := a.now.Add(2 * protocol.Second); op.Until != want {
		t.Errorf("the call is of use until %v, want %v", op.Until, want)
	}
	a.now = a.now.Add(2 * protocol.Second)
	a.answerAll()
	if dropped := a.facts[event.LogQuoteRequestDropped]; dropped != 1 {
		t.Errorf("%d questions dropped, want the third", dropped)
	}
	if said := a.hear("b", question(2, 4, 1)); len(said) != 0 || len(a.calls) != 1 {
		t.Errorf("the next one: %v, %d calls", said, len(a.calls))
	}
}

// TestOffersTakenBackForEver leave a bounded number of tombstones: then the partner's offers
// are refused for a while.
func TestOffersTakenBackForEver(t *testing.T) {
	t.Parallel()
	a := newAsked(t, 10)
	offer := func(seq int) protocol.Message {
		spec := question(2, 0, 1).Jobs[0]
		spec.Job, spec.Name = protocol.NewJobID(2, uint64(seq)), "a long name that no tombstone needs"
		said := a.hear("b", protocol.Offer{Spec: spec, Epoch: 1, Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}})
		if len(said) != 1 {
			t.Fatalf("offer %d: %v", seq, said)
		}
		a.hear("b", protocol.Recall{Tag: protocol.Tag{Job: spec.Job, Epoch: 1}})
		return said[0]
	}
	taken := 0
	for seq := 1; seq <= 20_000; seq++ {
		if _, prepared := offer(seq).(protocol.Prepared); prepared {
			taken++
		}
	}
	if taken < 16_000 || taken > 17_000 {
		t.Errorf("%d of 20,000 offers left a tombstone, want some 16,384", taken)
	}
	if single := a.facts[event.LogGuestRefused]; single > 1100 || single == 0 || a.facts[event.LogOfferDropped] == 0 {
		t.Errorf("%d refusals have a fact each, and %d are counted", single, a.facts[event.LogOfferDropped])
	}
	if refused, ok := offer(20_001).(protocol.Refused); !ok || !refused.Full {
		t.Errorf("the next offer: %+v", refused)
	}
	a.now = a.now.Add(protocol.Minute)
	if _, prepared := offer(20_002).(protocol.Prepared); !prepared {
		t.Error("a minute later the partner's offers are still refused")
	}
}
