package tables_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// retire ends jobs, and keeps them with those that can be requeued.
func (h *house) retire(keep rules.Requeueable, state protocol.State, exit int, jobs ...*tables.Job) {
	for _, j := range jobs {
		j.State, j.Outcome = state, &protocol.Outcome{State: state, ExitCode: exit}
		h.Retire(j, 1, keep)
	}
}

// plenty keeps all that ends.
var plenty = rules.Requeueable{For: protocol.Hour, Jobs: 100, Bytes: 1 << 20}

// TestRestoreWhatLacks: a version that does not know the rows of what can be requeued may have run meanwhile. Rows without what
// goes with them are deleted, with what they run, and the others are kept.
func TestRestoreWhatLacks(t *testing.T) {
	t.Parallel()
	h := newHouse()
	job := jobIn(row.JobInGridQueue)
	h.AddJob(job, &protocol.Payload{Script: []byte("x")})
	a := arrayOf(h, "0-1")
	elements := h.DrawNext(a, a.Pending, 2)
	h.retire(plenty, protocol.Completed, 0, job, elements[0])
	open, err := h.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	h.retire(plenty, protocol.Completed, 0, elements[1])
	h.RemoveArray(a)
	over, err := h.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(id protocol.JobID) func(row.Record) bool {
		return func(rec row.Record) bool { return rec.Key == row.JobKey(id) }
	}
	whole := slices.Concat(slices.DeleteFunc(slices.Clone(open), func(rec row.Record) bool { return rec.Table == row.ArrayTable || rec.Table == row.JobTable }), over)
	for name, tt := range map[string]struct {
		rows []row.Record
		keep []protocol.JobID // that can be requeued
		gone []string         // keys of rows that are deleted
	}{
		"whole":          {rows: whole, keep: []protocol.JobID{seven, elements[0].Spec.Job, elements[1].Spec.Job}},
		"no open array":  {slices.DeleteFunc(slices.Clone(open), func(rec row.Record) bool { return of(a.ID())(rec) || rec.Table == row.JobTable }), []protocol.JobID{seven}, []string{row.JobKey(elements[0].Spec.Job)}},
		"no ended array": {slices.DeleteFunc(slices.Clone(over), of(a.ID())), nil, []string{row.JobKey(elements[1].Spec.Job)}},
		"no payload": {slices.DeleteFunc(slices.Clone(whole), func(rec row.Record) bool { return rec.Table == row.PayloadTable }), nil, []string{
			row.JobKey(seven), row.JobKey(a.ID()), row.JobKey(elements[0].Spec.Job), row.JobKey(elements[1].Spec.Job),
		}},
		"no elements": {
			slices.DeleteFunc(slices.Clone(whole), func(rec row.Record) bool { return of(elements[0].Spec.Job)(rec) || of(elements[1].Spec.Job)(rec) }),
			[]protocol.JobID{seven},
			[]string{row.JobKey(a.ID())},
		},
		"neither": {[]row.Record{{Table: row.RequeueableTable, Key: row.JobKey(seven), Row: row.Requeueable{}}}, nil, []string{row.JobKey(seven)}},
	} {
		again := newHouse()
		if err := again.restore(slices.DeleteFunc(slices.Clone(tt.rows), func(rec row.Record) bool { return rec.Row == nil })); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, id := range []protocol.JobID{seven, elements[0].Spec.Job, elements[1].Spec.Job} {
			if got := again.Requeueable(id) != nil; got != slices.Contains(tt.keep, id) {
				t.Errorf("%s: job %v can be requeued: %t", name, id, got)
			}
		}
		first, err := again.Records(nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var gone []string
		for _, rec := range first {
			if rec.Table == row.RequeueableTable && rec.Row == nil {
				gone = append(gone, rec.Key)
			}
		}
		slices.Sort(gone)
		slices.Sort(tt.gone)
		if !slices.Equal(gone, tt.gone) {
			t.Errorf("%s: deleted are %v, want %v", name, gone, tt.gone)
		}
	}
}

// TestRequeueableBytesOfArrays: what the elements of an array run counts once, from the first one that is kept to the last one, and
// as much after a restart.
func TestRequeueableBytesOfArrays(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := arrayOf(h, "0-3")
	jobs := h.DrawNext(a, a.Pending, 4)
	size := (&protocol.Payload{Script: []byte("x")}).Bytes()
	keep := rules.Requeueable{For: protocol.Hour, Jobs: 100, Bytes: 2 * size}
	h.retire(keep, protocol.Completed, 0, jobs[:3]...)
	if got := len(h.RequeueableOf(a, a.Asked.Indexes)); got != 3 {
		t.Fatalf("%d elements of an array are kept that has its script once", got)
	}
	records, err := h.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	again := newHouse()
	if err := again.restore(slices.DeleteFunc(records, func(rec row.Record) bool { return rec.Row == nil })); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*house{h, again} {
		of := h.Arrays[a.ID()]
		job := jobIn(row.JobInGridQueue)
		h.AddJob(job, &protocol.Payload{Script: []byte("yy")})
		h.retire(keep, protocol.Completed, 0, job)
		if len(h.RequeueableOf(of, of.Asked.Indexes)) != 0 || h.Requeueable(seven) == nil {
			t.Error("a script that is too large beside that of the array does not drop the elements, which ended first")
		}
		h.retire(rules.Requeueable{For: protocol.Hour, Jobs: 100, Bytes: 0}, protocol.Completed, 0, of.JobsOf(of.Asked.Indexes)...)
		if len(h.RequeueableOf(of, of.Asked.Indexes)) != 0 || h.Requeueable(seven) != nil {
			t.Error("an array is kept whose script alone is too large")
		}
	}
}

// TestReopenedArray: an array that goes on since elements of it are requeued starts when these do, and its exit code is no longer
// theirs.
func TestReopenedArray(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := arrayOf(h, "0-2")
	jobs := h.DrawNext(a, a.Pending, 3)
	a.Started = 5
	h.retire(plenty, protocol.Completed, 0, jobs[0])
	jobs[1].Undelivered = []view.Undelivered{{File: "stdout"}}
	h.retire(plenty, protocol.Failed, 3, jobs[1:]...)
	h.RemoveArray(a)
	if a.Undelivered != 1 {
		t.Errorf("%d elements have files that are not delivered", a.Undelivered)
	}
	if a.ExitCode != 3 || !h.Reopen(h.Requeueable(jobs[1].Spec.Job)) {
		t.Fatalf("the exit code is %d, or the array is not opened", a.ExitCode)
	}
	if a.Started != 0 || a.ExitCode != 3 || a.Undelivered != 0 {
		t.Errorf("with one that has failed: started at %v, exit code %d", a.Started, a.ExitCode)
	}
	if h.Reopen(h.Requeueable(jobs[2].Spec.Job)) || a.ExitCode != 0 || a.Ended != (row.ArrayEnds{Completed: 1}) {
		t.Errorf("with none that has failed: exit code %d, %+v", a.ExitCode, a.Ended)
	}
}

// TestEndedAfterWhatIsVoid: a job that ends once others are void can be requeued, also by a clock that was set back.
func TestEndedAfterWhatIsVoid(t *testing.T) {
	t.Parallel()
	h := newHouse()
	retire := func() protocol.JobID {
		job := jobIn(row.JobInGridQueue)
		h.AddJob(job, &protocol.Payload{Script: []byte("x")})
		h.Retire(job, 5, plenty)
		return job.Spec.Job
	}
	before := retire()
	h.VoidRequeueable(7)
	if h.Requeueable(before) != nil {
		t.Error("what is void can be requeued")
	}
	if first, more := h.ForgetRequeueable(0, plenty); first != 0 || more {
		t.Errorf("left is what ended at %v, and %v", first, more)
	}
	if h.Requeueable(retire()) == nil {
		t.Error("what ended later cannot be requeued")
	}
	if first, more := h.ForgetRequeueable(7, plenty); first != 8 || more {
		t.Errorf("left is what ended at %v, and %v", first, more)
	}
}

// TestForgetRequeueable: what has ended, or is too much, is dropped in the order of the ends, a thousand jobs at a time, and what is void can
// be requeued no more before that.
func TestForgetRequeueable(t *testing.T) {
	t.Parallel()
	most := rules.Requeueable{For: protocol.Hour, Jobs: 10_000, Bytes: 1 << 20}
	few := most
	few.Jobs = 1
	type result struct {
		first protocol.Instant
		more  bool
	}
	for name, c := range map[string]struct {
		drop func(h *house) result
		void bool
		left []int // after each call
	}{
		"not due": {func(h *house) (r result) { r.first, r.more = h.ForgetRequeueable(0, most); return r }, false, []int{2500}},
		"due":     {func(h *house) (r result) { r.first, r.more = h.ForgetRequeueable(1, most); return r }, false, []int{1500, 500, 0}},
		"many":    {func(h *house) (r result) { r.first, r.more = h.ForgetRequeueable(0, few); return r }, false, []int{1500, 500, 1}},
		"void":    {func(h *house) (r result) { r.first, r.more = h.ForgetRequeueable(0, most); return r }, true, []int{1500, 500, 0}},
		"another ends": {func(h *house) result {
			job := jobIn(row.JobInGridQueue)
			h.AddJob(job, &protocol.Payload{Script: []byte("x")})
			return result{1, h.Retire(job, 2, few)}
		}, false, []int{1501}},
	} {
		h := newHouse()
		a := arrayOf(h, "0-2499")
		h.retire(most, protocol.Completed, 0, h.DrawNext(a, a.Pending, 2500)...)
		h.RemoveArray(a)
		if _, err := h.Records(nil); err != nil {
			t.Fatal(err)
		}
		if c.void {
			h.VoidRequeueable(1)
			if len(h.RequeueableOf(a, a.Asked.Indexes)) > 0 || h.Requeueable(a.ID()+1) != nil {
				t.Errorf("%s: elements can be requeued", name)
			}
		}
		kept := 2500
		for i, left := range c.left {
			got := c.drop(h)
			records, err := h.Records(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range records {
				switch {
				case rec.Table != row.RequeueableTable || rec.Key == row.JobKey(a.ID()):
				case rec.Row == nil:
					kept--
				default:
					kept++
				}
			}
			want := result{1, kept > 1 && name != "not due"}
			if left == 0 {
				want.first = 0
			}
			if got != want || kept != left {
				t.Errorf("%s: after %d calls %d are left, want %d; the answer is %+v, want %+v", name, i+1, kept, left, got, want)
			}
		}
	}
}

// TestRequeuedNamesake: a job that has ended and is requeued is among those of its name once, so that none is first when it has
// left under another name.
func TestRequeuedNamesake(t *testing.T) {
	t.Parallel()
	h := newHouse()
	first, second := jobIn(row.JobInGridQueue), jobIn(row.JobInGridQueue)
	second.Spec.Job++
	for _, j := range []*tables.Job{first, second} {
		h.AddJob(j, &protocol.Payload{Script: []byte("x")})
	}
	h.retire(plenty, protocol.Completed, 0, first)
	back := h.Requeueable(seven)
	h.Reopen(back)
	if got := h.FirstNamed("ada", ""); got != seven {
		t.Errorf("the first one is %v, want the one that is requeued", got)
	}
	h.ChangeJob(back, &protocol.Change{Name: new("other")})
	if got := h.FirstNamed("ada", ""); got != second.Spec.Job {
		t.Errorf("the first one is %v, want %v", got, second.Spec.Job)
	}
}

// TestClosedAtItsEnd: of a job that has ended and is kept, the placements until its end are closed, and later ones are not known,
// also when it cannot be requeued any more.
func TestClosedAtItsEnd(t *testing.T) {
	t.Parallel()
	h := newHouse()
	job := jobIn(row.JobInGridQueue)
	job.Epoch = 3
	h.AddJob(job, &protocol.Payload{Script: []byte("x")})
	h.retire(plenty, protocol.Completed, 0, job)
	h.VoidRequeueable(h.LastRequeueable())
	for epoch, want := range map[protocol.Epoch]bool{2: true, 3: true, 4: false} {
		if got := h.ClosedHere(protocol.Tag{Job: seven, Epoch: epoch}); got != want {
			t.Errorf("epoch %d is closed: %t", epoch, got)
		}
	}
}
