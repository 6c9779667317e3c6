package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Drain is the body of a request that a site take, or get, no new jobs.
type Drain struct {
	Scope  view.DrainScope `json:"scope"`
	Reason string          `json:"reason"`
}

// maxDrain bounds the body, in bytes.
const maxDrain = 4096

// drain drains the site of the path, the local one or a partner.
func (s *server) drain(w http.ResponseWriter, r *http.Request, who caller) error {
	var body Drain
	decoder := newDecoder(http.MaxBytesReader(w, r.Body, maxDrain))
	switch err := decoder.Decode(&body); {
	case err != nil:
		return refuse(view.BadRequest, "invalid drain of a site: %v", err)
	case body.Scope == "":
		return refuse(view.BadRequest, "a drain needs a scope: guests or starts of this site, send, receive, both or isolated of a partner")
	}
	return s.setDrain(w, r, who, body)
}

// resume ends the drain of the site of the path.
func (s *server) resume(w http.ResponseWriter, r *http.Request, who caller) error {
	return s.setDrain(w, r, who, Drain{})
}

func (s *server) setDrain(w http.ResponseWriter, r *http.Request, who caller, drain Drain) error {
	site := protocol.SiteName(r.PathValue("site"))
	return s.ask(w, lasting(r), http.StatusOK, func(asked event.AskID) event.Event {
		return event.SetDrain{Asked: asked, Site: site, Scope: drain.Scope, Reason: drain.Reason, User: who.user, Admin: s.manages(who)}
	})
}

// Drain has the local site take no new jobs, or a partner get none. When it returns, that is durable.
func (c *Client) Drain(ctx context.Context, site protocol.SiteName, drain Drain) error {
	_, err := call[view.Done](ctx, c, http.MethodPost, sitePath(site, "/drain"), drain)
	return err
}

// Resume ends the drain of the local site or of a partner. When it returns, that is durable.
func (c *Client) Resume(ctx context.Context, site protocol.SiteName) error {
	_, err := call[view.Done](ctx, c, http.MethodPost, sitePath(site, "/resume"), nil)
	return err
}

func sitePath(site protocol.SiteName, what string) string {
	return "/v1/sites/" + url.PathEscape(string(site)) + what
}
