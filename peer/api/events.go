package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"time"

	sse "github.com/tmaxmax/go-sse"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names of events that are about the stream itself. The others are the kinds of [eventstream].
const (
	eventBegin = "begin" // the first of each answer: a [Begin]
	eventGap   = "gap"   // an [eventstream.Gap]
	eventEnd   = "end"   // the last of an answer that the peer ends: a [view.Refusal] that says why
)

// Begin begins an answer with events. What the caller asks for after it is as new as the events before it.
type Begin struct {
	At   protocol.Instant  `json:"at_ms"`
	Site protocol.SiteName `json:"site"`
}

const (
	maxFollowers = 256              // of events, of all users
	eventPiece   = 256              // events that are sent at once
	sitesPause   = time.Second      // between looks at the sites
	tokenPause   = time.Second      // between looks at the token of a caller over TCP
	quietTime    = 15 * time.Second // after which the caller hears how far the stream is
	eventTime    = 30 * time.Second // for a piece to be taken
)

// eventFilter says which events a caller gets.
type eventFilter struct {
	kinds []eventstream.Kind // none: all
	jobs  view.QueueFilter
	some  bool // only events about the jobs
	all   bool // the caller sees what is about the jobs of all users
}

// wants says whether the caller gets an event. Log events that are about no job may name any: where people see only their own
// jobs they are for administrators.
func (f *eventFilter) wants(e *eventstream.Event) bool {
	switch {
	case len(f.kinds) > 0 && !slices.Contains(f.kinds, e.Kind):
		return false
	case e.Of != nil:
		return f.jobs.Wants(e.Of)
	case f.some:
		return false
	}
	return e.Kind == eventstream.OfSite || f.all
}

// eventFilter reads what the caller wants to follow, and bounds it by what the caller may see.
func (s *server) eventFilter(r *http.Request, who caller) (*eventFilter, error) {
	f := &eventFilter{all: !s.Private || s.manages(who)}
	var named []protocol.JobName
	err := parse(r.URL.Query(), map[string]func([]string) error{
		"kind": into(&f.kinds, parseKind), "job": into(&named, protocol.ParseJobName), "user": into(&f.jobs.Users, itself),
	})
	if err != nil {
		return nil, err
	}
	if f.jobs.Jobs, err = s.jobIDs(r.Context(), who, named); err != nil {
		return nil, err
	}
	f.some = len(f.jobs.Jobs)+len(f.jobs.Users) > 0
	if !f.all {
		f.jobs.Viewer = who.user
	}
	return f, nil
}

func parseKind(name string) (eventstream.Kind, error) {
	if kind := eventstream.Kind(name); slices.Contains(eventstream.Kinds(), kind) {
		return kind, nil
	}
	return "", errors.New("invalid kind; use job, log or site")
}

// events sends events as they come, until the caller goes, the token is good no more, or the peer stops.
func (s *server) events(w http.ResponseWriter, r *http.Request, who caller) error {
	filter, err := s.eventFilter(r, who)
	if err != nil {
		return err
	}
	if s.Events == nil {
		return refuse(view.Unavailable, "this peer has no stream of events")
	}
	var after *eventstream.ID
	if last := r.Header.Get(lastEventHeader); last != "" {
		id, invalid := eventstream.ParseID(last)
		if invalid != nil {
			return refuse(view.BadRequest, "%s: %v", lastEventHeader, invalid)
		}
		after = &id
	}
	end, err := s.bounds.begin(longRequest{who.uid, maxEvents})
	if err != nil {
		return err
	}
	defer end()
	if s.Events.Followers() >= maxFollowers {
		return refuse(view.Unavailable, "%d programs follow the events of this peer; try again later", maxFollowers)
	}
	f := s.Events.Follow(after)
	defer f.Close()
	t := &eventWriter{w: w, to: http.NewResponseController(w), follower: f, filter: filter, still: stillGood(who)}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if err = t.tell(eventBegin, Begin{At: protocol.InstantOf(time.Now()), Site: s.Site}); err == nil {
		err = t.follow(r.Context())
	}
	if gone, ok := errors.AsType[*goneError](err); ok {
		s.Log.Debug("events_cut", "user", who.user, "error", gone.error)
		panic(http.ErrAbortHandler) // the only way to tell the client that this is not the end
	}
	s.Log.Debug("events_ended", "user", who.user, "reason", err)
	_ = t.tell(eventEnd, refusalOf(err)) // whoever has gone does not need it
	return nil
}

// stillGood says why what a caller over TCP has shown is good no more; nil: the caller is at the socket.
func stillGood(who caller) func(context.Context) error {
	if !who.remote() {
		return nil
	}
	return func(ctx context.Context) error {
		if err := who.pass.still(ctx, protocol.InstantOf(time.Now())); err != nil {
			return refuse(view.Denied, "%v", err)
		}
		return nil
	}
}

// whileGood is a context that ends when still says so, with that as its cause; leave ends it before. Still may be nil.
func whileGood(ctx context.Context, still func(context.Context) error) (good context.Context, leave func()) {
	good, end := context.WithCancelCause(ctx)
	if still != nil {
		go func() {
			looks := time.NewTicker(followPause)
			defer looks.Stop()
			for {
				select {
				case <-looks.C:
					if err := still(good); err != nil {
						end(err)
						return
					}
				case <-good.Done():
					return
				}
			}
		}()
	}
	return good, func() { end(nil) }
}

// goneError says that a caller does not take what is sent.
type goneError struct{ error }

// Unwrap returns why.
func (e *goneError) Unwrap() error { return e.error }

// eventWriter sends events to one caller.
type eventWriter struct {
	w        http.ResponseWriter
	to       *http.ResponseController
	follower *eventstream.Follower
	filter   *eventFilter
	still    func(context.Context) error // says why the caller may not go on; nil: he may

	sent eventstream.ID // the last one that the caller has got
}

// follow sends events until that ends, and says why: a [goneError] if nothing can be sent any more.
func (t *eventWriter) follow(ctx context.Context) error {
	look, quiet := time.NewTicker(tokenPause), time.NewTicker(quietTime)
	defer look.Stop()
	defer quiet.Stop()
	for {
		if err := t.piece(); err != nil {
			return err
		}
		var err error
		select {
		case <-ctx.Done():
			return refuse(view.Unavailable, "the peer stops; connect again when it runs")
		case <-look.C:
			if t.still != nil {
				err = t.still(ctx)
			}
		case <-quiet.C:
			err = t.quiet()
		case <-t.follower.More():
		}
		if err != nil {
			return err
		}
	}
}

// piece sends some of the events that there are.
func (t *eventWriter) piece() error {
	events, gap, err := t.follower.Take(eventPiece)
	if err != nil {
		return refuse(view.Unavailable, "%v; connect again, and read faster or ask for fewer", err)
	}
	var out []*sse.Message
	if gap != nil {
		m, err := message(eventGap, gap)
		if err != nil {
			return err
		}
		out = append(out, m)
	}
	for _, e := range events {
		if !t.filter.wants(e) {
			continue
		}
		text, err := e.JSON()
		if err != nil {
			return err
		}
		m := &sse.Message{ID: sse.ID(e.ID.String()), Type: sse.Type(string(e.Kind))}
		m.AppendData(string(text))
		out = append(out, m)
		t.sent = e.ID
	}
	return t.send(out...)
}

// quiet says how far the stream is, so that a caller who gets few of its events finds his place again.
func (t *eventWriter) quiet() error {
	m := &sse.Message{}
	m.AppendComment("")
	if place := t.follower.Place(); place != t.sent {
		m.ID, t.sent = sse.ID(place.String()), place
	}
	return t.send(m)
}

// tell sends an event about the stream itself, with the place where the stream is.
func (t *eventWriter) tell(name string, body any) error {
	m, err := message(name, body)
	if err != nil {
		return err
	}
	t.sent = t.follower.Place()
	m.ID = sse.ID(t.sent.String())
	return t.send(m)
}

func message(name string, body any) (*sse.Message, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	m := &sse.Message{Type: sse.Type(name)}
	m.AppendData(string(text))
	return m, nil
}

// send sends messages, which the caller has to take within some time.
func (t *eventWriter) send(messages ...*sse.Message) error {
	if len(messages) == 0 {
		return nil
	}
	_ = t.to.SetWriteDeadline(time.Now().Add(eventTime))
	defer func() { _ = t.to.SetWriteDeadline(time.Time{}) }() // HTTP/2 would end the answer with it
	for _, m := range messages {
		if _, err := m.WriteTo(t.w); err != nil {
			return &goneError{err}
		}
	}
	if err := t.to.Flush(); err != nil {
		return &goneError{err}
	}
	return nil
}

// watchSites publishes changes of sites, while anybody follows or watches.
func (s *server) watchSites(ctx context.Context) {
	tick := time.NewTicker(sitesPause)
	defer tick.Stop()
	known := map[protocol.SiteName]view.Site{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.Events.Watched() {
			continue
		}
		answer, err := s.Node.Ask(ctx, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
		sites, ok := answer.(view.Sites)
		if err != nil || !ok {
			s.Log.Debug("sites_unknown", "error", err)
			continue
		}
		s.publishSites(known, sites.Sites)
	}
}

// publishSites publishes those of the sites that are not as they are known, and notes how they are.
func (s *server) publishSites(known map[protocol.SiteName]view.Site, sites []view.Site) {
	now := protocol.InstantOf(time.Now())
	for name, site := range known {
		if !slices.ContainsFunc(sites, func(one view.Site) bool { return one.Site == name }) {
			delete(known, name)
			s.Events.Publish(eventstream.AboutSite(&eventstream.SiteChange{At: now, Site: site, Left: true}))
		}
	}
	for i := range sites {
		lasting := lastingOf(sites[i])
		if before, ok := known[lasting.Site]; !ok || !reflect.DeepEqual(before, lasting) {
			known[lasting.Site] = lasting
			s.Events.Publish(eventstream.AboutSite(&eventstream.SiteChange{At: now, Site: sites[i]}))
		}
	}
}

// lastingOf is what is known of a site, without what changes all the time.
func lastingOf(site view.Site) view.Site {
	site.Age, site.LastSeen = nil, 0
	if site.Electricity != nil {
		lasting := *site.Electricity
		lasting.Running = 0
		site.Electricity = &lasting
	}
	return site
}
