package handoff_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestEndOfRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		job         row.Job
		restored    bool
		state       protocol.State
		here, there bool
		want        handoff.RunEnd
	}{
		"of the latest rows, whoever ended it": {state: protocol.Cancelled, want: handoff.EndsJob},
		"which its user wants requeued":        {job: row.Job{Requeueing: true}, state: protocol.Cancelled, want: handoff.EndsJob},
		"of older rows, by itself":             {restored: true, state: protocol.Completed, want: handoff.EndsJob},
		"as well as it could":                  {restored: true, state: protocol.Timeout, want: handoff.EndsJob},
		"since it was cancelled":               {job: row.Job{Cancelling: true}, restored: true, state: protocol.Cancelled, want: handoff.EndsJob},
		"that was to be requeued before":       {job: row.Job{Cancelling: true, Requeueing: true}, restored: true, state: protocol.Cancelled, want: handoff.EndsJob},
		"CANCELLED by no word of these rows":   {restored: true, state: protocol.Cancelled, want: handoff.MayBePlacedSince},
		"so that it is requeued":               {job: row.Job{Requeueing: true}, restored: true, state: protocol.Completed, want: handoff.MayBePlacedSince},
		"since its group did not start":        {job: row.Job{Parted: true}, restored: true, state: protocol.NodeFail, want: handoff.MayBePlacedSince},
		"a partner has it":                     {restored: true, state: protocol.Completed, there: true, want: handoff.MayBePlacedSince},
		"a partner says that it has it":        {state: protocol.Completed, there: true, want: handoff.EndsJob},
		"a later one is here":                  {restored: true, state: protocol.Completed, here: true, want: handoff.PlacedSince},
		"and the job was cancelled":            {job: row.Job{Cancelling: true}, state: protocol.Cancelled, here: true, there: true, want: handoff.PlacedSince},
	} {
		if got := handoff.EndOfRun(&tt.job, tt.state, tt.restored, tt.here, tt.there); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
