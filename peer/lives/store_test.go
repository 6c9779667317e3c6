package lives_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const epoch2026 protocol.Instant = 1_767_225_600_000

// here is site a, number 7, whose lives are told apart.
func here(set ...func(*lives.Here)) lives.Here {
	h := lives.Here{Site: "a", Number: 7, TrackLives: true}
	for _, f := range set {
		f(&h)
	}
	return h
}

// store is a store of which rows say that it was left at generation 50 of start 3.
func store(set ...func(*lives.Here)) *lives.Store {
	s := lives.New(here(set...))
	s.Site = row.Site{Incarnation: 4, Boot: 3, Begun: 300, FirstSeq: 100, NextSeq: 200}
	s.Generation = 50
	return &s
}

// begun is the same in the life that begins at 1000.
func begun(t *testing.T, set ...func(*lives.Here)) *lives.Store {
	t.Helper()
	s := store(set...)
	if s.Begin(1000, false) {
		t.Fatalf("starts stop: %s", s.StopReason())
	}
	return s
}

func TestFound(t *testing.T) {
	t.Parallel()
	for now, want := range map[protocol.Instant]row.Site{
		5:               {FirstStart: 5, Incarnation: 5, FirstSeq: 1, NextSeq: 1},
		0:               {FirstStart: 0, Incarnation: 1, FirstSeq: 1, NextSeq: 1},
		epoch2026 + 777: {FirstStart: epoch2026 + 777, Incarnation: uint64(epoch2026) + 777, FirstSeq: 777, NextSeq: 777},
	} {
		s := lives.New(here())
		s.Found(now)
		if s.FirstStart != want.FirstStart || s.Incarnation != want.Incarnation || s.FirstSeq != want.FirstSeq || s.NextSeq != want.NextSeq {
			t.Errorf("at %d: %+v, want %+v", now, s.Site, want)
		}
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()
	witness := func(l protocol.Life) func(*lives.Here) { return func(h *lives.Here) { h.Witness = l } }
	left := protocol.Life{Incarnation: 4, Boot: 3, Begun: 300, Generation: 50}
	further, restarted, other, older, newer := left, left, left, left, left
	further.Generation++
	restarted.Boot++
	other.Begun++
	older.Incarnation--
	newer.Incarnation++
	tests := map[string]struct {
		here    lives.Here
		machine string // of the rows
		fresh   bool
		why     string // starts stop
		copied  bool
		after   string // the machine that the row has then
	}{
		"nothing beside the rows":  {here: here()},
		"the witness saw the same": {here: here(witness(left))},
		"a change more":            {here: here(witness(further)), why: "the database is older than the witness file beside it: it was left at " + left.String()},
		"a start more":             {here: here(witness(restarted)), why: "older than the witness file"},
		"another start":            {here: here(witness(other)), why: "older than the witness file"},
		"of a line before":         {here: here(witness(older))},
		"of a later line":          {here: here(witness(newer)), why: "older than the witness file"},
		"a new store":              {here: here(witness(further)), fresh: true},
		"the same machine":         {here: here(func(h *lives.Here) { h.Machine = "m" }), machine: "m", after: "m"},
		"machine not known before": {here: here(func(h *lives.Here) { h.Machine = "m" }), after: "m"},
		"machine not known now":    {here: here(), machine: "m", after: "m"},
		"another machine": {
			here: here(func(h *lives.Here) { h.Machine = "n" }), machine: "m", after: "m", copied: true,
			why: "the state directory was copied or moved: its database was written on m, and this is n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lives.New(tt.here)
			s.Site, s.Generation = store().Site, 50
			s.Machine = tt.machine
			if stops := s.Begin(1000, tt.fresh); stops != (tt.why != "") {
				t.Errorf("starts stop: %v", stops)
			}
			if (s.Recovery == "") != (tt.why == "") || !strings.HasPrefix(s.Recovery, tt.why) && !strings.Contains(s.Recovery, tt.why) {
				t.Errorf("since %q, want %q", s.Recovery, tt.why)
			}
			if s.QueueCopied != tt.copied || s.Machine != tt.after {
				t.Errorf("copied %v, machine %q", s.QueueCopied, s.Machine)
			}
			if s.Boot != 4 || s.Begun != 1000 {
				t.Errorf("start %d at %d", s.Boot, s.Begun)
			}
			if seen := s.Witnessed.Boot != 0; seen != strings.Contains(tt.why, "witness") {
				t.Errorf("witnessed %v", s.Witnessed)
			}
		})
	}
}

// Both a witness and the machine may speak against a store; that is one stop with two reasons.
func TestBeginWithTwoReasons(t *testing.T) {
	t.Parallel()
	s := store(func(h *lives.Here) { h.Machine, h.Witness = "n", life(4, 3, 60) })
	s.Machine = "m"
	if !s.Begin(1000, false) || len(s.View().Reasons) != 2 {
		t.Errorf("reasons: %q", s.View().Reasons)
	}
}

// A store whose lives are not told apart says nothing of them, and never stops.
func TestLivesNotDistinguished(t *testing.T) {
	t.Parallel()
	s := store(func(h *lives.Here) { h.TrackLives, h.Machine, h.Witness = false, "n", life(9, 9, 9) })
	s.Machine = "m"
	if s.Begin(1000, false) || s.TracksLives() || s.Life() != (protocol.Life{}) || s.Boot != 3 {
		t.Errorf("a life: %+v", s)
	}
	if stops, changed := s.SeenBy("b", life(9, 9, 9)); stops || changed || s.StopReason() != "" {
		t.Errorf("stops: %s", s.StopReason())
	}
}

// A reason is said once, the first ones are kept, and only the first one stops starts.
func TestNeedRecovery(t *testing.T) {
	t.Parallel()
	s := begun(t)
	for i, why := range []string{"a", "a", "b", "c", "d", "e", "f", "g", "h", "i", "a"} {
		if stops := s.NeedRecovery(why); stops != (i == 0) {
			t.Errorf("reason %d %q: stops %v", i, why, stops)
		}
	}
	if got := strings.Join(s.View().Reasons, ""); got != "abcdefgh" || s.Recovery != "a" {
		t.Errorf("reasons %q, recovery %q", got, s.Recovery)
	}
	long := begun(t)
	long.NeedRecovery(strings.Repeat("x", 5000))
	if len(long.Recovery) > 2100 {
		t.Errorf("a reason of %d bytes", len(long.Recovery))
	}
}

func TestSeenBy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		seen           protocol.Life
		witnessed      protocol.Life
		stops, changed bool
		copied         bool
	}{
		"nothing":                        {},
		"what the rows began with":       {seen: protocol.Life{Incarnation: 4, Boot: 4, Begun: 1000, Generation: 50}},
		"an earlier start":               {seen: life(4, 2, 40)},
		"the start before":               {seen: life(4, 3, 50)},
		"further than the rows":          {seen: life(4, 3, 51), stops: true, changed: true, copied: true},
		"a start that is not known":      {seen: life(4, 4, 50), stops: true, changed: true, copied: true},
		"a later line":                   {seen: life(5, 1, 1), stops: true, changed: true, copied: true},
		"an older line":                  {seen: life(3, 9, 99)},
		"as far as the witness":          {seen: life(4, 3, 51), witnessed: life(4, 3, 51), stops: true, changed: true},
		"further than the witness":       {seen: life(4, 3, 52), witnessed: life(4, 3, 51), stops: true, changed: true, copied: true},
		"another start than the witness": {seen: life(4, 4, 52), witnessed: life(4, 3, 60), stops: true, changed: true, copied: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begun(t)
			s.Witnessed = tt.witnessed
			stops, changed := s.SeenBy("b", tt.seen)
			if stops != tt.stops || changed != tt.changed || s.QueueCopied != tt.copied {
				t.Errorf("stops %v, changed %v, copied %v", stops, changed, s.QueueCopied)
			}
			if known := s.View().Known; tt.stops != (known == tt.seen && known.Boot != 0) {
				t.Errorf("known: %v", known)
			}
			if tt.stops && !strings.HasPrefix(s.Recovery, "b has seen a later state of this site than its database has: "+tt.seen.String()) {
				t.Errorf("since %q", s.Recovery)
			}
			if stops, changed := s.SeenBy("b", tt.seen); stops || changed {
				t.Error("the same word is news again")
			}
		})
	}
}

// What this life has done itself does not make an earlier state of it another life.
func TestSeenByGoesByTheBeginning(t *testing.T) {
	t.Parallel()
	s := begun(t)
	s.Generation = 99
	if stops, _ := s.SeenBy("b", life(4, 3, 60)); !stops {
		t.Error("the start before had come further than the rows, and that is not seen")
	}
}

// Word of a second partner adds a reason, and is a change only where the queue becomes doubtful.
func TestSeenByTwo(t *testing.T) {
	t.Parallel()
	s := begun(t)
	s.Witnessed = life(4, 3, 51)
	s.SeenBy("b", life(4, 3, 51))
	if stops, changed := s.SeenBy("c", life(4, 3, 70)); stops || !changed || !s.QueueCopied {
		t.Errorf("stops %v, changed %v, copied %v", stops, changed, s.QueueCopied)
	}
	if v := s.View(); len(v.Reasons) != 2 || v.Known != life(4, 3, 70) {
		t.Errorf("%+v", v)
	}
}

func TestTwinSeen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		twin, known protocol.Life
		want        bool
	}{
		"none":                         {twin: protocol.Life{}},
		"an earlier life":              {twin: life(4, 3, 50)},
		"one that went on":             {twin: life(4, 3, 51), want: true},
		"one beside it":                {twin: protocol.Life{Incarnation: 4, Boot: 4, Begun: 999, Generation: 50}, want: true},
		"the one that is known":        {twin: life(4, 3, 52), known: life(4, 3, 51)},
		"one of a newer line":          {twin: life(6, 1, 1), known: life(5, 1, 1), want: true},
		"one of an older line":         {twin: life(5, 1, 1), known: life(6, 1, 1)},
		"another one of the same line": {twin: life(5, 2, 1), known: life(5, 1, 1), want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begun(t)
			s.Twin = tt.known
			if got := s.TwinSeen(tt.twin); got != tt.want || got && s.Twin != tt.twin || !got && s.Twin != tt.known {
				t.Errorf("news: %v; twin %v", got, s.Twin)
			}
		})
	}
}

func TestStopReason(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		set            func(*lives.Store)
		want           string
		mute, operator bool
	}{
		"nothing":   {func(*lives.Store) {}, "", false, false},
		"listening": {func(s *lives.Store) { s.Listening = true }, "listens to its partners first", true, false},
		"twin":      {func(s *lives.Store) { s.Twin, s.Listening = life(4, 9, 9), false }, "two peers run as a: this one (start 4", false, true},
		"recovery": {
			func(s *lives.Store) { s.Recovery, s.Listening, s.Twin = "it is older", true, life(4, 9, 9) },
			"nothing is started here until an operator has run `switchyard recover`: it is older", true, true,
		},
	}
	for name, tt := range tests {
		s := begun(t)
		tt.set(s)
		why := s.StopReason()
		if (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) || s.Mute() != tt.mute || s.NeedsOperator() != tt.operator {
			t.Errorf("%s: %q, mute %v, operator %v", name, why, s.Mute(), s.NeedsOperator())
		}
	}
}

// TestIDsAreNotGivenOutAhead: a store gives out no more job IDs than its age has milliseconds, and in its first two hours no
// more than for these, so that a store that replaces it begins above them. What partners say to have seen takes nothing of
// that, and IDs do not begin again at the last one.
func TestIDsAreNotGivenOutAhead(t *testing.T) {
	t.Parallel()
	const first = 2 * uint64(protocol.Hour)
	s := lives.New(here())
	s.Found(epoch2026 + 1000)
	may := func(at protocol.Instant, number uint64, want bool) {
		t.Helper()
		if why := s.RefuseIDs(at, number); (why == "") != want {
			t.Errorf("%d more after %v: %q", number, at.Sub(s.FirstStart).Text(), why)
		}
	}
	may(s.FirstStart, first, true)
	may(s.FirstStart, first+1, false)
	s.NextSeq += first
	may(s.FirstStart.Add(2*protocol.Hour), 1, false)
	may(s.FirstStart.Add(2*protocol.Hour+10), 10, true)
	may(s.FirstStart.Add(-protocol.Hour), 1, false) // the clock was set back

	at := s.FirstStart.Add(3 * protocol.Hour)
	next := lives.New(here())
	next.Found(at)
	s.NextSeq += uint64(protocol.Hour)
	may(at, 1, false)
	if next.NextSeq < s.NextSeq {
		t.Errorf("the next store begins at %d, and this one has come to %d", next.NextSeq, s.NextSeq)
	}

	if changed, _ := s.SkipSeen(at, s.NextSeq+uint64(20*protocol.Day)); !changed {
		t.Fatal("nothing was skipped")
	}
	may(at.Add(100), 100, true)
	may(at.Add(100), 101, false)
	s.NextSeq = protocol.SeqsPerSite - 5
	s.FirstSeq = s.NextSeq
	s.Gaps = nil
	may(at, 5, true)
	may(at, 6, false)
}
