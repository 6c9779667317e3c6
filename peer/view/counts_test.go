package view_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestCountsNameNoUser(t *testing.T) {
	t.Parallel()
	elements, err := protocol.ParseIndexes("1-5,9")
	if err != nil {
		t.Fatal(err)
	}
	counts := view.CountsOf([]view.Job{
		{ID: 1, User: "ann", Origin: "north", State: protocol.Pending, Reason: "NeedsOperator: the job of ann", CPUs: 2},
		{ID: 2, User: "bob", Origin: "north", State: protocol.Pending, Reason: "NeedsOperator", CPUs: 3},
		{ID: 3, User: "bob", Origin: "north", State: protocol.Pending, CPUs: 2, Array: &view.Array{Elements: elements}},
		{ID: 5, User: "ann", Origin: "north", State: protocol.Pending, Reason: "ann: quota of /home/ann exceeded", CPUs: 1},
		{ID: 4, User: "cem", Origin: "south", Site: "north", State: protocol.Running, CPUs: 4, Guest: true},
	})
	want := []view.CountLine{
		{Origin: "north", State: protocol.Pending, Jobs: 6, CPUs: 12},
		{Origin: "north", State: protocol.Pending, Reason: "NeedsOperator", Jobs: 2, CPUs: 5},
		{Origin: "north", State: protocol.Pending, Reason: "Other", Jobs: 1, CPUs: 1},
		{Origin: "south", Site: "north", State: protocol.Running, Jobs: 1, CPUs: 4},
	}
	if !slices.Equal(counts.Lines, want) {
		t.Errorf("%+v", counts.Lines)
	}
}
