package api_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// follower is a client that follows events.
type follower struct {
	events chan api.Event
	ended  chan error
	stop   context.CancelFunc
}

// follow has a client follow, and returns once the answer has begun.
func follow(t *testing.T, c *api.Client, wanted api.Following) *follower {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	f := &follower{make(chan api.Event, 1000), make(chan error, 1), stop}
	go func() {
		f.ended <- c.Events(ctx, wanted, func(e api.Event) error {
			f.events <- e
			return nil
		})
	}()
	if first := f.next(t); first.Begin == nil || first.Begin.Site != "here" {
		t.Fatalf("the stream begins with %+v", first)
	}
	return f
}

func (f *follower) next(t *testing.T) api.Event {
	t.Helper()
	select {
	case e := <-f.events:
		return e
	case err := <-f.ended:
		t.Fatalf("the stream has ended: %v", err)
	}
	return api.Event{}
}

// until reads up to the log event with a text, and returns what comes before, each event as a line.
func (f *follower) until(t *testing.T, text string) (lines []string) {
	t.Helper()
	for {
		switch e := f.next(t); {
		case e.Log != nil && e.Log.Text == text:
			return lines
		case e.Log != nil:
			lines = append(lines, "log "+e.Log.Text)
		case e.Job != nil:
			lines = append(lines, "job of "+e.Job.Job.User)
		case e.Site != nil:
			lines = append(lines, "site "+string(e.Site.Site.Site))
		case e.Gap != nil:
			lines = append(lines, "gap")
		}
	}
}

// eventful runs a server with a stream of events, of which it keeps a few.
func eventful(t *testing.T, node api.Node, change func(*api.Config)) (*site, *eventstream.Stream) {
	t.Helper()
	stream := eventstream.New(7, 32, 1<<20)
	return open(t, node, func(cfg *api.Config) {
		cfg.Events = stream
		if change != nil {
			change(cfg)
		}
	}), stream
}

func ofJob(id protocol.JobID, user string) *eventstream.Event {
	return eventstream.AboutJob(&eventstream.JobChange{Job: view.Job{ID: id, User: user, State: protocol.Running}})
}

func ofLog(text string, of *view.Traits) *eventstream.Event {
	return eventstream.Logged(&event.LogEvent{Kind: event.LogJobUpdated, Text: text}, of)
}

// Everybody gets what they may see, in order: at a private site users get the events of their jobs.
func TestEventsAreSeenByWhoMay(t *testing.T) {
	t.Parallel()
	read, operate := accesstokens.Scopes{accesstokens.Read}, accesstokens.Scopes{accesstokens.Read, accesstokens.Operate}
	for _, private := range []bool{false, true} {
		s, stream := eventful(t, &peerFake{}, func(cfg *api.Config) { cfg.Private = private })
		all := []string{"job of ann", "job of bob", "log of no job", "log of bob's"}
		anns, bobs := []string{"job of ann"}, []string{"job of bob", "log of bob's"}
		for name, c := range map[string]struct {
			user    string
			scopes  accesstokens.Scopes
			wanted  api.Following
			public  []string
			private []string
		}{
			"ann":             {"ann", read, api.Following{}, all, anns},
			"ops":             {"ops", operate, api.Following{}, all, all},
			"ops, reading":    {"ops", read, api.Following{}, all, nil},
			"a user's":        {"ops", operate, api.Following{Users: []string{"bob"}}, bobs, bobs},
			"another's":       {"ann", read, api.Following{Users: []string{"bob"}}, bobs, nil},
			"a job":           {"ops", operate, api.Following{Jobs: []protocol.JobName{{Job: jobA}}}, anns, anns},
			"another's job":   {"ann", read, api.Following{Jobs: []protocol.JobName{{Job: jobB}}}, bobs, nil},
			"a kind":          {"ann", read, api.Following{Kinds: []eventstream.Kind{eventstream.OfJob}}, all[:2], anns},
			"several kinds":   {"ops", operate, api.Following{Kinds: []eventstream.Kind{eventstream.OfJob, eventstream.OfLog}}, all, all},
			"bob, who has it": {"bob", read, api.Following{}, all, bobs},
		} {
			f := follow(t, s.as(t, s.token(t, c.user, c.scopes...)), c.wanted)
			stream.Publish(ofJob(jobA, "ann"))
			stream.Publish(ofJob(jobB, "bob"))
			stream.Publish(ofLog("of no job", nil))
			stream.Publish(ofLog("of bob's", &view.Traits{ID: jobB, User: "bob"}))
			stream.Publish(eventstream.AboutSite(&eventstream.SiteChange{Site: view.Site{Site: "last"}}))
			want := c.public
			if private {
				want = c.private
			}
			var got []string
			for range want {
				switch e := f.next(t); {
				case e.Job != nil:
					got = append(got, "job of "+e.Job.Job.User)
				case e.Log != nil:
					got = append(got, "log "+e.Log.Text)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, private %t: %q, want %q", name, private, got, want)
			}
			if len(c.wanted.Kinds)+len(c.wanted.Jobs)+len(c.wanted.Users) == 0 {
				if e := f.next(t); e.Site == nil || e.Site.Site.Site != "last" {
					t.Errorf("%s, private %t: %+v", name, private, e)
				}
			}
			f.stop()
			if err := <-f.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A client that comes back with the last ID gets what it has missed, and is told of what is not kept any more.
func TestEventsResume(t *testing.T) {
	t.Parallel()
	s, stream := eventful(t, &peerFake{}, nil)
	for name, c := range map[string]*api.Client{"socket": s.local, "TCP": s.as(t, s.token(t, "ann", accesstokens.Read))} {
		f := follow(t, c, api.Following{})
		stream.Publish(ofJob(jobA, "ann"))
		last := f.next(t).ID
		f.stop()
		<-f.ended
		for range 3 {
			stream.Publish(ofJob(jobB, "bob"))
		}
		stream.Publish(ofLog("end", nil))
		f = follow(t, c, api.Following{After: last})
		if got, want := f.until(t, "end"), []string{"job of bob", "job of bob", "job of bob"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		f.stop()
		<-f.ended
		for range 40 { // more than are kept
			stream.Publish(ofJob(jobB, "bob"))
		}
		stream.Publish(ofLog("end", nil))
		for after, missed := range map[string]uint64{last: 13, "6-1": 0} {
			f = follow(t, c, api.Following{After: after})
			if e := f.next(t); e.Gap == nil || e.Gap.Missed != missed {
				t.Errorf("%s, after %s: %+v", name, after, e)
			}
			if got := f.until(t, "end"); len(got) != 31 {
				t.Errorf("%s, after %s: %d events after the gap", name, after, len(got))
			}
			f.stop()
			<-f.ended
		}
		err := c.Events(t.Context(), api.Following{After: "yesterday"}, nil)
		if codeOf(err) != view.BadRequest {
			t.Errorf("%s: an invalid ID: %v", name, err)
		}
	}
}

// A stream ends when its user is let in no more, although the token is good.
func TestEventsEndWithTheirUser(t *testing.T) {
	t.Parallel()
	var guests atomic.Bool
	s, _ := eventful(t, &peerFake{}, func(cfg *api.Config) {
		cfg.Network.Guests = func(account string) bool { return account == "ann" && guests.Load() }
	})
	anns := follow(t, s.as(t, s.token(t, "ann", accesstokens.Read)), api.Following{})
	guests.Store(true)
	if err := <-anns.ended; codeOf(err) != view.Denied || !strings.Contains(err.Error(), "runs jobs of partners' users") {
		t.Errorf("of an account that runs guests now: %v", err)
	}
}

// A gap is said again to a client that comes back with the ID of the beginning: the connection may have broken before the gap.
func TestGapOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	s, _ := eventful(t, &peerFake{}, nil)
	cut := errors.New("cut")
	begun := ""
	for _, after := range []string{"5-3", "7-99", "7-99"} {
		if begun != "" {
			after = begun
		}
		err := s.local.Events(t.Context(), api.Following{After: after}, func(e api.Event) error {
			if begun = e.ID; e.Begin == nil {
				t.Errorf("begins with %+v", e)
			}
			return cut
		})
		if !errors.Is(err, cut) {
			t.Fatal(err)
		}
		f := follow(t, s.local, api.Following{After: begun})
		if e := f.next(t); e.Gap == nil {
			t.Errorf("after %s, from the beginning of which the ID is %s: %+v", after, begun, e)
		}
		f.stop()
		<-f.ended
	}
}

// A stream ends with the token, and with the peer, and says so. The streams of one user are bounded.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	s, _ := eventful(t, &peerFake{}, nil)
	now := protocol.InstantOf(time.Now())
	secret, token, err := s.book.Create(accesstokens.Token{User: "ann", UID: uids["ann"], Scopes: accesstokens.All(), Maker: "ann", Expires: now.Add(protocol.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	anns := follow(t, s.as(t, secret), api.Following{})
	if err = s.book.Revoke(token.ID, "ann", now); err != nil {
		t.Fatal(err)
	}
	if err = <-anns.ended; codeOf(err) != view.Denied || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("with a revoked token: %v", err)
	}
	var mine []*follower
	for range api.MaxEvents {
		mine = append(mine, follow(t, s.local, api.Following{}))
	}
	if err = s.local.Events(t.Context(), api.Following{}, nil); codeOf(err) != view.Unavailable {
		t.Errorf("one more: %v", err)
	}
	mine[0].stop()
	<-mine[0].ended
	s.stop()
	for _, f := range mine[1:] {
		if err = <-f.ended; codeOf(err) != view.Unavailable || !strings.Contains(err.Error(), "the peer stops") {
			t.Errorf("when the peer stops: %v", err)
		}
	}
}

// What changes of a site is an event, but not what changes all the time.
func TestSiteEvents(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Sites{Sites: []view.Site{{Site: "here", LastSeen: 1}, {Site: "there", Link: "up", Busy: 1}}}}
	s, _ := eventful(t, node, nil)
	f := follow(t, s.local, api.Following{})
	seen := func(name protocol.SiteName, link string, left bool) {
		t.Helper()
		if e := f.next(t); e.Site == nil || e.Site.Site.Site != name || e.Site.Site.Link != link || e.Site.Left != left {
			t.Fatalf("%s, want %s %s %t", e.Data, name, link, left)
		}
	}
	seen("here", "", false)
	seen("there", "up", false)
	set := func(reply view.Sites) {
		node.mu.Lock()
		defer node.mu.Unlock()
		node.reply = reply
	}
	set(view.Sites{Sites: []view.Site{{Site: "here", LastSeen: 2}, {Site: "there", Link: "down", Busy: 1}}})
	seen("there", "down", false)
	set(view.Sites{Sites: []view.Site{{Site: "here", LastSeen: 3}}})
	seen("there", "down", true)
	f.stop()
	<-f.ended
}

// An answer is one of server-sent events, for any client.
func TestEventsOnTheWire(t *testing.T) {
	t.Parallel()
	s, stream := eventful(t, &peerFake{}, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://peer/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.local.Transport().RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", answer.Header)
	}
	stream.Publish(ofLog("x", nil))
	var got strings.Builder
	buffer := make([]byte, 1)
	for !strings.Contains(got.String(), `"x"}`+"\n\n") {
		if _, err = answer.Body.Read(buffer); err != nil {
			t.Fatal(err)
		}
		got.Write(buffer)
	}
	if _, rest, _ := strings.Cut(got.String(), "\n\n"); rest != "id: 7-1\nevent: log\ndata: {\"at_ms\":0,\"kind\":\"updated\",\"text\":\"x\"}\n\n" {
		t.Errorf("%q", got.String())
	}
}
