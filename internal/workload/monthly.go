package workload

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Monthly is a model of a machine's jobs of which the months are known: how many
// jobs each had, and how full the machine was. The rest is fitted to a log
// (monthly_fit_test.go says how).
//
// Users submit batches: jobs of one kind, one soon after the other. A batch is one
// of a habit (a user and a kind) in proportion to the batches that the log has of
// it, has a geometric number of jobs with the log's mean, and begins at an hour of
// the week that is drawn by the product of the log's hours of the day and days of
// the week. Its jobs ask for one estimate; each runs for a part of it by itself.
type Monthly struct {
	CPUs   int     // of the machine
	Kinds  []Kind  // by CPUs, then estimate
	Habits []Habit // by kind, then user
	Gaps   Deciles // between two submissions of a batch, s
	Hours  [24]int // batches by the hour of the day at which they begin
	Days   [7]int  // and by the day of the week, from Sunday
}

// Kind is jobs of one size whose estimates lie in one band: up to one, three, six or
// twelve hours, or longer. A job's run time depends on both.
type Kind struct {
	CPUs      int
	Estimates [10]int // s; the middles of ten equal parts of the log's
	Runs      Deciles // parts per million of the estimate
}

// Habit is what one user submits of one kind.
type Habit struct {
	User, Kind    int // Kind is an index of Monthly.Kinds
	Batches, Jobs int // that the log has
}

// Deciles are the least value of a distribution, the bounds of its ten equal parts
// and the greatest. It is even between them.
type Deciles [11]int

// at is the value below which the part u of the distribution lies.
func (d *Deciles) at(u float64) float64 {
	i := min(int(u*10), 9)
	return float64(d[i]) + (u*10-float64(i))*float64(d[i+1]-d[i])
}

// mean of the distribution.
func (d *Deciles) mean() float64 {
	sum := float64(d[0]+d[10]) / 2
	for _, bound := range d[1:10] {
		sum += float64(bound)
	}
	return sum / 10
}

// work is the mean CPU·s of a job of the kind, whose jobs run for at least a second.
func (k *Kind) work() float64 {
	sum := 0
	for _, estimate := range k.Estimates {
		sum += estimate
	}
	return float64(k.CPUs) * max(1, float64(sum)/10*k.Runs.mean()/protocol.PPM)
}

// Validate reports the first thing that is wrong.
func (m *Monthly) Validate() error {
	if m.CPUs < 1 || m.CPUs > maxCPUs {
		return fmt.Errorf("cpus: %d are not from 1 to %d", m.CPUs, maxCPUs)
	}
	if len(m.Habits) == 0 {
		return errors.New("habits: a model has at least one")
	}
	if err := m.validateTimes(); err != nil {
		return err
	}
	for i := range m.Kinds {
		if err := m.Kinds[i].validate(m.CPUs); err != nil {
			return fmt.Errorf("kinds[%d].%w", i, err)
		}
	}
	for i, h := range m.Habits {
		switch {
		case h.Kind < 0 || h.Kind >= len(m.Kinds):
			return fmt.Errorf("habits[%d].kind: %d is not one of the %d kinds", i, h.Kind, len(m.Kinds))
		case h.Batches < 1 || h.Jobs < h.Batches:
			return fmt.Errorf("habits[%d]: %d jobs in %d batches; each batch has at least one", i, h.Jobs, h.Batches)
		}
	}
	return nil
}

func (m *Monthly) validateTimes() error {
	switch {
	case slices.Min(m.Hours[:]) < 0 || slices.Max(m.Hours[:]) == 0:
		return errors.New("hours: they are counts, and at some hour a batch begins")
	case slices.Min(m.Days[:]) < 0 || slices.Max(m.Days[:]) == 0:
		return errors.New("days: they are counts, and on some day a batch begins")
	case m.Gaps[0] < 0 || !slices.IsSorted(m.Gaps[:]):
		return errors.New("gaps: deciles are not negative and rise")
	}
	return nil
}

func (k *Kind) validate(cpus int) error {
	switch {
	case k.CPUs < 1 || k.CPUs > cpus:
		return fmt.Errorf("cpus: %d are not from 1 to the machine's %d", k.CPUs, cpus)
	case slices.Min(k.Estimates[:]) < 1:
		return errors.New("estimates: they are of at least a second")
	case k.Runs[0] < 0 || k.Runs[10] > protocol.PPM || !slices.IsSorted(k.Runs[:]):
		return errors.New("runs: deciles rise from 0 to at most a million parts")
	}
	return nil
}
