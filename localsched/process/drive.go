package process

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/live"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// carryOut stores the work of the driver for the loop. The lock is held.
func (s *Scheduler) carryOut(work driver.Work) {
	for _, tag := range work.Starts {
		j := s.jobs[tag]
		j.state = starting
		s.giveDevices(j) // if some are missing, launch tries again
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
}

// misfitAdvice is for jobs that do not fit the machine or the rules of the configuration.
func misfitAdvice() live.Advice {
	return live.Advice{
		Running: "the job continues to run; check cpus, nodes and machine of [localsched]",
		Pending: "the job stays pending until the machine of [localsched] can run it, or until it is cancelled",
	}
}

// leave takes a job that no longer runs or waits out of the engine. The lock is
// held.
func (s *Scheduler) leave(j *job, last state) {
	now := s.driver.Now()
	j.state = last
	close(j.over)
	s.freeDevices(j)
	s.driver.Done(s.driver.Leave(now, &j.Job))
}

// drive carries out the work of the engine until the context ends. The jobs that it starts are
// followed until the other context ends.
func (s *Scheduler) drive(ctx, following context.Context) {
	s.driver.Run(ctx, func() time.Duration {
		d := s.due()
		for _, j := range d.starts {
			s.running.Go(func() { s.run(following, j) })
		}
		for _, j := range d.kills {
			s.loops.Go(func() { s.backstop(ctx, j) })
		}
		if len(d.endedReservations) > 0 {
			s.loops.Go(func() { s.removeReservationRecords(d.endedReservations) })
		}
		return d.next
	})
}

// dueWork is the work that the loop has to do now, and the time until the engine needs its next step.
type dueWork struct {
	starts, kills     []*job
	endedReservations []protocol.Tag
	next              time.Duration
}

// due takes the work that is due. While the scheduler stops or is paused, jobs that the engine
// has started stay in the queue on disk.
func (s *Scheduler) due() dueWork {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.driver.Step()
	d := dueWork{kills: s.kills, endedReservations: s.endedReservations, next: next}
	s.kills, s.endedReservations = nil, nil
	if !s.paused {
		d.starts, s.starts = s.starts, nil
	}
	if s.closed {
		d.starts = nil
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
		return j.TimeLimit()
	}
	return max(0, j.TimeLimit()-(s.driver.Steady(s.driver.Now())-j.launched))
}

// end asks the job's shim to end the job, if there is one.
func (s *Scheduler) end(j *job) {
	s.mu.Lock()
	shim := j.shim
	s.mu.Unlock()
	if err := terminate(shim); err != nil {
		s.config.Log.Warn("shim_signal_failed", "job", j.Tag.String(), "error", err)
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
