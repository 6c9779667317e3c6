package bluegene

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/parallel"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// month is a period by its place, whose jobs have a range of powers.
type month struct {
	source source
	index  int // of [source.names]
	powers int // index of [workload.PowerRanges]
}

// trial is one way to schedule a month.
type trial struct {
	month

	percent int // the budget, in percent of the baseline; 0: the default
	basis   basis
	mode    engine.Mode
	window  int
	bound   protocol.Duration
}

// basis is what a budget is a percentage of, and which power counts against it. [BG 4.1] has "the runtime
// power of the system", which may include that of nodes without a job.
type basis string

const (
	jobsAlone    basis = ""              // the mean power of the default's jobs; the power of jobs counts
	idleBaseline basis = "idle baseline" // that of its jobs and idle nodes; the power of jobs counts
	idleDrawn    basis = "idle drawn"    // that of its jobs and idle nodes; so does the power that counts
)

// study is the results of some trials.
type study struct {
	options reproduce.Size
	results map[trial][]*result // by seed
}

// Paper is [BG]. Of the options its exhibits have the size alone; each seed draws other powers, and another half year.
func Paper() reproduce.Paper {
	return catalogue().Of("[BG]", Claims(), func(ctx context.Context, o reproduce.Options, names []string, progress func(done, of int)) ([]reproduce.Report, error) {
		return run(ctx, o.Size, names, progress)
	})
}

func run(ctx context.Context, o reproduce.Size, names []string, progress func(done, of int)) ([]reproduce.Report, error) {
	exhibits, err := catalogue().Chosen(names)
	if err = errors.Join(o.Check(), err); err != nil {
		return nil, err
	}
	s := &study{options: o, results: map[trial][]*result{}}
	tasks, err := s.tasks(exhibits)
	if err != nil {
		return nil, err
	}
	if err = s.run(ctx, tasks, progress); err != nil {
		return nil, err
	}
	reports := make([]reproduce.Report, len(exhibits))
	for i, e := range exhibits {
		reports[i] = e.Report(e.notes...)
		if len(e.trials) > 0 {
			reports[i].Seeds = o.SeedNumbers()
			e.build(s, &reports[i])
			continue
		}
		if err = e.example(&reports[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return reports, nil
}

// task is a period with its jobs' powers, and all that is tried with it.
type task struct {
	period *period
	month  month
	seed   int // index
	trials []trial
}

// tasks are those of the exhibits, in an order that depends on them alone. A trial that
// several need is run once, and so is the default of a month.
func (s *study) tasks(exhibits []exhibit) ([]task, error) {
	var months []month
	trials := map[month][]trial{}
	for _, e := range exhibits {
		for _, t := range e.trials {
			if s.results[t] != nil {
				continue
			}
			s.results[t] = make([]*result, s.options.Seeds)
			if trials[t.month] == nil {
				months = append(months, t.month)
			}
			trials[t.month] = append(trials[t.month], t)
		}
	}
	type key struct {
		source source
		seed   uint64
	}
	read := map[key][]*period{}
	var tasks []task
	for seed, value := range s.options.SeedNumbers() {
		for _, m := range months {
			at := key{source: m.source}
			if m.source == halfYear {
				at.seed = value // the logs are the same for all
			}
			if read[at] == nil {
				periods, err := m.source.periods(s.options.Data, value)
				if err != nil {
					return nil, err
				}
				read[at] = periods
			}
			tasks = append(tasks, task{read[at][m.index], m, seed, trials[m]})
		}
	}
	return tasks, nil
}

// run simulates all tasks, several at once.
func (s *study) run(ctx context.Context, tasks []task, progress func(done, of int)) error {
	of := 0
	for i := range tasks {
		of += len(tasks[i].trials)
	}
	var count parallel.Counter
	if progress != nil {
		count.Tell = func(done int) { progress(done, of) }
	}
	return parallel.Each(ctx, s.options.Crew(), len(tasks), func(ctx context.Context, i int) error {
		t := &tasks[i]
		return t.run(ctx, s.options.SeedNumbers()[t.seed], func(tried trial, r *result) {
			s.results[tried][t.seed] = r
			count.Add()
		})
	})
}

// run runs the default of the month, then the trials.
func (t *task) run(ctx context.Context, seed uint64, keep func(trial, *result)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := t.period
	powers := workload.PowerRanges()[t.month.powers]
	rates := p.site.rates(powers)
	jobs, err := workload.DrawPower(p.jobs, powers, seed)
	if err != nil {
		return err
	}
	meters, err := p.meters()
	if err != nil {
		return err
	}
	base, err := p.schedule(jobs, rates, engine.EASY())
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	for _, tried := range t.trials {
		if err = ctx.Err(); err != nil {
			return err
		}
		made := base
		if tried.percent > 0 {
			if made, err = tried.schedule(jobs, rates, base); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		keep(tried, judge(jobs, rates, base, made, meters))
	}
	return nil
}

// schedule schedules jobs by the default policy within the budget.
func (t trial) schedule(jobs []workload.Job, rates power.Rates, base *schedule) (*schedule, error) {
	p := base.period
	mean := p.mean(base.uses)
	baseline, idle := int64(mean.Draw), rates.Draw(0, p.site.CPUs(), 0)
	if t.basis != jobsAlone {
		baseline += idle - int64(mean.CPUs)*rates.Idle/1000
	}
	limit := baseline / 100 * int64(t.percent)
	if t.basis != idleDrawn {
		policy, err := t.policy(p, rates, limit)
		if err != nil {
			return nil, err
		}
		return p.schedule(jobs, rates, policy)
	}
	// The idle power of the whole machine is always drawn: a job adds what it draws beyond that of its nodes.
	added, addedRates := aboveIdle(jobs, rates)
	policy, err := t.policy(p, addedRates, max(0, limit-idle))
	if err != nil {
		return nil, err
	}
	s, err := p.schedule(added, addedRates, policy)
	if err != nil {
		return nil, err
	}
	made := p.follow(jobs, rates, s.starts)
	made.choices = s.choices
	return made, nil
}

// aboveIdle are jobs and rates by which a job draws what it does beyond the idle power of the nodes that it
// holds.
func aboveIdle(jobs []workload.Job, rates power.Rates) ([]workload.Job, power.Rates) {
	above := power.Rates{Busy: rates.Busy - rates.Idle}
	all := slices.Clone(jobs)
	for i := range all {
		share := rates.Busy*int64(all[i].Power) - rates.Idle*protocol.PPM
		all[i].Power = int(max(1, (share+above.Busy-1)/above.Busy)) // 0 would stand for all of it
	}
	return all, above
}

// policy is the default within a budget in milliwatts.
func (t trial) policy(p *period, rates power.Rates, limit int64) (engine.Policy, error) {
	signal, err := p.signal(limit)
	if err != nil {
		return nil, err
	}
	b := engine.Budget{Signal: signal, Rates: rates, Mode: t.mode, Window: t.window, Bound: t.bound}
	return engine.Within(b, engine.EASY()), b.Check()
}

// each is a value of every seed of a trial, or the mean of several trials.
func (s *study) each(value func(*result) float64, trials ...trial) reproduce.Cell {
	values := make([]float64, s.options.Seeds)
	for _, t := range trials {
		for seed, r := range s.results[t] {
			values[seed] += value(r) / float64(len(trials))
		}
	}
	return reproduce.Ours(values...)
}
