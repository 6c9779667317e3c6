package gridqueue_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// model is a grid queue done plainly: what each job is.
type model map[protocol.JobID]place

type place struct {
	kind  string // ready, taken, deferred, parked, blocked, held
	until protocol.Instant
}

func (m model) of(kind string) []protocol.JobID {
	var ids []protocol.JobID
	for id, p := range m {
		if p.kind == kind {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// kinds are what a job may be to a queue, and how the only job of one becomes that.
var kinds = []struct {
	name string
	make func(*gridqueue.Queue)
}{
	{"absent", func(*gridqueue.Queue) {}},
	{"ready", func(q *gridqueue.Queue) { q.Put(1) }},
	{"taken", func(q *gridqueue.Queue) { q.Put(1); q.Take(1) }},
	{"deferred", func(q *gridqueue.Queue) { q.Put(1); q.Defer(1, 5) }},
	{"parked", func(q *gridqueue.Queue) { q.Put(1); q.Park(1) }},
	{"blocked", func(q *gridqueue.Queue) { q.Put(1); q.Block(1) }},
	{"held", func(q *gridqueue.Queue) { q.Hold(1) }},
}

// kindOf is what job 1 is in a queue without others. It spoils the queue.
func kindOf(q *gridqueue.Queue) string {
	switch {
	case !q.Has(1):
		return "absent"
	case q.IsBlocked(1):
		return "blocked"
	case q.IsHeld(1):
		return "held"
	case q.Next() != 0:
		return "deferred"
	case q.Ready():
		return "ready"
	}
	if q.Unpark(1, gridqueue.Any); q.Ready() {
		return "parked"
	}
	return "taken"
}

// TestCalls: what each call makes of a job that is anything. What a round has taken nobody takes
// a second time, and a job that is not in the queue comes in by Put alone.
func TestCalls(t *testing.T) {
	t.Parallel()
	same := func(kind string) string { return kind }
	for name, tt := range map[string]struct {
		call func(*gridqueue.Queue)
		want func(kind string) string
	}{
		"Put":             {func(q *gridqueue.Queue) { q.Put(1) }, change("ready", "absent", "taken", "deferred", "parked", "blocked")},
		"Remove":          {func(q *gridqueue.Queue) { q.Remove(1) }, func(string) string { return "absent" }},
		"Hold":            {func(q *gridqueue.Queue) { q.Hold(1) }, func(string) string { return "held" }},
		"Hold one taken":  {func(q *gridqueue.Queue) { q.Take(1); q.Hold(1) }, func(string) string { return "held" }},
		"Release":         {func(q *gridqueue.Queue) { q.Release(1) }, change("ready", "held")},
		"Defer":           {func(q *gridqueue.Queue) { q.Defer(1, 9) }, unlessAbsent("deferred")},
		"Park":            {func(q *gridqueue.Queue) { q.Park(1) }, unlessAbsent("parked")},
		"Block":           {func(q *gridqueue.Queue) { q.Block(1) }, unlessAbsent("blocked")},
		"Wake":            {func(q *gridqueue.Queue) { q.Wake(1) }, change("ready", "deferred", "parked")},
		"Unpark":          {func(q *gridqueue.Queue) { q.UnparkAll(gridqueue.Any) }, change("ready", "parked")},
		"Unpark none":     {func(q *gridqueue.Queue) { q.Unpark(0, gridqueue.Any) }, same},
		"Unblock":         {func(q *gridqueue.Queue) { q.Unblock(gridqueue.Any) }, change("ready", "blocked")},
		"Take":            {func(q *gridqueue.Queue) { q.Take(1) }, change("taken", "ready")},
		"Take none":       {func(q *gridqueue.Queue) { q.Take(0) }, same},
		"TakeAlso":        {func(q *gridqueue.Queue) { q.TakeAlso(1) }, change("taken", "ready", "deferred", "blocked")},
		"ResumeDue early": {func(q *gridqueue.Queue) { q.ResumeDue(4) }, same},
		"ResumeDue":       {func(q *gridqueue.Queue) { q.ResumeDue(5) }, change("ready", "deferred")},
		"ResumeAll":       {func(q *gridqueue.Queue) { q.ResumeAll() }, change("ready", "deferred")},
		"PutOff":          {func(q *gridqueue.Queue) { q.PutOff(1); q.ResumeDue(5) }, same},
		"PutOff in time":  {func(q *gridqueue.Queue) { q.PutOff(1); q.ResumeDue(6) }, change("ready", "deferred")},
	} {
		for _, kind := range kinds {
			t.Run(name+" when "+kind.name, func(t *testing.T) {
				t.Parallel()
				var q gridqueue.Queue
				kind.make(&q)
				tt.call(&q)
				want, blocked, waiting := tt.want(kind.name), 0, 1
				if want == "blocked" {
					blocked = 1
				}
				if want == "absent" || want == "held" {
					waiting = 0
				}
				if n, w := q.Blocked(), q.Waiting(); n != blocked || w != waiting {
					t.Errorf("%d jobs are blocked and %d wait, want %d and %d", n, w, blocked, waiting)
				}
				if got := kindOf(&q); got != want {
					t.Errorf("the job is %s, want %s", got, want)
				}
			})
		}
	}
}

func unlessAbsent(to string) func(string) string {
	return change(to, "ready", "taken", "deferred", "parked", "blocked")
}

// change makes some kinds another and leaves the rest.
func change(to string, from ...string) func(string) string {
	return func(kind string) string {
		if slices.Contains(from, kind) {
			return to
		}
		return kind
	}
}

// TestUnparkCounts: as many as are asked for come back, the oldest first; those that nobody wants
// neither count nor are forgotten.
func TestUnparkCounts(t *testing.T) {
	t.Parallel()
	var q gridqueue.Queue
	for id := protocol.JobID(5); id > 0; id-- {
		q.Put(id)
		q.Park(id)
	}
	q.Unpark(2, func(id protocol.JobID) bool { return id != 1 && id != 3 })
	if got := q.Take(9); !slices.Equal(got, []protocol.JobID{2, 4}) {
		t.Errorf("first came %v, want 2 and 4", got)
	}
	q.UnparkAll(gridqueue.Any)
	if got := q.Take(9); !slices.Equal(got, []protocol.JobID{1, 3, 5}) {
		t.Errorf("then came %v, want 1, 3 and 5", got)
	}
}

// TestTheLatestCallCounts: a job that was parked or held and is so again for other reasons stands
// in a list of the queue twice; only the latest entry says what it is.
func TestTheLatestCallCounts(t *testing.T) {
	t.Parallel()
	var q gridqueue.Queue
	q.Put(1)
	for _, until := range []protocol.Instant{5, 9, 7} {
		q.Defer(1, until)
	}
	if next := q.Next(); next != 7 {
		t.Errorf("deferred until %d, want 7", next)
	}
	q.ResumeDue(6)
	if q.Ready() {
		t.Error("released at a time that counts no more")
	}
	q.ResumeDue(7)
	if got := q.Take(2); len(got) != 1 {
		t.Errorf("one job was taken as %v", got)
	}
	q.Put(1)
	q.Take(1)
	q.ResumeAll()
	if q.Ready() {
		t.Error("a job that a round has taken was released from a hold before")
	}
	for id := protocol.JobID(1); id <= 2; id++ {
		q.Put(id)
		q.Park(id)
	}
	q.Block(1)
	q.Unpark(1, gridqueue.Any)
	if got := q.Take(2); !slices.Equal(got, []protocol.JobID{2}) {
		t.Errorf("in place of one that is parked no more came %v, want 2", got)
	}
}

// TestQueueIsItsModel compares arbitrary sequences of calls with the plain model, from a queue in
// which each job may be anything.
func TestQueueIsItsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q gridqueue.Queue
		m := model{}
		job := func(t *rapid.T) protocol.JobID { return rapid.Map(rapid.IntRange(1, 6), toID).Draw(t, "job") }
		for id := protocol.JobID(1); id <= 6; id++ {
			begin(t, &q, m, id)
		}
		instant := func(t *rapid.T) protocol.Instant {
			return protocol.Instant(rapid.Int64Range(1, 20).Draw(t, "instant"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				id := job(t)
				q.Put(id)
				if m[id].kind != "held" {
					m[id] = place{kind: "ready"}
				}
			},
			"hold": func(t *rapid.T) { id := job(t); q.Hold(id); m[id] = place{kind: "held"} },
			"release": func(t *rapid.T) {
				id := job(t)
				q.Release(id)
				if m[id].kind == "held" {
					m[id] = place{kind: "ready"}
				}
			},
			"put off": func(t *rapid.T) {
				by := protocol.Duration(instant(t))
				q.PutOff(by)
				for id, p := range m {
					if p.kind == "deferred" {
						m[id] = place{kind: "deferred", until: p.until.Add(by)}
					}
				}
			},
			"remove": func(t *rapid.T) { id := job(t); q.Remove(id); delete(m, id) },
			"defer": func(t *rapid.T) {
				id, until := job(t), instant(t)
				q.Defer(id, until)
				if p, in := m[id]; in && p.kind != "held" {
					m[id] = place{kind: "deferred", until: until}
				}
			},
			"take": func(t *rapid.T) {
				n := rapid.IntRange(0, 4).Draw(t, "n")
				want := m.of("ready")
				want = want[:min(n, len(want))]
				if got := q.Take(n); !slices.Equal(got, want) {
					t.Fatalf("Take(%d) = %v, want %v", n, got, want)
				}
				for _, id := range want {
					m[id] = place{kind: "taken"}
				}
			},
			"resume": func(t *rapid.T) {
				now := instant(t)
				q.ResumeDue(now)
				for _, id := range m.of("deferred") {
					if m[id].until <= now {
						m[id] = place{kind: "ready"}
					}
				}
			},
			"park": func(t *rapid.T) {
				id := job(t)
				q.Park(id)
				if p, in := m[id]; in && p.kind != "held" {
					m[id] = place{kind: "parked"}
				}
			},
			"wake": func(t *rapid.T) {
				id := job(t)
				q.Wake(id)
				if kind := m[id].kind; kind == "deferred" || kind == "parked" {
					m[id] = place{kind: "ready"}
				}
			},
			"unpark": func(t *rapid.T) {
				n, unevenOnly := rapid.IntRange(0, 3).Draw(t, "n"), rapid.Bool().Draw(t, "only odd ones")
				wanted := func(id protocol.JobID) bool { return !unevenOnly || id%2 == 1 }
				if rapid.Bool().Draw(t, "all") {
					n = len(m.of("parked"))
					q.UnparkAll(wanted)
				} else {
					q.Unpark(n, wanted)
				}
				for _, id := range m.of("parked") {
					if n != 0 && wanted(id) {
						m[id] = place{kind: "ready"}
						n--
					}
				}
			},
			"block": func(t *rapid.T) {
				id := job(t)
				q.Block(id)
				if p, in := m[id]; in && p.kind != "held" {
					m[id] = place{kind: "blocked"}
				}
			},
			"unblock": func(t *rapid.T) {
				unevenOnly := rapid.Bool().Draw(t, "only odd ones")
				wanted := func(id protocol.JobID) bool { return !unevenOnly || id%2 == 1 }
				q.Unblock(wanted)
				for _, id := range m.of("blocked") {
					if wanted(id) {
						m[id] = place{kind: "ready"}
					}
				}
			},
			"take also": func(t *rapid.T) {
				id := job(t)
				want := m[id].kind == "ready" || m[id].kind == "deferred" || m[id].kind == "blocked"
				if got := q.TakeAlso(id); got != want {
					t.Fatalf("TakeAlso(%v) = %t", id, got)
				}
				if want {
					m[id] = place{kind: "taken"}
				}
			},
			"resume all": func(*rapid.T) {
				q.ResumeAll()
				for _, id := range m.of("deferred") {
					m[id] = place{kind: "ready"}
				}
			},
			"": func(t *rapid.T) { compare(t, &q, m) },
		})
	})
}

// begin makes a job of a queue and its model one of the kinds.
func begin(t *rapid.T, q *gridqueue.Queue, m model, id protocol.JobID) {
	kind := rapid.SampledFrom([]string{"absent", "ready", "deferred", "parked", "blocked", "held"}).Draw(t, "kind")
	if kind == "absent" {
		return
	}
	q.Put(id)
	m[id] = place{kind: kind}
	switch kind {
	case "deferred":
		m[id] = place{kind: kind, until: 10}
		q.Defer(id, 10)
	case "parked":
		q.Park(id)
	case "blocked":
		q.Block(id)
	case "held":
		q.Hold(id)
	}
}

func toID(n int) protocol.JobID { return protocol.JobID(n) }

func compare(t *rapid.T, q *gridqueue.Queue, m model) {
	if q.Len() != len(m) {
		t.Fatalf("Len() = %d, want %d", q.Len(), len(m))
	}
	for id := protocol.JobID(1); id <= 6; id++ {
		if _, want := m[id]; q.Has(id) != want {
			t.Fatalf("Has(%v) = %t", id, !want)
		}
	}
	if got, want := q.Ready(), len(m.of("ready")) > 0; got != want {
		t.Fatalf("Ready() = %t", got)
	}
	if got, want := q.Blocked(), len(m.of("blocked")); got != want {
		t.Fatalf("Blocked() = %d, want %d", got, want)
	}
	for id := protocol.JobID(1); id <= 6; id++ {
		if q.IsBlocked(id) != (m[id].kind == "blocked") {
			t.Fatalf("IsBlocked(%v) = %t", id, q.IsBlocked(id))
		}
	}
	next := protocol.Instant(0)
	for _, id := range m.of("deferred") {
		if until := m[id].until; next == 0 || until < next {
			next = until
		}
	}
	if got := q.Next(); got != next {
		t.Fatalf("Next() = %v, want %v", got, next)
	}
}
