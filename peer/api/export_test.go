package api

import (
	"log/slog"
	"net/http"
	"time"
)

// Transport is how the client reaches its peer.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// Limit makes the client send no larger requests.
func (c *Client) Limit(bytes int) { c.limit = bytes }

// AnswerWithin makes the client wait so long until it hears of an answer.
func (c *Client) AnswerWithin(limit time.Duration) {
	transport, _ := c.http.Transport.(*patient)
	transport.limit = limit
}

// Socket is where the client's peer is.
func (c *Client) Socket() string { return c.at }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// The bounds of one user's connections.
const (
	MaxConns = maxConns
	Spare    = spare
)

// MaxEvents bounds one user's streams of events.
const MaxEvents = maxEvents
