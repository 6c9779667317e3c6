package tables_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFiles: what jobs have counts once, as it was noted last, for its owner.
func TestFiles(t *testing.T) {
	t.Parallel()
	var f tables.Files
	ada, bob := tables.Owner{Origin: "b", User: "ada"}, tables.Owner{Origin: "b", User: "bob"}
	f.Note(1, ada, 0)
	f.Note(1, ada, 5)
	f.Note(1, ada, 7)
	f.Note(2, ada, 10)
	f.Note(3, bob, 100)
	if got, other := f.Beside(2, ada), f.Beside(9, bob); got != 7 || other != 100 {
		t.Errorf("%d and %d bytes", got, other)
	}
	f.Note(2, ada, 0)
	f.Note(1, tables.Owner{}, 0)
	if got := f.Beside(9, ada); got != 0 {
		t.Errorf("%d bytes stay", got)
	}
}

// TestFilesOfGuests: a guest's inputs count while it is open, and what it leaves for its origin, too; those of one that runs in
// place do not, and a restart counts the same.
func TestFilesOfGuests(t *testing.T) {
	t.Parallel()
	h := newHouse()
	guest := func(seq uint64, user string, in int64, phase row.GuestPhase, inPlace bool) *tables.Guest {
		id := protocol.NewJobID(2, seq)
		g := &tables.Guest{Guest: row.Guest{
			Spec:   protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1}, User: user, StageIn: in, InPlace: inPlace},
			Origin: "b", Epoch: 1, Phase: phase,
		}}
		h.Guests[id] = g
		h.SaveGuest(id)
		if phase == row.GuestAccepted {
			h.Runs[g.Tag()] = &localrun.Run{Run: row.Run{Tag: g.Tag(), Phase: row.RunQueued}}
			h.SaveRun(g.Tag())
		}
		return g
	}
	guest(1, "ada", 10, row.GuestPrepared, false)
	ended := guest(2, "ada", 100, row.GuestAccepted, false)
	guest(3, "ada", 1000, row.GuestAborted, false)
	guest(4, "ada", 10_000, row.GuestAccepted, true)
	guest(5, "bob", 100_000, row.GuestAccepted, false)
	tag := ended.Tag()
	h.Runs[tag].Phase, h.Runs[tag].Outcome = row.RunEnded, &protocol.Outcome{
		State: protocol.Completed, Files: []protocol.File{{Stream: protocol.Stdout, Size: 3}, {Stream: protocol.StageOutArchive, Size: 1}},
	}
	if _, err := h.Records(nil); err != nil {
		t.Fatal(err)
	}
	ada := tables.Owner{Origin: "b", User: "ada"}
	if got := h.Files.Beside(0, ada); got != 111 {
		t.Errorf("%d bytes, want 111", got)
	}
	delete(h.Runs, tag)
	ended.Phase = row.GuestClosed
	h.SaveRun(tag)
	h.SaveGuest(tag.Job)
	if _, err := h.Records(nil); err != nil {
		t.Fatal(err)
	}
	if got := h.Files.Beside(0, ada); got != 10 {
		t.Errorf("%d bytes once its origin has the results, want 10", got)
	}
}
