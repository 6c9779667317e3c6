package node

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Received takes an authenticated message from a partner. It waits while the
// node has too much to do.
func (n *Node) Received(from protocol.SiteName, m protocol.Message) {
	n.post(peer.MessageIn{From: from, Body: m})
}

// Connected takes the verified card of a partner with which a session is up.
func (n *Node) Connected(card protocol.Card) { n.post(peer.Connected{Card: card}) }

// Disconnected says that no session with the partner is left.
func (n *Node) Disconnected(site protocol.SiteName) { n.post(peer.Disconnected{Site: site}) }

// Rejected counts what a gate of the network refused.
func (n *Node) Rejected(reason string) { n.cfg.Meter.Rejected(reason) }

// Digest takes a partner's load as gossip tells it.
func (n *Node) Digest(d protocol.Digest, age protocol.Duration) {
	n.post(peer.DigestSeen{Digest: d, Age: age})
}

// Alive takes the identity of a site that gossips.
func (n *Node) Alive(seen peer.MemberSeen) { n.post(seen) }

// Gone says that a site does not gossip any more. That is a hint which changes
// nothing: sessions say which partners can be reached.
func (n *Node) Gone(site protocol.SiteName) { n.log.Info("member_gone", "site", site) }

// Fetch serves up to size bytes of a job's output to a partner, if the job is its
// own.
func (n *Node) Fetch(
	ctx context.Context, from protocol.SiteName, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	if offset < 0 || size < 1 {
		return nil, fmt.Errorf("job %v: offset %d and size %d name no piece of a file", tag, offset, size)
	}
	reply, err := n.Ask(ctx, func(asked peer.AskID) peer.Event { return peer.AskJob{Asked: asked, Job: tag.Job} })
	if err != nil {
		return nil, err
	}
	job, ok := reply.(peer.JobView)
	if !ok || !job.Guest || job.Origin != from || job.Epoch != tag.Epoch {
		return nil, fmt.Errorf("job %v is not here for site %s", tag, from)
	}
	return n.cfg.Scheduler.Fetch(ctx, tag, stream, offset, min(size, MaxChunk))
}
