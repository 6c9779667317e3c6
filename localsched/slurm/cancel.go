package slurm

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// cancellation is a request to remove the jobs of a name and an owner from Slurm.
type cancellation struct {
	tag  protocol.Tag
	name string
	uid  uint32
	job  *job // to be ended whether it runs or not; nil: only what waits, of a job that is withdrawn or dropped
}

// How cancellations are carried out: those that come within gathering share one look at the queue,
// and each scancel gets at most idsPerCancel numbers.
const (
	gathering    = 250 * time.Millisecond
	idsPerCancel = 100
)

// lastCancel bounds a scancel. One that its controller does not answer tries again by itself, and
// a controller that is started meanwhile may have given a number to another job.
const lastCancel = 5 * time.Second

// cancel has a job taken out of Slurm soon. It is no error if Slurm does not answer: what is still
// there at the next look is asked for again.
func (s *Scheduler) cancel(c cancellation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancellations[c.name].job == nil {
		s.cancellations[c.name] = c
	}
	select {
	case s.cancels <- struct{}{}:
	default: // it is under way
	}
}

// carryOutCancels carries out cancellations until the scheduler is closed, and then the last.
func (s *Scheduler) carryOutCancels() {
	for {
		select {
		case <-s.cancels:
		case <-s.ctx.Done():
			ctx, stop := context.WithTimeout(context.WithoutCancel(s.ctx), lastCancel)
			defer stop()
			s.cancelAll(ctx)
			return
		}
		select {
		case <-time.After(s.config.timeouts.gather):
		case <-s.ctx.Done():
			continue
		}
		s.cancelAll(s.ctx)
	}
}

// cancelAll carries out the cancellations that have come. Slurm ends jobs by number, with one
// message each; to have it find them by name costs a list of the whole queue for each. So the
// queue is listed once, for all. A number alone names no job: a controller that was killed gives
// numbers of jobs that it has lost to others.
func (s *Scheduler) cancelAll(ctx context.Context) {
	s.carrying.Lock()
	defer s.carrying.Unlock()
	s.mu.Lock()
	wanted := s.cancellations
	s.cancellations = map[string]cancellation{}
	s.mu.Unlock()
	if len(wanted) == 0 {
		return
	}
	entries, err := s.commands.queue(ctx)
	if err == nil {
		err = s.cancelOf(ctx, s.matching(wanted, entries))
	}
	if err != nil && s.ctx.Err() == nil {
		s.trouble()
		s.config.Log.Warn("jobs_cancel_failed", "jobs", len(wanted), "error", err,
			"advice", "none: what Slurm still has is cancelled after one of the next looks")
	}
}

// doubtful is how long after trouble with the controller no number is believed: it was killed
// perhaps, has lost jobs, and gives their numbers to others.
const doubtful = 30 * time.Second

// trouble notes that Slurm did not answer, or has lost a job.
func (s *Scheduler) trouble() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubled = time.Now()
}

// cancelOf ends jobs: by their numbers, or one after the other by their names as long as the
// controller may give these numbers to others.
func (s *Scheduler) cancelOf(ctx context.Context, found []matched) error {
	s.mu.Lock()
	doubted := time.Since(s.troubled) < doubtful
	s.mu.Unlock()
	if !doubted {
		return s.commands.cancel(ctx, found)
	}
	var failed error
	for _, one := range found {
		if err := s.commands.cancelByName(ctx, one.cancellation); err != nil {
			failed = err
		}
	}
	return failed
}

// matched is a job in Slurm's queue that is to be cancelled.
type matched struct {
	cancellation
	id uint32
}

// matching are the jobs to cancel. A job that was withdrawn may have been submitted again
// since; then it stays. The entries were read before that is looked at, so that those of a job
// that is still withdrawn are all earlier ones.
func (s *Scheduler) matching(wanted map[string]cancellation, entries []entry) (found []matched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range entries {
		e := &entries[i]
		c, ok := wanted[e.name]
		if !ok || e.uid != c.uid || e.over() || e.state == "COMPLETING" {
			continue
		}
		now := s.jobs[c.tag]
		stray := now == nil || now.state == withdrawn || now.state == making // which Slurm has not got
		if c.job != nil && now == c.job || c.job == nil && stray && e.waits() {
			found = append(found, matched{c, e.ID})
		}
	}
	return found
}

// cancel ends jobs by their numbers. That scancel has answered says nothing about them.
func (c *commands) cancel(ctx context.Context, found []matched) error {
	for len(found) > 0 {
		some := min(len(found), idsPerCancel)
		var args []string
		for _, one := range found[:some] {
			args = append(args, strconv.FormatUint(uint64(one.id), 10))
		}
		found = found[some:]
		asking, stop := context.WithTimeout(ctx, lastCancel)
		_, _, err := c.run(asking, "", "scancel", args...)
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// cancelByName ends the jobs of a name and an owner, or those of them that wait. A name is never
// one of another job.
func (c *commands) cancelByName(ctx context.Context, one cancellation) error {
	args := []string{"--name=" + one.name, fmt.Sprintf("--user=%d", one.uid)}
	if one.job == nil {
		args = append(args, "--state=PENDING")
	}
	_, _, err := c.run(ctx, "", "scancel", args...)
	return err
}
