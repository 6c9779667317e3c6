package daemon

import (
	"context"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// transport is a bus as the node sees it.
type transport struct{ *bus.Bus }

func (t transport) Fetch(
	ctx context.Context, from protocol.SiteName, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	return t.Bus.Fetch(ctx, from, bus.FetchRequest{
		Tag: tag, Stream: stream, Offset: offset, Size: min(size, bus.MaxChunk),
	})
}

// busHandler is the node as the bus sees it.
type busHandler struct{ *node.Node }

func (h busHandler) Fetch(ctx context.Context, from protocol.SiteName, req bus.FetchRequest) ([]byte, error) {
	return h.Node.Fetch(ctx, from, req.Tag, req.Stream, req.Offset, req.Size)
}

// gossipHandler is the node as gossip sees it.
type gossipHandler struct{ *node.Node }

func (h gossipHandler) Alive(id gossip.Identity) {
	h.Node.Alive(event.MemberSeen{
		Site: id.Site, Number: id.Number, PublicKey: id.PublicKey, FirstStart: id.FirstStart,
	})
}
