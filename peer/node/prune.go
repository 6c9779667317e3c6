package node

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Old facts are looked for soon after the start, and then daily.
const (
	pruneFirst = 10 * time.Minute
	pruneEvery = 24 * time.Hour
	pruneBatch = 1000
)

// prune drops old facts, until ctx ends.
func (n *Node) prune(ctx context.Context) {
	timer := time.NewTimer(pruneFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			n.pruneFacts(ctx, n.clock.now().Add(-protocol.DurationOf(n.cfg.KeepFacts)))
			timer.Reset(pruneEvery)
		}
	}
}

// pruneFacts drops what is older than the instant. A failure is the store's, of
// which the next batch will speak.
func (n *Node) pruneFacts(ctx context.Context, before protocol.Instant) {
	var old []Put
	for row, err := range n.cfg.Store.Load(factTable) {
		if err != nil || ctx.Err() != nil {
			return
		}
		if at, ok := factTime(row.Key); ok && at < before {
			old = append(old, Put{Table: factTable, Key: row.Key})
		}
		if len(old) < pruneBatch {
			continue
		}
		if err := n.save(old); err != nil {
			return
		}
		old = nil
	}
	if err := n.save(old); err != nil {
		n.log.Warn("facts_not_pruned", "error", err)
	}
}
