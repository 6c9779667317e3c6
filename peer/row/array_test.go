package row_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFileName: the patterns of file names, of jobs on their own and of elements.
func TestFileName(t *testing.T) {
	t.Parallel()
	element := protocol.Element{Array: 1_000_000_000_042, Index: 7}
	for _, tt := range []struct {
		name, alone, element string
	}{
		{"/o/%j.out", "/o/1000000000050.out", "/o/1000000000050.out"},
		{"/o/%A_%a.out", "/o/1000000000050_0.out", "/o/1000000000042_7.out"},
		{"/o/%A_%4a.out", "/o/1000000000050_0000.out", "/o/1000000000042_0007.out"},
		{"/o/%99a", "/o/0000000000", "/o/0000000007"},
		{"/o/100%%%a", "/o/100%0", "/o/100%7"},
		{"/o/%%a", "/o/%a", "/o/%a"},
		{"/o/%q%", "/o/%q%", "/o/%q%"},
		{"/o/%5", "/o/%5", "/o/%5"},
		{"", "", ""},
	} {
		if got := row.FileName(tt.name, element.ID(), protocol.Element{}); got != tt.alone {
			t.Errorf("%s of a job on its own is %s, want %s", tt.name, got, tt.alone)
		}
		if got := row.FileName(tt.name, element.ID(), element); got != tt.element {
			t.Errorf("%s of an element is %s, want %s", tt.name, got, tt.element)
		}
	}
}

// TestElement: what an element has of its array, and what is its own.
func TestElement(t *testing.T) {
	t.Parallel()
	array := row.Array{
		Job: row.Job{
			Spec: protocol.Spec{Request: protocol.Request{Job: 1_000_000_000_042}, Name: "n"}, Stdout: "/o-%a", Stderr: "/e-%A-%a",
			Mail: protocol.Mail{To: "ada"},
		},
		Asked: protocol.Array{Indexes: protocol.IndexesOf(3, 5, 7, 9)},
	}
	j := array.Element(7)
	if j.Spec.Job != 1_000_000_000_050 || j.Stdout != "/o-7" || j.Stderr != "/e-1000000000042-7" || j.Mail.To != "" || j.Spec.Name != "n" {
		t.Errorf("%+v", j)
	}
	of := &protocol.Payload{Script: []byte("x"), Env: []string{"A=1", "B=2"}, Input: "/i-%a"}
	p := array.ElementPayload(of, &j)
	slices.Sort(p.Env)
	want := "A=1 B=2 SLURM_ARRAY_JOB_ID=1000000000042 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MAX=9 " +
		"SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2"
	if got := strings.Join(p.Env, " "); got != want || p.Input != "/i-7" || p.Stdout != "/o-7" || len(of.Env) != 2 {
		t.Errorf("%s\nwant %s\n%+v", got, want, p)
	}
}

// TestArrayEnds: an array that has ended is in the worst state of its elements.
func TestArrayEnds(t *testing.T) {
	t.Parallel()
	var ends row.ArrayEnds
	for _, state := range []protocol.State{protocol.Completed, protocol.Cancelled, protocol.Timeout, protocol.Failed, protocol.NodeFail} {
		if ends.Add(state, 2); ends.State() != state {
			t.Errorf("with %v it is %v", state, ends.State())
		}
	}
	if ends != (row.ArrayEnds{Completed: 2, Failed: 2, Cancelled: 2, Timeout: 2, NodeFail: 2}) {
		t.Errorf("%+v", ends)
	}
}
