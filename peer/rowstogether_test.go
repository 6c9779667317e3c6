package peer

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestRowsGoTogether: the invariants of the rows of a job, a guest and their runs.
func TestRowsGoTogether(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 7)
	spec := protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}}
	now, before := protocol.Tag{Job: id, Epoch: 2}, protocol.Tag{Job: id, Epoch: 1}
	own := func(phase row.JobPhase) *job {
		return &job{Job: row.Job{Spec: spec, Phase: phase, Epoch: 2, Site: "a", CommittedAt: 1, State: protocol.Pending}}
	}
	queued := own(row.JobInGridQueue)
	queued.Site, queued.CommittedAt = "", 0
	other := func(phase row.GuestPhase) *guest {
		return &guest{Guest: row.Guest{Spec: spec, Origin: "b", Phase: phase, Epoch: 2}}
	}
	for name, tt := range map[string]struct {
		job   *job
		guest *guest
		run   protocol.Tag // none has the epoch 0
		queue bool
		ok    bool
	}{
		"a job in the local queue":          {own(row.JobCommittedLocal), nil, now, false, true},
		"without its run":                   {own(row.JobCommittedLocal), nil, protocol.Tag{}, false, false},
		"a job at a partner":                {own(row.JobGranted), nil, protocol.Tag{}, false, true},
		"with a run here":                   {own(row.JobGranted), nil, now, false, false},
		"in the grid queue, too":            {own(row.JobGranted), nil, protocol.Tag{}, true, false},
		"a job in the grid queue":           {queued, nil, protocol.Tag{}, true, true},
		"a job that needs an operator":      {queued, nil, protocol.Tag{}, false, true},
		"an accepted guest":                 {nil, other(row.GuestAccepted), now, false, true},
		"an accepted guest without its run": {nil, other(row.GuestAccepted), protocol.Tag{}, false, false},
		"a prepared guest":                  {nil, other(row.GuestPrepared), protocol.Tag{}, false, true},
		"a prepared guest with a run":       {nil, other(row.GuestPrepared), now, false, false},
		"a closed guest with a run":         {nil, other(row.GuestClosed), now, false, false},
		"a run of no row":                   {nil, nil, now, false, false},
		"a run of an earlier epoch":         {queued, nil, before, true, false},
		"a guest's run of an earlier epoch": {nil, other(row.GuestClosed), before, false, false},
	} {
		p := &Peer{jobs: map[protocol.JobID]*job{}, guests: map[protocol.JobID]*guest{}, runs: map[protocol.Tag]*localrun.Run{}}
		if tt.job != nil {
			p.jobs[id] = tt.job
		}
		if tt.guest != nil {
			p.guests[id] = tt.guest
		}
		if tt.run.Epoch != 0 {
			p.runs[tt.run] = &localrun.Run{Run: row.Run{Tag: tt.run, Phase: row.RunQueued}}
		}
		if tt.queue {
			p.queue.Put(id)
		}
		wrong := p.checkJob(p.jobs[id])
		if wrong == nil {
			wrong = p.checkGuest(p.guests[id])
		}
		if wrong == nil {
			wrong = p.checkRun(p.runs[tt.run])
		}
		if (wrong == nil) != tt.ok {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}
