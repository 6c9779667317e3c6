package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// promisedFile is in the spool.
const promisedFile = "promised"

// promisedPause is how long promises may stand before they are written down. A crash loses no
// more: as promises only ever move to the front, what was written before is kept all the same.
const promisedPause = 2 * time.Second

// promisedRecord is the file of what waiting jobs were promised, which nothing else tells: it
// follows from what had happened when they came. As the clock may be set before it is read, it
// says by which clock the starts are meant.
type promisedRecord struct {
	Boot string                 `json:"boot"`
	Zero protocol.Instant       `json:"zero_ms"` // of the steady clock
	Jobs []engine.ReservedStart `json:"jobs"`
}

// readPromised reads what an earlier run has promised. What is damaged is promised anew. The
// lock is held.
func (s *Scheduler) readPromised() []engine.ReservedStart {
	record, err := spool.ReadRecord[promisedRecord](s.config.Dir, promisedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.config.Log.Warn("promised_starts_not_read", "error", err, "advice", "none: jobs that wait are promised others, which may be later")
	}
	s.promises.kept = record
	promised := slices.Clone(record.Jobs)
	if boot, err := bootID(); err == nil && boot == record.Boot {
		for i := range promised {
			promised[i].Start = promised[i].Start.Add(s.clock.Instant(0).Sub(record.Zero))
		}
	}
	return promised
}

// promises are what waiting jobs are promised, as it is written down.
type promises struct {
	news chan struct{} // takes one: they may be others
	kept promisedRecord
}

// promisesChanged has the promises written down soon.
func (s *Scheduler) promisesChanged() {
	select {
	case s.promises.news <- struct{}{}:
	default: // that is to be done already
	}
}

// keepPromised writes promises down until the context ends, and then once more.
func (s *Scheduler) keepPromised(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.promises.news:
		}
		pause := time.NewTimer(promisedPause)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
		if err := s.savePromised(); err != nil {
			s.config.Log.Warn("promised_starts_not_kept", "error", err)
		}
	}
}

// savePromised writes down what waiting jobs are promised, if that is not what was written.
func (s *Scheduler) savePromised() error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	now, kept := s.promised(), s.promises.kept
	now.Boot = boot
	if slices.Equal(now.Jobs, kept.Jobs) && (len(now.Jobs) == 0 || now.Zero == kept.Zero && now.Boot == kept.Boot) {
		return nil
	}
	if err := spool.ReplaceRecord(s.config.Dir, promisedFile, now); err != nil {
		return spool.ExplainFull(fmt.Errorf("keep what waiting jobs are promised: %w", err))
	}
	s.promises.kept = now
	return nil
}

// promised is what waiting jobs are promised, by their tags. A job that the engine has started
// is still one of them as long as its shim has not: should the peer end now, it waits again.
func (s *Scheduler) promised() (record promisedRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.driver.ReservesStarts() {
		return record
	}
	s.now()
	record.Zero, record.Jobs = s.clock.Instant(0), s.driver.ReservedStarts()
	for _, j := range s.jobs {
		if j.state == starting {
			record.Jobs = append(record.Jobs, engine.ReservedStart{Tag: j.Tag, Start: j.Began, Place: j.Place})
		}
	}
	slices.SortFunc(record.Jobs, func(a, b engine.ReservedStart) int {
		return cmp.Or(cmp.Compare(a.Tag.Job, b.Tag.Job), cmp.Compare(a.Tag.Epoch, b.Tag.Epoch))
	})
	return record
}
