package lives_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Jobs that wait may have run by another line of the store; those in the local queue only where
// the queue may be a copy; what another site has that site knows.
func TestMayHaveRun(t *testing.T) {
	t.Parallel()
	waiting := []row.JobPhase{row.JobInGridQueue, row.JobOffered, row.JobReserving}
	elsewhere := []row.JobPhase{row.JobGranted, row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding}
	tests := map[string]struct {
		set         func(*lives.Store)
		waits, here bool
	}{
		"all well":                 {func(*lives.Store) {}, false, false},
		"recovery":                 {func(s *lives.Store) { s.Recovery = "older" }, true, false},
		"recovery, copied":         {func(s *lives.Store) { s.Recovery, s.QueueCopied = "older", true }, true, true},
		"a twin":                   {func(s *lives.Store) { s.Twin = life(4, 9, 9) }, true, true},
		"a twin of a later line":   {func(s *lives.Store) { s.Twin = life(5, 9, 9) }, true, true},
		"a twin of a line before":  {func(s *lives.Store) { s.Twin = life(3, 9, 9) }, false, false},
		"copied, and looked after": {func(s *lives.Store) { s.QueueCopied = true }, false, false},
	}
	for name, tt := range tests {
		for _, apart := range []bool{false, true} {
			s := begun(t, func(h *lives.Here) { h.QueueApart = apart })
			tt.set(s)
			for _, phase := range waiting {
				if (s.MayHaveRun(phase) != "") != tt.waits {
					t.Errorf("%s: a job in phase %s: %q", name, phase, s.MayHaveRun(phase))
				}
			}
			if got := s.MayHaveRun(row.JobCommittedLocal) != ""; got != (tt.here && !apart) {
				t.Errorf("%s, queue apart %v: a job in the local queue: %v", name, apart, got)
			}
			for _, phase := range elsewhere {
				if s.MayHaveRun(phase) != "" {
					t.Errorf("%s: a job in phase %s: %q", name, phase, s.MayHaveRun(phase))
				}
			}
		}
	}
}

// A new line is above all that rows, witness, partners and twins have ever said.
func TestNewLine(t *testing.T) {
	t.Parallel()
	const now = epoch2026 + 1000
	s := begun(t, func(h *lives.Here) { h.Machine = "n" })
	s.Machine = "m"
	s.SeenBy("b", life(4, 20, 90))
	s.Twin = protocol.Life{Incarnation: uint64(now) + 5, Boot: 7, Begun: 9, Generation: 40}
	s.NewLine(now, 4999)
	want := protocol.Life{Incarnation: uint64(now) + 6, Boot: 21, Begun: now, Generation: 91}
	if s.Life() != want || s.Machine != "n" || s.NextSeq != 5000 {
		t.Errorf("%v on %s, next %d", s.Life(), s.Machine, s.NextSeq)
	}
	if stops, _ := s.SeenBy("b", life(4, 20, 90)); stops {
		t.Error("what is below the new line stops it")
	}
	if s.TwinSeen(protocol.Life{Incarnation: uint64(now) + 5, Boot: 7, Begun: 9, Generation: 44}) {
		t.Error("a twin of the line that was given up stops the new one")
	}

	s = begun(t, func(h *lives.Here) { h.Witness = life(3, 30, 20) })
	s.Machine = "m"
	s.NewLine(now, 0)
	if want = (protocol.Life{Incarnation: uint64(now), Boot: 31, Begun: now, Generation: 51}); s.Life() != want {
		t.Errorf("%v, want %v", s.Life(), want)
	}
	if s.Machine != "m" || s.NextSeq != 1000 || !slices.Equal(s.Gaps, []row.Gap{{From: 200, To: 1000}}) {
		t.Errorf("on %q, next %d, gaps %v", s.Machine, s.NextSeq, s.Gaps)
	}
}

func TestRecovered(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{true, false} {
		s := begun(t)
		s.NeedRecovery("older")
		s.Twin, s.Witnessed, s.Listening, s.QueueCopied = life(4, 9, 9), life(1, 1, 1), true, !copied
		if s.TakesOut() {
			t.Error("what waits is taken out before an operator has decided")
		}
		s.Recovered(copied)
		if s.StopReason() != "" || s.QueueCopied != copied || s.TakesOut() != copied || s.Witnessed.Boot != 0 {
			t.Errorf("%+v", s)
		}
		if !s.NeedRecovery("older") {
			t.Error("the same reason does not stop starts a second time")
		}
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	s := begun(t)
	if v := s.View(); v.Needed || v.Reasons != nil || v.NextID != protocol.NewJobID(7, 200) || v.Life != s.Life() || v.QueueCopied {
		t.Errorf("a store in order: %+v", v)
	}
	s.QueueCopied = true
	if s.View().QueueCopied {
		t.Error("a queue counts as a copy though nobody has to decide")
	}
	s.Recovery = "of an earlier start" // the reasons of which are not known any more
	if v := s.View(); !v.Needed || len(v.Reasons) != 1 || v.Reasons[0] != "of an earlier start" || !v.QueueCopied {
		t.Errorf("%+v", v)
	}
	s.NeedRecovery("of this one")
	s.Twin = life(4, 9, 9)
	if v := s.View(); len(v.Reasons) != 2 || v.Reasons[0] != "of this one" || v.Reasons[1] != s.TwinText() {
		t.Errorf("%+v", v)
	}
	if len(s.View().Reasons) != 2 {
		t.Error("a view adds to the reasons")
	}
}

func TestListJobs(t *testing.T) {
	t.Parallel()
	jobs := []*row.Job{{Phase: row.JobCommittedLocal, OperatorReason: "nobody knows"}}
	for _, phase := range []row.JobPhase{
		row.JobInGridQueue, row.JobReserving, row.JobCommittedLocal, row.JobOffered, row.JobGranted,
		row.JobHandedOff, row.JobRecalling, row.JobStagingOut, row.JobEnding,
	} {
		jobs = append(jobs, &row.Job{Phase: phase})
	}
	for i, j := range jobs {
		j.Spec.Job = protocol.JobID(1 + i)
	}
	var v view.Recovery
	lives.ListJobs(&v, slices.Values(jobs))
	got := map[string][]protocol.JobID{"in doubt": v.InDoubt, "waiting": v.Waiting, "here": v.Here, "elsewhere": v.Elsewhere}
	want := map[string][]protocol.JobID{"in doubt": {1}, "waiting": {2, 3, 5}, "here": {4}, "elsewhere": {6, 7, 8, 9, 10}}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v", got)
	}
}

func TestSkipSeen(t *testing.T) {
	t.Parallel()
	const now = epoch2026 + 10_000
	most := uint64(10_000 + 30*protocol.Day)
	tests := map[string]struct {
		set     func(*lives.Store)
		seq     uint64
		changed bool
		warned  bool
		next    uint64
	}{
		"known":             {nil, 199, false, false, 200},
		"the next one":      {nil, 200, true, false, 201},
		"far above":         {nil, 5000, true, false, 5001},
		"the most":          {nil, most, true, false, most + 1},
		"more than any had": {nil, most + 1, false, true, 200},
		"in a recovery":     {func(s *lives.Store) { s.Recovery = "older" }, 5000, false, false, 200},
		"none given out":    {func(s *lives.Store) { s.FirstSeq = 200 }, 5000, true, false, 5001},
		"gaps without end":  {func(s *lives.Store) { s.Gaps = make([]row.Gap, 64) }, 5000, false, true, 200},
		"a last gap":        {func(s *lives.Store) { s.Gaps = make([]row.Gap, 63) }, 5000, true, false, 5001},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begun(t)
			if tt.set != nil {
				tt.set(s)
			}
			changed, warned := s.SkipSeen(now, tt.seq)
			if changed != tt.changed || (warned != "") != tt.warned || s.NextSeq != tt.next {
				t.Errorf("changed %v, odd %q, next %d", changed, warned, s.NextSeq)
			}
		})
	}
}

// IDs that were skipped are of a life that these rows do not know; all others between the first
// and the next one were given out here.
func TestIssuedHere(t *testing.T) {
	t.Parallel()
	s := begun(t)
	s.SkipSeen(epoch2026, 300)
	s.SkipSeen(epoch2026, 350) // adds to the gap
	s.NextSeq = 400
	s.SkipSeen(epoch2026, 450)
	s.NextSeq = 500
	if want := []row.Gap{{From: 200, To: 351}, {From: 400, To: 451}}; !slices.Equal(s.Gaps, want) {
		t.Fatalf("gaps %v, want %v", s.Gaps, want)
	}
	s.Settle = row.SettleByCancel
	for seq, want := range map[uint64]struct{ issued, givenUp bool }{
		99: {false, false}, 100: {true, false}, 199: {true, false}, 200: {false, true}, 350: {false, true}, 351: {true, false},
		399: {true, false}, 400: {false, true}, 451: {true, false}, 499: {true, false}, 500: {false, false},
	} {
		id := protocol.NewJobID(7, seq)
		if s.IssuedHere(id) != want.issued || s.GivenUp(id) != want.givenUp {
			t.Errorf("%d: issued %v, given up %v", seq, s.IssuedHere(id), s.GivenUp(id))
		}
		if other := protocol.NewJobID(8, seq); s.IssuedHere(other) || s.GivenUp(other) {
			t.Errorf("%v is of another site", other)
		}
	}
	lost := protocol.NewJobID(7, 300)
	for _, set := range []func(*lives.Store){
		func(s *lives.Store) { s.Settle = row.SettleByRequeue }, func(s *lives.Store) { s.Settle = "" },
		func(s *lives.Store) { s.Listening = true }, func(s *lives.Store) { s.Recovery = "older" },
	} {
		other := *s
		if set(&other); other.GivenUp(lost) {
			t.Errorf("given up: %+v", other.Site)
		}
	}
}
