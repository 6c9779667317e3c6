package peertest

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// Wire is a message on its way, in its wire form.
type Wire struct {
	ID   int
	From protocol.SiteName
	To   protocol.SiteName
	Kind string
	Body []byte
}

// send puts a message on the wire. One without a wire form is a problem.
func (w *World) send(s *Site, m event.Outgoing) {
	if w.holder(s.Name, m.To) != s {
		return // another peer has its session
	}
	if !s.partner(m.To) {
		w.monitor.problem("%s sends %s to %s, which is no partner", s.Name, m.Body.Kind(), m.To)
		return
	}
	body, err := peerv1.Encode(m.Body)
	if err != nil {
		w.monitor.problem("%s sends %s what has no form on the wire: %v", s.Name, m.To, err)
		return
	}
	w.lastWire++
	wire := &Wire{ID: w.lastWire, From: s.Name, To: m.To, Kind: m.Body.Kind(), Body: body}
	delays, held := w.faults.Message(s.Name, m.To)
	if held {
		w.wires = append(w.wires, wire)
		return
	}
	for _, d := range delays {
		w.after(d, func() { w.arrive(wire) })
	}
}

// arrive hands the message in, unless its receiver is down.
func (w *World) arrive(wire *Wire) {
	to := w.holder(wire.To, wire.From)
	if to == nil || !to.Up() || w.severed(wire.From, wire.To) {
		w.note("lost %s->%s %s", wire.From, wire.To, wire.Kind)
		return
	}
	m, err := peerv1.Decode(wire.Kind, wire.Body)
	if err != nil {
		w.monitor.problem("%s->%s: %v", wire.From, wire.To, err)
		return
	}
	to.step(event.MessageIn{From: wire.From, Body: m})
}

// Wires are the messages that wait to be moved by hand, oldest first.
func (w *World) Wires() []*Wire { return slices.Clone(w.wires) }

// Deliver takes a message off its wire and hands it in.
func (w *World) Deliver(wire *Wire) {
	w.Drop(wire)
	w.arrive(wire)
	w.settle()
}

// Duplicate hands a message in and leaves it on its wire.
func (w *World) Duplicate(wire *Wire) {
	w.arrive(wire)
	w.settle()
}

// Drop loses a message.
func (w *World) Drop(wire *Wire) {
	w.wires = slices.DeleteFunc(w.wires, func(other *Wire) bool { return other == wire })
}

// Cut severs one direction between two sites: what arrives is lost.
func (w *World) Cut(from, to protocol.SiteName) { w.cuts[direction{from, to}] = true }

// Heal restores one direction.
func (w *World) Heal(from, to protocol.SiteName) { delete(w.cuts, direction{from, to}) }

func (w *World) severed(from, to protocol.SiteName) bool { return w.cuts[direction{from, to}] }

// Connect tells both sites that their session is up, if it can be.
func (w *World) Connect(a, b protocol.SiteName) {
	w.join(w.holder(a, b), w.holder(b, a))
}

// join connects two peers, if that can be.
func (w *World) join(sa, sb *Site) {
	a, b := sa.Name, sb.Name
	if a == b || !sa.Up() || !sb.Up() || w.severed(a, b) || w.severed(b, a) || !sa.partner(b) || !sb.partner(a) {
		return
	}
	w.take(sa, sb)
	w.take(sb, sa)
	toB, toA := w.card(sa, b), w.card(sb, a)
	sa.reported[b], sb.reported[a] = true, true
	sa.step(event.Connected{Card: toA})
	sb.step(event.Connected{Card: toB})
	w.settleIfByHand()
}

// Disconnect tells a site that its session with another is down.
func (w *World) Disconnect(site, from protocol.SiteName) {
	if s := w.Site(site); s.reported[from] {
		delete(s.reported, from)
		s.step(event.Disconnected{Site: from})
		w.settleIfByHand()
	}
}

func (w *World) settleIfByHand() {
	if _, ok := w.faults.(ByHand); ok {
		w.settle()
	}
}

func (w *World) connectAll() {
	for i, a := range w.sites {
		for _, b := range w.sites[i+1:] {
			w.Connect(a.Name, b.Name)
		}
	}
}

// card is what a site shows to another one. As the shell does, it makes durable first what the
// card says of the rows.
func (w *World) card(s *Site, to protocol.SiteName) protocol.Card {
	if s.committing {
		s.commit()
	}
	card := s.peer.Card(to)
	data, err := peerv1.EncodeCard(card)
	if err == nil {
		card, err = peerv1.DecodeCard(data)
	}
	if err != nil {
		w.monitor.problem("the card of %s: %v", s.Name, err)
	}
	return card
}

// gossip spreads a load to the sites that can hear it. It is lost as messages
// are.
func (w *World) gossip(s *Site, load protocol.Load) {
	if err := commonv1.CheckLoad(load); err != nil {
		w.monitor.problem("the digest of %s: %v", s.Name, err)
		return
	}
	digest := protocol.Digest{Site: s.Name, Seq: s.digests, Load: load}
	for _, to := range w.sites {
		if to == s {
			continue
		}
		delays, held := w.faults.Message(s.Name, to.Name)
		if held {
			delays = []protocol.Duration{0}
		}
		for _, d := range delays {
			w.after(d, func() { w.hearDigest(digest, to, d) })
		}
	}
}

func (w *World) hearDigest(digest protocol.Digest, to *Site, age protocol.Duration) {
	if to.Up() && !w.severed(digest.Site, to.Name) {
		to.step(event.DigestSeen{Digest: digest, Age: age})
	}
}

// ByHand leaves messages on their wires, carries calls out at once and commits
// every step.
type ByHand struct{}

// Message implements [Faults].
func (ByHand) Message(_, _ protocol.SiteName) (delays []protocol.Duration, held bool) {
	return nil, true
}

// Call implements [Faults].
func (ByHand) Call(_ protocol.SiteName, _ event.Op) CallFate { return CallFate{} }

// Commit implements [Faults].
func (ByHand) Commit(_ protocol.SiteName) protocol.Duration { return 0 }
