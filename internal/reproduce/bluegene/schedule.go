package bluegene

import (
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// schedule is when the jobs of a period run.
type schedule struct {
	period *period
	starts []protocol.Instant
	uses   []sim.Use // what each job holds and draws; of no time for one that never starts
	asked  []sim.Use // the same with what each job asks for

	choices []sim.Choice // of the passes within a budget
}

// schedule schedules a period's jobs, of which each has its power.
func (p *period) schedule(jobs []workload.Job, rates power.Rates, policy engine.Policy) (*schedule, error) {
	starts, choices, err := sim.ScheduleChoices(jobs, p.site.model, policy, sim.TieBatch)
	if err != nil {
		return nil, err
	}
	s := p.follow(jobs, rates, starts)
	s.choices = choices
	return s, nil
}

// follow is the schedule with these starts.
func (p *period) follow(jobs []workload.Job, rates power.Rates, starts []protocol.Instant) *schedule {
	powered := sim.Powered{Jobs: jobs, Machine: p.site.model, Rates: rates}
	uses := powered.Uses(starts)
	return &schedule{period: p, starts: starts, uses: uses, asked: powered.Used(uses)}
}

// within are the uses as far as they lie in the period.
func (s *schedule) within() []sim.Use {
	var inside []sim.Use
	for _, u := range s.uses {
		if u.Start, u.End = max(u.Start, s.period.from), min(u.End, s.period.until); u.Start < u.End {
			inside = append(inside, u)
		}
	}
	return inside
}

// mean is what uses come to in the period, on average.
func (p *period) mean(uses []sim.Use) sim.Bin {
	return sim.Curve(uses, p.from, p.until, p.until.Sub(p.from))[0]
}

// dayBin is how finely a day is looked at.
const dayBin = 5 * protocol.Minute

// day is what jobs hold and draw by the time of the day ([BG] Figure 5). The hour that a
// clock skips is there and has what runs across it.
func (s *schedule) day() []sim.Bin {
	local := s.within()
	for i := range local {
		local[i].Start, local[i].End = s.period.local(local[i].Start), s.period.local(local[i].End)
	}
	return sim.DayCurve(sim.Curve(local, s.period.local(s.period.from), s.period.local(s.period.until), dayBin), dayBin, 0)
}

// done are the uses of the jobs that end within the period in two schedules of it, in each.
func done(a, b *schedule) (inA, inB []sim.Use) {
	for i := range a.uses {
		if ends := max(a.uses[i].End, b.uses[i].End); a.starts[i] != sim.NeverStarts && ends <= a.period.until {
			inA, inB = append(inA, a.uses[i]), append(inB, b.uses[i])
		}
	}
	return inA, inB
}

// systemCost is what the energy of the whole machine costs in the period: that of its jobs, and of the nodes
// without a job at the idle rate.
func (s *schedule) systemCost(rates power.Rates, meter *price.Meter) protocol.Micro {
	p := s.period
	sum := meter.Cost(rates.Draw(0, p.site.CPUs(), 0), p.from, p.until.Sub(p.from))
	for _, u := range s.within() {
		sum += meter.Cost(u.Draw-rates.Draw(0, u.CPUs, 0), u.Start, u.End.Sub(u.Start))
	}
	return sum
}

// cost is what the energy of uses costs, each part by the price of its time.
func cost(uses []sim.Use, meter *price.Meter) (sum protocol.Micro) {
	for _, u := range uses {
		sum += meter.Cost(u.Draw, u.Start, u.End.Sub(u.Start))
	}
	return sum
}
