package tables_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// arrayOf is an array of ada's, in the tables.
func arrayOf(h *house, text string) *tables.Array {
	asked, err := protocol.ParseArray(text)
	if err != nil {
		panic(err)
	}
	a := &tables.Array{Array: row.Array{
		Job: row.Job{
			Spec:  protocol.Spec{Request: protocol.Request{Job: protocol.NewJobID(1, 100)}, User: "ada"},
			Phase: row.JobInGridQueue, State: protocol.Pending,
		},
		Asked: asked, Pending: asked.Indexes,
	}}
	h.AddArray(a, &protocol.Payload{Script: []byte("x")})
	return a
}

func indexesOf(jobs []*tables.Job) (indexes []int) {
	for _, j := range jobs {
		indexes = append(indexes, j.Element.Index)
	}
	return indexes
}

// TestElementOf: an ID belongs to the array in whose block it is, whichever arrays come before and after, and to none once that has
// ended.
func TestElementOf(t *testing.T) {
	t.Parallel()
	h := newHouse()
	arrays := map[uint64]*tables.Array{}
	for _, seq := range []uint64{300, 100, 200} { // of 2 and 5 there are elements, so 7 IDs each
		a := &tables.Array{Array: row.Array{
			Job: row.Job{
				Spec:  protocol.Spec{Request: protocol.Request{Job: protocol.NewJobID(1, seq)}, User: "ada"},
				Phase: row.JobInGridQueue, State: protocol.Pending,
			},
			Asked: protocol.Array{Indexes: protocol.IndexesOf(2, 5)},
		}}
		h.AddArray(a, &protocol.Payload{Script: []byte("x")})
		arrays[seq] = a
	}
	look := func(seq uint64, array uint64, index int, is bool) {
		t.Helper()
		a, got, ok := h.ElementOf(protocol.NewJobID(1, seq))
		if a != arrays[array] || got != index || ok != is {
			t.Errorf("%d is element %d of %v, %t", seq, got, a, ok)
		}
	}
	for _, array := range []uint64{100, 200, 300} {
		look(array, 0, 0, false)
		look(array+1, array, 0, false)
		look(array+3, array, 2, true)
		look(array+6, array, 5, true)
		look(array+7, 0, 0, false)
	}
	look(99, 0, 0, false)
	h.RemoveArray(arrays[200])
	look(203, 0, 0, false)
	look(103, 100, 2, true)
	look(303, 300, 2, true)
	if got := h.ArrayIDs(); !slices.Equal(got, []protocol.JobID{protocol.NewJobID(1, 100), protocol.NewJobID(1, 300)}) {
		t.Errorf("the arrays are %v", got)
	}
}

// TestRoom: elements become jobs some at a time, as many as the throttle allows, and more the more of them run.
func TestRoom(t *testing.T) {
	t.Parallel()
	h := newHouse()
	limited := arrayOf(h, "0-9%3")
	if got := h.WithRoom(1); !slices.Equal(got, []*tables.Array{limited}) || limited.Room(1) != 3 {
		t.Fatalf("%v have room, the array for %d", got, limited.Room(1))
	}
	jobs := h.DrawNext(limited, limited.Pending, 3)
	if got := indexesOf(jobs); !slices.Equal(got, []int{0, 1, 2}) || limited.Room(1) != 0 || !limited.Throttled() || h.HasRoom(1) {
		t.Errorf("%v are drawn, and there is room for %d more", got, limited.Room(1))
	}
	jobs[1].State = protocol.Completed
	h.RemoveJob(jobs[1])
	if limited.Room(1) != 1 || limited.Throttled() || !h.HasRoom(1) {
		t.Errorf("when one has ended, there is room for %d", limited.Room(1))
	}

	h = newHouse()
	large := arrayOf(h, "0-9999")
	if large.Room(1) != tables.Ahead {
		t.Errorf("at first there is room for %d", large.Room(1))
	}
	jobs = h.DrawNext(large, large.Pending, large.Room(1))
	start := func(n int) {
		for _, j := range jobs[:n] {
			j.State = protocol.Running
			h.SaveJob(j.Spec.Job)
		}
		h.CountElements()
	}
	if start(tables.Ahead/2 - 1); large.Room(1) != 0 {
		t.Errorf("while most wait, there is room for %d: they would come one at a time", large.Room(1))
	}
	if start(tables.Ahead); large.Room(1) != tables.Ahead || large.Running() != tables.Ahead || large.Open() != tables.Ahead {
		t.Errorf("when all run, there is room for %d", large.Room(1))
	}
	jobs = h.DrawNext(large, large.Pending, 5*tables.Ahead)
	if start(4 * tables.Ahead); large.Room(1) != 4*tables.Ahead {
		t.Errorf("where %d run, there is room for %d", large.Running(), large.Room(1))
	}
}

// TestArrayRows: each element is pending, a job, or has ended, and is counted as a job of its user while it has not.
func TestArrayRows(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := arrayOf(h, "0-9")
	jobs := h.DrawNext(a, a.Pending, 4)
	if h.Open() != 10 || h.JobsOf("ada") != 10 || len(h.Jobs) != 4 || a.Pending.String() != "4-9" {
		t.Errorf("%d jobs are open, %d of ada; %v are pending", h.Open(), h.JobsOf("ada"), a.Pending)
	}
	h.Draw(a, 8)
	h.EndPending(a, protocol.IndexesOf(5, 6))
	jobs[2].State, jobs[2].Outcome = protocol.Failed, &protocol.Outcome{State: protocol.Failed, ExitCode: 3}
	h.RemoveJob(jobs[2])
	if h.Open() != 7 || h.JobsOf("ada") != 7 || a.Pending.String() != "4,7,9" || a.Cancelled.String() != "5-6" || a.ExitCode != 3 ||
		a.Ended != (row.ArrayEnds{Failed: 1, Cancelled: 2}) {
		t.Errorf("%d jobs are open, %d of ada; %+v", h.Open(), h.JobsOf("ada"), a.Array)
	}
	if got := indexesOf(a.JobsOf(protocol.IndexesOf(1, 2, 3, 4, 8))); !slices.Equal(got, []int{1, 3, 8}) {
		t.Errorf("jobs are %v", got)
	}
	for index, there := range map[int]bool{0: true, 9: true, 10: false} {
		of, got, ok := h.ElementOf(protocol.Element{Array: a.ID(), Index: index}.ID())
		if ok != there || there && (of != a || got != index) {
			t.Errorf("element %d: %t", index, ok)
		}
	}
	if _, err := h.Records(nil); err != nil {
		t.Error(err)
	}
	a.Ended.Add(protocol.Failed, 1)
	h.SaveArray(a)
	if _, err := h.Records(nil); err == nil {
		t.Error("eleven elements of ten are accounted for")
	}
}

// restore takes records in, as a restarted peer does.
func (h *house) restore(records []row.Record) error {
	return h.Restore(func(yield func(row.Record, error) bool) {
		for _, rec := range records {
			if !yield(rec, nil) {
				return
			}
		}
	}, &protocol.Capacity{})
}

// TestRestoreArray: an array is restored with its elements and what they run; rows that do not go together are not.
func TestRestoreArray(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := arrayOf(h, "0-9%2")
	h.DrawNext(a, a.Pending, 2)
	records, err := h.Records(nil)
	if err != nil || len(records) != 4 {
		t.Fatalf("%v: %v", records, err)
	}
	restored := newHouse()
	if err := restored.restore(records); err != nil {
		t.Fatal(err)
	}
	back := restored.Arrays[a.ID()]
	if back == nil || back.Open() != 2 || back.Running() != 0 || back.Room(1) != 0 || restored.JobsOf("ada") != 10 || restored.Open() != 10 {
		t.Fatalf("%+v", back)
	}
	if p := back.JobsOf(a.Asked.Indexes)[1].Payload(); string(p.Script) != "x" || !slices.Contains(p.Env, "SLURM_ARRAY_TASK_ID=1") {
		t.Errorf("%+v", p)
	}
	for i, name := range []string{"its array", "its payload"} {
		if err := newHouse().restore(slices.Delete(slices.Clone(records), i, i+1)); err == nil {
			t.Errorf("an element is restored without %s", name)
		}
	}
}
