package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// leeway is how much later than its hold a job may start: Slurm takes some seconds to launch
// it, and ends it with its reservation, which therefore lasts so much longer.
const leeway = 10 * protocol.Minute

// mostTimes bounds at how many times Slurm is asked for room.
const mostTimes = 32

// held is room that is held for a job.
type held struct {
	spool.Hold

	came    bool // the job has been given to Slurm
	dropped bool // it is given up, of which Slurm may not have heard
}

var _ localsched.Reserver = (*Scheduler)(nil)

// Reserve implements [localsched.Reserver] by a reservation of Slurm's with the name of the
// job. There is room at the first of these instants at which Slurm makes it: the one that is
// asked for, the limits of running jobs, and the ends of other reservations; of more than 32,
// at so many of them. A job that waits has no promise.
func (s *Scheduler) Reserve(ctx context.Context, hold localsched.Hold) (protocol.Instant, error) {
	if !s.config.Reservations {
		return 0, &localsched.RefusedError{Reason: "this site makes no reservations in Slurm"}
	}
	if err := s.reserving(ctx); err != nil {
		return 0, err
	}
	defer func() { <-s.reserves }()
	if h, ok := s.heldFor(hold.Tag); ok {
		return h.Start, nil
	}
	j, err := s.get(hold.Tag)
	if err != nil {
		return 0, err
	}
	if j != nil {
		return 0, &localsched.RefusedError{Reason: fmt.Sprintf("job %v has come already, or was withdrawn", hold.Tag)}
	}
	h, err := s.makeReservation(ctx, hold)
	if err == nil {
		err = s.spool.AddHold(h)
	}
	if err != nil {
		if _, refused := errors.AsType[*localsched.RefusedError](err); !refused {
			s.swept.Store(false) // Slurm may have made it
		}
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[h.Tag] = &held{Hold: h}
	return h.Start, nil
}

// makeReservation has Slurm make a reservation at the first time at which it does.
func (s *Scheduler) makeReservation(ctx context.Context, hold localsched.Hold) (h spool.Hold, err error) {
	room, err := s.roomFor(ctx, hold)
	if err != nil {
		return h, err
	}
	times, err := s.times(ctx, max(hold.Start, protocol.InstantOf(time.Now().Add(time.Second))))
	if err != nil {
		return h, err
	}
	h = spool.Hold{Tag: hold.Tag, Request: hold.Request, Account: hold.Account}
	if err = s.commands.unreserve(ctx, s.reservationOf(h).name); err != nil { // left by a try that had no answer
		return h, refusedReservation(err)
	}
	for _, h.Start = range times {
		err = s.commands.reserve(ctx, s.reservationOf(h), hold.Account, room)
		if !says(err, []string{noRoomThen}) {
			break
		}
	}
	return h, refusedReservation(err)
}

// refusedReservation is what Slurm has said of a reservation: nothing, a
// *[localsched.RefusedError], or no answer.
func refusedReservation(err error) error {
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*commandError](err)
	if !ok || failed.code < 1 || unreachable(err) {
		return fmt.Errorf("make a reservation: %w", err)
	}
	return &localsched.RefusedError{Reason: "Slurm makes no reservation: " + failed.words}
}

// reserving waits until no other reservation is being made or given up.
func (s *Scheduler) reserving(ctx context.Context) error {
	select {
	case s.reserves <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Scheduler) heldFor(tag protocol.Tag) (h spool.Hold, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.holds[tag]; one != nil {
		return one.Hold, true
	}
	return h, false
}

// reservationOf is the reservation of a hold.
func (s *Scheduler) reservationOf(h spool.Hold) reservation {
	limit := protocol.Duration(minutes(h.Request.WallTime)) * protocol.Minute
	return reservation{name: nameOf(s.config.Site, h.Tag), start: h.Start, end: wholeSecond(h.Start.Add(limit.Plus(leeway)))}
}

// roomFor is what a hold's reservation has to keep. The error is a *[localsched.RefusedError]
// where the job can never run here.
func (s *Scheduler) roomFor(ctx context.Context, hold localsched.Hold) ([]string, error) {
	if hold.Request.WallTime < 1 {
		return nil, &localsched.RefusedError{Reason: "it has no wall-time limit; ask for at least 1ms"}
	}
	if _, err := s.accounts.Runnable(ctx, hold.Account); err != nil {
		return nil, err
	}
	seen, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	p, reason := choose(seen.partitions, hold.Request, seen.machine)
	if p == nil {
		return nil, &localsched.RefusedError{Reason: reason}
	}
	return s.room(ctx, hold.Request, p, seen.machine)
}

// times are the instants from one on at which there may be room, in whole seconds.
func (s *Scheduler) times(ctx context.Context, from protocol.Instant) ([]protocol.Instant, error) {
	times := []protocol.Instant{wholeSecond(from)}
	add := func(end protocol.Instant) {
		if end = wholeSecond(end); end > times[0] {
			times = append(times, end)
		}
	}
	queue, err := s.commands.queue(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, e := range queue {
		if e.runs() {
			add(e.end.Add(protocol.Second)) // at its very end it is still in the way
		}
	}
	all, err := s.commands.reservations(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		add(r.end)
	}
	slices.Sort(times)
	return spread(slices.Compact(times), mostTimes), nil
}

// spread leaves so many of the instants, at even steps, with the first and the last: then all
// that runs now is over, and there is room on any machine that is large enough.
func spread(times []protocol.Instant, most int) []protocol.Instant {
	if len(times) <= most {
		return times
	}
	left := make([]protocol.Instant, most)
	for i := range left {
		left[i] = times[i*(len(times)-1)/(most-1)]
	}
	return left
}

// Release implements [localsched.Reserver]. If it fails it is tried again at the next looks.
func (s *Scheduler) Release(ctx context.Context, tag protocol.Tag) error {
	if err := s.reserving(ctx); err != nil {
		return err
	}
	defer func() { <-s.reserves }()
	if h, ok := s.heldFor(tag); ok {
		if j, err := s.get(tag); err != nil || j != nil {
			return err
		}
		s.drops(tag)
		return s.unhold(ctx, h)
	}
	return nil
}

// drops notes that a hold is given up.
func (s *Scheduler) drops(tag protocol.Tag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds[tag].dropped = true
}

// unhold deletes a hold's reservation, then its record.
func (s *Scheduler) unhold(ctx context.Context, h spool.Hold) error {
	if err := s.commands.unreserve(ctx, s.reservationOf(h).name); err != nil {
		return fmt.Errorf("give the reservation for job %v up: %w", h.Tag, err)
	}
	if err := s.spool.RemoveHold(h.Tag); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holds, h.Tag)
	return nil
}

// sweepHolds gives up what is held for jobs that have gone, or have not come in time. Slurm
// does not delete a reservation of which a job is just ending: that is for the next look. So
// is all of it while reservations are made or given up.
func (s *Scheduler) sweepHolds(ctx context.Context) {
	select {
	case s.reserves <- struct{}{}:
	default:
		return
	}
	defer func() { <-s.reserves }()
	if err := s.sweepReservations(ctx); err != nil && ctx.Err() == nil {
		s.config.Log.Warn("reservations_not_seen", "error", err)
	}
	for _, h := range s.spentHolds(protocol.InstantOf(time.Now())) {
		if err := s.unhold(ctx, h); err != nil && ctx.Err() == nil {
			s.config.Log.Info("reservation_not_deleted", "job", h.Tag.String(), "error", err, "advice", "none: it is tried again")
		}
	}
}

// holdsToSweep says whether a sweep has anything to do.
func (s *Scheduler) holdsToSweep() bool {
	return s.config.Reservations && !s.swept.Load() || len(s.spentHolds(protocol.InstantOf(time.Now()))) > 0
}

func (s *Scheduler) spentHolds(now protocol.Instant) (spent []spool.Hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, h := range s.holds {
		j := s.jobs[tag]
		if j == nil && (h.came || h.dropped || h.End() <= now) || j != nil && (j.state == ended || j.state == withdrawn) {
			spent = append(spent, h.Hold)
		}
	}
	return spent
}

// inReservation is what of sbatch's arguments has a job start in its reservation; nothing
// when it has none, or would be ended with it because it comes too late.
func (s *Scheduler) inReservation(tag protocol.Tag) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holds[tag]
	if h == nil {
		return nil
	}
	h.came = true
	if protocol.InstantOf(time.Now()) > h.Start.Add(leeway/2) {
		return nil
	}
	return []string{"--reservation=" + s.reservationOf(h.Hold).name}
}

// restoreHolds reads what is held.
func (s *Scheduler) restoreHolds() error {
	holds, err := s.spool.Holds()
	if err != nil {
		return err
	}
	for _, h := range holds {
		s.holds[h.Tag] = &held{Hold: h}
	}
	return nil
}

// sweepReservations deletes the reservations of this site's that no hold is known of: once for
// those that were being made when the peer ended, and again after one was asked for and the
// answer was lost, since nobody may ask for it again, or release it.
func (s *Scheduler) sweepReservations(ctx context.Context) error {
	if s.swept.Load() {
		return nil
	}
	all, err := s.commands.reservations(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		tag, own := parseName(s.config.Site, r.name)
		if _, known := s.heldFor(tag); !own || known {
			continue
		}
		if err = s.commands.unreserve(ctx, r.name); err != nil {
			s.config.Log.Warn("reservation_not_deleted", "name", r.name, "error", err, "advice", "delete it with scontrol")
		}
	}
	s.swept.Store(true)
	return nil
}
