package bus_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestNewestQuestionsWin has a partner ask far more than the handler takes: the newest
// questions stay, and its other messages lose nothing.
func TestNewestQuestionsWin(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	hold := make(chan struct{})
	a.mu.Lock()
	a.hold = hold
	a.mu.Unlock()
	b.sends(t, a, protocol.Prepared{Tag: tag})
	<-a.entered // the handler is busy
	const flood = 200
	for round := 1; round <= flood; round++ {
		b.sends(t, a, protocol.QuoteRequest{Round: protocol.RoundID(round), Deadline: protocol.Hour})
		if round%50 == 0 {
			b.sends(t, a, protocol.Grant{Tag: tag})
		}
	}
	a.eventually(t, "the drop of old questions", func() bool { return a.rejected[bus.Superseded] == flood-4 })
	a.mu.Lock()
	a.hold = nil
	a.mu.Unlock()
	close(hold)
	a.eventually(t, "all that stayed", func() bool { return len(a.got) == 1+4+4 })
	a.mu.Lock()
	defer a.mu.Unlock()
	next := protocol.RoundID(flood - 3)
	for _, r := range a.got {
		if m, question := r.m.(protocol.QuoteRequest); question {
			if m.Round != next {
				t.Errorf("round %d came, want %d", m.Round, next)
			}
			next++
		}
	}
	if a.rejected[bus.Overload] != 0 {
		t.Errorf("%d other messages were dropped", a.rejected[bus.Overload])
	}
}
