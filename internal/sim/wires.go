package sim

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// wires are the links between sites: latency, loss, duplicates and cuts. Each
// link has a stream of chances of its own, so that what one does changes nothing
// on another.
type wires struct {
	links   []Link // by link
	perfect bool   // all messages arrive at once
	seed    uint64
	sites   int
	chances map[int]*rand.Rand // by link
	cut     map[int]int        // by link: how many cuts are on
	onWay   slots[delivery]
}

func (w *wires) init(seed uint64, sites int, network Network) {
	w.seed, w.sites = seed, sites
	w.perfect = network.Link == Link{} && len(network.Links) == 0 && len(network.Cuts) == 0
	if !w.perfect {
		w.setLinks(network)
	}
	w.chances, w.cut = map[int]*rand.Rand{}, map[int]int{}
}

// setLinks says what each direction of each link is like.
func (w *wires) setLinks(network Network) {
	w.links = slices.Repeat([]Link{network.Link}, w.sites*w.sites)
	for _, one := range network.Links {
		for other := range w.sites {
			if one.B < 0 || one.B == other {
				w.links[w.link(one.A, other)], w.links[w.link(other, one.A)] = one.Link, one.Link
			}
		}
	}
}

func (w *wires) link(from, to int) int { return from*w.sites + to }

// chance is the stream of one direction of a link.
func (w *wires) chance(link int) *rand.Rand {
	rng := w.chances[link]
	if rng == nil {
		rng = rand.New(rand.NewPCG(w.seed, 1<<32|uint64(link))) //nolint:gosec // a link's number
		w.chances[link] = rng
	}
	return rng
}

// send puts a message on its wire, in which it is after a while.
func (g *grid) send(from *site, m event.Outgoing, after protocol.Duration) {
	to := g.site(m.To)
	g.result.Traffic.Messages++
	if g.cfg.Bytes {
		g.result.Traffic.Bytes += int64(peerv1.Size(m.Body))
	}
	d := delivery{from: from, to: to, body: m.Body}
	switch {
	case from.name == portalName || to.name == portalName: // the central scheme sees all at once
		g.inbox.push(d)
		return
	case g.wires.perfect && after == 0:
		g.inbox.push(d)
		return
	case g.wires.perfect:
		g.heap.push(g.now.Add(after), arrives, to.index, g.wires.onWay.put(d))
		return
	}
	link := g.wires.link(from.index, to.index)
	n := &g.wires.links[link]
	rng := g.wires.chance(link)
	copies := 1
	if n.Loss > 0 && rng.Float64() < n.Loss {
		copies--
	}
	if n.Duplicate > 0 && rng.Float64() < n.Duplicate {
		copies++
	}
	if copies == 0 || g.wires.cut[link] > 0 {
		g.result.Traffic.Lost++
		return
	}
	for range copies {
		delay := n.Latency.Plus(after)
		if n.Jitter > 0 {
			delay += protocol.Duration(rng.Int64N(int64(n.Jitter) + 1))
		}
		g.heap.push(g.now.Add(delay), arrives, to.index, g.wires.onWay.put(d))
	}
}

// deliver hands a message in, if there is somebody to hear it.
func (g *grid) deliver(d delivery) {
	if d.to.peer == nil || g.wires.cut[g.wires.link(d.from.index, d.to.index)] > 0 {
		g.result.Traffic.Lost++
		return
	}
	d.to.step(event.MessageIn{From: d.from.name, Body: d.body})
}

// cut parts or joins sites: their sessions end, or begin again.
func (g *grid) cut(c Cut, begins bool) {
	for _, other := range g.sites {
		if other.index == c.A || (c.B >= 0 && other.index != c.B) || !g.sites[c.A].knows(other.name) {
			continue
		}
		by := -1
		if begins {
			by = 1
		}
		for _, link := range []int{g.wires.link(c.A, other.index), g.wires.link(other.index, c.A)} {
			g.wires.cut[link] += by
		}
		switch on := g.wires.cut[g.wires.link(c.A, other.index)]; {
		case begins && on == 1:
			g.disconnect(g.sites[c.A], other)
		case !begins && on == 0:
			g.connect(g.sites[c.A], other)
		}
	}
}

func (g *grid) disconnect(a, b *site) {
	a.step(event.Disconnected{Site: b.name})
	b.step(event.Disconnected{Site: a.name})
}

func (g *grid) connect(a, b *site) {
	if a.peer == nil || b.peer == nil || g.wires.cut[g.wires.link(a.index, b.index)] > 0 {
		return
	}
	toA, toB := b.peer.Card(a.name), a.peer.Card(b.name)
	a.step(event.Connected{Card: toA})
	b.step(event.Connected{Card: toB})
}

// crash stops a site's peer; its partners notice.
func (g *grid) crash(s *site) {
	s.crash()
	for _, p := range s.cfg.Partners {
		g.site(p.Site).step(event.Disconnected{Site: s.name})
	}
}

func (g *grid) restart(ctx context.Context, s *site) error {
	s.cfg.FirstCheck = 0
	if err := s.start(); err != nil {
		return err
	}
	for _, p := range s.cfg.Partners {
		g.connect(s, g.site(p.Site))
	}
	late := s.late
	s.late = nil
	for _, one := range late {
		g.submit(s, one)
		g.drain(ctx)
	}
	return nil
}
