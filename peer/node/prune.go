package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// What is kept for too long is looked for soon after the start, and then every hour.
const (
	pruneFirst = 10 * time.Minute
	pruneEvery = time.Hour
	pruneBatch = 1000 // rows in a transaction
)

// prune drops finished jobs and facts as the retention says, until ctx ends.
func (n *Node) prune(ctx context.Context) {
	timer := time.NewTimer(pruneFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			n.pruneOnce(ctx)
			timer.Reset(pruneEvery)
		}
	}
}

// pruneOnce drops what is too old or too much now, unless the clock may be wrong.
func (n *Node) pruneOnce(ctx context.Context) {
	if !n.clock.trusted() {
		n.log.Warn("prune_skipped", "why", "the clock was set forward by a day or more within the last week")
		return
	}
	if err := n.pruneAt(ctx, n.clock.now()); err != nil && ctx.Err() == nil {
		n.log.Warn("prune_skipped", "error", err)
	}
}

// pruneAt drops what is too old or too much at an instant. Facts go before their jobs, so
// that after a crash the next turn finds the jobs again.
func (n *Node) pruneAt(ctx context.Context, now protocol.Instant) error {
	keep := n.cfg.Retention
	jobs, err := n.finishedTooLong(ctx, now.Add(-keep.FinishedJobs), keep.MaxFinishedJobs)
	if err != nil {
		return err
	}
	facts, err := n.pruneFacts(ctx, now.Add(-keep.Events), jobs)
	if err != nil {
		return err
	}
	drop := dropping{node: n}
	for _, key := range jobs {
		if err = drop.add(ctx, string(row.ArchiveTable), key); err != nil {
			return err
		}
	}
	if err = drop.flush(ctx); err == nil && len(jobs)+facts > 0 {
		n.log.Info("rows_pruned", "finished_jobs", len(jobs), "events", facts)
	}
	return err
}

// finishedTooLong lists, sorted, the keys of the finished jobs that ended before an instant,
// and of the rest those that ended first if there are more than most.
func (n *Node) finishedTooLong(ctx context.Context, before protocol.Instant, most int) ([]string, error) {
	type finished struct {
		key   string
		ended protocol.Instant
	}
	var all []finished
	for row, err := range n.cfg.Store.Load(string(row.ArchiveTable)) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("look for old jobs: %w", err)
		}
		ended, err := endOf(row.Value)
		if err != nil {
			return nil, fmt.Errorf("look for old jobs: row %q: %w", row.Key, err)
		}
		all = append(all, finished{row.Key, ended})
	}
	slices.SortStableFunc(all, func(a, b finished) int { return cmp.Compare(a.ended, b.ended) })
	old, _ := slices.BinarySearchFunc(all, before, func(f finished, t protocol.Instant) int { return cmp.Compare(f.ended, t) })
	var keys []string
	for _, f := range all[:max(old, len(all)-most)] {
		keys = append(keys, f.key)
	}
	slices.Sort(keys)
	return keys, nil
}

// endOf reads only when an archived job ended: there may be very many.
func endOf(data []byte) (protocol.Instant, error) {
	var row struct {
		View struct {
			Ended protocol.Instant `json:"ended_ms"`
		} `json:"view"`
	}
	err := json.Unmarshal(data, &row)
	return row.View.Ended, err
}

// pruneFacts drops facts that are older than the instant, and all of these jobs, whose keys
// are sorted. It returns how many.
func (n *Node) pruneFacts(ctx context.Context, before protocol.Instant, jobs []string) (count int, err error) {
	drop := dropping{node: n}
	for row, err := range n.cfg.Store.Load(factTable) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return count, fmt.Errorf("look for old events: %w", err)
		}
		job, _, _ := strings.Cut(row.Key, "-")
		_, gone := slices.BinarySearch(jobs, job)
		if !gone && factTime(row.Key) >= before {
			continue
		}
		count++
		if err = drop.add(ctx, factTable, row.Key); err != nil {
			return count, err
		}
	}
	return count, drop.flush(ctx)
}

// dropping deletes rows in transactions of a bounded size, between which others get their
// turn.
type dropping struct {
	node *Node
	rows []Put
}

func (d *dropping) add(ctx context.Context, table, key string) error {
	d.rows = append(d.rows, Put{Table: table, Key: key})
	if len(d.rows) < pruneBatch {
		return nil
	}
	return d.flush(ctx)
}

func (d *dropping) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := d.rows
	d.rows = nil
	return d.node.save(rows)
}
