package peer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// lone is a peer by itself: its calls are answered at once as a test wants, its partner
// b is only heard.
type lone struct {
	t     *testing.T
	peer  *peer.Peer
	now   protocol.Instant
	wake  protocol.Instant
	calls func(event.Op) (event.Result, error)
	costs map[protocol.SiteName]protocol.Micro // that partners quote; 0: the default

	asked    []event.Op   // all calls
	open     []event.Call // those that are answered later
	watching event.CallID
	sent     []event.Outgoing
	records  []row.Record
	facts    []event.LogEvent
	answers  []view.Reply
}

// newLone is site a with 4 CPUs and the policy greedy, connected to b. Every call but
// the watch has an answer of its kind unless the test says otherwise.
func newLone(t *testing.T, change func(*rules.Config), calls func(event.Op) (event.Result, error)) *lone {
	t.Helper()
	cfg := goodConfig()
	cfg.Policy, cfg.Partners = policy.Describe(peertest.Greedy{}), []rules.Partner{{Site: "b", MaxJobs: 1000}}
	change(&cfg)
	p, err := peer.New(cfg, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &lone{t: t, peer: p, now: peertest.Epoch, calls: calls}
	l.step(event.Tick{})
	l.step(event.Connected{Card: protocol.Card{
		Site: "b", Number: 2, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
		Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
	}})
	return l
}

// errLater leaves a call open.
var errLater = errors.New("later")

// step feeds an event, and answers the calls that follow.
func (l *lone) step(ev event.Event) {
	l.t.Helper()
	for events := []event.Event{ev}; len(events) > 0; events = events[1:] {
		ready := l.peer.Step(l.now, events[0])
		l.wake = ready.Wake
		l.records = append(l.records, ready.Records...)
		l.sent, l.facts = append(l.sent, ready.Messages...), append(l.facts, ready.LogEvents...)
		for _, a := range ready.Answers {
			l.answers = append(l.answers, a.Reply)
		}
		for _, call := range ready.Calls {
			if _, watch := call.Op.(event.WatchOp); watch {
				l.watching = call.ID
				continue
			}
			l.asked = append(l.asked, call.Op)
			result, err := l.calls(call.Op)
			if errors.Is(err, errLater) {
				l.open = append(l.open, call)
				continue
			}
			events = append(events, event.CallDone{ID: call.ID, Result: result, Err: err})
		}
	}
}

// advance lets the time pass, with a tick whenever the peer wants one.
func (l *lone) advance(d protocol.Duration) {
	l.t.Helper()
	until := l.now.Add(d)
	for l.wake != 0 && l.wake <= until {
		l.now = l.wake
		l.step(event.Tick{})
	}
	l.now = until
}

// quote asks as b does, and is the reply.
func (l *lone) quote(request protocol.QuoteRequest) protocol.QuoteReply {
	l.t.Helper()
	l.sent = nil
	l.step(event.MessageIn{From: "b", Body: request})
	if len(l.sent) != 1 {
		l.t.Fatalf("%d messages were sent", len(l.sent))
	}
	reply, ok := l.sent[0].Body.(protocol.QuoteReply)
	if !ok || len(reply.Quotes) != len(request.Jobs) {
		l.t.Fatalf("got %+v", l.sent[0])
	}
	return reply
}

// offer offers a job as b does, and is the answer.
func (l *lone) offer(seq uint64) protocol.Message {
	l.t.Helper()
	l.sent = nil
	l.step(event.MessageIn{From: "b", Body: protocol.Offer{
		Spec: guest(seq, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(),
	}})
	if len(l.sent) != 1 {
		l.t.Fatalf("%d messages were sent", len(l.sent))
	}
	return l.sent[0].Body
}

// last is the message sent last; nil: none was.
func (l *lone) last() protocol.Message {
	if len(l.sent) == 0 {
		return nil
	}
	return l.sent[len(l.sent)-1].Body
}

// guest is a job of b.
func guest(seq uint64, cpus int) protocol.Spec {
	return protocol.Spec{
		Request: protocol.Request{Job: protocol.NewJobID(2, seq), CPUs: cpus, WallTime: protocol.Hour}, User: "ada", Name: "x",
	}
}

// idle answers as a batch system that takes everything, whose quotes are as configured.
func idle(place policy.Policy, quote func(protocol.Request) protocol.Quote) func(event.Op) (event.Result, error) {
	return func(op event.Op) (event.Result, error) {
		switch op := op.(type) {
		case event.QuoteOp:
			out := event.QuoteResult{Load: protocol.Load{CPUs: 4}}
			for _, r := range op.Query.Jobs {
				out.Quotes = append(out.Quotes, quote(r))
			}
			return out, nil
		case event.DecideOp:
			decisions, hint, err := place.Decide(context.Background(), op.Snapshot)
			return event.DecideResult{Decisions: decisions, Hint: hint}, err
		case event.SubmitOp:
			return event.SubmitResult{Local: "1"}, nil
		case event.PriceOp:
			return event.PriceResult{}, nil
		case event.ReserveOp:
			return event.ReserveResult{Start: op.Hold.Start}, nil
		case event.StageInOp, event.LookupOp, event.WithdrawOp, event.KillOp, event.WatchOp, event.ForgetOp, event.PrioritizeOp, event.PlannedStartsOp, event.CollectOp, event.DiscardOp,
			event.CancelReservationOp, event.ParetoOp, event.ArchiveOp:
		}
		return nil, nil
	}
}

// atOnce quotes no wait.
func atOnce(r protocol.Request) protocol.Quote { return protocol.Quote{Job: r.Job, ERT: r.WallTime} }

// submitted makes this number of jobs of site a.
func submission(jobs int) event.Submit {
	out := event.Submit{User: "ada"}
	for range jobs {
		out.Jobs = append(out.Jobs, peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Name: "x",
		}))
	}
	return out
}

// count is how many calls of a kind have been made.
func count[Op event.Op](l *lone) (n int) {
	for _, op := range l.asked {
		if _, ok := op.(Op); ok {
			n++
		}
	}
	return n
}

// finish tells that a run here has ended well after so long.
func (l *lone) finish(tag protocol.Tag, ran protocol.Duration, used protocol.Usage) {
	l.t.Helper()
	l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
		Cursor:  localsched.Cursor(tag.String()),
		Changes: []localsched.Change{{Tag: tag, State: protocol.Completed, Started: l.now, Outcome: protocol.Outcome{State: protocol.Completed, Ran: ran, Usage: used}}},
	}}})
}

// lastRows counts the rows of a table that are left.
func (l *lone) lastRows(table row.Table) int {
	rows := row.Rows{}
	for _, rec := range l.records {
		rows.Commit(rec)
	}
	return len(rows[table])
}
