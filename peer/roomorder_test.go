package peer_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holdsRoom is a site alone that holds room for a number of guests of b, the jobs 1, 2 …, and from here on
// answers no call by itself.
func holdsRoom(t *testing.T, guests uint64) *lone {
	t.Helper()
	l := newLone(t, func(cfg *rules.Config) { cfg.Reserves = true }, idle(peertest.Greedy{}, atOnce))
	for seq := range guests {
		l.seekRoom(seq + 1)
		if prepared, ok := l.last().(protocol.Prepared); !ok || prepared.Start == 0 {
			t.Fatalf("no room is held: %+v", l.last())
		}
	}
	l.calls = func(event.Op) (event.Result, error) { return nil, errLater }
	return l
}

func tagOfGuest(seq uint64) protocol.Tag { return protocol.Tag{Job: guest(seq, 1).Job, Epoch: 1} }

// seekRoom has b ask for room for its job.
func (l *lone) seekRoom(seq uint64) {
	l.step(event.MessageIn{From: "b", Body: protocol.Offer{
		Spec: guest(seq, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(), Start: l.now.Add(protocol.Hour),
	}})
}

// giveUp has b give up the room of its job.
func (l *lone) giveUp(seq uint64) {
	l.step(event.MessageIn{From: "b", Body: protocol.Abort{Tag: tagOfGuest(seq)}})
}

// askQuote has b ask for a quote, in a round of this number.
func (l *lone) askQuote(round protocol.RoundID) {
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteRequest{Round: round, Jobs: []protocol.Spec{guest(100, 1)}}})
}

// made are the calls that have no answer, in their order.
func (l *lone) made() (names []string) {
	for _, call := range l.open {
		switch op := call.Op.(type) {
		case event.CancelReservationOp:
			names = append(names, fmt.Sprintf("release %d", op.Tag.Job.Seq()))
		case event.ReserveOp:
			names = append(names, fmt.Sprintf("reserve %d", op.Hold.Tag.Job.Seq()))
		default:
			names = append(names, fmt.Sprintf("%T", op)[len("event."):])
		}
	}
	return names
}

// done answers the release of the room of b's job.
func (l *lone) done(seq uint64, err error) {
	l.t.Helper()
	i := slices.IndexFunc(l.open, func(c event.Call) bool {
		op, ok := c.Op.(event.CancelReservationOp)
		return ok && op.Tag == tagOfGuest(seq)
	})
	if i < 0 {
		l.t.Fatalf("no release of %d is under way: %q", seq, l.made())
	}
	id := l.open[i].ID
	l.open = slices.Delete(l.open, i, i+1)
	l.step(event.CallDone{ID: id, Result: event.CancelReservationResult{}, Err: err})
}

func (l *lone) wantMade(when string, want ...string) {
	l.t.Helper()
	if got := l.made(); !slices.Equal(got, want) {
		l.t.Errorf("%s: the calls %q are open, want %q", when, got, want)
	}
}

// Quotes and holds wait for the releases made before them, all of them, and for no later one. Nothing
// else waits.
func TestRoomIsFreedInOrder(t *testing.T) {
	t.Parallel()
	l := holdsRoom(t, 4)
	l.askQuote(1)
	l.giveUp(1)
	l.giveUp(2)
	l.askQuote(2)
	l.step(event.MessageIn{From: "b", Body: protocol.Grant{Tag: tagOfGuest(4)}})
	l.giveUp(3)
	l.seekRoom(5)
	l.wantMade("at first", "QuoteOp", "release 1", "release 2", "SubmitOp", "release 3")
	l.done(2, nil)
	l.wantMade("after the second release", "QuoteOp", "release 1", "SubmitOp", "release 3")
	l.done(1, errors.New("it does not know")) // an answer like others
	l.wantMade("after the first two", "QuoteOp", "SubmitOp", "release 3", "QuoteOp")
	l.done(3, nil)
	l.wantMade("after all", "QuoteOp", "SubmitOp", "QuoteOp", "reserve 5")
}

// A batch system that hangs when it is to give room up holds up quotes and holds for a short while only.
func TestAHungReleaseHoldsUpNothingForLong(t *testing.T) {
	t.Parallel()
	l := holdsRoom(t, 3)
	l.giveUp(1)
	l.askQuote(1)
	l.advance(protocol.Second)
	l.giveUp(2)
	l.seekRoom(5)
	l.wantMade("at first", "release 1", "release 2")
	l.advance(protocol.Second - 1)
	l.wantMade("after nearly 2 s", "release 1", "release 2")
	l.advance(1)
	l.wantMade("after 2 s", "release 1", "release 2", "QuoteOp")
	l.done(1, nil) // too late, and of no use to the hold
	l.wantMade("after the first release", "release 2", "QuoteOp")
	l.advance(protocol.Second)
	l.wantMade("after 2 s for the second", "release 2", "QuoteOp", "reserve 5", "reserve 5") // its guest has asked again
	l.askQuote(2)
	l.wantMade("then", "release 2", "QuoteOp", "reserve 5", "reserve 5", "QuoteOp")
}

// While the clock of the machine is set forward no time goes by.
func TestAClockSetForwardFreesNoRoom(t *testing.T) {
	t.Parallel()
	l := holdsRoom(t, 1)
	l.giveUp(1)
	l.askQuote(1)
	l.now = l.now.Add(protocol.Hour)
	l.step(event.ClockSet{By: protocol.Hour})
	l.wantMade("at once", "release 1")
	l.advance(2 * protocol.Second)
	l.wantMade("2 s later", "release 1", "QuoteOp")
}
