package process

import (
	"os"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

// For tests of what the package keeps to itself.
var (
	ParseStat = func(line string) error { _, err := parseStat(line); return err }
	ReadJob   = spool.ReadJob[jobRecord]
	ReadExit  = readExit

	WithdrawClaim = withdrawClaim
)

// PlaceWithClaim prepares the start of a job with a device, and returns the name of its claim.
func PlaceWithClaim(dir string) (claim string, err error) {
	if claim, err = makeClaim(dir); err != nil {
		return "", err
	}
	return claim, spool.ReplaceRecord(dir, placedFile, placeRecord{Devices: []Device{{Name: "gpu"}}, Claim: claim})
}

// Claim makes the file started of a job's directory as a shim does.
func Claim(dir, claim string) (won bool, err error) {
	id, err := self()
	if err != nil {
		return false, err
	}
	return startedRecord{processID: id}.create(dir, claim)
}

// ReleaseGroups removes the parent of the jobs' groups, in which there are none any more.
func (s *Scheduler) ReleaseGroups() { s.groups.Parent.Release() }

// WriteExit writes down that the job of an open directory has ended, as its shim does, and returns
// the exit code of that.
func WriteExit(dir *os.File, patience time.Duration) int {
	return writeExit(dir, exitRecord{}, patience)
}

// MakeGroupsIn has jobs get their groups below another one from now on.
func (s *Scheduler) MakeGroupsIn(parent cgroup.Group) { s.groups = cgroup.Found{Parent: parent} }

// Looks is how often the scheduler has looked which jobs the budget holds.
func (s *Scheduler) Looks() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.driver.BudgetScans()
}

// SavePowerHistory writes down what was learnt, as happens now and then.
func (s *Scheduler) SavePowerHistory() error { return s.savePowerHistory() }

// Measured is what a run has taught.
func Measured(rates power.Rates, cpus int, end spool.End) (ppm int, ok bool) {
	return measured(rates, cpus, exitRecord{End: end})
}

// Tick has the engine be asked now, as the loop does when it is due.
func (s *Scheduler) Tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.driver.Done(s.driver.Tick(s.driver.Now()))
}
