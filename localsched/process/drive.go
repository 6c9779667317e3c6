package process

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// carryOut enters what the driver wants, for the loop. The lock is held.
func (s *Scheduler) carryOut() {
	work := s.driver.TakeWork()
	for _, tag := range work.Starts {
		j := s.jobs[tag]
		j.state = starting
		s.starts = append(s.starts, j)
	}
	for _, tag := range work.Kills {
		s.kills = append(s.kills, s.jobs[tag])
	}
	for _, tag := range work.EndedReservations {
		delete(s.reservations, tag)
	}
	s.endedReservations = append(s.endedReservations, work.EndedReservations...)
	s.reservedStartsChanged()
	select {
	case s.kick <- struct{}{}:
	default: // it is awake, or about to be
	}
}

// carryOutAfter logs an error of the driver's, and carries out what that wants. The lock is held.
func (s *Scheduler) carryOutAfter(err error) {
	if err != nil {
		s.config.Log.Error("engine_disagrees", "error", err, "advice", "this is a mistake in the program: report it")
	}
	s.carryOut()
}

// replanned logs what has no place in a new plan, and carries out what the driver wants. The
// lock is held.
func (s *Scheduler) replanned(misfits []driver.Misfit) {
	for _, m := range misfits {
		switch {
		case m.Reserved:
			s.config.Log.Error("hold_not_kept", "job", m.Tag.String(), "error", m.Err,
				"advice", "what starts there may not start together with its other parts")
		case m.Running:
			s.config.Log.Warn("running_job_not_planned", "job", m.Tag.String(), "error", m.Err,
				"advice", "it runs on; see whether cpus, nodes and machine of [localsched] are those of the machine")
		default:
			s.config.Log.Warn("queued_job_not_planned", "job", m.Tag.String(), "error", m.Err,
				"advice", "it waits until the machine of [localsched] can run it, or until it is cancelled")
		}
	}
	s.carryOut()
}

// leave takes a job that no longer runs or waits out of the engine. The lock is
// held.
func (s *Scheduler) leave(j *job, last state) {
	now := s.now()
	j.state = last
	close(j.over)
	s.carryOutAfter(s.driver.Leave(now, &j.Job))
}

// drive does what the engine wants until the context ends. What it starts goes on
// until the other one does.
func (s *Scheduler) drive(ctx, following context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.kick:
		}
		d := s.due()
		timer.Reset(d.next)
		for _, j := range d.starts {
			s.running.Go(func() { s.run(following, j) })
		}
		for _, j := range d.kills {
			s.loops.Go(func() { s.backstop(ctx, j) })
		}
		if len(d.endedReservations) > 0 {
			s.loops.Go(func() { s.removeReservationRecords(d.endedReservations) })
		}
	}
}

// dueWork are what is to be done now, and how long the engine can then be left alone.
type dueWork struct {
	starts, kills     []*job
	endedReservations []protocol.Tag // holds
	next              time.Duration
}

// due is what is due. When the scheduler stops, nothing is started: it stays in the
// queue on disk.
func (s *Scheduler) due() dueWork {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.driver.Next() <= now {
		s.carryOutAfter(s.driver.Tick(now))
	}
	d := dueWork{kills: s.kills, endedReservations: s.endedReservations, next: lookAtClock}
	s.kills, s.endedReservations = nil, nil
	if !s.paused {
		d.starts, s.starts = s.starts, nil
	}
	if s.closed {
		d.starts = nil
	}
	if wake := s.driver.Next(); wake < now.Add(protocol.DurationOf(d.next)) {
		d.next = wake.Sub(now).Std()
	}
	return d
}

// backstop ends a job that its shim should have ended at the limit. It does not
// touch a shim that is merely slow: that knows how the job ended. Nor one that has not come
// to the limit by the steady clock, after which shims go.
func (s *Scheduler) backstop(ctx context.Context, j *job) {
	patience := time.NewTimer(s.left(j).Std() + 2*s.config.GraceKill + 5*time.Second)
	defer patience.Stop()
	select {
	case <-ctx.Done():
	case <-j.over:
	case <-patience.C:
		s.config.Log.Warn("job_past_its_limit", "job", j.Tag.String(), "advice", "none: it is ended now")
		s.end(j)
	}
}

// left is for how long a job may run on by its limit.
func (s *Scheduler) left(j *job) protocol.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.launched == 0 {
		return j.WallTime
	}
	return max(0, j.WallTime-(s.clock.Steady(s.now())-j.launched))
}

// end asks the job's shim to end the job, if there is one.
func (s *Scheduler) end(j *job) {
	s.mu.Lock()
	shim := j.shim
	s.mu.Unlock()
	if err := terminate(shim); err != nil {
		s.config.Log.Warn("shim_not_reached", "job", j.Tag.String(), "error", err)
	}
}

// terminate asks a shim to end its job. One that is gone already is no error.
func terminate(shim processID) error {
	h, err := shim.open()
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = h.signal(unix.SIGTERM)
	if err == nil {
		err = h.signal(unix.SIGCONT) // should somebody have stopped it
	}
	if closed := h.Close(); err == nil {
		err = closed
	}
	return err
}
