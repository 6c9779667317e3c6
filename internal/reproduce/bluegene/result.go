package bluegene

import (
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// result is a schedule of a period beside the default's.
type result struct {
	saving [3]float64 // % of the energy cost of the same jobs, by [ratios]
	whole  [3]float64 // % of that of all jobs
	raw    [3]float64 // % of what all jobs' energy costs in the period
	system [3]float64 // % of the same with that of the nodes without a job
	same   float64    // % of the jobs that end in the period in both schedules

	used, held float64 // % of the machine's CPU time in the period that jobs asked for, and that they held
	power      float64 // kW that jobs draw in the period
	wait       float64 // s, mean of all jobs
	longest    float64 // s
	slowdown   float64 // bounded
	inverse    float64 // pairs of jobs
	local      sim.InverseReadings
	pairs      float64 // that there are
	drain      float64 // s from the period's end to the last job's

	day  []sim.Bin
	cpus float64 // of the machine
}

// judge compares a schedule of jobs with the default's.
func judge(jobs []workload.Job, rates power.Rates, base, s *schedule, meters [3]*price.Meter) *result {
	p := s.period
	mean := p.mean(s.uses)
	r := &result{cpus: float64(p.site.CPUs()), power: kilowatts(mean.Draw), day: s.day()}
	r.held = percent(mean.CPUs, r.cpus)
	r.used = percent(p.mean(s.asked).CPUs, r.cpus)
	before, now := done(base, s)
	r.same = percent(float64(len(now)), float64(len(jobs)))
	for i, meter := range meters {
		r.saving[i] = saved(before, now, meter)
		r.whole[i] = saved(base.uses, s.uses, meter)
		r.raw[i] = saved(base.within(), s.within(), meter)
		was := base.systemCost(rates, meter)
		r.system[i] = percent(float64(was-s.systemCost(rates, meter)), float64(was))
	}
	for i, use := range s.uses {
		if s.starts[i] == sim.NeverStarts {
			continue
		}
		r.longest = max(r.longest, seconds(use.Start.Sub(jobs[i].Submit)))
		r.drain = max(r.drain, seconds(use.End.Sub(p.until)))
	}
	m := sim.Measure([]sim.Machine{p.site.Machine}, jobs, sim.Placed(jobs, s.starts))
	r.wait, r.slowdown = m.MeanWait, m.BoundedSlowdown
	r.inverse = float64(sim.InversePairs(base.starts, s.starts))
	r.local = sim.ReadInversePairs(base.starts, s.starts, s.choices)
	r.pairs = float64(len(jobs)) * float64(len(jobs)-1) / 2
	return r
}

// saved is what uses cost less than others, in percent.
func saved(before, now []sim.Use, meter *price.Meter) float64 {
	was := cost(before, meter)
	return percent(float64(was-cost(now, meter)), float64(was))
}

// peak is the mean of a value over the on-peak part of a day, or over the rest.
func (r *result) peak(on bool, value func(*result, sim.Bin) float64) float64 {
	sum, n := 0.0, 0.0
	for _, bin := range r.day {
		if onPeak(int(protocol.Duration(bin.Start)/protocol.Minute)) == on {
			sum, n = sum+value(r, bin), n+1
		}
	}
	return sum / n
}

// percent is a of b in percent, 0 where there is nothing.
func percent(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return 100 * a / b
}

func kilowatts(milliwatts float64) float64 { return milliwatts / 1e6 }

func seconds(d protocol.Duration) float64 { return float64(d) / float64(protocol.Second) }
