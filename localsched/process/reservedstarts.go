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

// reservedStartsPause is the delay between a change of reserved starts and their saving. Reserved
// starts only move to earlier times, so an older file is still correct after a crash.
const reservedStartsPause = 2 * time.Second

// reservedStartsRecord is the file of the reserved starts of pending jobs, which cannot be derived from
// the jobs. It has the clock by which the starts are meant, because the wall clock may be set before
// the file is read.
type reservedStartsRecord struct {
	Boot string                 `json:"boot"`
	Zero protocol.Instant       `json:"zero_ms"` // of the steady clock
	Jobs []engine.ReservedStart `json:"jobs"`
}

// readReservedStarts reads the saved reserved starts. If the file is damaged, starts are reserved again.
// The lock is held.
func (s *Scheduler) readReservedStarts() []engine.ReservedStart {
	record, err := spool.ReadRecord[reservedStartsRecord](s.config.Dir, reservedStartsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.config.Log.Warn("reserved_starts_load_failed", "error", err, "advice", "none: pending jobs get other reserved starts, which may be later")
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

// reservedStarts are the saved reserved starts of pending jobs.
type reservedStarts struct {
	changed chan struct{} // holds one element if they may have changed
	saved   reservedStartsRecord
}

// reservedStartsChanged has the reserved starts saved soon.
func (s *Scheduler) reservedStartsChanged() {
	select {
	case s.reservedStarts.changed <- struct{}{}:
	default: // that is to be done already
	}
}

// saveReservedStartsPeriodically saves reserved starts until the context ends, and then once more.
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
			s.config.Log.Warn("reserved_starts_save_failed", "error", err)
		}
	}
}

// saveReservedStarts saves the reserved starts of pending jobs if they have changed.
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
		return spool.ExplainFull(fmt.Errorf("save the reserved starts of pending jobs: %w", err))
	}
	s.reservedStarts.saved = now
	return nil
}

// currentReservedStarts are the reserved starts of pending jobs, ordered by tag. A job that the engine
// has started counts as pending until its shim has started, because it is pending again if the peer
// stops now.
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
