package mincostflow_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

// TestCertificateRejectsTampering: each part of the proof is looked at.
func TestCertificateRejectsTampering(t *testing.T) {
	t.Parallel()
	// Jobs 0 and 1 share the cheap system's one place, job 2 goes nowhere.
	p := &mincostflow.Problem{
		Jobs: 3, Systems: 2, Capacity: []int{1, 5}, Steps: [][]int32{nil, {2, 3}},
		Costs: []int32{1, 4, 1, 6, missing, missing},
	}
	for want, tamper := range map[string]func(*mincostflow.Solution){
		"flow: 3, but 2 jobs":                        func(s *mincostflow.Solution) { s.Flow++ },
		"cost: 6, but pairs and steps cost 7":        func(s *mincostflow.Solution) { s.Cost-- },
		"system[2]: the job cannot be on system 0":   func(s *mincostflow.Solution) { s.System[2] = 0 },
		"system[0]: there is no system 2":            func(s *mincostflow.Solution) { s.System[0] = 2 },
		"system[0]: there is no system -2":           func(s *mincostflow.Solution) { s.System[0] = -2 },
		"2 jobs are on system 0, which takes 1":      func(s *mincostflow.Solution) { s.System[0] = 0 },
		"prices[1]: 4 is above the next job's step":  func(s *mincostflow.Solution) { s.Prices[1] = 4 },
		"prices[1]: 1 is below the last job's step":  func(s *mincostflow.Solution) { s.Prices[1] = 1 },
		"system[0]: the job pays 6, but 1 on system": func(s *mincostflow.Solution) { s.Prices = []int64{0, 2} },
		"system[1]: the job pays 9, but 8 on system": func(s *mincostflow.Solution) { s.Prices = []int64{8, 2} },
		"more than if it were unserved, 3":           func(s *mincostflow.Solution) { s.Unserved = 3 },
		"prices[0]: -1 is not a price":               func(s *mincostflow.Solution) { s.Prices[0] = -1 },
		"unserved: -1 is not a price":                func(s *mincostflow.Solution) { s.Unserved = -1 },
		"system: there are 2, not one for each of 3": func(s *mincostflow.Solution) { s.System = s.System[:2] },
		"prices: there are 1, not one for each of 2": func(s *mincostflow.Solution) { s.Prices = s.Prices[:1] },
		"prices[0]: 6 is above the next job's step":  func(s *mincostflow.Solution) { s.System[1], s.Flow, s.Cost = -1, 1, 6 },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := &mincostflow.Solution{System: []int32{1, 0, -1}, Flow: 2, Cost: 7, Prices: []int64{6, 2}, Unserved: 1000}
			if err := mincostflow.Certify(p, s); err != nil {
				t.Fatalf("before: %v", err)
			}
			tamper(s)
			if err := mincostflow.Certify(p, s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCertificateAsksForAMaximumFlow: leaving out a job is optimal at a low price of
// the unserved, and no proof.
func TestCertificateAsksForAMaximumFlow(t *testing.T) {
	t.Parallel()
	p := &mincostflow.Problem{Jobs: 1, Systems: 1, Capacity: []int{1}, Costs: []int32{5}}
	s := &mincostflow.Solution{System: []int32{mincostflow.Nowhere}, Prices: []int64{0}, Unserved: 5}
	if err := mincostflow.Certify(p, s); err == nil || !strings.Contains(err.Error(), "does not prove the flow maximum") {
		t.Errorf("got %v", err)
	}
}

// TestNothingElseIsCertified: if a job of a solution is put elsewhere, either it is as
// good, or no prices will do; the solution's do not.
func TestNothingElseIsCertified(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 5, 4)
		s := solved(t, p, nil)
		if p.Jobs == 0 {
			return
		}
		job := rapid.IntRange(0, p.Jobs-1).Draw(t, "job")
		s.System[job] = rapid.Int32Range(mincostflow.Nowhere, int32(p.Systems)-1).Draw(t, "system")
		s.Flow = rapid.IntRange(s.Flow-1, s.Flow+1).Draw(t, "flow")
		s.Cost += rapid.Int64Range(-4, 4).Draw(t, "cost")
		if mincostflow.Certify(p, s) != nil {
			return
		}
		if flow, cost := tryAll(p, 0, make([]int, p.Systems)); s.Flow != flow || s.Cost != cost {
			t.Fatalf("certified flow %d at %d, but %d at %d is possible", s.Flow, s.Cost, flow, cost)
		}
	})
}
