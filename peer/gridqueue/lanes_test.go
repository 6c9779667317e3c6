package gridqueue_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestLaneTakesTurns: the choice among the lanes says which job is next, each lane hands out its oldest, and a lane
// that is closed keeps its jobs until it is opened.
func TestLaneTakesTurns(t *testing.T) {
	t.Parallel()
	var q gridqueue.Queue
	for id := protocol.JobID(1); id <= 6; id++ {
		q.Put(id)
		q.SetLane(id, gridqueue.Lane(id%2), 0)
	}
	q.SetLane(7, 1, 0)                                  // not there
	least := func(heads []protocol.JobID) (int, bool) { // the younger head first, but never job 4
		i := 0
		for k := range heads {
			if heads[k] > heads[i] {
				i = k
			}
		}
		return i, heads[i] != 4
	}
	if got := q.TakeBy(4, least); !slices.Equal(got, []protocol.JobID{2, 1, 3, 5}) {
		t.Errorf("took %v", got)
	}
	if q.Ready() || len(q.Take(9)) != 0 {
		t.Error("jobs of a closed lane are ready")
	}
	if !q.OpenAll() || q.OpenAll() || !q.Ready() {
		t.Error("the lane is not open again")
	}
	if got := q.Take(9); !slices.Equal(got, []protocol.JobID{4, 6}) {
		t.Errorf("then took %v", got)
	}
}

// TestClosedLaneOpens: a lane opens when the job that closed it is not its oldest ready job any more: that has left the
// queue, or waits otherwise, or an older one is taken first. It stays closed while only younger ones come and go.
func TestClosedLaneOpens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*gridqueue.Queue)
		want   []protocol.JobID
	}{
		"nothing":              {func(*gridqueue.Queue) {}, nil},
		"removed":              {func(q *gridqueue.Queue) { q.Remove(5) }, []protocol.JobID{6, 7}},
		"held":                 {func(q *gridqueue.Queue) { q.Hold(5) }, []protocol.JobID{6, 7}},
		"held and released":    {func(q *gridqueue.Queue) { q.Hold(5); q.Release(5) }, nil},
		"deferred":             {func(q *gridqueue.Queue) { q.Defer(5, 9) }, []protocol.JobID{6, 7}},
		"in another lane":      {func(q *gridqueue.Queue) { q.SetLane(5, 2, 0) }, []protocol.JobID{5, 6, 7}},
		"a younger one leaves": {func(q *gridqueue.Queue) { q.Remove(6) }, nil},
		"an older one comes":   {func(q *gridqueue.Queue) { q.Put(4); q.SetLane(4, 1, 0) }, []protocol.JobID{4}},
	} {
		var q gridqueue.Queue
		for id := protocol.JobID(5); id <= 7; id++ {
			q.Put(id)
			q.SetLane(id, 1, 0)
		}
		q.TakeBy(9, func([]protocol.JobID) (int, bool) { return 0, false })
		tt.change(&q)
		if got := q.Ready(); got != (tt.want != nil) {
			t.Errorf("%s: ready %v", name, got)
		}
		if got := q.Take(9); !slices.Equal(got, tt.want) {
			t.Errorf("%s: took %v, want %v", name, got, tt.want)
		}
	}
}

// TestLaneStays: a job keeps its lane whatever becomes of it in the queue, and is in lane 0 when it comes back.
func TestLaneStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q gridqueue.Queue
		lane := map[protocol.JobID]gridqueue.Lane{}
		for id := protocol.JobID(1); id <= 5; id++ {
			q.Put(id)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				id := protocol.JobID(rapid.IntRange(1, 5).Draw(t, "job"))
				switch rapid.IntRange(0, 6).Draw(t, "what") {
				case 0:
					q.Defer(id, 3)
				case 1:
					q.Park(id)
				case 2:
					q.Block(id)
				case 3:
					q.TakeAlso(id)
				case 4:
					q.Put(id)
				case 5:
					q.Remove(id)
					q.Put(id)
					delete(lane, id)
				default:
					lane[id] = gridqueue.Lane(rapid.IntRange(0, 2).Draw(t, "lane"))
					q.SetLane(id, lane[id], 0)
				}
			},
		})
		for id := protocol.JobID(1); id <= 5; id++ {
			q.Put(id)
		}
		got := q.TakeBy(9, func(heads []protocol.JobID) (int, bool) {
			best := 0
			for i := range heads {
				if lane[heads[i]] > lane[heads[best]] {
					best = i
				}
			}
			return best, true
		})
		want := []protocol.JobID{1, 2, 3, 4, 5}
		slices.SortStableFunc(want, func(a, b protocol.JobID) int { return int(lane[b]) - int(lane[a]) })
		if !slices.Equal(got, want) {
			t.Fatalf("took %v, want %v of lanes %v", got, want, lane)
		}
	})
}

// TestRanks: jobs of lower ranks come first, taken, by their lanes and when they are called, and another rank counts from then on.
func TestRanks(t *testing.T) {
	t.Parallel()
	ranked := func() (q gridqueue.Queue) {
		for id, rank := range map[protocol.JobID]gridqueue.Rank{1: 5, 2: 0, 3: -7, 4: 0} {
			q.Put(id)
			q.SetLane(id, gridqueue.Lane(id%2), rank)
		}
		return q
	}
	q := ranked()
	if got := q.Take(9); !slices.Equal(got, []protocol.JobID{3, 2, 4, 1}) {
		t.Errorf("took %v", got)
	}
	q = ranked()
	q.SetLane(3, 1, 6)
	lanes := func(heads []protocol.JobID) (int, bool) { // that of even jobs first
		return slices.IndexFunc(heads, func(id protocol.JobID) bool { return id%2 == 0 || len(heads) == 1 }), true
	}
	if got := q.TakeBy(9, lanes); !slices.Equal(got, []protocol.JobID{2, 4, 1, 3}) {
		t.Errorf("with other ranks took %v", got)
	}
	q = ranked()
	for id := protocol.JobID(1); id <= 4; id++ {
		q.Park(id)
	}
	q.SetLane(2, 0, 9)
	q.Unpark(2, gridqueue.Any)
	if got := q.Take(9); !slices.Equal(got, []protocol.JobID{3, 4}) {
		t.Errorf("first came %v", got)
	}
}
