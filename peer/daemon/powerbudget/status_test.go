package powerbudget

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestPowerOf(t *testing.T) {
	t.Parallel()
	signal, err := power.NewSignal([]power.Step{{At: 10, Limit: 0}, {At: 20, Limit: 700}, {At: 30, Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[protocol.Instant]api.Power{
		9:  {Draw: 5, Until: 10, Next: new(int64(0))},
		10: {Draw: 5, Budget: new(int64(0)), Until: 20, Next: new(int64(700))},
		29: {Draw: 5, Budget: new(int64(700)), Until: 30},
		30: {Draw: 5},
	} {
		if got := powerOf(signal, 5, now); !reflect.DeepEqual(*got, want) {
			t.Errorf("at %d: %+v, want %+v", now, *got, want)
		}
	}
}
