package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// gatherWithin submits two components that start together within a limit of time.
func (l *lone) gatherWithin(limit protocol.Duration, first, second protocol.SiteName) {
	l.t.Helper()
	a := wanting()
	a.MaxTime = limit
	l.step(event.Submit{User: "ada", Jobs: pair(1, []protocol.SiteName{first}, []protocol.SiteName{second}), Application: a})
	l.answerAll()
}

// max_time is looked at again when sites have room only later than their quotes said: a group whose
// instant is past it is not granted, and says why.
func TestInstantPastMaxTime(t *testing.T) {
	t.Parallel()
	for name, later := range map[string][2]protocol.Duration{
		"one is late":         {protocol.Hour, 0},
		"both are as late":    {protocol.Hour, protocol.Hour},
		"one is late by much": {0, protocol.Day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := holder(t, func(*rules.Config) {}, nothingElse)
			l.gatherWithin(protocol.Hour, "b", "c")
			l.prepare("b", later[0])
			l.prepare("c", later[1])
			if got := l.phases(); got != "[grid-queue grid-queue]" || sentOf[protocol.Grant](l) != 0 {
				t.Fatalf("phases %s, %d grants", got, sentOf[protocol.Grant](l))
			}
			for _, row := range l.jobs() {
				if !strings.Contains(row.Reason, "max_time: from ") || row.ReserveFrom != 0 {
					t.Errorf("job %v: %s", row.Spec.Job, row.Reason)
				}
			}
			if sentOf[protocol.Abort](l) != 2 {
				t.Errorf("%d of 2 holds are given up", sentOf[protocol.Abort](l))
			}
		})
	}
}

// An instant before max_time is agreed on, and explain tells all of it.
func TestInstantIsReported(t *testing.T) {
	t.Parallel()
	l := holder(t, func(*rules.Config) {}, nothingElse)
	l.gatherWithin(2*protocol.Hour, "b", "c")
	l.prepare("b", protocol.Hour)
	l.prepare("c", 0)
	l.prepare("c", 0) // the later instant
	if got := l.phases(); got != "[granted granted]" {
		t.Fatalf("phases %s", got)
	}
	var reported []string
	for _, f := range l.facts {
		if f.Job == l.jobs()[1].Spec.Job && f.Kind != event.LogRoundDecided && f.Kind != event.LogJobSubmitted {
			reported = append(reported, string(f.Kind)+" "+f.Text)
		}
	}
	all := strings.Join(reported, "\n")
	for _, want := range []string{
		"offered to hold room from ", "as soon as its group can start by the quotes", "reserved from ",
		"since b has room for job", "granted all sites of its group hold room from ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// A group that a policy places although its quotes are past max_time holds no room.
func TestQuotesPastMaxTime(t *testing.T) {
	t.Parallel()
	w := roomy(t, "ab", func(*peertest.SiteOptions) {})
	w.Submit("b", "bob", "", peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 8, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"b"},
	}))
	w.Advance(protocol.Minute)
	w.Ask("a", func(asked event.AskID) event.Event {
		a := wanting()
		a.MaxTime = protocol.Hour / 2
		return event.Submit{Asked: asked, User: "ada", Jobs: []protocol.Job{anywhere(1, "a"), anywhere(1, "b")}, Application: a}
	})
	w.Advance(10 * protocol.Minute)
	for _, row := range w.Site("a").Rows().Jobs() {
		if got := viewOf(t, w, "a", row.Spec.Job).Reason; row.Epoch != 0 || !strings.HasPrefix(got, "Infeasible (max_time: from ") {
			t.Errorf("job %v in epoch %d: %s", row.Spec.Job, row.Epoch, got)
		}
	}
}

// A batch system that is asked twice for the same room and answers with two instants has not
// kept its word: no member starts by it, at home or at a partner. [found.md J8]
func TestRoomThatMoves(t *testing.T) {
	t.Parallel()
	moves := func(op event.Op) (event.Result, error) {
		if _, reserves := op.(event.ReserveOp); reserves {
			return nil, errLater
		}
		return nil, nil
	}
	answer := func(l *lone) {
		t.Helper()
		l.advance(2 * protocol.Second)
		if len(l.open) < 2 {
			t.Fatalf("%d calls are open", len(l.open))
		}
		for i, call := range l.open[:2] {
			op, _ := call.Op.(event.ReserveOp)
			l.step(event.CallDone{ID: call.ID, Result: event.ReserveResult{Start: op.Hold.Start.Add(protocol.Duration(i) * protocol.Hour)}})
		}
	}
	home := holder(t, func(*rules.Config) {}, moves)
	home.gather("a", "b", unchanged)
	answer(home)
	if got := home.phases(); got != "[grid-queue grid-queue]" || !strings.Contains(home.jobs()[0].Reason, "has moved the room") {
		t.Errorf("at home: phases %s: %s", got, home.jobs()[0].Reason)
	}
	there := holder(t, func(*rules.Config) {}, moves)
	there.sent = nil
	there.step(event.MessageIn{From: "b", Body: protocol.Offer{
		Spec: guest(1, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(), Start: there.now.Add(protocol.Hour),
	}})
	answer(there)
	if sentOf[protocol.Prepared](there) != 1 || sentOf[protocol.PrepareExpired](there) != 1 {
		t.Errorf("at a partner: sent %+v", there.sent)
	}
	origin := holder(t, func(*rules.Config) {}, nothingElse)
	origin.gather("b", "c", unchanged)
	origin.prepare("b", 0)
	origin.prepare("b", protocol.Hour)
	if got := origin.phases(); got != "[grid-queue grid-queue]" {
		t.Errorf("at the origin: phases %s", got)
	}
}
