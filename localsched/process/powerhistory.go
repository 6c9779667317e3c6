package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// powerHistoryFile is in the spool.
const powerHistoryFile = "likely"

// minRun is the shortest run that is recorded in the power history.
const minRun = protocol.Second

// saveEvery is how often the power history is saved. A crash loses at most that much of it.
const saveEvery = time.Minute

// powerHistory is the measured power of past jobs.
type powerHistory struct {
	power.History

	unsaved bool
}

// readPowerHistory reads the saved power history. A damaged one is replaced by an empty one.
func readPowerHistory(dir string, log *slog.Logger) (l powerHistory) {
	path := filepath.Join(dir, powerHistoryFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	if err == nil {
		err = l.UnmarshalText(text)
	}
	if err != nil {
		log.Warn("power_history_load_failed", "file", path, "error", err, "advice", "none: the history starts empty")
	}
	return l
}

// savePowerHistoryPeriodically saves the power history until the context ends.
func (s *Scheduler) savePowerHistoryPeriodically(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := s.savePowerHistory(); err != nil {
				s.config.Log.Warn("power_history_save_failed", "error", err)
			}
		}
	}
}

// savePowerHistory saves the power history if it has changed. After an error it is saved the next time.
func (s *Scheduler) savePowerHistory() error {
	s.mu.Lock()
	news := s.powerHistory.unsaved
	s.powerHistory.unsaved = false
	var known power.History
	if news {
		known = s.powerHistory.Clone()
	}
	s.mu.Unlock()
	if !news {
		return nil
	}
	text, err := known.MarshalText()
	if err == nil {
		err = spool.ExplainFull(spool.ReplaceFile(s.config.Dir, powerHistoryFile, text))
	}
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.powerHistory.unsaved = true
	return fmt.Errorf("save the power history of jobs: %w", err)
}

// recordPower adds the measured power of an ended job to the history, unless the job was ended because
// the scheduler stops. The lock is held.
func (s *Scheduler) recordPower(j *job, exit exitRecord) {
	if !s.config.LearnJobPower || s.closed && s.config.OnStop == EndJobs {
		return
	}
	if ppm, ok := measured(s.driver.Rules().Budget.Rates, j.CPUs, exit); ok {
		s.powerHistory.Add(j.PowerClass, ppm)
		s.powerHistory.unsaved = true
	}
}

// measured is the power of a job, in parts per million of that of busy CPUs:
//
//	energy / run time / (CPUs × busy)                  if its energy was measured
//	(idle + (busy − idle) × utilization) / busy        otherwise, by its CPU time
//
// [BG 4.3] finds that utilization is a good estimator of power. It returns false for runs that are too
// short, that were lost, or of which neither is known.
func measured(rates power.Rates, cpus int, exit exitRecord) (ppm int, ok bool) {
	if exit.Ran < minRun || exit.State == protocol.NodeFail || rates.Busy < 1 {
		return 0, false
	}
	if exit.Usage.Energy > 0 {
		return byEnergy(rates, cpus, exit), true
	}
	if exit.Usage.CPU < 1 {
		return 0, false
	}
	draw := rates.Idle + (rates.Busy-rates.Idle)*utilization(cpus, exit)/protocol.PPM // a rate times 10⁶ fits
	return int(min(max(1, draw*protocol.PPM/rates.Busy), protocol.MaxPower)), true
}

// byEnergy is the power of a job by its measured energy, in parts per million.
func byEnergy(rates power.Rates, cpus int, exit exitRecord) int {
	const micro = 1e6                                              // millijoules in a millisecond are watts
	draw := float64(exit.Usage.Energy) * micro / float64(exit.Ran) // of all its CPUs, in microwatts
	busy := float64(max(1, cpus)) * float64(rates.Busy)            // what they should draw
	return int(min(max(1, math.Round(draw/busy*protocol.PPM)), protocol.MaxPower))
}

// utilization is the CPU time of a job by its CPUs and run time, in parts per million.
func utilization(cpus int, exit exitRecord) int64 {
	// It is at most 1: clocks differ, and a job for one CPU may keep more of them busy.
	return min(int128.Product(max(0, int64(exit.Usage.CPU)), protocol.PPM).Down(int64(max(1, cpus)), max(1, int64(exit.Ran))), protocol.PPM)
}

// withPredictedPower returns a request with its predicted power, if the user states none. The lock is
// held.
func (s *Scheduler) withPredictedPower(r protocol.Request) protocol.Request {
	if r.Power == 0 && s.config.LearnJobPower {
		r.Power, _ = s.powerHistory.Predict(r.PowerClass)
	}
	return r
}

// withPredictedPowers is withPredictedPower for each request. It does not change the slice of the
// caller. The lock is held.
func (s *Scheduler) withPredictedPowers(requests []protocol.Request) []protocol.Request {
	if !s.config.LearnJobPower {
		return requests
	}
	requests = slices.Clone(requests)
	for i, r := range requests {
		requests[i] = s.withPredictedPower(r)
	}
	return requests
}

// predictPower is withPredictedPower for callers that do not hold the lock.
func (s *Scheduler) predictPower(r protocol.Request) protocol.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withPredictedPower(r)
}
