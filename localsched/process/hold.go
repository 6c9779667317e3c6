package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var _ localsched.Reserver = (*Scheduler)(nil)

// held is room that the engine holds for a job.
type held struct {
	spool.Hold

	made   chan struct{} // closed when it is written down, or could not be
	failed error
}

// Reserve implements [localsched.Reserver]. The hold is in the spool before it answers, and
// ends with its job, with Release, or when its time is over and no job has come.
func (s *Scheduler) Reserve(ctx context.Context, hold localsched.Hold) (protocol.Instant, error) {
	if _, err := s.accounts.Runnable(ctx, hold.Account); err != nil {
		return 0, err
	}
	h, mine, err := s.hold(hold)
	switch {
	case err != nil:
		return 0, err
	case !mine:
		return h.repeated(ctx)
	}
	err = s.spool.AddHold(h.Hold)
	if err != nil {
		err = errors.Join(err, s.spool.RemoveHold(hold.Tag))
		s.unhold(hold.Tag)
	}
	h.failed = err
	close(h.made)
	return h.Start, err
}

// repeated answers for a hold that was asked for before.
func (h *held) repeated(ctx context.Context) (protocol.Instant, error) {
	select {
	case <-h.made:
		return h.Start, h.failed
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// hold has the engine hold room, unless it does so already.
func (s *Scheduler) hold(asked localsched.Hold) (h *held, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, ErrClosed
	}
	if h = s.holds[asked.Tag]; h != nil {
		return h, false, nil
	}
	if s.jobs[asked.Tag] != nil {
		return nil, false, &localsched.RefusedError{Reason: fmt.Sprintf("job %v has come already, or was withdrawn", asked.Tag)}
	}
	now := s.now()
	start, actions, err := s.engine.Hold(now, asked, false)
	if err != nil {
		return nil, false, err
	}
	h = &held{
		Hold: spool.Hold{Tag: asked.Tag, Request: asked.Request, Start: start, Account: asked.Account},
		made: make(chan struct{}),
	}
	s.holds[asked.Tag] = h
	s.take(now, actions)
	return h, true, nil
}

// unhold has the engine give up a hold that no job has taken, and forgets it.
func (s *Scheduler) unhold(tag protocol.Tag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	delete(s.holds, tag)
	s.take(now, s.engine.Drop(now, tag))
}

// Release implements [localsched.Reserver]. The room of a job that has come is given up by
// Withdraw.
func (s *Scheduler) Release(ctx context.Context, tag protocol.Tag) error {
	s.mu.Lock()
	h, taken, closed := s.holds[tag], s.jobs[tag] != nil, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case h == nil || taken:
		return nil
	}
	if _, err := h.repeated(ctx); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.spool.RemoveHold(tag); err != nil {
		return err
	}
	s.unhold(tag)
	return nil
}

// spend forgets a hold that is of no more use, and has its record removed. The lock is held.
func (s *Scheduler) spend(tag protocol.Tag) {
	if _, ok := s.holds[tag]; ok {
		delete(s.holds, tag)
		s.spent = append(s.spent, tag)
	}
}

// expireHolds forgets the holds that were over before their jobs came. The lock is held.
func (s *Scheduler) expireHolds(now protocol.Instant) {
	for tag, h := range s.holds {
		if s.jobs[tag] == nil && h.End() <= now {
			s.spend(tag)
		}
	}
}

// clearHolds removes records of holds.
func (s *Scheduler) clearHolds(tags []protocol.Tag) {
	for _, tag := range tags {
		if err := s.spool.RemoveHold(tag); err != nil {
			s.config.Log.Warn("hold_not_removed", "error", err, "advice", "none: it is over, and is removed at the next start")
		}
	}
}

// planHolds has a new engine hold what is held, before anything is queued. The lock is held.
func (s *Scheduler) planHolds(now protocol.Instant) {
	for _, h := range slices.SortedFunc(maps.Values(s.holds), func(a, b *held) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Tag.Job, b.Tag.Job), cmp.Compare(a.Tag.Epoch, b.Tag.Epoch))
	}) {
		j := s.jobs[h.Tag]
		if j != nil && (j.state == starting || j.state == running) {
			continue // it has its room, and the hold goes with it
		}
		if h.End() <= now || j != nil && j.state != queued && j.state != making {
			s.spend(h.Tag)
			continue
		}
		_, actions, err := s.engine.Hold(now, h.Reserved(), true)
		if err != nil {
			s.config.Log.Error("hold_not_kept", "job", h.Tag.String(), "error", err,
				"advice", "what starts there may not start together with its other parts")
			s.spend(h.Tag)
			continue
		}
		s.note(now, actions)
	}
}

// capabilities are those of the rules that are in force.
func (s *Scheduler) capabilities() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	able := []string{localsched.Delays}
	if s.engine.Holds() {
		able = append(able, localsched.Reserve)
	}
	return able
}
