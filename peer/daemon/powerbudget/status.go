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

// powerOf tells the budget of an instant, and the one after it.
func powerOf(signal power.Signal, draw int64, now protocol.Instant) *api.Power {
	limit, until := signal.At(now)
	told := &api.Power{Draw: draw, Budget: budgetTold(limit)}
	if until != power.End {
		next, _ := signal.At(until)
		told.Until, told.Next = until, budgetTold(next)
	}
	return told
}

// budgetTold is a budget as the API tells it.
func budgetTold(limit int64) *int64 {
	if limit == power.Unlimited {
		return nil
	}
	return &limit
}
