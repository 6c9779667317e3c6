package powerbudget

import (
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Power is what the running jobs draw, in milliwatts, and may draw now and next.
func (k *Keeper) Power(draw int64) *api.Power {
	return powerOf(k.Current().Signal, draw, protocol.InstantOf(time.Now()))
}

// powerOf is the budget of an instant, and the one after it.
func powerOf(signal power.Signal, draw int64, now protocol.Instant) *api.Power {
	limit, until := signal.At(now)
	state := &api.Power{Draw: draw, Budget: budgetPointer(limit)}
	if until != power.End {
		next, _ := signal.At(until)
		state.Until, state.Next = until, budgetPointer(next)
	}
	return state
}

// budgetPointer is a budget as the API has it: nil for none.
func budgetPointer(limit int64) *int64 {
	if limit == power.Unlimited {
		return nil
	}
	return &limit
}
