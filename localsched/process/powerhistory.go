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

// minRun is how long a job must run to teach what it draws.
const minRun = protocol.Second

// saveEvery is how often what was learnt is written down. A crash loses no more.
const saveEvery = time.Minute

// powerHistory is what jobs are expected to draw, and whether that is written down.
type powerHistory struct {
	power.History

	unsaved bool
}

// readPowerHistory reads what an earlier run has learnt. What is damaged is learnt anew.
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
		log.Warn("learnt_power_not_read", "file", path, "error", err, "advice", "none: it is learnt anew")
	}
	return l
}

// savePowerHistoryPeriodically writes down what is learnt, now and then.
func (s *Scheduler) savePowerHistoryPeriodically(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := s.savePowerHistory(); err != nil {
				s.config.Log.Warn("learnt_power_not_kept", "error", err)
			}
		}
	}
}

// savePowerHistory writes down what is learnt, if there is news. What is not written is news for
// the next time.
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
	return fmt.Errorf("keep what was learnt of the power of jobs: %w", err)
}

// recordPower takes note of what a job has drawn. One that the scheduler's own end has cut off is
// no example. The lock is held.
func (s *Scheduler) recordPower(j *job, exit exitRecord) {
	if !s.config.LearnJobPower || s.closed && s.config.OnStop == EndJobs {
		return
	}
	if ppm, ok := measured(s.driver.Rules().Budget.Rates, j.CPUs, exit); ok {
		s.powerHistory.Add(j.PowerClass, ppm)
		s.powerHistory.unsaved = true
	}
}

// measured is what a job of so many CPUs has drawn, in parts per million of what the site
// states for busy ones. [BG 4.3] finds that utilisation is a good estimator of power: so it
// is taken to lie between the rates of an idle and a busy CPU as the utilisation of its CPUs
// lies between 0 and 1. Where its energy is measured, that over its run time is the power.
// Of a run of which neither is known nothing is learnt.
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
	draw := rates.Idle + (rates.Busy-rates.Idle)*utilisation(cpus, exit)/protocol.PPM // a rate times 10⁶ fits
	return int(min(max(1, draw*protocol.PPM/rates.Busy), protocol.MaxPower)), true
}

// byEnergy is what a job has drawn by its measured energy, as measured says it.
func byEnergy(rates power.Rates, cpus int, exit exitRecord) int {
	const micro = 1e6                                              // millijoules in a millisecond are watts
	draw := float64(exit.Usage.Energy) * micro / float64(exit.Ran) // of all its CPUs, in microwatts
	busy := float64(max(1, cpus)) * float64(rates.Busy)            // what they should draw
	return int(min(max(1, math.Round(draw/busy*protocol.PPM)), protocol.MaxPower))
}

// utilisation is how busy a job has kept so many CPUs, in parts per million.
func utilisation(cpus int, exit exitRecord) int64 {
	// Clocks differ, and what was held for one CPU may keep more busy.
	return min(int128.Product(max(0, int64(exit.Usage.CPU)), protocol.PPM).Down(int64(max(1, cpus)), max(1, int64(exit.Ran))), protocol.PPM)
}

// withPredictedPower is a request with the power that is expected of it, if it states none. The lock
// is held.
func (s *Scheduler) withPredictedPower(r protocol.Request) protocol.Request {
	if r.Power == 0 && s.config.LearnJobPower {
		r.Power, _ = s.powerHistory.Predict(r.PowerClass)
	}
	return r
}

// withPredictedPowers is likely for each request, of which the caller keeps its own. The lock is
// held.
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

// predictPower is likely for who does not hold the lock.
func (s *Scheduler) predictPower(r protocol.Request) protocol.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withPredictedPower(r)
}
