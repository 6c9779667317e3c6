package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Core is what a node drives.
type Core = core

// Limits for the tests.
const (
	MaxFacts  = maxFacts
	FactSlack = factSlack
	FactDelay = factDelay

	MaxCounted = maxCounted

	StopGrace  = stopGrace
	ReadWithin = readWithin
	WatchTry   = watchTry
)

// NewWith puts the shell around another machine than a peer.Peer.
func NewWith(cfg Config, machine Core) (*Node, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	n := newNode(cfg, machine, moves{meter: cfg.Meter}, mails{})
	return n, n.listEnds()
}

// Restore reads the machine's rows.
func Restore(store Store) (rows []row.Record, err error) {
	r := restoring{store: store, moves: moves{meter: noMeter{}}, keep: true}
	for _, err := range r.rows {
		if err != nil {
			return nil, err
		}
	}
	return r.kept, nil
}

// PruneAt drops what the retention does not keep at an instant.
func (n *Node) PruneAt(ctx context.Context, now protocol.Instant) error { return n.pruneAt(ctx, now) }

// ErrLaneFull is errLaneFull.
var ErrLaneFull = errLaneFull

// Clock is the time of the core.
type Clock struct{ *clock }

// NewClock reads a machine's clocks.
func NewClock(read wallclock.Source) Clock {
	return Clock{newClock(read, slog.New(slog.DiscardHandler))}
}

// Step is [clock.step].
func (c Clock) Step() (now protocol.Instant, skipped protocol.Duration) { return c.step() }

// Until is [clock.until].
func (c Clock) Until(at protocol.Instant) time.Duration { return c.until(at) }

// Note is [clock.note].
func (c Clock) Note() string { return c.note() }

// PruneOnce prunes as the node does now and then.
func (n *Node) PruneOnce(ctx context.Context) { n.pruneOnce(ctx) }

// Counted is for how many jobs the node counts facts.
func (n *Node) Counted() int {
	n.facts.mu.Lock()
	defer n.facts.mu.Unlock()
	return len(n.facts.counts.young) + len(n.facts.counts.old)
}
