package recordedgrid

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// compared is a job that was queued at once at one site and by the simulation at another, for ten seconds.
func compared(id protocol.JobID, at protocol.Instant, site, simulated int) Compared {
	return Compared{
		Job: &Job{
			ID: id, Site: site, CPUs: 1, WallTime: 20_000, Submitted: at, called: at, queued: at, Started: at, Ran: 10_000, Ended: true,
			decision: &decision{at: at, policy: policy.Describe(tc.New(tc.Config{Epsilon: 1000}))},
		},
		SimulatedSite: simulated, SimulatedStart: at, SimulatedEnd: at + 10_000, simulatedQueued: at,
	}
}

// TestClasses: one difference of each class, far enough from the others, and a job without one.
func TestClasses(t *testing.T) {
	t.Parallel()
	tie := compared(1, 100_000, 0, 1) // b is 1.005 s slower: with 0.02 s less its lower RUS counts
	tie.decision.snapshot = policy.Snapshot{
		Sites: []policy.Site{{Name: "a", CPUs: 4, Free: 4, MaxJobs: 1, RUS: 500_000}, {Name: "b", CPUs: 4, Free: 4, MaxJobs: 1}},
		Jobs:  []policy.Job{{ID: 1, CPUs: 1, WallTime: 20_000}},
		AWT:   []protocol.Duration{0, 1005}, ERT: []protocol.Duration{20_000, 20_000}, Cost: []protocol.Micro{0, 0},
	}
	ends := compared(2, 290_010, 1, 1) // at 300.010 s at b
	c := Comparison{
		Grid: &Grid{Sites: []Site{{Name: "a"}, {Name: "b"}}, Noise: 20}, Tolerance: 500,
		Jobs: []Compared{tie, compared(3, 200_000, 0, 1), ends, compared(4, 300_000, 0, 1), compared(5, 305_000, 1, 0)},
	}
	c.classify(t.Context())
	for i, want := range []Class{Tie, Other, "", Latency, Consequence} {
		if got := c.Jobs[i]; got.Class != want || (want != "" && want != Other) != (got.Because != "") {
			t.Errorf("job %v: %q because %q, want %q", got.ID, got.Class, got.Because, want)
		}
	}
	if report := c.Report(""); report.Unexplained() != 1 || len(report.Each) != 4 || report.Same != 1 {
		t.Errorf("%+v", report)
	}
}

// TestLateIsCloseToThePlacement: what happened at the two sites while a job waited to be placed does not explain where it
// went, and neither does a job of the same round.
func TestLateIsCloseToThePlacement(t *testing.T) {
	t.Parallel()
	for apart, want := range map[protocol.Duration]Class{0: Latency, 20: Latency, 21: Other, 3000: Other} {
		late := compared(4, 300_000, 0, 1)
		late.Submitted = 290_000
		ends := compared(2, 290_000-protocol.Instant(apart), 1, 1)
		mate := compared(6, 300_000, 1, 1)
		mate.Submitted = 280_000
		c := Comparison{Grid: &Grid{Sites: []Site{{Name: "a"}, {Name: "b"}}, Noise: 20}, Tolerance: 500, Jobs: []Compared{ends, late, mate}}
		c.classify(t.Context())
		if got := c.Jobs[1]; got.Class != want {
			t.Errorf("an end %v before the placement: %q because %q, want %q", apart, got.Class, got.Because, want)
		}
	}
}

// TestMoreThanCPUs: what a trace does not have is carried.
func TestMoreThanCPUs(t *testing.T) {
	t.Parallel()
	plain := protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: 1, Layout: protocol.Layout{Tasks: 2}}, Name: "x", Requeue: true, Comment: "y"}
	if moreThanCPUs(&plain) {
		t.Errorf("%+v is all simulated", plain)
	}
	for name, change := range map[string]func(*protocol.Spec){
		"nodes":    func(s *protocol.Spec) { s.Nodes = 1 },
		"memory":   func(s *protocol.Spec) { s.MemoryMB = 1 },
		"power":    func(s *protocol.Spec) { s.Power = 1 },
		"per node": func(s *protocol.Spec) { s.Layout.TasksPerNode = 1 },
		"per task": func(s *protocol.Spec) { s.Layout.Tasks, s.Layout.CPUsPerTask = 1, 2 },
		"at most":  func(s *protocol.Spec) { s.Layout.MaxNodes = 1 },
		"sites":    func(s *protocol.Spec) { s.Sites = []protocol.SiteName{"a"} },
		"data":     func(s *protocol.Spec) { s.Data = 1 },
		"data out": func(s *protocol.Spec) { s.DataOut = 1 },
		"licenses": func(s *protocol.Spec) { s.Resources = []protocol.Resource{protocol.NewLicense("l", 1)} },
		"GPUs": func(s *protocol.Spec) {
			s.Resources = []protocol.Resource{{Name: protocol.GPU, Count: 1, Per: protocol.PerNode}}
		},
		"features": func(s *protocol.Spec) { s.Features = "f" },
		"alone":    func(s *protocol.Spec) { s.Exclusive = true },
		"QOS":      func(s *protocol.Spec) { s.QOS = "q" },
	} {
		s := plain
		change(&s)
		if !moreThanCPUs(&s) {
			t.Errorf("%s is not carried", name)
		}
	}
}
