package localsched_test

import (
	"context"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// reserver holds room from one instant on.
type reserver struct {
	planner
	start protocol.Instant
}

func (r reserver) Reserve(context.Context, localsched.Reservation) (protocol.Instant, error) {
	return r.start, nil
}

func (reserver) CancelReservation(context.Context, protocol.Tag) error { return nil }

// TestTariffPassesReserver: with a tariff a scheduler holds room exactly if it does without.
func TestTariffPassesReserver(t *testing.T) {
	t.Parallel()
	if _, ok := localsched.WithTariff(planner{}, localsched.Tariff{}).(localsched.Reserver); ok {
		t.Error("one that holds no room does with a tariff")
	}
	holds, ok := localsched.WithTariff(reserver{start: 7}, localsched.Tariff{}).(localsched.Reserver)
	if !ok {
		t.Fatal("one that holds room does not with a tariff")
	}
	if start, err := holds.Reserve(t.Context(), localsched.Reservation{}); err != nil || start != 7 {
		t.Errorf("held from %d on, %v", start, err)
	}
}
