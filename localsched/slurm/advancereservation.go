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

// leeway is how much later than its reservation a job may start. Slurm takes some seconds to launch it,
// and ends it with its reservation, which therefore lasts that much longer.
const leeway = 10 * protocol.Minute

// maxStartTimes limits the starts that are tried for one reservation.
const maxStartTimes = 32

// advanceReservation is an advance reservation of a job.
type advanceReservation struct {
	spool.Reservation

	checked time.Time // when Slurm was last asked for it, while its job is pending
}

var _ localsched.Reserver = (*Scheduler)(nil)

// Reserve implements [localsched.Reserver] by a reservation in Slurm with the name of the job. It tries
// the requested start, the time limits of running jobs and the ends of other reservations, and takes the
// first at which Slurm makes the reservation; of more than 32 instants it tries 32. Pending jobs have no
// reserved start.
func (s *Scheduler) Reserve(ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	if !s.config.Reservations {
		return 0, &localsched.RefusedError{Reason: "this site makes no reservations in Slurm"}
	}
	if err := s.reserving(ctx); err != nil {
		return 0, err
	}
	defer func() { <-s.reserves }()
	if h, ok := s.advanceReservationOf(hold.Tag); ok {
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
		err = s.spool.AddReservation(h)
	}
	if err != nil {
		if _, refused := errors.AsType[*localsched.RefusedError](err); !refused {
			s.swept.Store(false) // Slurm may have made it
		}
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanceReservations[h.Tag] = &advanceReservation{Reservation: h}
	return h.Start, nil
}

// makeReservation makes a reservation in Slurm at the first instant at which Slurm accepts it.
func (s *Scheduler) makeReservation(ctx context.Context, hold localsched.Reservation) (h spool.Reservation, err error) {
	room, err := s.reservationSize(ctx, hold)
	if err != nil {
		return h, err
	}
	times, err := s.times(ctx, max(hold.Start, protocol.InstantOf(time.Now().Add(time.Second))))
	if err != nil {
		return h, err
	}
	h = spool.Reservation{Tag: hold.Tag, Request: hold.Request, Account: hold.Account}
	if err = s.commands.unreserve(ctx, s.reservationOf(h).name); err != nil { // left by a try that had no answer
		return h, refusedReservation(err)
	}
	for _, h.Start = range times {
		err = s.commands.reserve(ctx, s.reservationOf(h), hold.Account, room)
		if !says(err, []string{busyThen}) {
			break
		}
	}
	return h, refusedReservation(err)
}

// refusedReservation converts an error of scontrol: to a *[localsched.RefusedError] if Slurm has refused
// the reservation.
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

// reserving waits until no other reservation is being made or deleted.
func (s *Scheduler) reserving(ctx context.Context) error {
	select {
	case s.reserves <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Scheduler) advanceReservationOf(tag protocol.Tag) (h spool.Reservation, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.advanceReservations[tag]; one != nil {
		return one.Reservation, true
	}
	return h, false
}

// reservationOf is the reservation in Slurm of a saved one.
func (s *Scheduler) reservationOf(h spool.Reservation) reservation {
	limit := protocol.Duration(minutes(h.Request.WallTime)) * protocol.Minute
	return reservation{name: nameOf(s.config.Site, h.Tag), start: h.Start, end: wholeSecond(h.Start.Add(limit.Plus(leeway)))}
}

// reservationSize returns the scontrol arguments for the size of a reservation. The error is a
// *[localsched.RefusedError] if the job can never run here.
func (s *Scheduler) reservationSize(ctx context.Context, hold localsched.Reservation) ([]string, error) {
	switch r := &hold.Request; {
	case r.WallTime < 1:
		return nil, &localsched.RefusedError{Reason: "it has no wall-time limit; ask for at least 1ms"}
	case len(r.Resources) > 0 || r.Features != "" || r.Exclusive:
		return nil, &localsched.RefusedError{Reason: "a reservation of Slurm's is of nodes and cores, without resources, features or --exclusive"}
	}
	if _, err := s.accounts.Runnable(ctx, hold.Account); err != nil {
		return nil, err
	}
	seen, err := s.fresh(ctx)
	if err != nil {
		return nil, err
	}
	among, reason := seen.in(hold.Association.Partition)
	var p *partition
	if reason == "" {
		p, reason = choose(among, hold.Request, seen.machine)
	}
	if p == nil {
		return nil, &localsched.RefusedError{Reason: reason}
	}
	return s.reservationArgs(ctx, hold.Request, p, seen.machine)
}

// times are the instants, not before a given one, at which CPUs may become free, in whole seconds.
func (s *Scheduler) times(ctx context.Context, from protocol.Instant) ([]protocol.Instant, error) {
	times := []protocol.Instant{wholeSecond(from)}
	add := func(end protocol.Instant) {
		if end = wholeSecond(end); end > times[0] {
			times = append(times, end)
		}
	}
	queue, err := s.commands.queue(ctx)
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
	return spread(slices.Compact(times), maxStartTimes), nil
}

// spread returns a limited number of the instants, at even steps, with the first and the last: at the
// last all running jobs have ended, so any machine that is large enough has free CPUs.
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

// CancelReservation implements [localsched.Reserver]. If it fails, the next looks at the queue retry it.
func (s *Scheduler) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	if err := s.reserving(ctx); err != nil {
		return err
	}
	defer func() { <-s.reserves }()
	if h, ok := s.advanceReservationOf(tag); ok {
		if j, err := s.get(tag); err != nil || j != nil {
			return err
		}
		s.endReservation(tag)
		return s.deleteReservation(ctx, h)
	}
	return nil
}

// endReservation records durably that a reservation waits for no job any more, so that it is deleted in
// Slurm after a restart too.
func (s *Scheduler) endReservation(tag protocol.Tag) {
	s.mu.Lock()
	h := s.advanceReservations[tag]
	known := h == nil || h.Ended
	if known {
		s.mu.Unlock()
		return
	}
	h.Ended = true
	record := h.Reservation
	s.mu.Unlock()
	if err := s.spool.AddReservation(record); err != nil {
		s.config.Log.Warn("reservation_save_failed", "job", tag.String(), "error", err,
			"advice", "if the peer restarts before the job ends, delete the reservation with scontrol, or it lasts until its end")
	}
}

// deleteReservation deletes a reservation in Slurm, then its record.
func (s *Scheduler) deleteReservation(ctx context.Context, h spool.Reservation) error {
	if err := s.commands.unreserve(ctx, s.reservationOf(h).name); err != nil {
		return fmt.Errorf("give the reservation for job %v up: %w", h.Tag, err)
	}
	if err := s.spool.RemoveReservation(h.Tag); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.advanceReservations, h.Tag)
	return nil
}

// sweepEndedReservations deletes the reservations of jobs that have ended or have not come in time.
// Slurm does not delete a reservation while a job in it is ending: the next look retries it. It does
// nothing while another reservation is being made or deleted.
func (s *Scheduler) sweepEndedReservations(ctx context.Context) {
	select {
	case s.reserves <- struct{}{}:
	default:
		return
	}
	defer func() { <-s.reserves }()
	if err := errors.Join(s.sweepReservations(ctx), s.leaveLostReservations(ctx)); err != nil && ctx.Err() == nil {
		s.config.Log.Warn("reservations_list_failed", "error", err)
	}
	for _, h := range s.endedReservations(protocol.InstantOf(time.Now())) {
		if err := s.deleteReservation(ctx, h); err != nil && ctx.Err() == nil {
			s.config.Log.Info("reservation_delete_failed", "job", h.Tag.String(), "error", err, "advice", "none: the peer retries")
		}
	}
}

// reservationsToSweep reports whether a sweep has anything to do.
func (s *Scheduler) reservationsToSweep() bool {
	return s.config.Reservations && !s.swept.Load() || len(s.endedReservations(protocol.InstantOf(time.Now()))) > 0 || len(s.unchecked()) > 0
}

func (s *Scheduler) endedReservations(now protocol.Instant) (spent []spool.Reservation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, h := range s.advanceReservations {
		j := s.jobs[tag]
		if j == nil && (h.Ended || h.End() <= now) || j != nil && (j.state == ended || j.state == withdrawn) {
			spent = append(spent, h.Reservation)
		}
	}
	return spent
}

// inReservation returns the sbatch arguments that start a job in its reservation. There are none without
// a reservation, or if the job comes so late that Slurm would end it with the reservation. If the
// reservation is gone, the job starts no earlier than the other components of its group.
func (s *Scheduler) inReservation(tag protocol.Tag) []string {
	h, ok := s.advanceReservationOf(tag)
	if !ok {
		return nil
	}
	s.endReservation(tag)
	now, r := protocol.InstantOf(time.Now()), s.reservationOf(h)
	if now > h.Start.Add(leeway/2) {
		return nil
	}
	all, err := s.commands.reservations(s.ctx)
	if err != nil || named(all, r.name) {
		return []string{"--reservation=" + r.name}
	}
	s.config.Log.Error("reservation_is_gone", "job", tag.String(), "advice", adviceLost)
	if h.Start <= now {
		return nil
	}
	return []string{"--begin=" + stamp(wholeSecond(h.Start))}
}

// adviceLost is for a reservation that is not in Slurm any more.
const adviceLost = "the job waits as others do, until its time at least; see who has deleted its reservation, or whether slurmctld has lost its state"

func named(all []reservation, name string) bool {
	return slices.ContainsFunc(all, func(r reservation) bool { return r.name == name })
}

// unchecked are the reservations whose jobs are pending in Slurm and that were not checked recently.
func (s *Scheduler) unchecked() (holds []*advanceReservation) {
	const often = 5 // polls
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, h := range s.advanceReservations {
		if j := s.jobs[tag]; j != nil && j.state == queued && time.Since(h.checked) >= often*s.config.Poll {
			holds = append(holds, h)
		}
	}
	return holds
}

// leaveLostReservations takes jobs out of reservations that Slurm does not have any more, because a
// controller has lost its state, or no node was up until the reservation had ended. They would be
// pending forever.
func (s *Scheduler) leaveLostReservations(ctx context.Context) error {
	holds := s.unchecked()
	if len(holds) == 0 {
		return nil
	}
	all, err := s.commands.reservations(ctx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		if !named(all, s.reservationOf(h.Reservation).name) {
			err = errors.Join(err, s.leaveReservation(ctx, h.Reservation))
		}
		s.mu.Lock()
		h.checked = time.Now()
		s.mu.Unlock()
	}
	return err
}

// leaveReservation takes a job out of its reservation, if it is in one.
func (s *Scheduler) leaveReservation(ctx context.Context, h spool.Reservation) error {
	name := s.reservationOf(h).name
	called := ""
	s.mu.Lock()
	if j := s.jobs[h.Tag]; j != nil {
		called = j.record.Submission.Spec.Name
	}
	s.mu.Unlock()
	waiting, err := s.commands.waitingIn(ctx, name, jobName(called, name))
	if err != nil {
		return err
	}
	for _, one := range waiting {
		s.config.Log.Error("reservation_is_gone", "job", h.Tag.String(), "slurm_job", one.id, "advice", adviceLost)
		err = errors.Join(err, s.commands.leave(ctx, one, h.Start))
	}
	return err
}

// restoreReservations reads the saved reservations. The jobs have been read before.
func (s *Scheduler) restoreReservations() error {
	holds, err := s.spool.Reservations()
	if err != nil {
		return err
	}
	for _, h := range holds {
		h.Ended = h.Ended || s.jobs[h.Tag] != nil
		s.advanceReservations[h.Tag] = &advanceReservation{Reservation: h}
	}
	return nil
}

// sweepReservations deletes this site's reservations in Slurm that have no record: once for those that
// were being made when the peer stopped, and again after the answer to a request was lost, because the
// request may not be repeated.
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
		if _, known := s.advanceReservationOf(tag); !own || known {
			continue
		}
		if err = s.commands.unreserve(ctx, r.name); err != nil {
			s.config.Log.Warn("reservation_delete_failed", "name", r.name, "error", err, "advice", "delete it with scontrol")
		}
	}
	s.swept.Store(true)
	return nil
}
