package bluegene

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// march is an empty March of 2009 at Intrepid.
func march() (*period, [3]*price.Meter, error) {
	machine, err := intrepid()
	if err != nil {
		return nil, [3]*price.Meter{}, err
	}
	p := newPeriod("March", machine, nil, machine.midnight(2009, time.March, 1), machine.midnight(2009, time.April, 1))
	meters, err := p.meters()
	return p, meters, err
}

// Cost is what a megawatt costs at Intrepid from a time on, at each ratio.
func Cost(from time.Time, d protocol.Duration) (costs [3]protocol.Micro, err error) {
	_, meters, err := march()
	for i, meter := range meters {
		costs[i] = meter.Cost(1e9, protocol.Instant(from.UnixMilli()), d)
	}
	return costs, err
}

// Judgement is what a schedule is told to save at 1:3, and more.
type Judgement struct {
	Saving, Whole, Raw, Same, Used, Held, Power float64
	Inverse                                     float64
}

// Judge compares starts of jobs in March with others.
func Judge(jobs []workload.Job, before, now []protocol.Instant) (Judgement, error) {
	p, meters, err := march()
	if err != nil {
		return Judgement{}, err
	}
	rates := p.site.rates(workload.PowerRanges()[0])
	r := judge(jobs, rates, p.follow(jobs, rates, before), p.follow(jobs, rates, now), meters)
	return Judgement{r.saving[0], r.whole[0], r.raw[0], r.same, r.used, r.held, r.power, r.inverse}, nil
}

// Basis is what a budget is a percentage of.
type Basis = basis

// The bases of budgets.
const (
	JobsAlone    = jobsAlone
	IdleBaseline = idleBaseline
	IdleDrawn    = idleDrawn
)

// Starts schedules jobs in March within a budget; 20 to 33 kW a rack.
func Starts(jobs []workload.Job, percent int, b basis) ([]protocol.Instant, error) {
	p, _, err := march()
	if err != nil {
		return nil, err
	}
	rates := p.site.rates(workload.PowerRanges()[0])
	base, err := p.schedule(jobs, rates, engine.EASY())
	if err != nil {
		return nil, err
	}
	s, err := trial{percent: percent, basis: b}.schedule(jobs, rates, base)
	if err != nil {
		return nil, err
	}
	return s.starts, nil
}

// Effect is what a budget saves in a period, at each ratio, and the utilizations.
type Effect struct {
	Month         string
	Percent       int
	Saving        [3]float64
	Default, Held float64
}

// The sources of jobs.
const (
	HalfYear     = halfYear
	RealIntrepid = realLog
	BlueHorizon  = blueLog
)

// Effects are those of the periods of a source within budgets; 20 to 33 kW a rack.
func Effects(ctx context.Context, o reproduce.Size, from source, percents ...int) ([]Effect, error) {
	var trials []trial
	for index := range from.names() {
		for _, percent := range append([]int{0}, percents...) {
			trials = append(trials, trial{month: month{source: from, index: index}, percent: percent})
		}
	}
	s := &study{options: o, results: map[trial][]*result{}}
	tasks, err := s.tasks([]exhibit{{trials: trials}})
	if err != nil {
		return nil, err
	}
	if err = s.run(ctx, tasks, nil); err != nil {
		return nil, err
	}
	var effects []Effect
	for _, t := range trials {
		if t.percent == 0 {
			continue
		}
		r, base := s.results[t][0], s.results[trial{month: t.month}][0]
		effects = append(effects, Effect{from.names()[t.index], t.percent, r.saving, base.held, r.held})
	}
	return effects, nil
}

// RealLog is a run of the real log within a budget of half its mean power, ready to be made
// again and again.
func RealLog(data string, mode engine.Mode) (run func() error, jobs int, err error) {
	periods, err := realLog.periods(data, 1)
	if err != nil {
		return nil, 0, err
	}
	p, powers := periods[0], workload.PowerRanges()[0]
	rates := p.site.rates(powers)
	drawn, err := workload.DrawPower(p.jobs, powers, 1)
	if err != nil {
		return nil, 0, err
	}
	base, err := p.schedule(drawn, rates, engine.EASY())
	if err != nil {
		return nil, 0, err
	}
	run = func() error {
		_, failed := trial{percent: 50, mode: mode}.schedule(drawn, rates, base)
		return failed
	}
	return run, len(drawn), nil
}
