package powergate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
)

// able is a scheduler with capabilities.
type able struct {
	localsched.Scheduler
	localsched.Reserver
	capabilities []string
}

func (a able) Describe(context.Context) (localsched.Description, error) {
	return localsched.Description{Name: "able", Capabilities: a.capabilities}, nil
}

// TestGateHoldsNoRoom: what a batch system holds could draw more than the budget before it.
func TestGateHoldsNoRoom(t *testing.T) {
	t.Parallel()
	under := able{capabilities: []string{localsched.Delays, "power", localsched.Reserve}}
	g := &powergate.Gate{Scheduler: under}
	d, err := g.Describe(t.Context())
	if want := []string{localsched.Delays, "power"}; err != nil || !slices.Equal(d.Capabilities, want) {
		t.Errorf("it says %q, %v; want %q", d.Capabilities, err, want)
	}
	if len(under.capabilities) != 3 || under.capabilities[2] != localsched.Reserve {
		t.Errorf("the capabilities of the scheduler under it are %q", under.capabilities)
	}
	if _, ok := localsched.Scheduler(g).(localsched.Reserver); ok {
		t.Error("it has calls for it")
	}
}
