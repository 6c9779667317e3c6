package gossip

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// heard is the newest digest of a site, and when the site sent it by this
// site's clock.
type heard struct {
	packet
	sent time.Time
}

func (h heard) age(now time.Time) protocol.Duration { return protocol.DurationOf(now.Sub(h.sent)) }

// The reasons of rejections.
const (
	malformed       = "malformed"
	unknownSite     = "unknown-site"
	badSignature    = "bad-signature"
	badIdentity     = "bad-identity"
	addressConflict = "address-conflict"
	tooMany         = "too-many-members"
)

// maxMembers is more than a grid has.
const maxMembers = 1024

var errTooMany = fmt.Errorf("gossip: %d members are there already, and this one is no partner", maxMembers)

// receive takes in an encoded digest from wherever it came. A new one is handed
// to the handler and passed on to other members.
func (g *Gossip) receive(b []byte) {
	p, err := decode(b)
	if err != nil {
		g.reject(malformed, "error", err)
		return
	}
	if p.Digest.Site == g.cfg.Self.Site {
		g.receiveOwn(p)
		return
	}
	keys, fresh := g.expected(p)
	if len(keys) == 0 {
		g.reject(unknownSite, "site", p.Digest.Site)
		return
	}
	if !fresh { // most packets come several times; looking first spares a signature check
		return
	}
	for _, key := range keys {
		if p.verify(key, g.cfg.Verify) {
			g.take(p, key)
			return
		}
	}
	g.reject(badSignature, "site", p.Digest.Site)
}

// expected gives the keys of which one must have signed the packet, and whether the
// packet is newer than what is known.
func (g *Gossip) expected(p packet) (keys []string, fresh bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, heard := g.newest[p.Digest.Site]
	return g.trusted[p.Digest.Site], !heard || p.newer(known.packet)
}

// take keeps a genuine digest, unless a newer one or another key came between.
func (g *Gossip) take(p packet, key string) {
	site := p.Digest.Site
	h := heard{packet: p, sent: time.Now().Add(-p.Age.Std())}
	g.mu.Lock()
	known, ok := g.newest[site]
	if !slices.Contains(g.trusted[site], key) || (ok && !p.newer(known.packet)) {
		g.mu.Unlock()
		return
	}
	g.newest[site] = h
	g.mu.Unlock()
	g.broadcast(h)
	g.box.put("digest "+string(site), func() { g.cfg.Handler.Digest(p.Digest, h.age(time.Now())) })
}

// receiveOwn looks at a digest of this site's name that came back. One that this
// site signed before a restart and that has a higher number, because the clock
// was set back in between, would hide all new ones: the numbering goes on
// behind it.
func (g *Gossip) receiveOwn(p packet) {
	g.mu.Lock()
	behind := p.Incarnation == g.cfg.Self.Incarnation && p.Digest.Seq > g.seq
	g.mu.Unlock()
	if !behind {
		return
	}
	if !p.verify(g.cfg.Self.PublicKey, g.cfg.Verify) {
		g.reject(badSignature, "site", p.Digest.Site)
		return
	}
	g.mu.Lock()
	g.seq = max(g.seq, p.Digest.Seq)
	g.mu.Unlock()
	g.signal()
}

func (g *Gossip) reject(reason string, attrs ...any) {
	g.log.Debug("gossip_rejected", append([]any{"reason", reason}, attrs...)...)
	g.box.reject(reason)
}

// state is all that is known, as it is exchanged with another member.
func (g *Gossip) state() []byte {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	packets := make([][]byte, 0, len(g.newest))
	for _, h := range g.newest {
		packets = append(packets, h.encode(h.age(now)))
	}
	return joinPackets(packets)
}

// merge takes in the state of another member.
func (g *Gossip) merge(state []byte) {
	packets, err := splitPackets(state)
	if err != nil {
		g.reject(malformed, "error", err)
	}
	for _, p := range packets {
		g.receive(p)
	}
}
