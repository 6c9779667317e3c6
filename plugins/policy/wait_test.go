package policy_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// An hour for nothing, then 60 a day's hour, then for ever 6.
func TestWaitCost(t *testing.T) {
	t.Parallel()
	a := policy.Application{WaitingCost: []protocol.WaitingRate{
		{}, {From: protocol.Hour, PerHour: 60 * protocol.Unit}, {From: 9 * protocol.Hour, PerHour: 6 * protocol.Unit},
	}}
	for d, want := range map[protocol.Duration]protocol.Micro{
		-protocol.Hour: 0, 0: 0, protocol.Hour: 0, protocol.Hour + protocol.Minute: protocol.Unit,
		9 * protocol.Hour: 480 * protocol.Unit, 10 * protocol.Hour: 486 * protocol.Unit,
		protocol.Hour + 1: 17, // 60 units an hour are 16.67 millionths a ms
	} {
		if got := a.WaitCost(d); got != want {
			t.Errorf("until %v: %d, want %d", d, got, want)
		}
	}
	expensive := policy.Application{WaitingCost: []protocol.WaitingRate{{PerHour: math.MaxInt64}}}
	if got := expensive.WaitCost(protocol.Never); got != math.MaxInt64 {
		t.Errorf("got %d instead of the largest amount", got)
	}
	if got := (&policy.Application{}).WaitCost(protocol.Day); got != 0 {
		t.Errorf("waiting costs nothing, got %d", got)
	}
}
