package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// pair is a job of 4 CPUs twice, with weights, which start together.
func pair() []protocol.Job {
	one := protocol.Job{
		Spec:      protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: protocol.Hour}},
		Component: protocol.Component{Alpha: protocol.PPM, Together: 1},
	}
	return []protocol.Job{one, one}
}

// wanted is an application without limits.
func wanted() protocol.Application {
	return protocol.Application{MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
}

func TestApplicationsFaults(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(a *protocol.Application, jobs []protocol.Job){
		"":                                       func(*protocol.Application, []protocol.Job) {},
		"the weight β is -1;":                    func(a *protocol.Application, _ []protocol.Job) { a.Beta = -1 },
		"the time limit of the application is 0": func(a *protocol.Application, _ []protocol.Job) { a.MaxTime = 0 },
		"has 65 rates of waiting;":               func(a *protocol.Application, _ []protocol.Job) { a.Rates = make([]protocol.WaitingRate, 65) },
		"begin at 0 and rise in time":            func(a *protocol.Application, _ []protocol.Job) { a.Rates = make([]protocol.WaitingRate, 2) },
		"of its own and names a curve": func(a *protocol.Application, _ []protocol.Job) {
			a.Waiting, a.Rates = "salary", make([]protocol.WaitingRate, 1)
		},
		"the tolerance of starts is":           func(a *protocol.Application, _ []protocol.Job) { a.StartTolerance = protocol.Day + 1 },
		`"ignore" is nothing that can be done`: func(a *protocol.Application, _ []protocol.Job) { a.StartMissed = "ignore" },
		"component 2 has weights outside":      func(_ *protocol.Application, jobs []protocol.Job) { jobs[1].Component.Gamma = -1 },
		"component 1 has no weight above 0":    func(_ *protocol.Application, jobs []protocol.Job) { jobs[0].Component.Alpha = 0 },
		"component 2 names group -1;": func(_ *protocol.Application, jobs []protocol.Job) {
			jobs[0].Component.Together, jobs[1].Component.Together = 0, -1
		},
		"component 1 starts together with no other": func(_ *protocol.Application, jobs []protocol.Job) { jobs[1].Component.Together = 0 },
		"mean nothing where no components start together": func(a *protocol.Application, jobs []protocol.Job) {
			a.StartTolerance = 1
			jobs[0].Component.Together, jobs[1].Component.Together = 0, 0
		},
	} {
		a, jobs := wanted(), pair()
		spoil(&a, jobs)
		got := a.Faults(jobs)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestApplicationsFaultsAreAllReported: of each kind one, not the first alone.
func TestApplicationsFaultsAreAllReported(t *testing.T) {
	t.Parallel()
	a, jobs := wanted(), pair()
	a.Beta, a.StartMissed, jobs[0].Component.Together = -1, "ignore", 2
	if got := a.Faults(jobs); len(got) != 3 {
		t.Errorf("got %q", got)
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	a := wanted()
	if got := a.Tolerance(); got != protocol.DefaultStartTolerance {
		t.Errorf("unsaid it is %s", got.Text())
	}
	a.StartTolerance = 1
	if got := a.Tolerance(); got != 1 {
		t.Errorf("it is %s", got.Text())
	}
}

func TestCheckShapes(t *testing.T) {
	t.Parallel()
	counts := func(cpus ...int) (shapes []protocol.Shape) {
		for _, n := range cpus {
			shapes = append(shapes, protocol.Shape{CPUs: n, WallTime: protocol.Hour})
		}
		return shapes
	}
	many := slices.Repeat([]int{8}, protocol.MaxShapes)
	for want, shapes := range map[string][]protocol.Shape{
		"":                                  counts(8, 16),
		"may run in 17 shapes; use at most": counts(many...),
		"names 4 CPUs twice":                counts(8, 4),
		"asks for 0 CPUs":                   counts(0),
		"time limit is 0":                   {{CPUs: 8}},
	} {
		job := pair()[0]
		job.Component.Shapes = shapes
		err := job.CheckShapes()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestCheckSpec(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(s *protocol.Spec){
		"":                                  func(*protocol.Spec) {},
		"asks for 0 CPUs":                   func(s *protocol.Spec) { s.CPUs = 0 },
		"-1 nodes and 0 MB":                 func(s *protocol.Spec) { s.Nodes = -1 },
		"make another number":               func(s *protocol.Spec) { s.Layout.Tasks = 3 },
		"CPUs of -1 MHz":                    func(s *protocol.Spec) { s.MHz = -1 },
		"the power is -1 parts per million": func(s *protocol.Spec) { s.Power = -1 },
		"0 bytes of data and -1 of":         func(s *protocol.Spec) { s.DataOut = -1 },
		"comment":                           func(s *protocol.Spec) { s.Comment = strings.Repeat("x", 1025) },
		"(byte 2) cannot be seen":           func(s *protocol.Spec) { s.Comment = "a\nb" },
	} {
		spec := pair()[0].Spec
		spoil(&spec)
		err := spec.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
