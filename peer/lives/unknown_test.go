package lives_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func tag(number protocol.SiteNumber, seq uint64, epoch protocol.Epoch) protocol.Tag {
	return protocol.Tag{Job: protocol.NewJobID(number, seq), Epoch: epoch}
}

// Of this site's jobs those are noted that the rows do not have, or not at so high an epoch.
func TestNoteUnknown(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tag  protocol.Tag
		job  *row.Job
		want bool
	}{
		"an ID not given out here":   {tag(7, 500, 1), nil, true},
		"a job that has ended":       {tag(7, 150, 1), nil, false},
		"a job of another site":      {tag(8, 500, 1), nil, false},
		"a later epoch":              {tag(7, 150, 4), &row.Job{Epoch: 3}, true},
		"the epoch of the row":       {tag(7, 150, 3), &row.Job{Epoch: 3}, false},
		"an earlier one":             {tag(7, 150, 2), &row.Job{Epoch: 3}, false},
		"another site's later epoch": {tag(8, 150, 4), &row.Job{Epoch: 3}, false},
	}
	for name, tt := range tests {
		s := begun(t)
		s.NoteUnknown("b", tt.tag, tt.job)
		s.NoteUnknown("c", tt.tag, tt.job) // its last word counts
		var want []view.UnknownJob
		if tt.want {
			want = []view.UnknownJob{{Tag: tt.tag, Site: "c"}}
		}
		if got := s.View().Unknown; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	apart := store(func(h *lives.Here) { h.TrackLives = false })
	if apart.NoteUnknown("b", tag(7, 500, 1), nil); apart.View().Unknown != nil {
		t.Error("noted though lives are not told apart")
	}
	many := begun(t)
	for i := range uint64(10_005) {
		many.NoteUnknown("b", tag(7, 20_000-i, 1), nil)
	}
	got := many.View().Unknown
	if len(got) != 10_000 || got[0].Tag != tag(7, 10_001, 1) {
		t.Errorf("%d jobs from %v on", len(got), got[0].Tag)
	}
}

// Of a job a partner may speak at an epoch above that of a placement here.
func TestSpokenOf(t *testing.T) {
	t.Parallel()
	s := begun(t)
	s.NoteUnknown("b", tag(7, 150, 4), &row.Job{Epoch: 1})
	for asked, want := range map[protocol.Tag]bool{tag(7, 150, 3): true, tag(7, 150, 4): false, tag(7, 151, 3): false} {
		if got := s.SpokenOf(asked); got != want {
			t.Errorf("a later placement than %v: %t", asked, got)
		}
	}
}
