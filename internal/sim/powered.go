package sim

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Powered judges schedules of one machine by the power of their jobs, as [BG 4.2] does:
// that of the CPUs that jobs hold. What no job holds draws what it always draws, and is
// not counted.
type Powered struct {
	Jobs    []workload.Job
	Machine engine.Machine
	Rates   power.Rates
	Paid    *price.Meter // on the workload's clock; nil: nothing is paid
}

// PowerMetrics judge a schedule by its power, beside a default schedule of the same jobs.
// The JSON keys are part of the command line's interface (docs/simulator.md).
type PowerMetrics struct {
	MeanPower float64 `json:"mean_power_kw"` // of all jobs together, over the makespan
	MWh       float64 `json:"energy_mwh"`
	Cost      float64 `json:"energy_cost"`
	CPUHour   float64 `json:"energy_cost_per_cpu_hour"` // that jobs asked for
	// Saving is the part of the default's cost per CPU-hour that is saved, over the jobs
	// that run in both: a schedule that runs less saves nothing by that.
	Saving    float64 `json:"saving"`
	RawSaving float64 `json:"raw_saving"`    // of what has been paid when the default schedule ends
	Inverse   int64   `json:"inverse_pairs"` // see [InversePairs]
}

// Uses are what each job holds and draws, nothing for one that never starts.
func (p *Powered) Uses(starts []protocol.Instant) []Use {
	uses := make([]Use, len(p.Jobs))
	for i := range p.Jobs {
		if starts[i] == NeverStarts {
			continue
		}
		job := &p.Jobs[i]
		units, _ := p.Machine.Units(protocol.Request{CPUs: job.CPUs, WallTime: job.Estimate})
		held := p.Machine.CPUs(units)
		uses[i] = Use{
			Start: starts[i], End: starts[i].Add(job.Run), CPUs: held, Draw: p.Rates.Draw(job.CPUs, held, job.Power),
		}
	}
	return uses
}

// Used are the uses with the CPUs that jobs asked for, in place of those that they hold.
func (p *Powered) Used(uses []Use) []Use {
	used := make([]Use, len(uses))
	for i, use := range uses {
		used[i] = use
		used[i].CPUs = min(use.CPUs, p.Jobs[i].CPUs)
	}
	return used
}

// Mean is what jobs draw on average, in milliwatts rounded down, from the first submission
// of one that runs to the last end.
func (p *Powered) Mean(uses []Use) int64 {
	first, last := p.span(uses)
	if last <= first {
		return 0
	}
	var used int128.Number
	for _, use := range uses {
		used = used.Plus(int128.Product(max(0, use.Draw), max(0, int64(use.End.Sub(use.Start)))))
	}
	return used.Down(int64(last.Sub(first)))
}

// span is the makespan of the jobs that run.
func (p *Powered) span(uses []Use) (first, last protocol.Instant) {
	first = -1
	for i, use := range uses {
		if use.End == 0 {
			continue
		}
		if first < 0 || p.Jobs[i].Submit < first {
			first = p.Jobs[i].Submit
		}
		last = max(last, use.End)
	}
	return first, last
}

// Measure judges a schedule beside the default one. Both are [Powered.Uses].
func (p *Powered) Measure(usual, uses []Use) PowerMetrics {
	_, end := p.span(usual)
	all, both, before := p.total(uses, nil, power.End), p.total(uses, usual, power.End), p.total(usual, uses, power.End)
	return PowerMetrics{
		MeanPower: float64(p.Mean(uses)) / 1e6,
		MWh:       all.energy / protocol.MegawattHour,
		Cost:      all.units(),
		CPUHour:   ratio(all.units(), all.cpuHours),
		Saving:    saved(ratio(both.units(), both.cpuHours), ratio(before.units(), before.cpuHours)),
		RawSaving: saved(p.total(uses, nil, end).units(), p.total(usual, nil, end).units()),
		Inverse:   InversePairs(startsOf(usual), startsOf(uses)),
	}
}

// consumption is what jobs draw and pay in all.
type consumption struct {
	cost     protocol.Micro
	energy   float64 // mW·ms
	cpuHours float64 // that jobs asked for
}

func (c consumption) units() float64 { return float64(c.cost) / float64(protocol.Unit) }

// total adds up the jobs of a schedule that also run in another one, unless that is nil,
// as far as they run before an instant.
func (p *Powered) total(uses, other []Use, until protocol.Instant) (c consumption) {
	for i, use := range uses {
		length := min(use.End, until).Sub(use.Start)
		if use.End == 0 || length <= 0 || other != nil && other[i].End == 0 {
			continue
		}
		c.cost += p.Paid.Cost(use.Draw, use.Start, length)
		c.energy += float64(use.Draw) * float64(length)
		c.cpuHours += float64(p.Jobs[i].CPUs) * float64(length) / float64(protocol.Hour)
	}
	return c
}

// saved is the part of a cost that another one saves.
func saved(cost, usual float64) float64 {
	if usual <= 0 {
		return 0
	}
	return 1 - cost/usual
}

// startsOf are the starts of uses, as [Schedule] tells them.
func startsOf(uses []Use) []protocol.Instant {
	starts := make([]protocol.Instant, len(uses))
	for i, use := range uses {
		starts[i] = use.Start
		if use.End == 0 {
			starts[i] = NeverStarts
		}
	}
	return starts
}
