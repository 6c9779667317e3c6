package process_test

import (
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPartitionsOverRestart: real jobs are told their partitions and keep them when the
// peer starts again. What is left then is what was left before: a pair of cards, which
// jobs put elsewhere would have cut in two.
func TestPartitionsOverRestart(t *testing.T) {
	t.Parallel()
	const cards = `
card,A,1
card,B,1
card,C,1
card,D,1
partition,PAIR-AB,2,mesh,A B
partition,PAIR-CD,2,mesh,C D
partition,A,1,mesh,A
partition,B,1,mesh,B
partition,C,1,mesh,C
partition,D,1,mesh,D
`
	layout, err := partition.Parse(strings.NewReader(cards), "cards")
	if err != nil {
		t.Fatal(err)
	}
	s := openSite(t, func(c *process.Config) {
		c.Capacity = protocol.Capacity{CPUs: 4, Nodes: 4}
		if c.Machine, err = engine.Partitioned(layout, c.Capacity, engine.Enabled{}); err != nil {
			t.Fatal(err)
		}
		c.OnStop = process.LeaveJobs
	})
	const script = "echo $SWITCHYARD_PARTITION; while [ ! -e go ]; do sleep 0.05; done"
	jobs := []protocol.Tag{s.submit(t, guest(t, script)), s.submit(t, guest(t, script)), s.submit(t, guest(t, script))}
	places := map[string]protocol.Tag{}
	for _, tag := range jobs {
		s.awaitRunning(t, tag)
		eventually(t, "the job tells its partition", func() bool { return s.read(t, tag, protocol.Stdout) != "" })
		places[strings.TrimSpace(s.read(t, tag, protocol.Stdout))] = tag
	}
	if len(places) != 3 || places["A"].Job == 0 || places["B"].Job == 0 || places["C"].Job == 0 {
		t.Fatalf("the jobs run in %v, want A, B and C: the pair C D is cut last", places)
	}
	// Only B goes on: at a restart it would be put in A, and the pair A B be free.
	for _, place := range []string{"A", "C"} {
		s.let(t, places[place])
		s.awaitEnd(t, places[place])
	}
	s.reopen(t)
	wide := guest(t, "echo $SWITCHYARD_PARTITION")
	wide.Spec.CPUs = 2
	tag := s.submit(t, wide)
	s.awaitEnd(t, tag)
	if got := s.read(t, tag, protocol.Stdout); got != "PAIR-CD\n" {
		t.Errorf("beside the job in B the wide one runs in %q", got)
	}
	single := s.submit(t, guest(t, "echo $SWITCHYARD_PARTITION"))
	s.awaitEnd(t, single)
	if got := s.read(t, single, protocol.Stdout); got != "A\n" {
		t.Errorf("beside the job in B a small one runs in %q, want A, which blocks no pair that is free", got)
	}
	s.let(t, places["B"])
	s.awaitEnd(t, places["B"])
}

// let has a job of this file end.
func (s *site) let(t *testing.T, tag protocol.Tag) {
	t.Helper()
	if err := os.WriteFile(s.dir(tag, "work/go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}
