package broker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestGroupsFollowTheirRows: a group is where its members are, whichever way they came there.
func TestGroupsFollowTheirRows(t *testing.T) {
	t.Parallel()
	queued := func(id protocol.JobID) *row.Job {
		j := member(id, row.JobInGridQueue, 0)
		j.ReserveFrom = 0
		return j
	}
	parted, cancelled, alone := member(2, row.JobCommittedLocal, noon), member(2, row.JobRecalling, noon), member(2, row.JobHandedOff, 0)
	parted.Parted, cancelled.Cancelling, alone.ReserveFrom = true, true, 0
	for name, tt := range map[string]struct {
		members []*row.Job
		ended   bool
		want    broker.GroupPhase
	}{
		"nobody is left":                          {nil, false, broker.GroupQueued},
		"all wait":                                {[]*row.Job{queued(1), queued(2)}, false, broker.GroupQueued},
		"one is asked for":                        {[]*row.Job{queued(1), member(2, row.JobOffered, 0)}, false, broker.GroupReserving},
		"one has its room here":                   {[]*row.Job{member(1, row.JobHandedOff, noon), member(2, row.JobReserving, noon)}, false, broker.GroupReserving},
		"all are granted":                         {[]*row.Job{member(1, row.JobGranted, noon), member(2, row.JobCommittedLocal, noon)}, false, broker.GroupGranted},
		"one waits, and another runs":             {[]*row.Job{queued(1), member(2, row.JobHandedOff, noon)}, false, broker.GroupGranted},
		"one has ended, and its output comes":     {[]*row.Job{queued(1), member(2, row.JobStagingOut, noon)}, false, broker.GroupGranted},
		"one is recalled":                         {[]*row.Job{queued(1), member(2, row.JobRecalling, noon)}, false, broker.GroupDissolving},
		"one is to be ended":                      {[]*row.Job{member(1, row.JobHandedOff, noon), parted}, false, broker.GroupDissolving},
		"one is cancelled":                        {[]*row.Job{member(1, row.JobHandedOff, noon), cancelled}, false, broker.GroupGranted},
		"one runs that was placed on its own":     {[]*row.Job{queued(1), alone}, false, broker.GroupQueued},
		"it has ended, whoever still seeks room":  {[]*row.Job{member(1, row.JobOffered, 0)}, true, broker.GroupEnded},
		"it has ended, whoever still is to start": {[]*row.Job{member(1, row.JobRecalling, noon)}, true, broker.GroupEnded},
	} {
		g, rows := groupOf(tt.members...)
		if tt.ended {
			g.End(rows.App, "over")
		}
		if err := g.Follow(rows); err != nil || g.Phase != tt.want {
			t.Errorf("%s: in %q: %v", name, g.Phase, err)
		}
		if err := g.Follow(rows); err != nil || g.Phase != tt.want {
			t.Errorf("%s, asked again: in %q: %v", name, g.Phase, err)
		}
	}
}

// TestTheWayOfAGroup: from the grid queue to the grant and back, and nothing is granted that was not
// reserved.
func TestTheWayOfAGroup(t *testing.T) {
	t.Parallel()
	a, b := member(1, row.JobInGridQueue, 0), member(2, row.JobInGridQueue, 0)
	a.ReserveFrom, b.ReserveFrom = 0, 0
	g, rows := groupOf(a, b)
	step := func(want broker.GroupPhase) {
		t.Helper()
		if err := g.Follow(rows); err != nil || g.Phase != want {
			t.Fatalf("in %q instead of %q: %v", g.Phase, want, err)
		}
	}
	step(broker.GroupQueued)
	if err := g.AwaitTurn(); err != nil || g.Phase != broker.GroupAwaitingTurn {
		t.Fatalf("%q: %v", g.Phase, err)
	}
	if err := g.AwaitTurn(); err != nil {
		t.Error(err)
	}
	step(broker.GroupAwaitingTurn)
	a.Phase, a.ReserveFrom, b.Phase, b.ReserveFrom = row.JobOffered, noon, row.JobReserving, noon
	step(broker.GroupReserving)
	if err := g.AwaitTurn(); err != nil || g.Phase != broker.GroupReserving {
		t.Errorf("others of it seek room: %q: %v", g.Phase, err)
	}
	a.Phase, b.Phase = row.JobGranted, row.JobCommittedLocal
	step(broker.GroupGranted)
	a.Phase = row.JobRecalling
	step(broker.GroupDissolving)
	a.Phase, a.ReserveFrom, b.Phase, b.ReserveFrom = row.JobInGridQueue, 0, row.JobInGridQueue, 0
	step(broker.GroupQueued)
	a.Phase, a.ReserveFrom = row.JobGranted, noon
	if err := g.Follow(rows); err == nil || !strings.Contains(err.Error(), "group 1 of application 1") || g.Phase != broker.GroupQueued {
		t.Errorf("granted without room: %q: %v", g.Phase, err)
	}
	a.Phase, a.ReserveFrom = row.JobInGridQueue, 0
	g.End(rows.App, "over")
	step(broker.GroupEnded)
	if err := g.AwaitTurn(); err == nil {
		t.Error("it has ended, and waits for its turn")
	}
}

// TestGroupPhasesAreExplained: docs/architecture.md has the moves of the table.
func TestGroupPhasesAreExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- group phases -->\n")
	shown, _, ok := strings.Cut(rest, "<!-- /group phases -->")
	want := "| of a | phase | entered from |\n|---|---|---|\n" + strings.Join(broker.GroupPhases(), "\n") + "\n"
	if !ok || shown != want {
		t.Errorf("between <!-- group phases --> and <!-- /group phases --> docs/architecture.md has to have\n%s", want)
	}
}
