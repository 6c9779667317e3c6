package peer_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLateTicksKeepThePhase: checks of the load are due a period after the previous one was due, however late that was
// carried out; periods that have passed are left out.
func TestLateTicksKeepThePhase(t *testing.T) {
	t.Parallel()
	const period = 10 * protocol.Second
	l := newLone(t, func(c *rules.Config) {
		c.Initiation, c.CheckInterval, c.FirstCheck = policy.Receiver, period, 3*protocol.Second
	}, func(event.Op) (event.Result, error) { return nil, errLater })
	checks := func() (count int) {
		for _, op := range l.asked {
			if quote, ok := op.(event.QuoteOp); ok && len(quote.Query.Jobs) == 0 {
				count++
			}
		}
		return count
	}
	before := checks()
	for i, tick := range []struct {
		at   protocol.Duration // after the start
		done int               // checks so far
	}{
		{2999, 0},
		{3000, 1},
		{12_999, 1},
		{13_400, 2}, // late
		{23_000, 3}, // at the phase of the first
		{47_000, 4}, // 33 s and 43 s together
		{53_000, 5},
	} {
		l.now = peertest.Epoch.Add(tick.at)
		l.step(event.Tick{})
		if got := checks() - before; got != tick.done {
			t.Fatalf("tick %d, at %v: %d checks, want %d", i+1, tick.at, got, tick.done)
		}
	}
}
