package peer_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// twins are two peers to which the same happens, but that the clock of the second is set forward
// at some time. What they do must be the same, by as much later as the clock is ahead.
type twins struct {
	*rapid.T
	both  [2]*lone
	ahead protocol.Duration
	seen  int // messages that b has answered, or not
	guest uint64

	compared int // messages
}

func newTwins(t *testing.T, r *rapid.T) *twins {
	t.Helper()
	w := &twins{T: r}
	initiation := rapid.SampledFrom([]policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric}).Draw(r, "initiation")
	busy := idle(peertest.Greedy{}, func(q protocol.Request) protocol.Quote {
		return protocol.Quote{Job: q.Job, AWT: protocol.Duration(q.Job%3) * protocol.Hour, ERT: q.WallTime}
	})
	for i := range w.both {
		w.both[i] = newLone(t, func(cfg *rules.Config) { cfg.Initiation = initiation }, busy)
	}
	return w
}

func (w *twins) step(ev event.Event) {
	for _, l := range w.both {
		l.step(ev)
	}
}

// act does one thing to both.
func (w *twins) act() {
	switch rapid.IntRange(0, 7).Draw(w.T, "what") {
	case 0:
		jobs := submission(rapid.IntRange(1, 3).Draw(w.T, "jobs"))
		for i := range jobs.Jobs {
			jobs.Jobs[i].Spec.Requeue = rapid.Bool().Draw(w.T, "requeue")
		}
		w.step(jobs)
	case 1, 2:
		d := protocol.Duration(rapid.SampledFrom([]int64{1, 500, 5_000, 60_000, 300_000, 3_600_000}).Draw(w.T, "time goes by"))
		for _, l := range w.both {
			l.advance(d)
		}
	case 3:
		w.guest++
		w.step(event.MessageIn{From: "b", Body: protocol.Offer{Spec: guest(w.guest, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload()}})
	case 4:
		w.step(event.MessageIn{From: "b", Body: protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{guest(900, 1)}, Deadline: protocol.Second}})
	case 5:
		w.step(event.Disconnected{Site: "b"})
	case 6:
		w.step(event.Connected{Card: protocol.Card{
			Site: "b", Number: 2, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1, Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
		}})
	case 7:
		w.step(event.MessageIn{From: "b", Body: protocol.Volunteer{Load: protocol.Load{CPUs: 8}, Valid: 30 * protocol.Second}})
	}
	if rapid.IntRange(0, 3).Draw(w.T, "b answers") > 0 {
		w.answer()
	}
}

// answer has b answer what it was sent since it last did.
func (w *twins) answer() {
	news := w.both[0].sent[w.seen:]
	w.seen = len(w.both[0].sent)
	for _, m := range news {
		switch m := m.Body.(type) { //nolint:gochecksumtype // the others need no answer
		case protocol.QuoteRequest:
			reply := protocol.QuoteReply{Round: m.Round, Load: protocol.Load{CPUs: 8}, Free: 8, MaxJobs: 1000}
			for _, spec := range m.Jobs {
				reply.Quotes = append(reply.Quotes, protocol.Quote{Job: spec.Job, ERT: spec.WallTime})
			}
			w.step(event.MessageIn{From: "b", Body: reply})
		case protocol.Offer:
			tag := protocol.Tag{Job: m.Spec.Job, Epoch: m.Epoch}
			if rapid.Bool().Draw(w.T, "b refuses") {
				w.step(event.MessageIn{From: "b", Body: protocol.Refused{Tag: tag, Reason: "not today"}})
				continue
			}
			w.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag}})
		case protocol.Grant:
			w.step(event.MessageIn{From: "b", Body: protocol.Accept(m)})
		}
	}
}

// compare checks that both have sent, asked and planned the same.
func (w *twins) compare() {
	w.Helper()
	one, two := w.both[0], w.both[1]
	if len(one.asked) != len(two.asked) {
		w.Fatalf("%d calls, and %d with a clock that is %v ahead", len(one.asked), len(two.asked), w.ahead)
	}
	for i := w.compared; i < max(len(one.sent), len(two.sent)); i++ {
		if i >= len(one.sent) || i >= len(two.sent) || !reflect.DeepEqual(timeless(one.sent[i]), timeless(two.sent[i])) {
			w.Fatalf("message %d differs of\n%+v\nand, with a clock that is %v ahead,\n%+v", i, one.sent[i:], w.ahead, two.sent[i:])
		}
	}
	w.compared = len(one.sent)
	if one.wake != 0 && two.wake != one.wake.Add(w.ahead) || one.wake == 0 && two.wake != 0 {
		w.Fatalf("the next wake is in %v, and with a clock that is %v ahead in %v", one.wake.Sub(one.now), w.ahead, two.wake.Sub(two.now))
	}
}

// timeless is a message without the instants in it, which are for people.
func timeless(m event.Outgoing) event.Outgoing {
	switch body := m.Body.(type) { //nolint:gochecksumtype // the others have none
	case protocol.Offer:
		body.Spec.Submitted = 0
		m.Body = body
	case protocol.QuoteRequest:
		body.Jobs = slices.Clone(body.Jobs)
		for i := range body.Jobs {
			body.Jobs[i].Submitted = 0
		}
		m.Body = body
	}
	return m
}

// TestClockSetForward: a clock that is set forward changes nothing of what a peer does: no site
// has missed a deadline or is silent, and no job is taken from its site.
func TestClockSetForward(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := newTwins(t, r)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			if rapid.IntRange(0, 9).Draw(r, "clock") == 0 {
				w.setForward(protocol.Duration(rapid.SampledFrom([]int64{1, 1000, 7_200_000, 1 << 40}).Draw(r, "forward")))
			}
			w.act()
			w.compare()
		}
	})
}

// setForward sets the clock of the second.
func (w *twins) setForward(by protocol.Duration) {
	w.ahead += by
	w.both[1].now = w.both[1].now.Add(by)
	w.both[0].step(event.Tick{})
	w.both[1].step(event.ClockSet{By: by})
}

// TestSuspendedMachine has a machine stand still for hours, after which all links are down: a job
// that may run twice is not taken from its site before that was silent for long enough.
func TestSuspendedMachine(t *testing.T) {
	t.Parallel()
	reclaim := 10 * protocol.Minute
	l := newLone(t, func(cfg *rules.Config) { cfg.ReclaimAfter = reclaim }, idle(peertest.Greedy{}, func(q protocol.Request) protocol.Quote {
		return protocol.Quote{Job: q.Job, AWT: protocol.Hour, ERT: q.WallTime}
	}))
	jobs := submission(1)
	jobs.Jobs[0].Spec.Requeue, jobs.Jobs[0].Spec.Sites = true, []protocol.SiteName{"b"}
	l.step(jobs)
	offer, ok := l.last().(protocol.Offer)
	if !ok {
		request, asked := l.last().(protocol.QuoteRequest)
		if !asked {
			t.Fatalf("sent %+v", l.sent)
		}
		l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{
			Round: request.Round, Load: protocol.Load{CPUs: 8}, Free: 8, MaxJobs: 1000,
			Quotes: []protocol.Quote{{Job: request.Jobs[0].Job, ERT: protocol.Minute}},
		}})
		offer, ok = l.last().(protocol.Offer)
	}
	if !ok {
		t.Fatalf("sent %+v", l.sent)
	}
	tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
	l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag}})
	l.step(event.MessageIn{From: "b", Body: protocol.Accept{Tag: tag}})
	l.advance(reclaim / 2)
	l.step(event.MessageIn{From: "b", Body: protocol.Status{Tag: tag, Seq: 1, State: protocol.Running}})
	requeued := func() bool {
		return slices.ContainsFunc(l.facts, func(f event.LogEvent) bool { return f.Kind == event.LogJobReclaimed })
	}
	l.now = l.now.Add(5 * protocol.Hour)
	l.step(event.ClockSet{By: 5 * protocol.Hour})
	l.step(event.Disconnected{Site: "b"})
	if l.advance(reclaim - 1); requeued() {
		t.Error("it is taken from its site although that was not silent for long")
	}
	if l.advance(reclaim); !requeued() {
		t.Error("it is never taken from its site")
	}
}
