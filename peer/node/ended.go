package node

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// endedTable lists the archive by the end of its jobs, so that the jobs of a period are found
// without reading the others, and the earlier runs of jobs by theirs. A key is the end and the job, or of an earlier run
// the tag; the value says whose job it is.
//
// Invariant: it has one row for each row of the archive and of [row.EarlierTable]. They change in one transaction.
const endedTable = "ended"

// endedOfTable says in its one row of which rows of the archive endedTable is, by their tally. An earlier version,
// which has no endedTable, changes the archive without it.
const (
	endedOfTable = "ended-of"
	endedOfKey   = string(row.ArchiveTable)
)

// endedOf is the row of endedOfTable for a transaction after which endedTable is that of the archive.
func endedOf() Put {
	return Put{Table: endedOfTable, Key: endedOfKey, Tally: string(row.ArchiveTable)}
}

// The values of endedTable.
const (
	endedJob   = "job"
	endedGuest = "guest"
)

// endKey sorts by the end, then by job.
func endKey(ended protocol.Instant, id protocol.JobID) string {
	return fmt.Sprintf("%015d-%s", max(0, ended), row.JobKey(id))
}

// endKeyOf is the key of a job, which follows from its end, or of an earlier run of it.
func endKeyOf(job *view.Job) string {
	if job.Earlier {
		return fmt.Sprintf("%015d-%s", max(0, job.Ended), row.RunKey(protocol.Tag{Job: job.ID, Epoch: job.Epoch}))
	}
	return endKey(job.Ended, job.ID)
}

// end is what a key of endedTable says.
type end struct {
	at    protocol.Instant
	table row.Table // where the job or the run is: [row.ArchiveTable] or [row.EarlierTable]
	key   string    // there
}

// readEndKey reads a key of endedTable; false if it is none.
func readEndKey(text string) (e end, ok bool) {
	digits, key, _ := strings.Cut(text, "-")
	id, epoch, earlier := strings.Cut(key, ".")
	at, badEnd := strconv.ParseInt(digits, 10, 64)
	job, badJob := strconv.ParseUint(id, 10, 64)
	run := view.Job{Ended: protocol.Instant(at), ID: protocol.JobID(job), Earlier: earlier}
	e = end{run.Ended, row.ArchiveTable, key}
	if earlier {
		number, badEpoch := strconv.ParseUint(epoch, 10, 32)
		run.Epoch, e.table = protocol.Epoch(number), row.EarlierTable
		badJob = cmp.Or(badJob, badEpoch)
	}
	return e, badEnd == nil && badJob == nil && text == endKeyOf(&run)
}

// endPuts are the rows of endedTable for the jobs and runs among the rows that go into the archive. A guest
// may run here more than once, under later epochs: the archive has its last run, and those before it become earlier ones. A job
// of this origin leaves the archive when it is requeued, and may be back in the same transaction.
func (n *Node) endPuts(rows []row.Record) (puts []Put, err error) {
	for _, record := range rows {
		switch ended := record.Row.(type) { //nolint:gochecksumtype // the others are of jobs that have not ended
		case nil:
			if record.Table == row.ArchiveTable {
				puts, err = n.removeEnd(puts, record.Key)
			}
		case row.Archived:
			if ended.View.Guest {
				puts, err = n.replaceEnd(puts, &ended.View)
			} else {
				puts, err = n.removeEnd(puts, record.Key)
			}
			puts = append(puts, endPut(&ended.View))
		case row.EarlierRun:
			puts = append(puts, endPut(&ended.View))
		}
		if err != nil {
			return nil, err
		}
	}
	if len(puts) > 0 {
		puts = append(puts, endedOf())
	}
	return puts, nil
}

// removeEnd adds the change by which endedTable loses a row of the archive, if there is one under a key.
func (n *Node) removeEnd(puts []Put, key string) ([]Put, error) {
	before, found, err := n.archivedAt(row.ArchiveTable, key)
	if err != nil || !found {
		return puts, err
	}
	return append(puts, Put{Table: endedTable, Key: endPut(&before).Key}), nil
}

// replaceEnd adds the changes by which the row of a guest in the archive makes room for its next run.
func (n *Node) replaceEnd(puts []Put, next *view.Job) ([]Put, error) {
	before, found, err := n.Archived(next.ID)
	if err != nil || !found {
		return puts, err
	}
	if old := endPut(&before); before.Epoch != next.Epoch || old.Key != endKeyOf(next) {
		puts = append(puts, Put{Table: endedTable, Key: old.Key})
	}
	if before.Epoch == next.Epoch { // after its rows were lost
		return puts, nil
	}
	before.Earlier = true
	earlier, err := row.Encode(row.EarlierRun{View: before})
	key := row.RunKey(protocol.Tag{Job: before.ID, Epoch: before.Epoch})
	return append(puts, Put{Table: string(row.EarlierTable), Key: key, Value: earlier}, endPut(&before)), err
}

// endPut is the row of endedTable for a job or an earlier run.
func endPut(job *view.Job) Put {
	whose := endedJob
	if job.Guest {
		whose = endedGuest
	}
	return Put{Table: endedTable, Key: endKeyOf(job), Value: []byte(whose)}
}

// listEnds rebuilds endedTable if it is not that of the archive, since an earlier version has written to the store.
func (n *Node) listEnds() error {
	archive, err := n.cfg.Store.Tally(string(row.ArchiveTable))
	if err != nil {
		return err
	}
	listed, some, err := n.cfg.Store.Get(endedOfTable, endedOfKey)
	if err != nil || bytes.Equal(listed, archive) {
		return err
	}
	change := changing{node: n}
	for old, err := range n.cfg.Store.Load(endedTable) {
		if err != nil {
			return err
		}
		some = true
		if err = change.add(Put{Table: endedTable, Key: old.Key}); err != nil {
			return err
		}
	}
	for _, table := range []row.Table{row.ArchiveTable, row.EarlierTable} {
		for stored, err := range n.cfg.Store.Load(string(table)) {
			if err != nil {
				return err
			}
			job, err := archived(table, stored.Value)
			if err != nil {
				return fmt.Errorf("row %s of table %s: %w", stored.Key, table, err)
			}
			some = true
			if err = change.add(endPut(&job)); err != nil {
				return err
			}
		}
	}
	if !some {
		return nil // a new store: there is nothing to write
	}
	return cmp.Or(change.add(endedOf()), change.flush())
}

// The most that a page of the history has, and the most of the archive that is read for one.
const (
	MaxHistory  = 10_000
	historyRead = 20_000
)

// History lists up to limit of the jobs that have ended and are wanted, the last one first, from where
// an earlier page left off. A page may have fewer, or none, although more follow: what is read for
// it is bounded.
func (n *Node) History(ctx context.Context, wanted *view.HistoryFilter, after string, limit int) (page view.History, err error) {
	from, err := historyFrom(wanted, after)
	if err == nil {
		page.Pruned, err = n.pruned(wanted.Guests)
	}
	if err != nil {
		return page, err
	}
	if len(wanted.Jobs) > 0 {
		return n.historyOf(ctx, wanted, from, limit)
	}
	for read := 0; ; {
		ends, err := n.cfg.Store.Scan(endedTable, from, true, archivePage)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return page, err
		}
		for _, listed := range ends {
			if listed.Key >= from {
				continue // the last one of the page before
			}
			one, ok := readEndKey(listed.Key)
			if !ok {
				return page, fmt.Errorf("%q is no key of the table %s", listed.Key, endedTable)
			}
			if one.at < wanted.Since {
				return page, nil
			}
			from, read = listed.Key, read+1
			if err = n.addEnded(&page, wanted, one); err != nil {
				return page, err
			}
			if len(page.Jobs) >= limit || read >= historyRead {
				page.Next = from
				return page, nil
			}
		}
		if len(ends) < archivePage {
			return page, nil
		}
	}
}

// addEnded adds a job or a run if it is wanted. It may have been pruned a moment ago.
func (n *Node) addEnded(page *view.History, wanted *view.HistoryFilter, one end) error {
	if one.table == row.EarlierTable && !wanted.Earlier {
		return nil
	}
	job, found, err := n.archivedAt(one.table, one.key)
	if err != nil || !found {
		return err
	}
	job, listed := job.Listed()
	if listed && job.Ended == one.at && wanted.Matches(&job) {
		page.Jobs = append(page.Jobs, job)
	}
	return nil
}

// historyFrom is the key below which a page begins.
func historyFrom(wanted *view.HistoryFilter, after string) (string, error) {
	switch _, ok := readEndKey(after); {
	case ok:
		return after, nil
	case after != "":
		return "", &RefusedError{Code: view.BadRequest, Reason: fmt.Sprintf("%.80q is no place in the history; use the next of the page before", after)}
	case wanted.Until != 0:
		return endKey(wanted.Until, 0), nil
	}
	return endKey(lastEnd, 0), nil
}

// lastEnd is later than any job has ended, and has as many digits as the keys of endedTable.
const lastEnd protocol.Instant = 999_999_999_999_999

// historyOf lists up to limit of the jobs that are wanted by their IDs or by those of their arrays, in the order of the
// history and from a key of it on.
func (n *Node) historyOf(ctx context.Context, wanted *view.HistoryFilter, from string, limit int) (page view.History, err error) {
	filter := *wanted
	filter.Jobs = nil // an element does not have the ID of its array
	take := func(job view.Job) {
		job, listed := job.Listed()
		if !listed || endKeyOf(&job) >= from || !filter.Matches(&job) {
			return
		}
		if page.Jobs = append(page.Jobs, job); len(page.Jobs) > 2*limit+archivePage {
			page.Jobs = lastEnded(page.Jobs, limit+1)
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(wanted.Jobs))) {
		job, found, err := n.finished(id)
		if err == nil && found {
			take(job)
		}
		if err == nil && (!found || job.Array != nil) { // the array may not have ended
			err = n.elements(ctx, id, take)
		}
		if err == nil && wanted.Earlier {
			err = n.earlierRuns(ctx, id, take)
		}
		if err != nil {
			return page, err
		}
	}
	if page.Jobs = lastEnded(page.Jobs, limit+1); len(page.Jobs) > limit {
		page.Jobs = page.Jobs[:limit]
		last := &page.Jobs[limit-1]
		page.Next = endKeyOf(last)
	}
	return page, nil
}

// lastEnded are those of the jobs and runs that ended last, each once, the last one first.
func lastEnded(jobs []view.Job, most int) []view.Job {
	slices.SortFunc(jobs, func(a, b view.Job) int {
		if c := cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(b.ID, a.ID)); c != 0 || !a.Earlier && !b.Earlier {
			return c
		}
		return cmp.Compare(endKeyOf(&b), endKeyOf(&a))
	})
	jobs = slices.CompactFunc(jobs, func(a, b view.Job) bool {
		return a.ID == b.ID && a.Earlier == b.Earlier && (!a.Earlier || a.Epoch == b.Epoch)
	})
	return jobs[:min(most, len(jobs))]
}
