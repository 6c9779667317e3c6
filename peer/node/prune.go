package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
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
	ends, err := n.endedTooLong(ctx, now)
	if err != nil {
		return err
	}
	gone, err := readEnds(ends)
	if err != nil {
		return err
	}
	var jobs []string // whose last runs go
	for _, one := range gone {
		if one.table == row.ArchiveTable {
			jobs = append(jobs, one.key)
		}
	}
	slices.Sort(jobs)
	facts, err := n.pruneFacts(ctx, now.Add(-keep.Events), jobs)
	if err != nil {
		return err
	}
	change := changing{node: n}
	if err = n.markPruned(&change, ends); err != nil {
		return err
	}
	for i, one := range gone {
		err = cmp.Or(ctx.Err(), change.add(
			Put{Table: string(one.table), Key: one.key}, Put{Table: endedTable, Key: ends[i]}))
		if err != nil {
			return err
		}
	}
	if len(ends) > 0 {
		err = change.add(endedOf())
	}
	if err = cmp.Or(err, change.flush()); err == nil && len(ends)+facts > 0 {
		n.log.Info("rows_pruned", "finished_jobs", len(ends), "events", facts)
	}
	return err
}

// readEnds reads keys of endedTable.
func readEnds(keys []string) ([]end, error) {
	ends := make([]end, len(keys))
	for i, key := range keys {
		var ok bool
		if ends[i], ok = readEndKey(key); !ok {
			return nil, fmt.Errorf("%q is no key of the table %s", key, endedTable)
		}
	}
	return ends, nil
}

// prunedTable has, by the values of endedTable, the key there of the job that ended last of those that were ever pruned.
const prunedTable = "pruned"

// markPruned keeps until when the ends are that are pruned now, before they are.
func (n *Node) markPruned(change *changing, ends []string) error {
	last := map[string]string{}
	for _, end := range ends {
		whose, found, err := n.cfg.Store.Get(endedTable, end)
		if err != nil {
			return err
		}
		if found {
			last[string(whose)] = max(last[string(whose)], end)
		}
	}
	for _, whose := range []string{endedJob, endedGuest} {
		before, _, err := n.cfg.Store.Get(prunedTable, whose)
		if err != nil {
			return err
		}
		if last[whose] <= string(before) {
			continue
		}
		if err = change.add(Put{Table: prunedTable, Key: whose, Value: []byte(last[whose])}); err != nil {
			return err
		}
	}
	return nil
}

// pruned is the last end of a job that was pruned, of those that are wanted; 0: none was.
func (n *Node) pruned(wanted view.GuestFilter) (last protocol.Instant, err error) {
	for whose, without := range map[string]view.GuestFilter{endedJob: view.OnlyGuests, endedGuest: view.WithoutGuests} {
		if wanted == without {
			continue
		}
		key, _, err := n.cfg.Store.Get(prunedTable, whose)
		if err != nil {
			return 0, err
		}
		one, _ := readEndKey(string(key))
		last = max(last, one.at)
	}
	return last, nil
}

// endedTooLong lists the keys in endedTable of the jobs and of the guests that ended too long ago, and
// of the rest those that ended first if there are too many.
func (n *Node) endedTooLong(ctx context.Context, now protocol.Instant) ([]string, error) {
	var jobs, guests []string // by their ends
	for end, err := range n.cfg.Store.Load(endedTable) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("look for old jobs: %w", err)
		}
		of := &jobs
		if string(end.Value) == endedGuest {
			of = &guests
		}
		*of = append(*of, end.Key)
	}
	keep := n.cfg.Retention
	return append(tooMany(jobs, now.Add(-keep.FinishedJobs), keep.MaxFinishedJobs),
		tooMany(guests, now.Add(-keep.FinishedGuests), keep.MaxFinishedGuests)...), nil
}

// tooMany are those of the keys of endedTable, in their order, that are of ends before an instant, and
// more if most are exceeded.
func tooMany(ends []string, before protocol.Instant, most int) []string {
	old, _ := slices.BinarySearch(ends, endKey(before, 0))
	return ends[:max(old, len(ends)-most)]
}

// pruneFacts drops facts that are older than the instant, and all of these jobs, whose keys
// are sorted. It returns how many.
func (n *Node) pruneFacts(ctx context.Context, before protocol.Instant, jobs []string) (count int, err error) {
	change := changing{node: n}
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
		if err = change.add(Put{Table: factTable, Key: row.Key}); err != nil {
			return count, err
		}
	}
	return count, change.flush()
}

// changing changes many rows in transactions of a bounded size, between which others get their
// turn.
type changing struct {
	node *Node
	puts []Put
}

// add takes in changes that are made together.
func (c *changing) add(puts ...Put) error {
	c.puts = append(c.puts, puts...)
	if len(c.puts) < pruneBatch {
		return nil
	}
	return c.flush()
}

func (c *changing) flush() error {
	puts := c.puts
	c.puts = nil
	return c.node.save(puts)
}
