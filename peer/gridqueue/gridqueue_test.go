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
	kind  string // ready, taken, held, parked, blocked
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

// TestQueueIsItsModel compares arbitrary sequences of calls with the plain model.
func TestQueueIsItsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q gridqueue.Queue
		m := model{}
		job := func(t *rapid.T) protocol.JobID { return rapid.Map(rapid.IntRange(1, 6), toID).Draw(t, "job") }
		instant := func(t *rapid.T) protocol.Instant {
			return protocol.Instant(rapid.Int64Range(1, 20).Draw(t, "instant"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) { id := job(t); q.Put(id); m[id] = place{kind: "ready"} },
			"put off": func(t *rapid.T) {
				by := protocol.Duration(instant(t))
				q.PutOff(by)
				for id, p := range m {
					if p.kind == "held" {
						m[id] = place{kind: "held", until: p.until.Add(by)}
					}
				}
			},
			"remove": func(t *rapid.T) { id := job(t); q.Remove(id); delete(m, id) },
			"hold": func(t *rapid.T) {
				id, until := job(t), instant(t)
				q.Hold(id, until)
				if _, in := m[id]; in {
					m[id] = place{kind: "held", until: until}
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
			"release": func(t *rapid.T) {
				now := instant(t)
				q.Release(now)
				for _, id := range m.of("held") {
					if m[id].until <= now {
						m[id] = place{kind: "ready"}
					}
				}
			},
			"park": func(t *rapid.T) {
				id := job(t)
				q.Park(id)
				if _, in := m[id]; in {
					m[id] = place{kind: "parked"}
				}
			},
			"unpark": func(t *rapid.T) {
				n, odd := rapid.IntRange(-1, 3).Draw(t, "n"), rapid.Bool().Draw(t, "only odd ones")
				wanted := func(id protocol.JobID) bool { return !odd || id%2 == 1 }
				q.Unpark(n, wanted)
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
				if _, in := m[id]; in {
					m[id] = place{kind: "blocked"}
				}
			},
			"unblock": func(t *rapid.T) {
				odd := rapid.Bool().Draw(t, "only odd ones")
				wanted := func(id protocol.JobID) bool { return !odd || id%2 == 1 }
				q.Unblock(wanted)
				for _, id := range m.of("blocked") {
					if wanted(id) {
						m[id] = place{kind: "ready"}
					}
				}
			},
			"take also": func(t *rapid.T) {
				id := job(t)
				want := m[id].kind == "ready" || m[id].kind == "held" || m[id].kind == "blocked"
				if got := q.TakeAlso(id); got != want {
					t.Fatalf("TakeAlso(%v) = %t", id, got)
				}
				if want {
					m[id] = place{kind: "taken"}
				}
			},
			"release all": func(*rapid.T) {
				q.ReleaseAll()
				for _, id := range m.of("held") {
					m[id] = place{kind: "ready"}
				}
			},
			"": func(t *rapid.T) { compare(t, &q, m) },
		})
	})
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
	for _, id := range m.of("held") {
		if until := m[id].until; next == 0 || until < next {
			next = until
		}
	}
	if got := q.Next(); got != next {
		t.Fatalf("Next() = %v, want %v", got, next)
	}
}
