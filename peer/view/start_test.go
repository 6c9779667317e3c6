package view_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestExpectedStart(t *testing.T) {
	t.Parallel()
	waits := &view.QuotedWaits{At: 1000, AWT: 50, Low: 10, Median: 40, High: 90}
	for name, c := range map[string]struct {
		job   view.Job
		now   protocol.Instant
		want  view.ExpectedStart
		known bool
	}{
		"by its quote":          {view.Job{State: protocol.Pending, Waits: waits}, 1005, view.ExpectedStart{Low: 1010, Median: 1040, High: 1090, Stated: 1000}, true},
		"later than was quoted": {view.Job{State: protocol.Pending, Waits: waits}, 1060, view.ExpectedStart{Low: 1060, Median: 1060, High: 1090, Stated: 1000}, true},
		"without an interval":   {view.Job{State: protocol.Pending, Waits: &view.QuotedWaits{At: 1000, AWT: 50}}, 0, view.ExpectedStart{Low: 1050, Median: 1050, High: 1050, Stated: 1000}, true},
		"by its reservation":    {view.Job{State: protocol.Pending, Waits: waits, ReservedAt: 2000}, 0, view.ExpectedStart{Low: 2000, Median: 2000, High: 2000}, true},
		"nothing is quoted":     {view.Job{State: protocol.Pending}, 0, view.ExpectedStart{}, false},
		"it is quoted no start": {view.Job{State: protocol.Pending, Waits: &view.QuotedWaits{At: 1000, AWT: protocol.Never}}, 0, view.ExpectedStart{}, false},
		"by the plan":           {view.Job{State: protocol.Pending, Waits: waits, Planned: &view.PlannedStart{Start: 1200, Stated: 1175}}, 0, view.ExpectedStart{Low: 1180, Median: 1195, High: 1220, Stated: 1175}, true},
		"planned much later":    {view.Job{State: protocol.Pending, Waits: waits, Planned: &view.PlannedStart{Start: 9000, Stated: 1100}}, 0, view.ExpectedStart{Low: 8960, Median: 8990, High: 9040, Stated: 1100}, true},
		"planned in the past":   {view.Job{State: protocol.Pending, Waits: waits, Planned: &view.PlannedStart{Start: 1100, Stated: 1175}}, 1180, view.ExpectedStart{Low: 1180, Median: 1180, High: 1180, Stated: 1175}, true},
		"planned, not quoted":   {view.Job{State: protocol.Pending, Planned: &view.PlannedStart{Start: 1200, Stated: 1175}}, 0, view.ExpectedStart{Low: 1200, Median: 1200, High: 1200, Stated: 1175}, true},
		"quoted at once":        {view.Job{State: protocol.Pending, Waits: &view.QuotedWaits{At: 1, High: 9}, Planned: &view.PlannedStart{Start: 1200, Stated: 1175}}, 0, view.ExpectedStart{Low: 1200, Median: 1200, High: 1209, Stated: 1175}, true},
		"planned never to be":   {view.Job{State: protocol.Pending, Waits: waits, Planned: &view.PlannedStart{Start: math.MaxInt64}}, 0, view.ExpectedStart{Low: math.MaxInt64 - 40, Median: math.MaxInt64 - 10, High: math.MaxInt64}, true},
		"in the grid queue":     {view.Job{State: protocol.Pending, BestQuote: &view.BestQuote{Site: "b", QuotedWaits: *waits}}, 0, view.ExpectedStart{Low: 1010, Median: 1040, High: 1090, Stated: 1000}, true},
		"not before its begin":  {view.Job{State: protocol.Pending, Waits: waits, Conditions: protocol.Conditions{Begin: 1050}}, 0, view.ExpectedStart{Low: 1050, Median: 1050, High: 1090, Stated: 1000}, true},
		"by its begin alone":    {view.Job{State: protocol.Pending, Conditions: protocol.Conditions{Begin: 1050}}, 0, view.ExpectedStart{Low: 1050, Median: 1050, High: 1050}, true},
		"it runs":               {view.Job{State: protocol.Running, Waits: waits}, 0, view.ExpectedStart{}, false},
	} {
		if got, known := c.job.ExpectedStart(c.now); got != c.want || known != c.known {
			t.Errorf("%s: %+v, %t; want %+v, %t", name, got, known, c.want, c.known)
		}
	}
}
