package peer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestOffersAreWeighed: under [guest_limits] max_owner_delay an offer is answered by what the local
// scheduler plans then, not by what was quoted.
func TestOffersAreWeighed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		quote protocol.Quote
		err   error
		why   string // refused; empty: prepared
	}{
		"as much as is allowed": {quote: protocol.Quote{Delay: protocol.Minute}},
		"too much":              {quote: protocol.Quote{Delay: protocol.Minute + 1}, why: "would delay a waiting job of this site by 0:01:01, it allows 0:01:00"},
		"for ever":              {quote: protocol.Quote{Delay: protocol.Never}, why: "would delay a waiting job"},
		"declined":              {quote: protocol.Quote{Declined: "no room"}, why: "no room"},
		"no answer":             {err: errors.New("gone"), why: "the local scheduler does not answer: gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := protected(t, nil)
			l.calls = func(event.Op) (event.Result, error) {
				return event.QuoteResult{Quotes: []protocol.Quote{tt.quote}, Load: protocol.Load{CPUs: 4}}, tt.err
			}
			l.asked, l.records = nil, nil
			answer := l.offer(1)
			if query := l.asked[0].(event.QuoteOp).Query; query.ProtectSite == nil || *query.ProtectSite != 1 || len(query.Ahead) != 0 || len(query.Jobs) != 1 {
				t.Errorf("the local scheduler is asked %+v", query)
			}
			refused, no := answer.(protocol.Refused)
			if no != (tt.why != "") || !strings.Contains(refused.Reason, tt.why) || refused.Full {
				t.Errorf("got %+v, want %q", answer, tt.why)
			}
			if no && len(l.records) > 0 {
				t.Errorf("a refusal leaves %+v", l.records)
			}
		})
	}
}

// protected is site a, which allows a minute.
func protected(t *testing.T, during func(l *lone)) *lone {
	t.Helper()
	answers := idle(peertest.Greedy{}, atOnce)
	var l *lone
	l = newLone(t, func(c *rules.Config) { c.Protect.Delay = protocol.Minute }, func(op event.Op) (event.Result, error) {
		if ask, ok := op.(event.QuoteOp); ok && len(ask.Query.Jobs) > 0 && during != nil {
			during(l)
		}
		return answers(op)
	})
	return l
}

// TestOffersAtTheSameTime: one that is weighed is ahead of the next, is not weighed twice,
// and goes when its origin gives it up.
func TestOffersAtTheSameTime(t *testing.T) {
	t.Parallel()
	offer := func(seq uint64) event.MessageIn {
		return event.MessageIn{From: "b", Body: protocol.Offer{
			Spec: guest(seq, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(),
		}}
	}
	aheadOf := func(l *lone, seq uint64) (ahead []protocol.Tag) {
		ready := l.peer.Step(l.now, offer(seq))
		if len(ready.Calls) != 1 || len(ready.Records)+len(ready.Messages) != 0 {
			t.Fatalf("offer %d: %+v", seq, ready)
		}
		for _, one := range ready.Calls[0].Op.(event.QuoteOp).Query.Ahead {
			ahead = append(ahead, one.Tag)
		}
		return ahead
	}
	l := protected(t, func(l *lone) {
		if again := l.peer.Step(l.now, offer(1)); len(again.Calls)+len(again.Messages) != 0 {
			t.Errorf("a repeated offer: %+v", again)
		}
		if got := aheadOf(l, 2); !slices.Equal(got, []protocol.Tag{tagOf(1)}) {
			t.Errorf("ahead of the second: %v", got)
		}
		l.peer.Step(l.now, event.MessageIn{From: "b", Body: protocol.Abort{Tag: tagOf(1)}})
		if got := aheadOf(l, 3); !slices.Equal(got, []protocol.Tag{tagOf(2)}) {
			t.Errorf("ahead of the third: %v", got)
		}
	})
	l.sent, l.records = nil, nil
	l.step(offer(1))
	if len(l.sent) != 0 || len(l.records) != 0 {
		t.Errorf("an offer that was given up: %+v, rows %+v", l.sent, l.records)
	}
}

// TestGuardedQuestionsAreBounded: while own jobs wait, a number of shapes is looked at, and
// as many jobs of these as are asked about.
func TestGuardedQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	for queued, want := range map[int]int{0: 0, 1: 44} {
		t.Run(fmt.Sprint(queued, " jobs wait"), func(t *testing.T) {
			t.Parallel()
			answers := idle(peertest.Greedy{}, atOnce)
			l := newLone(t, func(c *rules.Config) { c.Protect.Delay = 1 }, func(op event.Op) (event.Result, error) {
				result, err := answers(op)
				if quoted, ok := result.(event.QuoteResult); ok {
					quoted.Load.QueuedJobs = queued
					result = quoted
				}
				return result, err
			})
			var request protocol.QuoteRequest
			for i := range uint64(600) {
				spec := guest(i+1, 1)
				spec.WallTime = protocol.Duration(1 + i/2)
				request.Jobs = append(request.Jobs, spec)
			}
			declined := map[protocol.Duration]bool{}
			for i, q := range l.quote(request).Quotes {
				if q.Declined != "" {
					declined[request.Jobs[i].WallTime] = true
				}
				if q.Declined != "" && q.Declined != "asked about too many jobs at once while [guest_limits] max_owner_delay is on" {
					t.Errorf("declined: %s", q.Declined)
				}
			}
			if len(declined) != want {
				t.Errorf("%d of 300 shapes are declined, want %d", len(declined), want)
			}
		})
	}
}
