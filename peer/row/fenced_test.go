package row_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fenced is a placement that was given up.
func fenced(site protocol.SiteName, epoch protocol.Epoch, holder uint64, lost bool) row.FencedPlacement {
	return row.FencedPlacement{Site: site, Epoch: epoch, Holder: holder, Lost: lost}
}

func TestFence(t *testing.T) {
	t.Parallel()
	lostBefore := []row.FencedPlacement{fenced("b", 1, 5, true), fenced("c", 2, 5, true), fenced("b", 3, 5, false)}
	tests := map[string]struct {
		before []row.FencedPlacement
		phase  row.JobPhase
		lost   bool
		want   []row.FencedPlacement
	}{
		"granted":               {nil, row.JobGranted, false, []row.FencedPlacement{fenced("b", 7, 9, false)}},
		"handed off":            {nil, row.JobHandedOff, true, []row.FencedPlacement{fenced("b", 7, 9, true)}},
		"recalled":              {nil, row.JobRecalling, false, []row.FencedPlacement{fenced("b", 7, 9, false)}},
		"only offered":          {nil, row.JobOffered, false, nil},
		"in the grid queue":     {nil, row.JobInGridQueue, false, nil},
		"its output is fetched": {nil, row.JobStagingOut, false, nil},
		"one more":              {lostBefore, row.JobHandedOff, false, append(slices.Clone(lostBefore), fenced("b", 7, 9, false))},
		"one that says as much": {
			lostBefore, row.JobHandedOff, true,
			[]row.FencedPlacement{fenced("c", 2, 5, true), fenced("b", 3, 5, false), fenced("b", 7, 9, true)},
		},
	}
	for name, tt := range tests {
		before := slices.Clone(tt.before)
		j := row.Job{Phase: tt.phase, Site: "b", Epoch: 7, Holder: 9, Fenced: tt.before}
		if j.Fence(tt.lost); !slices.Equal(j.Fenced, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, j.Fenced, tt.want)
		}
		if !slices.Equal(before, tt.before) {
			t.Errorf("%s: the list before, which a record may share, has changed", name)
		}
	}
}

// A site that makes room again has closed what it had before, unless its store is another one.
func TestReplacedAt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ before, want []row.FencedPlacement }{
		"none":               {nil, nil},
		"of the same store":  {[]row.FencedPlacement{fenced("b", 1, 9, false), fenced("b", 2, 9, false)}, nil},
		"of another store":   {[]row.FencedPlacement{fenced("b", 1, 8, false)}, []row.FencedPlacement{fenced("b", 1, 8, true)}},
		"lost":               {[]row.FencedPlacement{fenced("b", 1, 9, true)}, []row.FencedPlacement{fenced("b", 1, 9, true)}},
		"several are as one": {[]row.FencedPlacement{fenced("b", 1, 8, false), fenced("b", 2, 7, false), fenced("b", 3, 9, true)}, []row.FencedPlacement{fenced("b", 1, 8, true)}},
		"of another site":    {[]row.FencedPlacement{fenced("c", 1, 8, false)}, []row.FencedPlacement{fenced("c", 1, 8, false)}},
		"of both": {
			[]row.FencedPlacement{fenced("c", 1, 8, false), fenced("b", 2, 8, false), fenced("b", 3, 9, false), fenced("c", 4, 9, true)},
			[]row.FencedPlacement{fenced("c", 1, 8, false), fenced("b", 2, 8, true), fenced("c", 4, 9, true)},
		},
	}
	for name, tt := range tests {
		j := row.Job{Site: "b", Holder: 9, Fenced: tt.before}
		before := slices.Clone(tt.before)
		if j.ReplacedAt("b"); !slices.Equal(j.Fenced, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, j.Fenced, tt.want)
		}
		if !slices.Equal(before, tt.before) {
			t.Errorf("%s: the list before has changed", name)
		}
	}
}

func TestFencedOver(t *testing.T) {
	t.Parallel()
	all := []row.FencedPlacement{fenced("b", 1, 9, false), fenced("c", 2, 9, false), fenced("b", 3, 9, true)}
	j := row.Job{Fenced: all}
	for _, tt := range []struct {
		site  protocol.SiteName
		epoch protocol.Epoch
		want  int
		found bool
	}{{"b", 1, 0, true}, {"c", 2, 1, true}, {"b", 2, 0, false}, {"c", 1, 0, false}, {"b", 3, 0, false}} {
		if got, ok := j.FencedAt(tt.site, tt.epoch); ok != tt.found || ok && got != tt.want {
			t.Errorf("epoch %d at %s: place %d, %t, want %d, %t", tt.epoch, tt.site, got, ok, tt.want, tt.found)
		}
	}
	j.FencedOver(1, true)
	if want := []row.FencedPlacement{all[0], all[2]}; !slices.Equal(j.Fenced, want) || !j.AwaitsFenced() {
		t.Errorf("%+v, want %+v", j.Fenced, want)
	}
	j.FencedOver(0, false)
	if want := []row.FencedPlacement{fenced("b", 1, 9, true), all[2]}; !slices.Equal(j.Fenced, want) || j.AwaitsFenced() {
		t.Errorf("%+v, want %+v", j.Fenced, want)
	}
	if all[0].Lost || all[1].Site != "c" {
		t.Error("the list before has changed")
	}
}

func TestNextEpoch(t *testing.T) {
	t.Parallel()
	j := row.Job{Epoch: 4, SkipEpochs: true}
	if j.NextEpoch(); j.Epoch != 1005 || j.SkipEpochs {
		t.Errorf("epoch %d, more to skip: %v", j.Epoch, j.SkipEpochs)
	}
	if j.NextEpoch(); j.Epoch != 1006 {
		t.Errorf("epoch %d", j.Epoch)
	}
}

func TestClosedAt(t *testing.T) {
	t.Parallel()
	over := map[row.JobPhase]bool{row.JobInGridQueue: true, row.JobEnding: true}
	for _, phase := range []row.JobPhase{
		row.JobInGridQueue, row.JobReserving, row.JobCommittedLocal, row.JobOffered, row.JobGranted, row.JobHandedOff,
		row.JobRecalling, row.JobStagingOut, row.JobEnding,
	} {
		j := row.Job{Phase: phase, Epoch: 5}
		if !j.ClosedAt(4) || j.ClosedAt(5) != over[phase] || j.ClosedAt(6) {
			t.Errorf("a job in phase %s: %v, %v, %v", phase, j.ClosedAt(4), j.ClosedAt(5), j.ClosedAt(6))
		}
	}
	for phase, open := range map[row.GuestPhase]bool{row.GuestPrepared: true, row.GuestAccepted: true, row.GuestAborted: false, row.GuestClosed: false} {
		g := row.Guest{Phase: phase, Epoch: 5}
		if !g.ClosedAt(4) || g.ClosedAt(5) == open || g.ClosedAt(6) {
			t.Errorf("a guest in phase %s: %v, %v, %v", phase, g.ClosedAt(4), g.ClosedAt(5), g.ClosedAt(6))
		}
	}
}

// Only a row that may be older than what was done lets a site's word count, and only where the job
// may leave this site for that one.
func TestMayBeAt(t *testing.T) {
	t.Parallel()
	base := row.Job{Phase: row.JobInGridQueue, Epoch: 5, Restored: true}
	if !base.MayBeAt("b", 6) || base.MayBeAt("b", 5) {
		t.Error("a later epoch does not count, or the present one does")
	}
	for name, set := range map[string]func(*row.Job){
		"a row of now":       func(j *row.Job) { j.Restored = false },
		"not for that site":  func(j *row.Job) { j.Spec.Sites = []protocol.SiteName{"c"} },
		"committed here":     func(j *row.Job) { j.Phase = row.JobCommittedLocal },
		"its output is here": func(j *row.Job) { j.Phase = row.JobStagingOut },
	} {
		j := base
		if set(&j); j.MayBeAt("b", 6) {
			t.Errorf("%s: a site is believed to have the job", name)
		}
	}
}

func TestCompareTags(t *testing.T) {
	t.Parallel()
	inOrder := []protocol.Tag{{Job: 1, Epoch: 9}, {Job: 2, Epoch: 1}, {Job: 2, Epoch: 2}, {Job: 3, Epoch: 0}}
	for i, a := range inOrder {
		for k, b := range inOrder {
			if got := row.CompareTags(a, b); (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%v and %v: %d", a, b, got)
			}
		}
	}
}

// TestAwaitsAnswerOf: a site answers about the jobs that it has, and about those that end only after it has.
func TestAwaitsAnswerOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		phase row.JobPhase
		site  protocol.SiteName
		want  bool
	}{
		"its site":                         {row.JobHandedOff, "b", true},
		"a site that it was taken from":    {row.JobHandedOff, "c", false},
		"which it waits for":               {row.JobEnding, "c", true},
		"a site that has lost its records": {row.JobEnding, "d", false},
		"another site":                     {row.JobEnding, "e", false},
	} {
		j := row.Job{Site: "b", Phase: tt.phase, Fenced: []row.FencedPlacement{fenced("c", 1, 0, false), fenced("d", 2, 0, true)}}
		if got := j.AwaitsAnswerOf(tt.site); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
