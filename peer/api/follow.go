package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	sse "github.com/tmaxmax/go-sse"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxEvent is the size of the largest event, in bytes: one with the quotes of a round has some 100 KB.
const maxEvent = 8 << 20

// lastEventHeader has the ID of the event after which a stream is to go on.
const lastEventHeader = "Last-Event-ID"

// Following says which events a client wants. An empty one is all that the caller may see.
type Following struct {
	Kinds []eventstream.Kind
	Jobs  []protocol.JobName // only events about these jobs, arrays and elements
	Users []string           // only events about jobs of these users
	After string             // the ID of the last event of an earlier answer; empty: only events from now on
}

// Event is an event as a client gets it. Of the pointers at most one is set, by the name; none of an event that only later versions have.
type Event struct {
	ID   string          `json:"id"` // with which to follow again after it
	Name string          `json:"event"`
	Data json.RawMessage `json:"data"`

	Begin *Begin                  `json:"-"`
	Gap   *eventstream.Gap        `json:"-"`
	Job   *eventstream.JobChange  `json:"-"`
	Site  *eventstream.SiteChange `json:"-"`
	Log   *event.LogEvent         `json:"-"`
}

// Events follows what happens at the peer, and has each event taken as it comes, until take or ctx ends that. The first event is
// a [Begin]: what is asked for after it, such as the queue, is as new as the events before it, so that nothing is missed between.
// A gap says that events are lost. The error is an *[Error] if the peer ends the stream.
func (c *Client) Events(ctx context.Context, wanted Following, take func(Event) error) error {
	query := url.Values{}
	for _, kind := range wanted.Kinds {
		query.Add("kind", string(kind))
	}
	for _, job := range wanted.Jobs {
		query.Add("job", job.String())
	}
	for _, user := range wanted.Users {
		query.Add("user", user)
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	if wanted.After != "" {
		header.Set(lastEventHeader, wanted.After)
	}
	response, err := c.sendWith(ctx, http.MethodGet, "/v1/events?"+query.Encode(), nil, header)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // nothing more is wanted of it
	for message, err := range sse.Read(response.Body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
		if err != nil {
			return c.explain(ctx, err)
		}
		if message.Type == "" {
			continue // it only says how far the stream is
		}
		e, err := eventOf(message)
		if ended, ok := errors.AsType[*Error](err); ok {
			return ended
		}
		if err != nil {
			return c.invalid(err)
		}
		if err = take(e); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w at %s any more: the stream of events was cut; %s", ErrUnreachable, c.at, c.advice)
}

// eventOf reads an event. The error is an *[Error] if it is the last one.
func eventOf(message sse.Event) (e Event, err error) {
	e = Event{ID: message.LastEventID, Name: message.Type, Data: json.RawMessage(message.Data)}
	var to any
	switch message.Type {
	case eventEnd:
		why := &Error{}
		if err = json.Unmarshal(e.Data, &why.Refusal); err == nil {
			err = why
		}
		return e, err
	case eventBegin:
		e.Begin = &Begin{}
		to = e.Begin
	case eventGap:
		e.Gap = &eventstream.Gap{}
		to = e.Gap
	case string(eventstream.OfJob):
		e.Job = &eventstream.JobChange{}
		to = e.Job
	case string(eventstream.OfSite):
		e.Site = &eventstream.SiteChange{}
		to = e.Site
	case string(eventstream.OfLog):
		e.Log = &event.LogEvent{}
		to = e.Log
	default:
		to = &json.RawMessage{}
	}
	return e, json.Unmarshal(e.Data, to)
}
