package process

import (
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// For tests of what the package keeps to itself.
var (
	ParseStat = func(line string) error { _, err := parseStat(line); return err }
	ReadJob   = spool.ReadJob[jobRecord]
	ReadExit  = readExit
)

// ReleaseGroups removes the parent of the jobs' groups, in which there are none any more.
func (s *Scheduler) ReleaseGroups() { s.groups.Parent.Release() }

// Looks is how often the scheduler has looked which jobs the budget holds.
func (s *Scheduler) Looks() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// SaveLearnt writes down what was learnt, as happens now and then.
func (s *Scheduler) SaveLearnt() error { return s.saveLearnt() }

// Measured is what a run has taught.
func Measured(rates power.Rates, cpus int, end spool.End) (ppm int, ok bool) {
	return measured(rates, cpus, exitRecord{End: end})
}
