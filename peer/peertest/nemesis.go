package peertest

import (
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Nemesis is [Faults] drawn from a seed. Shares are in percent.
type Nemesis struct {
	Loss      int               // messages lost
	Doubled   int               // messages that arrive twice
	Slow      int               // messages that take up to SlowBy
	SlowBy    protocol.Duration // 0: none
	CallLoss  int               // calls whose answer is lost
	CallBy    protocol.Duration // the longest that a call takes
	CommitBy  protocol.Duration // the longest that records wait for their commit
	Late      protocol.Duration // a submission takes effect sooner than this; below the peers' Settle
	CrashEach protocol.Duration // a peer crashes about this often; 0: never
	CutEach   protocol.Duration // a wire is cut about this often; 0: never
	Outage    protocol.Duration // the longest of a crash or a cut

	rng  *rand.Rand
	calm bool
}

// Seed makes the nemesis ready.
func (n *Nemesis) Seed(seed uint64) { n.rng = rand.New(rand.NewPCG(seed, 0x6e656d65736973)) }

// Message implements [Faults].
func (n *Nemesis) Message(_, _ protocol.SiteName) (delays []protocol.Duration, held bool) {
	copies := 1
	switch {
	case n.calm:
	case n.hits(n.Loss):
		return nil, false
	case n.hits(n.Doubled):
		copies = 2
	}
	for range copies {
		d := n.upTo(20) + 1
		if !n.calm && n.hits(n.Slow) {
			d += n.upTo(n.SlowBy)
		}
		delays = append(delays, d)
	}
	return delays, false
}

// Call implements [Faults].
func (n *Nemesis) Call(_ protocol.SiteName, op event.Op) CallFate {
	by := n.CallBy
	if n.calm {
		by = min(by, 10)
	}
	fate := CallFate{Effect: min(n.upTo(by), max(0, n.Late-1))}
	fate.Answer = fate.Effect + n.upTo(by)
	if n.calm || !n.hits(n.CallLoss) {
		return fate
	}
	fate.Unknown = true
	if !changes(op) || n.hits(40) {
		fate.Effect = -1
	} else if n.hits(50) {
		fate.Effect = fate.Answer + n.upTo(n.Late) - 1 // after the shell gave up, before it is settled
	}
	return fate
}

// changes says whether a call leaves something behind when its answer is lost.
func changes(op event.Op) bool {
	switch op.(type) {
	case event.SubmitOp, event.WithdrawOp, event.KillOp, event.ForgetOp, event.ReserveOp, event.CancelReservationOp:
		return true
	case event.ParetoOp, event.PrioritizeOp, event.PlannedStartsOp, event.QuoteOp, event.StageInOp, event.LookupOp, event.WatchOp, event.CollectOp, event.DiscardOp, event.DecideOp, event.ArchiveOp, event.PriceOp:
	}
	return false
}

// Commit implements [Faults].
func (n *Nemesis) Commit(_ protocol.SiteName) protocol.Duration {
	if n.calm {
		return n.upTo(2)
	}
	return n.upTo(n.CommitBy)
}

// Unleash lets the nemesis crash peers and cut wires while the world runs.
func (n *Nemesis) Unleash(w *World) {
	n.every(w, n.CrashEach, func() { n.crash(w) })
	n.every(w, n.CutEach, func() { n.cut(w) })
}

// Relent ends all faults: wires are restored, peers restarted and connected.
func (n *Nemesis) Relent(w *World) {
	n.calm = true
	clear(w.cuts)
	for _, s := range w.sites {
		if !s.Up() {
			_ = w.Restart(s.Name) // a failure is among the world's problems
		}
	}
	w.connectAll()
}

func (n *Nemesis) every(w *World, each protocol.Duration, do func()) {
	if each <= 0 {
		return
	}
	w.after(n.upTo(2*each), func() {
		if !n.calm {
			do()
			n.every(w, each, do)
		}
	})
}

func (n *Nemesis) crash(w *World) {
	s := w.sites[n.rng.IntN(len(w.sites))]
	if !s.Up() {
		return
	}
	w.Crash(s.Name)
	n.noticeLoss(w, s.Name)
	w.after(n.upTo(n.Outage), func() {
		if !s.Up() {
			_ = w.Restart(s.Name) // a failure is among the world's problems
		}
	})
}

// noticeLoss lets the other sites find out, sooner or later, perhaps not at all.
func (n *Nemesis) noticeLoss(w *World, gone protocol.SiteName) {
	for _, other := range w.sites {
		if other.Name == gone || n.hits(30) {
			continue
		}
		w.after(n.upTo(n.Outage), func() {
			if !w.Site(gone).Up() {
				w.Disconnect(other.Name, gone)
			}
		})
	}
}

func (n *Nemesis) cut(w *World) {
	a, b := w.sites[n.rng.IntN(len(w.sites))].Name, w.sites[n.rng.IntN(len(w.sites))].Name
	if a == b {
		return
	}
	w.Cut(a, b)
	both := n.hits(50)
	if both {
		w.Cut(b, a)
	}
	w.note("cut %s->%s, both ways %t", a, b, both)
	if n.hits(70) {
		w.after(n.upTo(n.Outage), func() {
			if w.severed(a, b) {
				w.Disconnect(a, b)
				w.Disconnect(b, a)
			}
		})
	}
	w.after(n.upTo(n.Outage), func() {
		w.Heal(a, b)
		w.Heal(b, a)
		w.note("healed %s->%s", a, b)
		w.Connect(a, b)
	})
}

func (n *Nemesis) hits(percent int) bool { return n.rng.IntN(100) < percent }

func (n *Nemesis) upTo(d protocol.Duration) protocol.Duration {
	return protocol.Duration(n.rng.Int64N(int64(max(1, d))))
}
