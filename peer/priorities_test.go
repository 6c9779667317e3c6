package peer_test

import (
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLocalPriorities: jobs are quoted and submitted with their priorities, which change as others use the site, and are
// stated again after an error. Those of a partner's user count by its use here.
func TestLocalPriorities(t *testing.T) {
	t.Parallel()
	fails := errors.New("busy")
	answer := idle(peertest.Greedy{}, atOnce)
	l := newLone(t, func(cfg *rules.Config) {
		partners := cfg.Partners
		fair(cfg)
		cfg.Partners, cfg.Prioritize = partners, true
	}, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.PrioritizeOp); ok {
			return event.PrioritizeResult{}, fails
		}
		return answer(op)
	})
	l.submitAs("ann", 2)
	l.advance(3 * protocol.Second) // b does not answer
	var submitted []localsched.Submission
	for _, op := range l.asked {
		switch op := op.(type) {
		case event.QuoteOp:
			for i := range op.Query.Jobs {
				if got := op.Query.Jobs[i].Priority; got != 10_000 {
					t.Errorf("a job of one who has used nothing is quoted with priority %d", got)
				}
			}
		case event.SubmitOp:
			submitted = append(submitted, op.Job)
		default:
		}
	}
	if len(submitted) != 2 || submitted[0].Spec.Priority != 10_000 {
		t.Fatalf("submitted %+v", submitted)
	}
	first := submitted[0].Tag
	l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
		Cursor: "1", Changes: []localsched.Change{{Tag: first, State: protocol.Running, Started: l.now}},
	}}})
	if reply := l.quote(protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{guest(1, 1)}}); reply.Quotes[0].Declined != "" {
		t.Fatalf("declined: %s", reply.Quotes[0].Declined)
	}
	stated := func() (all []localsched.Priority) {
		for _, op := range l.asked {
			if one, ok := op.(event.PrioritizeOp); ok {
				all = append(all, one.Priorities...)
			}
		}
		l.asked = nil
		return all
	}
	stated()
	l.advance(5 * protocol.Minute)
	// ann alone has used the site: F = 2^(-1), and five minutes of the week that counts are waited.
	if got := stated(); len(got) != 1 || got[0].Tag != submitted[1].Tag || got[0].Priority != 5000 {
		t.Errorf("after five minutes %+v", got)
	}
	fails = nil
	l.advance(5 * protocol.Minute)
	if got := stated(); len(got) != 1 || got[0].Priority != 5000 {
		t.Errorf("after an error %+v", got)
	}
	l.advance(5 * protocol.Minute)
	if got := stated(); len(got) != 1 || got[0].Priority != 5001 { // 15 min/7 d·1000 = 1.49
		t.Errorf("later %+v", got)
	}
}
