package process

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The pauses between attempts to start a shim.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// run brings a job from the engine's start to its end.
func (s *Scheduler) run(ctx context.Context, j *job) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		shim, err := s.launch(ctx, j)
		switch {
		case err == nil && shim == nil: // withdrawn, here or by the shim
			s.nowWithdrawn(j)
			return
		case err == nil:
			s.nowRuns(j)
			s.follow(ctx, j, shim)
			return
		case isGone(err):
			s.finish(ctx, j)
			return
		case ctx.Err() != nil:
			return
		}
		s.config.Log.Error("job_start_failed", "job", j.Tag.String(), "error", err, "advice", "none: the peer retries")
		if !s.postpone(j, "cannot be started yet: "+err.Error(), pause) {
			return
		}
	}
}

// postpone reports why a job does not start, and waits. It returns false when the
// job is not to be started any more.
func (s *Scheduler) postpone(j *job, reason string, pause time.Duration) bool {
	s.mu.Lock()
	if j.state == starting {
		s.driver.ReportPending(&j.Job, reason)
	}
	s.mu.Unlock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-j.over:
	case <-s.stopping:
	}
	return false
}

// nowRuns enters that the job runs.
func (s *Scheduler) nowRuns(j *job) {
	s.mu.Lock()
	j.state = running
	s.changes.Report(&j.Reported, j.change(protocol.Running, j.uncontained))
	stopping := s.closed && s.config.OnStop == EndJobs
	s.mu.Unlock()
	if stopping {
		s.end(j)
	}
}

// follow waits for the end of a running job's shim. It leaves when the context
// ends.
func (s *Scheduler) follow(ctx context.Context, j *job, shim *handle) {
	if shim == nil {
		s.finish(ctx, j)
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = shim.Close() }) // so that wait returns
	err := shim.wait()
	if !stop() {
		return
	}
	if closed := shim.Close(); err == nil {
		err = closed
	}
	if err != nil {
		s.config.Log.Error("shim_watch_failed", "job", j.Tag.String(), "error", err,
			"advice", "start the peer again, or the end of the job is not seen")
		return
	}
	s.finish(ctx, j)
}

// finish enters how a job ended whose shim is gone. When the context ends before its files are packed, the next Open finds that.
func (s *Scheduler) finish(ctx context.Context, j *job) {
	exit, whole := s.finalReport(ctx, j)
	if !whole {
		return
	}
	end := exit.End
	s.noteUncontained(j, exit.Uncontained)
	if exit.Notice != "" {
		s.config.Log.Warn("usage_report_refused", "job", j.Tag.String(), "reason", exit.Notice)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state == running || j.state == starting {
		s.recordPower(j, exit)
		j.started = end.Started
		s.leave(j, ended)
		s.changes.Report(&j.Reported, end.Change(j.Tag, j.Since))
	}
}

// finalReport is how a job ended whose shim is gone; false: the context has ended before that is known as a whole.
func (s *Scheduler) finalReport(ctx context.Context, j *job) (exit exitRecord, whole bool) {
	if exit, err := readExit(j.dir); err == nil {
		return exit, true
	}
	if exit, err := spool.ReadEnd[exitRecord](j.dir, spool.VerdictFile); err == nil {
		return s.packLeft(ctx, j, exit)
	}
	return s.lost(j), true
}

// settled says whether a job without a shim has ended, and its files were being packed.
func (s *Scheduler) settled(j *job) bool {
	_, ended := readExit(j.dir)
	_, settled := spool.ReadEnd[exitRecord](j.dir, spool.VerdictFile)
	return ended != nil && settled == nil
}

// packLeft does for a job that has ended what its shim has not come to: it packs the files that go back.
func (s *Scheduler) packLeft(ctx context.Context, j *job, exit exitRecord) (packed exitRecord, whole bool) {
	s.endGroup(j.Tag.String(), j.group)
	killSession(j.shim)
	record, err := spool.ReadJob[jobRecord](j.dir, j.Tag)
	if err != nil {
		return s.lost(j), true
	}
	asked, stop := context.WithCancel(ctx)
	defer stop()
	s.mu.Lock()
	j.stopPacking = func() { time.AfterFunc(record.Grace.Std(), stop) }
	s.mu.Unlock()
	s.config.Log.Info("job_files_packed_again", "job", j.Tag.String())
	addOutput(asked, record.Job, j.dir, &exit.End, func() {
		s.config.Log.Error("job_files_pack_failed", "job", j.Tag.String(), "advice", "free space in the spool; the peer retries")
	})
	if ctx.Err() != nil {
		return exit, false
	}
	exit.Reason = spool.Noted(exit.Reason, exit.Uncontained)
	s.saveExit(j, exit)
	return exit, true
}

// lost is how a job ended whose shim has left no word of it. What it left behind is killed, and the job is NODE_FAIL.
func (s *Scheduler) lost(j *job) exitRecord {
	exit, err := readExit(j.dir)
	if err == nil {
		return exit
	}
	s.endGroup(j.Tag.String(), j.group)
	killSession(j.shim)
	now, ran := s.ran(j)
	end := spool.End{State: protocol.NodeFail, Reason: s.lostReason(j, err), Started: j.started, Ran: ran}
	s.config.Log.Error("job_lost", "job", j.Tag.String(), "reason", end.Reason)
	exit = exitRecord{End: end, Ended: now}
	if errors.Is(err, fs.ErrNotExist) {
		s.saveExit(j, exit)
	}
	return exit
}

// ran is for how long a job has run that was started, as far as that is known.
func (s *Scheduler) ran(j *job) (now protocol.Instant, ran protocol.Duration) {
	boot, err := bootID()
	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.driver.Now()
	switch {
	case j.started == 0:
		return now, 0
	case err == nil && boot == j.shim.Boot:
		return now, max(0, s.driver.Steady(now)-j.launched)
	}
	return now, max(0, now.Sub(j.started)) // the steady clock began again since
}

func (s *Scheduler) lostReason(j *job, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	if boot, err := bootID(); err == nil && boot != j.shim.Boot {
		return "the machine was restarted while the job ran"
	}
	return "the process that watched the job was killed"
}

// saveExit writes down the end of a lost job, so that it stays the same after a
// restart. If that fails, the next Open finds the same again but for the time.
func (s *Scheduler) saveExit(j *job, exit exitRecord) {
	if err := spool.ReplaceRecord(j.dir, exitFile, exit); err != nil {
		s.config.Log.Warn("lost_job_save_failed", "job", j.Tag.String(), "error", err)
	}
}

// adopt takes hold of the shim that the file started names. Both results are nil
// when that says that the job was withdrawn.
func (s *Scheduler) adopt(j *job) (*handle, error) {
	record, err := spool.ReadRecord[startedRecord](j.dir, startedFile)
	if err != nil || record.Withdrawn {
		return nil, err
	}
	s.mu.Lock()
	j.shim, j.started, j.Place, j.Limit, j.group = record.processID, record.Started, record.Place, record.Limit, record.Group
	s.freeDevices(j)
	s.holdDevices(j, record.Devices)
	j.launched = cmp.Or(record.Launched, s.driver.Steady(record.Started)) // versions before 0.1 had none
	j.began = cmp.Or(record.Began, j.launched)
	s.mu.Unlock()
	return record.open()
}

func isGone(err error) bool { return errors.Is(err, errGone) }

// devNull is what shims have instead of a terminal.
func devNull() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) }
