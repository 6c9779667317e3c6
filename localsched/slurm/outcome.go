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
	if err == nil && s.endedItself(j, e, last) {
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
	if err != nil && end.ExitCode == exitLost {
		end.State, end.ExitCode = protocol.NodeFail, 0
		end.Reason = "Slurm started the job a second time, which was prevented; how the first one ended is not known"
		return end
	}
	end.Reason = s.reasonFor(j, e, end)
	return end
}

// endedItself says whether the script came to its own end, whatever Slurm's word. A
// controller that was killed forgets ends: such a job is launched once more, which
// slurmd refuses and cancels, or is taken to run until its limit.
func (s *Scheduler) endedItself(j *job, e entry, last exit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, signal := last.status()
	switch e.state {
	case "COMPLETED", "FAILED", "NODE_FAIL":
		return true
	case "CANCELLED":
		return !j.killed && signal == 0
	case "TIMEOUT":
		return last.ended > 0 && last.ended < j.claim.started.Add(j.record.Submission.Spec.WallTime)
	}
	return false
}

// reasonFor explains an end by Slurm's word for it.
func (s *Scheduler) reasonFor(j *job, e entry, end spool.End) string {
	s.mu.Lock()
	killed := j.killed
	s.mu.Unlock()
	switch {
	case end.State == protocol.Completed:
		return ""
	case end.State == protocol.Cancelled && killed:
		return "killed on request"
	case end.State == protocol.Timeout:
		return fmt.Sprintf("%s: reached its wall-time limit of %v", e.state, j.record.Submission.Spec.WallTime)
	case e.state == "FAILED":
		return failure(end.ExitCode, end.Signal)
	case e.reason == "None" || e.reason == "":
		return e.state
	}
	return e.state + ": " + e.reason
}

// byExit is an outcome by what the wrapper has written down.
func (s *Scheduler) byExit(j *job, last exit) spool.End {
	end := spool.End{State: protocol.Completed, Started: j.claim.started, Ran: max(0, last.ended.Sub(j.claim.started))}
	end.ExitCode, end.Signal = last.status()
	if last.code == 0 {
		return end
	}
	end.State, end.Reason = protocol.Failed, failure(end.ExitCode, end.Signal)
	if text, err := peek(filepath.Join(j.dir, claimDir, troubleFile), j.owner()); err == nil && text != "" {
		_, words, ok := strings.Cut(strings.TrimSpace(text), launchFile+": ")
		if !ok {
			words = text
		}
		end.Reason = "cannot start the job: " + strings.TrimSpace(words)
	}
	return end
}

func failure(code, signal int) string {
	if signal != 0 {
		return fmt.Sprintf("ended by signal %d (%v)", signal, syscall.Signal(signal))
	}
	return fmt.Sprintf("the script ended with exit code %d", code)
}
