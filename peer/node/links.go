package node

import (
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// links are the ways to other sites. They need the node as their handler and its
// card, so they come after it.
type links struct {
	mu     sync.Mutex
	to     Transport
	gossip Gossip
	load   *protocol.Load // the last one to advertise
}

// Attach gives the node its ways to other sites. It may be called while the node
// runs; messages before that are lost, as messages may be.
func (n *Node) Attach(transport Transport, gossip Gossip) {
	n.links.mu.Lock()
	n.links.to, n.links.gossip = transport, gossip
	load := n.links.load
	n.links.mu.Unlock()
	if gossip != nil && load != nil {
		gossip.Advertise(*load)
	}
}

func (l *links) transport() Transport {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to
}

func (l *links) advertise(load *protocol.Load) {
	if load == nil {
		return
	}
	l.mu.Lock()
	l.load = load
	gossip := l.gossip
	l.mu.Unlock()
	if gossip != nil {
		gossip.Advertise(*load)
	}
}
