package process

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// take notes what the engine wants and what the budget does. The lock is held.
func (s *Scheduler) take(now protocol.Instant, actions localsched.Actions) {
	s.note(now, actions)
	s.attend(now)
}

// note notes what the engine wants, for the driver. Whoever has noted all attends, once: that
// takes a look at each held job. The lock is held.
func (s *Scheduler) note(now protocol.Instant, actions localsched.Actions) {
	s.wake = actions.Wake
	for _, tag := range actions.Starts {
		j := s.jobs[tag]
		j.state, j.began, j.place = starting, s.clock.Steady(now), s.engine.PlaceName(tag)
		s.starts = append(s.starts, j)
	}
	for _, tag := range actions.Kills {
		s.kills = append(s.kills, s.jobs[tag])
	}
	s.promisesChanged()
	select {
	case s.kick <- struct{}{}:
	default: // it is awake, or about to be
	}
}

// leave takes a job that no longer runs or waits out of the engine. The lock is
// held.
func (s *Scheduler) leave(j *job, last state) {
	now, was := s.now(), j.state
	j.state = last
	close(j.over)
	s.spend(j.tag)
	if !j.planned {
		return
	}
	j.planned = false
	done := s.engine.Finished
	if was == queued {
		done = s.engine.Withdraw
	}
	actions, err := done(now, j.tag)
	if err != nil {
		s.config.Log.Error("engine_disagrees", "job", j.tag.String(), "error", err,
			"advice", "this is a mistake in the program: report it")
		return
	}
	s.take(now, actions)
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
			s.driver.Go(func() { s.backstop(ctx, j) })
		}
		if len(d.spent) > 0 {
			s.driver.Go(func() { s.clearHolds(d.spent) })
		}
	}
}

// dues are what is to be done now, and how long the engine can then be left alone.
type dues struct {
	starts, kills []*job
	spent         []protocol.Tag // holds
	next          time.Duration
}

// due is what is due. When the scheduler stops, nothing is started: it stays in the
// queue on disk.
func (s *Scheduler) due() dues {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if s.nextWake() <= now {
		s.take(now, s.engine.Tick(now))
	}
	s.expireHolds(now)
	d := dues{kills: s.kills, spent: s.spent, next: lookAtClock}
	s.kills, s.spent = nil, nil
	if !s.paused {
		d.starts, s.starts = s.starts, nil
	}
	if s.closed {
		d.starts = nil
	}
	if wake := s.nextWake(); wake < now.Add(protocol.DurationOf(d.next)) {
		d.next = wake.Sub(now).Std()
	}
	return d
}

// nextWake is when the engine must be asked again, or the budget becomes another. The lock
// is held.
func (s *Scheduler) nextWake() protocol.Instant {
	if s.wake == 0 {
		return s.turn
	}
	return min(s.wake, s.turn)
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
		s.config.Log.Warn("job_past_its_limit", "job", j.tag.String(), "advice", "none: it is ended now")
		s.end(j)
	}
}

// left is for how long a job may run on by its limit.
func (s *Scheduler) left(j *job) protocol.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.launched == 0 {
		return j.request.WallTime
	}
	return max(0, j.request.WallTime-(s.clock.Steady(s.now())-j.launched))
}

// end asks the job's shim to end the job, if there is one.
func (s *Scheduler) end(j *job) {
	s.mu.Lock()
	shim := j.shim
	s.mu.Unlock()
	if err := terminate(shim); err != nil {
		s.config.Log.Warn("shim_not_reached", "job", j.tag.String(), "error", err)
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
