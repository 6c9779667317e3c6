package slurm_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPlannedStarts: Slurm's own start of a pending job counts; where it names none, that of the plan. Of a job that waits for
// an event, or never fits, nothing is known.
func TestPlannedStarts(t *testing.T) {
	t.Parallel()
	var queue strings.Builder
	for _, l := range []line{
		{id: 1, cpus: 16, nodes: 2, partition: "batch", on: "a[1-2]", minutes: 50},
		{id: 2, cpus: 4, partition: "batch", minutes: 30, priority: 9, starts: 47, reason: "Resources"},
		{id: 3, cpus: 16, partition: "batch", minutes: 30, priority: 5},
		{id: 4, cpus: 4, partition: "batch", minutes: 30, priority: 4, reason: "Dependency"},
		{id: 5, cpus: 99, partition: "batch", minutes: 30, priority: 3},
	} {
		queue.WriteString(l.String())
	}
	look, err := slurm.NewLook(lookAt, []string{"batch"}, slurm.Texts{
		Queue: queue.String(), Nodes: twoNodes("allocated", "allocated", 8, 8), Partitions: partitionsOfTwo,
	})
	if err != nil {
		t.Fatal(err)
	}
	minute := func(n protocol.Duration) protocol.Instant { return lookAt.Add(n * protocol.Minute) }
	want := map[uint32]protocol.Instant{2: minute(47), 3: minute(80)}
	if got := look.PlannedStarts(); !maps.Equal(got, want) {
		t.Errorf("planned %v, want %v", got, want)
	}
}

// TestPlannedStartsOfSlurm: a job that waits in a real Slurm starts when what runs is at its time limit.
func TestPlannedStartsOfSlurm(t *testing.T) {
	t.Parallel()
	siteG.Lock()
	defer siteG.Unlock()
	s := openSite(t, "siteG", nil)
	busy, next := guest("exec sleep 1000"), guest("true")
	busy.Spec.CPUs, busy.Spec.WallTime = allCPUs, 10*protocol.Minute
	next.Spec.CPUs = allCPUs
	s.submit(t, busy)
	started := s.awaitRunning(t, busy.Tag).Started
	s.submit(t, next)
	var got []localsched.PlannedStart
	eventually(t, "the start is planned", func() bool {
		var err error
		if got, err = s.PlannedStarts(t.Context(), []protocol.Tag{busy.Tag, next.Tag, guest("").Tag}); err != nil {
			t.Fatal(err)
		}
		return len(got) > 0
	})
	if len(got) != 1 || got[0].Tag != next.Tag || !near(got[0].Start.Sub(started), 10*protocol.Minute) {
		t.Errorf("planned %v, and the first job started at %v", got, started)
	}
	if _, err := s.Withdraw(t.Context(), next.Tag); err != nil {
		t.Error(err)
	}
	if err := s.Kill(t.Context(), busy.Tag); err != nil {
		t.Error(err)
	}
	s.awaitEnd(t, busy.Tag)
}
