package changefeed_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func change(n int) localsched.Change {
	return localsched.Change{Tag: protocol.Tag{Job: protocol.JobID(n)}, State: protocol.Pending}
}

// TestNothingIsMissed: watchers that look now and then see every change that is not
// forgotten, once and in order, and hear of every pulse.
func TestNothingIsMissed(t *testing.T) {
	t.Parallel()
	type watcher struct {
		cursor localsched.Cursor
		at     int // how many events there were when it last looked
	}
	rapid.Check(t, func(t *rapid.T) {
		l := changefeed.New(1)
		var events []*changefeed.Job // each with one change; nil: a pulse, or forgotten
		var watchers [3]watcher
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				job := &changefeed.Job{}
				l.Report(job, change(len(events)))
				events = append(events, job)
			case 2:
				l.Pulse()
				events = append(events, nil)
			case 3:
				if len(events) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(events)-1).Draw(t, "forgotten")
				if events[i] != nil {
					l.Forget(events[i])
					events[i] = nil
				}
			case 4:
				w := &watchers[rapid.IntRange(0, 2).Draw(t, "watcher")]
				var want []localsched.Change
				for i, job := range events[w.at:] {
					if job != nil {
						want = append(want, change(w.at+i))
					}
				}
				list, next, moved := l.After(w.cursor)
				same := func(a, b localsched.Change) bool { return a.Tag == b.Tag }
				if !slices.EqualFunc(list, want, same) || moved != (w.at < len(events)) {
					t.Fatalf("a watcher sees %v, %v; want %v", list, moved, want)
				}
				w.cursor, w.at = next, len(events)
			}
		}
	})
}

// TestCursors: what is no cursor of this feed is its beginning.
func TestCursors(t *testing.T) {
	t.Parallel()
	l := changefeed.New(7)
	if list, _, moved := l.After(""); list != nil || moved {
		t.Errorf("nothing has happened, and is told: %v", list)
	}
	l.Report(&changefeed.Job{}, change(1))
	other := changefeed.New(8)
	other.Pulse()
	_, foreign, _ := other.After("")
	_, mine, _ := l.After("")
	for _, cursor := range []localsched.Cursor{"", "x", "3", "-1-2", foreign, mine + "0", mine + "x"} {
		if list, _, moved := l.After(cursor); len(list) != 1 || !moved {
			t.Errorf("after %q: %v, %v", cursor, list, moved)
		}
	}
}

// TestLongLists come in parts.
func TestLongLists(t *testing.T) {
	t.Parallel()
	l := changefeed.New(1)
	const many = 10_000
	for n := range many {
		l.Report(&changefeed.Job{}, change(n))
	}
	seen, cursor := 0, localsched.Cursor("")
	for {
		list, next, moved := l.After(cursor)
		if !moved {
			break
		}
		for _, c := range list {
			if c.Tag != change(seen).Tag {
				t.Fatalf("change %d is told as the %dth", c.Tag.Job, seen)
			}
			seen++
		}
		cursor = next
	}
	if seen != many {
		t.Errorf("%d changes are told, want %d", seen, many)
	}
}

// TestNewsComes with changes and pulses.
func TestNewsComes(t *testing.T) {
	t.Parallel()
	l := changefeed.New(1)
	for name, happens := range map[string]func(){"change": func() { l.Report(&changefeed.Job{}, change(1)) }, "pulse": l.Pulse} {
		news := l.News()
		select {
		case <-news:
			t.Errorf("news before the %s", name)
		default:
		}
		happens()
		select {
		case <-news:
		default:
			t.Errorf("no news of the %s", name)
		}
	}
}

// TestReports: a change of the same state replaces the one before, what is no news is left
// out, and of a forgotten job nothing is left.
func TestReports(t *testing.T) {
	t.Parallel()
	f, job := changefeed.New(1), changefeed.Job{}
	why := func(reason string, state protocol.State) localsched.Change {
		return localsched.Change{State: state, Reason: reason}
	}
	f.Report(&job, why("Priority", protocol.Pending))
	f.Report(&job, why(changefeed.PowerBudget, protocol.Pending))
	f.Report(&job, why(changefeed.PowerBudget, protocol.Pending))
	f.Report(&job, why("", protocol.Running))
	f.Report(&job, why("", protocol.Pending))
	list, cursor, _ := f.After("")
	if len(list) != 2 || list[0].Reason != changefeed.PowerBudget || list[1].State != protocol.Running {
		t.Errorf("got %+v", list)
	}
	f.Forget(&job)
	if list, _, _ := f.After(""); len(list) != 0 || job.Reported() {
		t.Errorf("the forgotten job is still reported: %+v", list)
	}
	if _, _, moved := f.After(cursor); moved {
		t.Error("that a job is forgotten is no change")
	}
}

// TestGenerations: a cursor outlives its feed if generations rise, what an earlier one has
// reported stands where it stood, and what a later one reports is behind it.
func TestGenerations(t *testing.T) {
	t.Parallel()
	first, jobs := changefeed.New(3), [3]changefeed.Job{}
	at := first.Report(&jobs[0], change(0))
	_, before, _ := first.After("")
	first.Report(&jobs[1], change(1))
	second := changefeed.New(4)
	jobs = [3]changefeed.Job{}
	second.Restore(&jobs[0], at, change(0))
	if list, _, moved := second.After(""); len(list) != 1 || !moved {
		t.Errorf("from the beginning: %v", list)
	}
	if _, _, moved := second.After(before); moved {
		t.Error("nothing is new")
	}
	second.Report(&jobs[2], change(2))
	if list, _, _ := second.After(before); len(list) != 1 || list[0].Tag != change(2).Tag {
		t.Errorf("after %q: %v", before, list)
	}
}
