package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Reservation is the record of an advance reservation.
type Reservation struct {
	Tag     protocol.Tag     `json:"tag"`
	Request protocol.Request `json:"request"`
	Start   protocol.Instant `json:"start_ms"`
	Account string           `json:"account"`
	Ended   bool             `json:"spent,omitempty"` // its job has come, or it was cancelled: no other job will take it
}

// End is when the reservation expires.
func (h Reservation) End() protocol.Instant { return h.Start.Add(h.Request.WallTime) }

// Reserved is the reservation as it was requested, with the start that it was given.
func (h Reservation) Reserved() localsched.Reservation {
	return localsched.Reservation{Tag: h.Tag, Request: h.Request, Start: h.Start, Account: h.Account}
}

func reservationsOf(dir string) string { return filepath.Join(dir, "reservations") }

// AddReservation saves a reservation durably.
func (s *Spool) AddReservation(h Reservation) error {
	if err := ReplaceRecord(s.reservations, DirName(h.Tag), h); err != nil {
		return ExplainFull(fmt.Errorf("save the reservation of job %v: %w", h.Tag, err))
	}
	return nil
}

// RemoveReservation removes a reservation durably. It need not exist.
func (s *Spool) RemoveReservation(tag protocol.Tag) error {
	err := os.Remove(filepath.Join(s.reservations, DirName(tag)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = SyncPath(s.reservations)
	}
	if err != nil {
		return fmt.Errorf("remove the reservation of job %v: %w", tag, err)
	}
	return nil
}

// Reservations are the saved reservations, ordered by start. Files that are not valid are logged and
// left alone; incomplete writes are removed.
func (s *Spool) Reservations() ([]Reservation, error) {
	entries, err := os.ReadDir(s.reservations)
	if err != nil {
		return nil, fmt.Errorf("list the reservations of the spool: %w", err)
	}
	var holds []Reservation
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			s.sweepOne(filepath.Join(s.reservations, e.Name()))
			continue
		}
		h, err := ReadRecord[Reservation](s.reservations, e.Name())
		if err == nil && DirName(h.Tag) != e.Name() {
			err = fmt.Errorf("it is of job %v", h.Tag)
		}
		if err != nil {
			s.log.Warn("reservation_read_failed", "name", e.Name(), "error", err, "advice", "remove the file; the job has no reservation")
			continue
		}
		holds = append(holds, h)
	}
	slices.SortFunc(holds, func(a, b Reservation) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Tag.Job, b.Tag.Job), cmp.Compare(a.Tag.Epoch, b.Tag.Epoch))
	})
	return holds, nil
}
