package eventstream_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func site() *eventstream.Event { return eventstream.AboutSite(&eventstream.SiteChange{}) }

// Whoever follows reads every event once, in order, or is told how many are missing; only one who is overtaken twice in a row is slow.
func TestNothingIsLostInSilence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 8).Draw(t, "keep")
		s := eventstream.New(5, keep, 1<<20)
		f := s.Follow(nil)
		defer f.Close()
		published, place := 0, uint64(0)
		for range rapid.IntRange(1, 30).Draw(t, "turns") {
			for range rapid.IntRange(0, 2*keep).Draw(t, "events") {
				s.Publish(site())
				published++
			}
			if rapid.Bool().Draw(t, "interrupted") { // and comes back with the last ID
				f.Close()
				f = s.Follow(&eventstream.ID{Life: 5, N: place})
			}
			most := rapid.IntRange(1, 2*keep).Draw(t, "most")
			behind := uint64(published)-place > uint64(keep)
			events, gap, err := f.Take(most)
			if errors.Is(err, eventstream.ErrSlow) {
				if !behind {
					t.Fatalf("slow at %d of %d", place, published)
				}
				return
			}
			if err != nil || (gap != nil) != behind {
				t.Fatalf("gap %v, error %v; at %d of %d, %d are kept", gap, err, place, published, keep)
			}
			if gap != nil {
				place += gap.Missed
			}
			for _, e := range events {
				if place++; e.ID != (eventstream.ID{Life: 5, N: place}) {
					t.Fatalf("event %v, want number %d", e.ID, place)
				}
			}
			if want := min(most, published-int(place)+len(events)); len(events) != want {
				t.Fatalf("%d events, want %d", len(events), want)
			}
			if f.Place().N != place {
				t.Fatalf("place %v, want %d", f.Place(), place)
			}
		}
	})
}

func TestFollowing(t *testing.T) {
	t.Parallel()
	s := eventstream.New(5, 4, 1<<20)
	s.Publish(site())
	if s.Followed() || (*eventstream.Stream)(nil).Followed() {
		t.Error("followed by nobody")
	}
	f := s.Follow(nil)
	if !s.Followed() || s.Followers() != 1 {
		t.Error("a follower is not counted")
	}
	select {
	case <-f.More():
		t.Error("there is more, although nothing has happened")
	default:
	}
	more := f.More()
	s.Publish(site())
	<-more
	<-f.More()
	if events, gap, err := f.Take(9); len(events) != 1 || gap != nil || err != nil {
		t.Errorf("%v, %v, %v", events, gap, err)
	}
	f.Close()
	s.Publish(site())
	for name, after := range map[string]eventstream.ID{"an earlier life": {Life: 4, N: 1}, "a number to come": {Life: 5, N: 99}} {
		f = s.Follow(&after)
		<-f.More()
		if events, gap, err := f.Take(9); len(events) != 2 || gap == nil || gap.Missed != 0 || err != nil {
			t.Errorf("%s: %v, %v, %v", name, events, gap, err)
		}
		f.Close()
	}
	f = s.Follow(&eventstream.ID{Life: 4, N: 1})
	for range 9 {
		s.Publish(site())
	}
	if events, gap, err := f.Take(9); len(events) != 4 || gap == nil || gap.Missed != 0 || err != nil {
		t.Errorf("overtaken after a restart: %v, %v, %v", events, gap, err)
	}
	f.Close()
	if s.Followers() != 0 {
		t.Errorf("%d followers", s.Followers())
	}
}

// Who watches learns that something has happened, whether events are kept of it or not, and has none kept.
func TestWatching(t *testing.T) {
	t.Parallel()
	s := eventstream.New(5, 4, 1<<20)
	end := s.Watch()
	if !s.Watched() || s.Followed() || s.Followers() != 0 {
		t.Error("a watcher is not counted, or as a follower")
	}
	for name, happens := range map[string]func(){"an event": func() { s.Publish(site()) }, "something else": s.Happened} {
		next := s.Next()
		select {
		case <-next:
			t.Errorf("%s: before it", name)
		default:
		}
		happens()
		<-next
		select {
		case <-s.Next():
			t.Errorf("%s: twice", name)
		default:
		}
	}
	end()
	if s.Watched() {
		t.Error("it is watched by nobody")
	}
	f := s.Follow(nil)
	if events, _, _ := f.Take(9); !s.Watched() || len(events) != 0 {
		t.Errorf("kept for a watcher: %v", events)
	}
	more := f.More()
	s.Happened()
	<-more
	if events, gap, err := f.Take(9); len(events) != 0 || gap != nil || err != nil {
		t.Errorf("something of which there is no event: %v, %v, %v", events, gap, err)
	}
	f.Close()
}

// TestBytes: however large the events are, those that are kept have no more bytes than that, but for the latest one.
func TestBytes(t *testing.T) {
	t.Parallel()
	const most = 100_000
	s := eventstream.New(5, 1000, most)
	s.Follow(nil).Close()
	rapid.Check(t, func(t *rapid.T) {
		first := s.Follow(nil)
		defer first.Close()
		for range 50 {
			size := rapid.SampledFrom([]int{10, 1000, 30_000, 2 * most}).Draw(t, "size")
			s.Publish(eventstream.Logged(&event.LogEvent{Text: strings.Repeat("x", size)}, nil))
			f := s.Follow(&eventstream.ID{})
			events, _, err := f.Take(1000)
			f.Close()
			if err != nil || len(events) == 0 {
				t.Fatalf("%d events, %v", len(events), err)
			}
			bytes := 0
			for _, e := range events {
				text, _ := e.JSON()
				bytes += len(text)
			}
			if bytes > most && len(events) > 1 {
				t.Fatalf("%d events with %d bytes are kept", len(events), bytes)
			}
		}
	})
}

// Whoever is overtaken again before having caught up is too slow.
func TestSlow(t *testing.T) {
	t.Parallel()
	s := eventstream.New(5, 4, 1<<20)
	f := s.Follow(nil)
	defer f.Close()
	overtake := func() {
		for range 9 {
			s.Publish(site())
		}
	}
	for range 3 { // and catches up each time
		overtake()
		if events, gap, err := f.Take(4); len(events) != 4 || gap == nil || gap.Missed != 5 || err != nil {
			t.Fatalf("%v, %v, %v", events, gap, err)
		}
	}
	overtake()
	if _, gap, err := f.Take(1); gap == nil || err != nil {
		t.Fatalf("%v, %v", gap, err)
	}
	overtake()
	if _, _, err := f.Take(1); !errors.Is(err, eventstream.ErrSlow) {
		t.Errorf("overtaken twice: %v", err)
	}
}

// FuzzParseID: what is an ID has one text only.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"5-1", "0-0", "9223372036854775807-18446744073709551615", "9223372036854775808-1", "5-01", "+5-1", "-5-1", "5", "", "5-1-1", "5-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := eventstream.ParseID(text)
		if err == nil && (id.String() != text || id.Life < 0) {
			t.Errorf("%q is read as %v", text, id)
		}
		if back, err := eventstream.ParseID(id.String()); err != nil || back != id {
			t.Errorf("%v is read back as %v, %v", id, back, err)
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"5-1": true, "5-01": false, "+5-1": false, "-5-1": false, "5": false, "": false, "5-1-1": false} {
		id, err := eventstream.ParseID(text)
		if (err == nil) != good || good && id != (eventstream.ID{Life: protocol.Instant(5), N: 1}) {
			t.Errorf("%q: %v, %v", text, id, err)
		}
	}
}
