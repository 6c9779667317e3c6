package tasks_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/tasks"
)

// TestPlace compares with what srun of Slurm 22.05 did with the same requests in allocations of the same CPUs.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cpus    []int
		request tasks.Request
		want    string // tasks of each node, and the CPUs taken if not all of the nodes; or the error
		notice  string
	}{
		{[]int{4}, tasks.Request{Tasks: 2}, "2", ""},
		{[]int{4}, tasks.Request{}, "1", ""},
		{[]int{4}, tasks.Request{CPUsPerTask: 2}, "2", ""},
		{[]int{4}, tasks.Request{Tasks: 1, CPUsPerTask: 2}, "1 of 2", ""},
		{[]int{4}, tasks.Request{Tasks: 4, CPUsPerTask: 2}, "More processors requested than permitted", ""},
		{[]int{4}, tasks.Request{Tasks: 8}, "More processors requested than permitted", ""},
		{[]int{4}, tasks.Request{Tasks: 8, Overcommit: true}, "8", ""},
		{[]int{4}, tasks.Request{Tasks: 1, Nodes: 2, MaxNodes: 2}, "1", "setting nnodes to 1"},
		{[]int{4}, tasks.Request{Tasks: 1, Exact: true}, "1 of 1", ""},
		{[]int{4}, tasks.Request{Tasks: 3, Overlap: true}, "3 of 0", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 4}, "3,1", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 2}, "1(x2)", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 3}, "2,1", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 1}, "1,0 of 3,0", "setting nnodes to 1"},
		{[]int{3, 1}, tasks.Request{Tasks: 4, Nodes: 1, MaxNodes: 1}, "More processors requested than permitted", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 2, Nodes: 1, MaxNodes: 1}, "2,0 of 3,0", ""},
		{[]int{1, 3}, tasks.Request{Tasks: 2, Nodes: 1, MaxNodes: 1}, "0,2 of 0,3", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 4, Nodes: 3, MaxNodes: 3}, "Only allocated 2 nodes asked for 3", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 2, Nodes: 1, MaxNodes: 2}, "1(x2)", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 1, Nodes: 1, MaxNodes: 2}, "1,0 of 3,0", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 4, TasksPerNode: 1}, "3,1", "can't honor --ntasks-per-node"},
		{[]int{3, 1}, tasks.Request{Tasks: 2, TasksPerNode: 1}, "1(x2)", ""},
		{[]int{3, 1}, tasks.Request{TasksPerNode: 1}, "1(x2)", ""},
		{[]int{3, 1}, tasks.Request{Tasks: 6, Overcommit: true}, "4,2", ""},
		{[]int{4, 4}, tasks.Request{Tasks: 3, CPUsPerTask: 2}, "2,1 of 4,2", ""},
		{[]int{2}, tasks.Request{Tasks: 2, CPUsPerTask: 4, Overcommit: true}, "2", ""},
	} {
		place, err := tasks.Allocation{Job: "7", CPUs: c.cpus}.Place(c.request)
		got := tasks.PerNode(place.Tasks)
		if err != nil {
			got = err.Error()
		} else if !slices.Equal(place.CPUs, c.cpus) {
			got += " of " + tasks.PerNode(place.CPUs)
		}
		if !strings.HasSuffix(got, c.want) || len(got) > len(c.want) && err == nil {
			t.Errorf("%v, %+v: %s, want %s", c.cpus, c.request, got, c.want)
		}
		if notices := strings.Join(place.Notices, "\n"); !strings.Contains(notices, c.notice) || (notices == "") != (c.notice == "") {
			t.Errorf("%v, %+v: notices %q, want %q", c.cpus, c.request, notices, c.notice)
		}
	}
}

// TestPlaceProperties: all tasks that were asked for are placed, on no more nodes than allowed, each with its CPUs unless
// overcommitted, and no node gives more CPUs than it has.
func TestPlaceProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := tasks.Allocation{Job: "7", CPUs: rapid.SliceOfN(rapid.IntRange(1, 8), 1, 5).Draw(t, "cpus")}
		r := tasks.Request{
			Tasks: rapid.IntRange(0, 20).Draw(t, "tasks"), Nodes: rapid.IntRange(0, 6).Draw(t, "nodes"),
			CPUsPerTask: rapid.IntRange(0, 9).Draw(t, "each"), TasksPerNode: rapid.IntRange(0, 4).Draw(t, "pernode"),
			Overcommit: rapid.Bool().Draw(t, "overcommit"), Exact: rapid.Bool().Draw(t, "exact"),
		}
		if r.Nodes > 0 {
			r.MaxNodes = r.Nodes + rapid.IntRange(0, 2).Draw(t, "more")
		}
		place, err := a.Place(r)
		if err != nil {
			return
		}
		if r.Tasks > 0 && place.Count() != r.Tasks || place.Count() == 0 {
			t.Fatalf("%d tasks of %d", place.Count(), r.Tasks)
		}
		used := 0
		for i, n := range place.Tasks {
			if n > 0 {
				used++
			}
			if !r.Overcommit && n*max(1, r.CPUsPerTask) > a.CPUs[i] || place.CPUs[i] > a.CPUs[i] || (n > 0) != (place.CPUs[i] > 0) {
				t.Fatalf("node %d of %v: %d tasks, %d CPUs", i, a.CPUs, n, place.CPUs[i])
			}
		}
		if r.MaxNodes > 0 && used > r.MaxNodes {
			t.Fatalf("%d nodes of at most %d", used, r.MaxNodes)
		}
	})
}

func TestAllocationOf(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "a", "SLURM_JOB_CPUS_PER_NODE": "3,2(x2)", tasks.FileVariable: "/s"}
	a, err := tasks.AllocationOf(func(name string) string { return env[name] })
	if err != nil || !slices.Equal(a.CPUs, []int{3, 2, 2}) || a.Job != "7" || a.File != "/s" || a.Host != "a" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, cpus := range []string{"", "0", "-1", "x", "3,", "2(x0)", "2(x2", "2(x9999999)", "99999999999999999999", "1048577", "2(x2)3"} {
		env["SLURM_JOB_CPUS_PER_NODE"] = cpus
		if a, err = tasks.AllocationOf(func(name string) string { return env[name] }); err == nil {
			t.Errorf("%q was read as %v", cpus, a.CPUs)
		}
	}
	delete(env, tasks.FileVariable)
	if _, err = tasks.AllocationOf(func(name string) string { return env[name] }); err == nil {
		t.Error("a job without a file of steps has an allocation")
	}
}

func FuzzPerNode(f *testing.F) {
	for _, seed := range []string{"3,2(x2)", "1", "4(x3)", "2(x", ",", "1(x1)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := func(text string) (tasks.Allocation, error) {
			return tasks.AllocationOf(func(name string) string {
				return map[string]string{"SLURM_JOB_CPUS_PER_NODE": text, "SLURM_JOB_ID": "1", tasks.FileVariable: "f"}[name]
			})
		}
		a, err := read(text)
		if err != nil {
			return
		}
		if b, err := read(tasks.PerNode(a.CPUs)); err != nil || !slices.Equal(a.CPUs, b.CPUs) {
			t.Errorf("%q is %v, which is printed as %q", text, a.CPUs, tasks.PerNode(a.CPUs))
		}
	})
}
