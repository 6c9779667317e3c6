package due_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAsAList: a set does what a list does that is searched each time: what is due first comes first,
// moved and stopped keys are not due when they were, and the same calls give the same order.
func TestAsAList(t *testing.T) {
	t.Parallel()
	type one struct {
		key string
		at  protocol.Instant
	}
	rapid.Check(t, func(t *rapid.T) {
		var set, same due.Set[string]
		var list []one
		drop := func(key string) { list = slices.DeleteFunc(list, func(o one) bool { return o.key == key }) }
		key := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, at := key.Draw(t, "key"), protocol.Instant(rapid.IntRange(1, 5).Draw(t, "at"))
				set.Set(k, at)
				same.Set(k, at)
				drop(k)
				list = append(list, one{k, at})
			},
			"stop": func(t *rapid.T) {
				k := key.Draw(t, "key")
				set.Stop(k)
				same.Stop(k)
				drop(k)
			},
			"put off": func(*rapid.T) {
				set.PutOff(1)
				same.PutOff(1)
				for i := range list {
					list[i].at++
				}
			},
			"": func(t *rapid.T) {
				first := protocol.Instant(0)
				for _, o := range list {
					if first == 0 || o.at < first {
						first = o.at
					}
				}
				k, at, ok := set.Next()
				if at != first || ok != (len(list) > 0) || (ok && !slices.Contains(list, one{k, at})) {
					t.Fatalf("next is %q at %v, %t; want one at %v of %+v", k, at, ok, first, list)
				}
				if again, _, _ := same.Next(); again != k {
					t.Fatalf("the same calls bring %q and %q", k, again)
				}
				for _, k := range []string{"a", "b", "c", "d"} {
					if has := slices.ContainsFunc(list, func(o one) bool { return o.key == k }); set.Has(k) != has {
						t.Fatalf("has %q: %t", k, !has)
					}
				}
				if keys := slices.Sorted(set.Keys()); len(keys) != len(list) {
					t.Fatalf("keys %v of %+v", keys, list)
				}
			},
		})
	})
}

// TestTimers: timers about different things differ, and only those that repeat a message to a partner are
// fired when that is back.
func TestTimers(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: 5, Epoch: 2}
	for name, tt := range map[string]struct {
		timer      due.Timer
		want       due.Timer
		job, guest bool
	}{
		"a message":    {due.OfJob(due.JobTimer, 5), due.Timer{Kind: due.JobTimer, Job: 5}, true, false},
		"files":        {due.OfJob(due.CollectTimer, 5), due.Timer{Kind: due.CollectTimer, Job: 5}, true, false},
		"a guest":      {due.OfJob(due.GuestTimer, 5), due.Timer{Kind: due.GuestTimer, Job: 5}, false, true},
		"a report":     {due.OfTag(due.ReportTimer, tag), due.Timer{Kind: due.ReportTimer, Job: 5, Epoch: 2}, false, true},
		"a placement":  {due.OfTag(due.RunTimer, tag), due.Timer{Kind: due.RunTimer, Job: 5, Epoch: 2}, false, false},
		"a partner":    {due.OfSite(due.ProbeTimer, "b"), due.Timer{Kind: due.ProbeTimer, Site: "b"}, false, false},
		"a round":      {due.OfRound(3), due.Timer{Kind: due.RoundTimer, Round: 3}, false, false},
		"the only one": {due.Once(due.WatchTimer), due.Timer{Kind: due.WatchTimer}, false, false},
	} {
		if job, guest := tt.timer.Resent(); tt.timer != tt.want || job != tt.job || guest != tt.guest {
			t.Errorf("%s: %+v, %t, %t", name, tt.timer, job, guest)
		}
	}
	if due.OfTag(due.RunTimer, tag).Tag() != tag {
		t.Error("a timer is about another placement than it was set for")
	}
	order := []due.Timer{due.OfJob(due.JobTimer, 9), due.OfTag(due.RunTimer, protocol.Tag{Job: 1, Epoch: 7}), due.OfTag(due.RunTimer, protocol.Tag{Job: 2, Epoch: 1}), due.OfTag(due.RunTimer, tag)}
	if !slices.IsSortedFunc(order, due.Timer.Compare) || order[0].Compare(order[0]) != 0 || order[1].Compare(order[0]) <= 0 {
		t.Errorf("%+v are in another order", order)
	}
}
