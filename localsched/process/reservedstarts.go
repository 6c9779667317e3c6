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

// reservedStartsFile is in the spool.
const reservedStartsFile = "promised"

// reservedStartsPause is how long promises may stand before they are written down. A crash loses no
// more: as promises only ever move to the front, what was written before is kept all the same.
const reservedStartsPause = 2 * time.Second

// reservedStartsRecord is the file of what waiting jobs were promised, which nothing else tells: it
// follows from what had happened when they came. As the clock may be set before it is read, it
// says by which clock the starts are meant.
type reservedStartsRecord struct {
	Boot string                 `json:"boot"`
	Zero protocol.Instant       `json:"zero_ms"` // of the steady clock
	Jobs []engine.ReservedStart `json:"jobs"`
}

// readReservedStarts reads what an earlier run has promised. What is damaged is promised anew. The
// lock is held.
func (s *Scheduler) readReservedStarts() []engine.ReservedStart {
	record, err := spool.ReadRecord[reservedStartsRecord](s.config.Dir, reservedStartsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.config.Log.Warn("promised_starts_not_read", "error", err, "advice", "none: jobs that wait are promised others, which may be later")
	}
	s.reservedStarts.saved = record
	promised := slices.Clone(record.Jobs)
	if boot, err := bootID(); err == nil && boot == record.Boot {
		for i := range promised {
			promised[i].Start = promised[i].Start.Add(s.driver.Instant(0).Sub(record.Zero))
		}
	}
	return promised
}

// reservedStarts are what waiting jobs are promised, as it is written down.
type reservedStarts struct {
	changed chan struct{} // takes one: they may be others
	saved   reservedStartsRecord
}

// reservedStartsChanged has the promises written down soon.
func (s *Scheduler) reservedStartsChanged() {
	select {
	case s.reservedStarts.changed <- struct{}{}:
	default: // that is to be done already
	}
}

// saveReservedStartsPeriodically writes promises down until the context ends, and then once more.
func (s *Scheduler) saveReservedStartsPeriodically(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-s.reservedStarts.changed:
		}
		pause := time.NewTimer(reservedStartsPause)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
		if err := s.saveReservedStarts(); err != nil {
			s.config.Log.Warn("promised_starts_not_kept", "error", err)
		}
	}
}

// saveReservedStarts writes down what waiting jobs are promised, if that is not what was written.
func (s *Scheduler) saveReservedStarts() error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	now, kept := s.currentReservedStarts(), s.reservedStarts.saved
	now.Boot = boot
	if slices.Equal(now.Jobs, kept.Jobs) && (len(now.Jobs) == 0 || now.Zero == kept.Zero && now.Boot == kept.Boot) {
		return nil
	}
	if err := spool.ReplaceRecord(s.config.Dir, reservedStartsFile, now); err != nil {
		return spool.ExplainFull(fmt.Errorf("keep what waiting jobs are promised: %w", err))
	}
	s.reservedStarts.saved = now
	return nil
}

// currentReservedStarts is what waiting jobs are promised, by their tags. A job that the engine has started
// is still one of them as long as its shim has not: should the peer end now, it waits again.
func (s *Scheduler) currentReservedStarts() (record reservedStartsRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.driver.ReservesStarts() {
		return record
	}
	s.driver.Now()
	record.Zero, record.Jobs = s.driver.Instant(0), s.driver.ReservedStarts()
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
