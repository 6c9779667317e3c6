package workload_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// sized returns so many jobs of each node count, on nodes of 8 CPUs.
func sized(counts map[int]int) []workload.Job {
	var jobs []workload.Job
	for nodes, count := range counts {
		for range count {
			jobs = append(jobs, workload.Job{CPUs: 8*nodes - count%8, Run: 1000})
		}
	}
	return jobs
}

func TestSizeClasses(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 10, CPUsPerNode: 8, MHz: 1}
	tests := map[string]struct {
		counts       map[int]int
		least        float64
		down, fewest []workload.SizeClass
	}{
		"popular sizes with stragglers": {
			map[int]int{1: 500, 2: 200, 3: 9, 4: 150, 5: 1, 8: 130, 10: 10},
			0.02,
			[]workload.SizeClass{{1, 8, 500}, {9, 24, 209}, {25, 56, 151}, {57, 80, 140}},
			// Both 3 and 5 to 7 go to 4 or 8, whichever has fewer jobs.
			[]workload.SizeClass{{1, 8, 500}, {9, 16, 200}, {17, 32, 159}, {33, 80, 141}},
		},
		"few small jobs": {
			map[int]int{1: 1, 2: 1, 3: 98},
			0.02,
			[]workload.SizeClass{{1, 16, 2}, {17, 80, 98}},
			[]workload.SizeClass{{1, 16, 2}, {17, 80, 98}},
		},
		"one size": {
			map[int]int{4: 7},
			0.02,
			[]workload.SizeClass{{1, 80, 7}},
			[]workload.SizeClass{{1, 80, 7}},
		},
		"exactly the least share": {
			map[int]int{1: 98, 10: 2},
			0.02,
			[]workload.SizeClass{{1, 72, 98}, {73, 80, 2}},
			[]workload.SizeClass{{1, 8, 98}, {9, 80, 2}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for rule, want := range map[workload.MergeRule][]workload.SizeClass{
				workload.MergeDown: test.down, workload.MergeFewest: test.fewest,
			} {
				got, err := workload.SizeClasses(sized(test.counts), m, test.least, rule)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("rule %d: %v, want %v", rule, got, want)
				}
			}
		})
	}
}

func TestSizeClassesPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := workload.Machine{
			Nodes:       rapid.IntRange(1, 60).Draw(t, "nodes"),
			CPUsPerNode: rapid.IntRange(1, 9).Draw(t, "CPUs per node"),
			MHz:         1,
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, m.CPUs()), 1, 300).Draw(t, "sizes")
		jobs := make([]workload.Job, len(sizes))
		for i, cpus := range sizes {
			jobs[i].CPUs = cpus
		}
		least := rapid.Float64Range(0, 1).Draw(t, "least")
		rule := rapid.SampledFrom([]workload.MergeRule{workload.MergeDown, workload.MergeFewest}).Draw(t, "rule")
		classes, err := workload.SizeClasses(jobs, m, least, rule)
		if err != nil {
			t.Fatal(err)
		}
		below := 0
		for _, c := range classes {
			if c.Min != below+1 || c.Max < c.Min || c.Max%m.CPUsPerNode != 0 {
				t.Fatalf("class %+v after %d CPUs", c, below)
			}
			below = c.Max
			inside := 0
			for _, cpus := range sizes {
				if cpus >= c.Min && cpus <= c.Max {
					inside++
				}
			}
			if inside != c.Jobs {
				t.Fatalf("class %+v holds %d jobs", c, inside)
			}
			if len(classes) > 1 && float64(c.Jobs) < least*float64(len(jobs)) {
				t.Fatalf("class %+v has less than %v of %d jobs", c, least, len(jobs))
			}
		}
		if below != m.CPUs() {
			t.Fatalf("the classes end at %d of %d CPUs", below, m.CPUs())
		}
	})
}

func TestSizeClassesRefuse(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 2, CPUsPerNode: 4, MHz: 1}
	fine := []workload.Job{{ID: 1, CPUs: 8}}
	tests := map[string]struct {
		jobs    []workload.Job
		machine workload.Machine
		least   float64
		rule    workload.MergeRule
		want    string
	}{
		"no jobs":      {nil, m, 0.02, workload.MergeDown, "no jobs"},
		"too wide":     {[]workload.Job{{ID: 7, CPUs: 9}}, m, 0.02, workload.MergeDown, "job 7: 9 CPUs"},
		"no CPUs":      {[]workload.Job{{ID: 7}}, m, 0.02, workload.MergeDown, "job 7: 0 CPUs"},
		"machine":      {fine, workload.Machine{}, 0.02, workload.MergeDown, "machine.nodes: 0"},
		"least":        {fine, m, 2, workload.MergeDown, "least share of a class: 2"},
		"unknown rule": {fine, m, 0.02, 9, "merge rule 9"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := workload.SizeClasses(test.jobs, test.machine, test.least, test.rule)
			wantError(t, err, test.want)
		})
	}
}
