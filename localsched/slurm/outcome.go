package slurm

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// outcome is how a job ended that had started.
func (s *Scheduler) outcome(ctx context.Context, j *job, e entry) spool.End {
	last, err := readExit(j.dir, j.owner())
	if err == nil && s.endedItself(j, e, last, func() bool { return s.refusedLaunch(ctx, j, e) }) {
		return s.byExit(j, last)
	}
	end := spool.End{State: finalState(e.state), Started: j.claim.started}
	if err == nil {
		end.ExitCode, end.Signal = last.status()
		end.Ran = max(0, last.ended.Sub(j.claim.started))
	} else {
		end.ExitCode, end.Signal = s.history.status(ctx, j, e)
		end.Ran = max(0, e.end.Sub(j.claim.started))
	}
	if err != nil && end.ExitCode == exitClaimLost {
		end.State, end.ExitCode = protocol.NodeFail, 0
		end.Reason = "Slurm started the job a second time, which was prevented; how the first one ended is not known"
		return end
	}
	if end.State == protocol.Cancelled && !s.wasKilled(j) && s.refusedLaunch(ctx, j, e) {
		end.State = protocol.NodeFail
		end.Reason = "CANCELLED in Slurm about when its controller was started: by Slurm, which may have started it twice, or by scancel"
		return end
	}
	if e.state == outOfMemory {
		end.ExitCode, end.Signal = 0, protocol.SignalOutOfMemory // as Slurm has it, whatever the script ended with
	}
	end.Reason = s.reasonFor(j, e, end)
	return end
}

// endedItself reports whether the script came to its own end, so that its exit code counts and
// not Slurm's word. Slurm's word counts if anybody had it end the job while the script ran,
// whatever code a script that traps the signal ends with. If the script was over by then, Slurm
// has forgotten that: a controller that was killed launches such a job once more, which slurmd
// refuses and cancels, or takes it to run until its limit or until its node is missed. That the
// wrapper received no TERM is no proof: the signal may have reached the script alone.
func (s *Scheduler) endedItself(j *job, e entry, last exit, refused func() bool) bool {
	switch e.state {
	case "COMPLETED", "FAILED":
		return true
	case "CANCELLED":
		return !s.wasKilled(j) && last.endedByItself(e.end) && (last.before(e.end) || refused())
	case "TIMEOUT", "DEADLINE", "PREEMPTED":
		return last.endedByItself(e.end) && last.before(e.end)
	case "NODE_FAIL":
		// A node that does not answer ends jobs all the same.
		return last.term != termReceived
	}
	return false
}

// wasKilled reports whether the peer had the job ended.
func (s *Scheduler) wasKilled(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return j.killed
}

// refusedLaunch reports whether a job that is cancelled may be one that slurmd has refused to launch
// once more, as one that ended before or that still runs; the latter then has been ended by its node. While the controller does not answer it was perhaps killed.
func (s *Scheduler) refusedLaunch(ctx context.Context, j *job, e entry) bool {
	booted, err := s.commands.booted(ctx)
	if err != nil && ctx.Err() == nil {
		s.config.Log.Warn("boot_time_unknown", "job", j.tag.String(), "error", err, "advice", "none: Slurm may have cancelled it by itself")
	}
	return err != nil || s.afterKill(&e, booted)
}

// reasonFor explains an end by Slurm's word for it.
func (s *Scheduler) reasonFor(j *job, e entry, end spool.End) string {
	killed := s.wasKilled(j)
	switch {
	case end.State == protocol.Completed:
		return ""
	case end.State == protocol.Cancelled && killed:
		return "killed on request"
	case end.State == protocol.Timeout:
		return e.state + ": " + j.limitReached(end.Ran)
	case e.state == "FAILED":
		return failure(end.ExitCode, end.Signal)
	case e.state == "PREEMPTED" && j.record.Submission.Spec.Requeue:
		return "PREEMPTED: Slurm has ended it for a job that comes first"
	case e.state == "PREEMPTED":
		return "PREEMPTED: Slurm has ended it for a job that comes first; submitted with --requeue it would be placed again"
	case end.State == protocol.Cancelled:
		return "CANCELLED in Slurm, by scancel or an administrator, not by switchyard cancel"
	case e.reason == "None" || e.reason == "":
		return e.state
	}
	return e.state + ": " + e.reason
}

// limitReached explains the end of a job that has run for some time when its limit had come.
func (j *job) limitReached(ran protocol.Duration) string {
	spec := &j.record.Submission.Spec
	switch asked, had := spec.WallTime.Text(), j.changedLimit(); {
	case spec.MinTime > 0 && had != 0:
		return fmt.Sprintf("reached the time limit of %s that it had in Slurm; it asked for %s", had.Text(), asked)
	case ran < spec.WallTime:
		return fmt.Sprintf("Slurm ended it at an earlier limit than its wall-time limit of %s; ask the site's administrators", asked)
	default:
		return "reached its wall-time limit of " + asked
	}
}

// byExit is an outcome by what the wrapper has written down.
func (s *Scheduler) byExit(j *job, last exit) spool.End {
	end := spool.End{State: protocol.Completed, Started: j.claim.started, Ran: max(0, last.ended.Sub(j.claim.started))}
	end.ExitCode, end.Signal = last.status()
	if last.code == 0 {
		return end
	}
	end.State, end.Reason = protocol.Failed, failure(end.ExitCode, end.Signal)
	if text, err := readSmallFile(filepath.Join(j.dir, claimDir, troubleFile), j.owner()); err == nil && text != "" {
		_, words, ok := strings.Cut(strings.TrimSpace(text), launchFile+": ")
		if !ok {
			words = text
		}
		end.Reason = "cannot start the job: " + strings.TrimSpace(words)
	}
	return end
}

// neverBegan reports whether a job that its wrapper has claimed in time was too late when its script was
// to begin.
func (j *job) neverBegan() bool {
	if j.record.Submission.StartBy == 0 {
		return false
	}
	_, err := readSmallFile(filepath.Join(j.dir, claimDir, lateFile), j.owner())
	return err == nil
}

func failure(code, signal int) string {
	if signal != 0 {
		return fmt.Sprintf("ended by signal %d (%v)", signal, syscall.Signal(signal))
	}
	return fmt.Sprintf("the script ended with exit code %d", code)
}
