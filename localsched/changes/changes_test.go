package changes_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/changes"
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
		l := changes.New()
		var events []uint64 // the numbers of changes; 0: a pulse, or forgotten
		var watchers [3]watcher
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				events = append(events, l.Add(change(len(events))))
			case 2:
				l.Pulse()
				events = append(events, 0)
			case 3:
				if len(events) > 0 {
					i := rapid.IntRange(0, len(events)-1).Draw(t, "forgotten")
					l.Forget(events[i])
					events[i] = 0
				}
			case 4:
				w := &watchers[rapid.IntRange(0, 2).Draw(t, "watcher")]
				var want []localsched.Change
				for i, number := range events[w.at:] {
					if number != 0 {
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

// TestCursors: what is no cursor of this list is its beginning.
func TestCursors(t *testing.T) {
	t.Parallel()
	l := changes.New()
	if list, _, moved := l.After(""); list != nil || moved {
		t.Errorf("nothing has happened, and is told: %v", list)
	}
	l.Add(change(1))
	other := changes.New()
	other.Pulse()
	_, foreign, _ := other.After("")
	_, mine, _ := l.After("")
	for _, cursor := range []localsched.Cursor{"", "x", foreign, mine + "0", mine + "x"} {
		if list, _, moved := l.After(cursor); len(list) != 1 || !moved {
			t.Errorf("after %q: %v, %v", cursor, list, moved)
		}
	}
}

// TestLongLists come in parts.
func TestLongLists(t *testing.T) {
	t.Parallel()
	l := changes.New()
	const many = 10_000
	for n := range many {
		l.Add(change(n))
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
	l := changes.New()
	for name, happens := range map[string]func(){"change": func() { l.Add(change(1)) }, "pulse": l.Pulse} {
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
