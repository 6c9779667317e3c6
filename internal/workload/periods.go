package workload

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// PeriodModel is a model of a machine's jobs of which the periods are known, such as
// days: how many jobs were submitted in each, and with how much work. [FitPeriods]
// makes it of a log. [Monthly] is its like for a log of which only the months are
// known.
//
// Users submit batches: jobs of one kind, one soon after the other. The kinds, their
// sizes, run times, estimates and batches are drawn in the proportions of the log, and
// then placed in periods at random, so that each period gets about the jobs and the
// work that it had. So the load, its course over days and weeks and the sizes are the
// log's, and no job is.
type PeriodModel struct {
	Machine Machine `json:"machine" toml:"machine"`
	Profile Profile `json:"profile" toml:"profile"`
}

// Profile is what a [PeriodModel] says of a log.
type Profile struct {
	Weekday int `json:"weekday"  toml:"weekday"`  // on which the log begins, 0 (Sunday) to 6
	Begin   int `json:"begin_s"  toml:"begin_s"`  // time of the day at which it begins, s
	Span    int `json:"span_s"   toml:"span_s"`   // from its first submission to its last, s
	Period  int `json:"period_h" toml:"period_h"` // length of a period, h: a divisor of 24

	Hours []int `json:"hours"     toml:"hours"`     // batches by the hour of the day at which they begin, 24 counts
	Alike int   `json:"alike_ppm" toml:"alike_ppm"` // correlation of the run times of a batch's successive jobs, parts per million
	// Gaps are the [Deciles] of the time between two submissions of a batch, in s, of
	// batches of 2 or 3 jobs, of 4 to 7, and so on. A longer batch has the last of them.
	Gaps [][]int `json:"gaps_s" toml:"gaps_s"`

	Widths []int `json:"max_cpus" toml:"max_cpus"` // largest size of each size class; rising
	// Periods are, from the one in which the log begins: for each size class its jobs
	// and their work in CPU·s, and then the largest size of a job, 0 without jobs.
	Periods [][]int `json:"periods" toml:"periods"`

	Kinds []PeriodKind `json:"kinds" toml:"kinds"`
}

// PeriodKind is jobs of similar sizes and estimates. Their sizes are independent of
// the rest.
type PeriodKind struct {
	Jobs int   `json:"jobs" toml:"jobs"` // that the log has
	CPUs []int `json:"cpus" toml:"cpus"` // the means of equal parts of the jobs, by size
	// Runs and Estimates are the mean run time and the most frequent estimate, in s, of
	// equal parts of the jobs, by estimate and then by run time.
	Runs      []int `json:"runs_s"      toml:"runs_s"`
	Estimates []int `json:"estimates_s" toml:"estimates_s"`
	// Batches are how many batches have 1 job, 2 or 3, 4 to 7, and so on.
	Batches []int `json:"batches" toml:"batches"`
}

// On is the machine that the model is of.
func (m *PeriodModel) On() Machine { return m.Machine }

const (
	secondsPerDay  = 86_400
	secondsPerHour = 3_600
)

// seconds is the length of a period.
func (p *Profile) seconds() int { return p.Period * secondsPerHour }

// base is where the first period begins, in s since midnight of the day on which the
// log begins.
func (p *Profile) base() int { return p.Begin - p.Begin%p.seconds() }

// periods is how many the log touches.
func (p *Profile) periods() int { return (p.Begin+p.Span-p.base())/p.seconds() + 1 }

// at is the period of a second of the log.
func (p *Profile) at(second int) int { return (p.Begin + second - p.base()) / p.seconds() }

// class is the size class of a number of CPUs.
func (p *Profile) class(cpus int) int {
	class, _ := slices.BinarySearch(p.Widths, cpus)
	return class
}

// jobs is how many the periods have.
func (p *Profile) jobs() int {
	sum := 0
	for _, period := range p.Periods {
		for class := range p.Widths {
			sum += period[2*class]
		}
	}
	return sum
}

// The most that files may say, so that sums stay in an int64.
const (
	maxProfileSpan = 100 * 366 * secondsPerDay // s
	maxProfileTime = 1 << 31                   // s, of one job
	maxPeriodWork  = 1 << 46                   // CPU·s; 2³⁰ CPUs do less in 18 h
	maxBatchLevels = 27                        // of [PeriodKind.Batches]
)

// Validate reports the first thing that is wrong, by its place in a file.
func (m *PeriodModel) Validate() error {
	if err := m.Machine.Validate(); err != nil {
		return fmt.Errorf("machine.%w", err)
	}
	if err := m.Profile.validate(m.Machine.CPUs()); err != nil {
		return fmt.Errorf("profile.%w", err)
	}
	return nil
}

func (p *Profile) validate(cpus int) error {
	if err := p.validateTimes(); err != nil {
		return err
	}
	if err := p.validatePeriods(cpus); err != nil {
		return err
	}
	if len(p.Kinds) == 0 {
		return errors.New("kinds: a model has at least one")
	}
	sum, level := 0, 0
	for i := range p.Kinds {
		k := &p.Kinds[i]
		if err := k.validate(p.Widths[len(p.Widths)-1]); err != nil {
			return fmt.Errorf("kinds[%d].%w", i, err)
		}
		sum += k.Jobs
		level = max(level, len(k.Batches))
	}
	if jobs := p.jobs(); sum != jobs {
		return fmt.Errorf("kinds: they have %d jobs, and the periods %d", sum, jobs)
	}
	if level > 1 && len(p.Gaps) == 0 {
		return errors.New("gaps_s: missing, and there are batches of more than one job")
	}
	for i, gaps := range p.Gaps {
		if len(gaps) != len(Deciles{}) || gaps[0] < 0 || gaps[len(gaps)-1] > maxProfileSpan || !slices.IsSorted(gaps) {
			return fmt.Errorf("gaps_s[%d]: there are %d deciles, which rise from 0 to at most %d s", i, len(Deciles{}), maxProfileSpan)
		}
	}
	return nil
}

func (p *Profile) validateTimes() error {
	switch {
	case !within(int(time.Sunday), int(time.Saturday), p.Weekday):
		return fmt.Errorf("weekday: %d is not a day of the week, 0 (Sunday) to 6", p.Weekday)
	case !within(0, secondsPerDay-1, p.Begin):
		return fmt.Errorf("begin_s: %d is not a time of the day, 0 to %d", p.Begin, secondsPerDay-1)
	case !within(1, maxProfileSpan, p.Span):
		return fmt.Errorf("span_s: %d is not from 1 to %d", p.Span, maxProfileSpan)
	case !within(1, 24, p.Period) || 24%p.Period != 0:
		return fmt.Errorf("period_h: %d does not divide a day of 24 hours", p.Period)
	case len(p.Hours) != 24 || !within(0, maxModelJobs, p.Hours...) || slices.Max(p.Hours) == 0:
		return errors.New("hours: there are 24 counts, and at some hour a batch begins")
	case !within(0, protocol.PPM, p.Alike):
		return fmt.Errorf("alike_ppm: %d is not from 0 to %d", p.Alike, protocol.PPM)
	}
	return nil
}

func (p *Profile) validatePeriods(cpus int) error {
	if !within(1, cpus, p.Widths...) {
		return fmt.Errorf("max_cpus: there is at least one size, and all are from 1 to the machine's %d CPUs", cpus)
	}
	for i, width := range p.Widths[1:] {
		if width <= p.Widths[i] {
			return fmt.Errorf("max_cpus: %d does not rise from %d", width, p.Widths[i])
		}
	}
	if len(p.Periods) != p.periods() {
		return fmt.Errorf("periods: %d of them for a span that touches %d", len(p.Periods), p.periods())
	}
	return p.validateWork(cpus)
}

func (p *Profile) validateWork(cpus int) error {
	jobs, work := 0, 0
	for i, period := range p.Periods {
		if len(period) != 2*len(p.Widths)+1 {
			return fmt.Errorf("periods[%d]: %d values, for %d size classes there are %d", i, len(period), len(p.Widths), 2*len(p.Widths)+1)
		}
		if !within(0, maxPeriodWork, period...) || period[2*len(p.Widths)] > cpus {
			return fmt.Errorf("periods[%d]: a value is negative or too large", i)
		}
		for class, width := range p.Widths {
			if here := period[2*class]; float64(period[2*class+1]) > float64(here)*float64(width)*maxProfileTime {
				return fmt.Errorf("periods[%d]: %d jobs of up to %d CPUs cannot have %d CPU-seconds", i, here, width, period[2*class+1])
			}
			jobs += period[2*class]
			work = max(work, period[2*class+1])
		}
		if jobs > maxModelJobs {
			return fmt.Errorf("periods[%d]: the jobs up to here are more than %d", i, maxModelJobs)
		}
	}
	if jobs == 0 || work == 0 {
		return errors.New("periods: there are no jobs, or no work")
	}
	return nil
}

func (k *PeriodKind) validate(cpus int) error {
	switch {
	case !within(1, maxModelJobs, k.Jobs):
		return fmt.Errorf("jobs: %d is not from 1 to %d", k.Jobs, maxModelJobs)
	case !within(1, cpus, k.CPUs...):
		return fmt.Errorf("cpus: there is at least one size, and all are from 1 to %d, the last of max_cpus", cpus)
	case !within(1, maxProfileTime, k.Runs...):
		return fmt.Errorf("runs_s: there is at least one run time, and all are from 1 to %d", maxProfileTime)
	case len(k.Estimates) != len(k.Runs) || slices.Max(k.Estimates) > maxProfileTime:
		return fmt.Errorf("estimates_s: there is one for each of runs_s, and all are at most %d", maxProfileTime)
	case len(k.Batches) > maxBatchLevels || !within(0, k.Jobs, k.Batches...):
		return fmt.Errorf("batches: there are 1 to %d counts, all from 0 to the %d jobs", maxBatchLevels, k.Jobs)
	}
	if fewest, most := k.batched(); k.Jobs < fewest || k.Jobs > most {
		return fmt.Errorf("batches: they have %d to %d jobs, and the kind has %d", fewest, most, k.Jobs)
	}
	for i, run := range k.Runs {
		if k.Estimates[i] < run {
			return fmt.Errorf("estimates_s: %d is less than the run time, %d", k.Estimates[i], run)
		}
	}
	return nil
}

// within says whether there are values and all are from least to most.
func within(least, most int, values ...int) bool {
	return len(values) > 0 && slices.Min(values) >= least && slices.Max(values) <= most
}

// batched is how many jobs the batches have at least, and at most.
func (k *PeriodKind) batched() (fewest, most int) {
	for level, count := range k.Batches {
		fewest += count << level
		most += count * (2<<level - 1)
	}
	return fewest, most
}
