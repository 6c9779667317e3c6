package api

import (
	"log/slog"
	"net/http"
)

// Transport is how the client reaches its peer.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// Socket is where the client's peer is.
func (c *Client) Socket() string { return c.socket }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
