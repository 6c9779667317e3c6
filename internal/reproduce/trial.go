package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// trial is who places the jobs of a scene, and how. Equal trials are run once.
type trial struct {
	scene    sceneName
	policy   string         // as [builtin.Names] has them
	weight   int            // w, in parts per million
	scale    int            // of the flow's costs; 0: the paper's
	delay    protocol.Micro // what an hour of a job is worth, in place of w; 0: w
	marginal int
	portal   bool               // one peer places all; else every site its own
	maxQ     int                // 0: unbounded
	cycle    protocol.Duration  // 0: rounds are opened by each job's arrival
	waits    waitpredict.Method // empty: the bare plan
	forecast string             // of prices, see [Options.Forecast]
	authors  authors

	stays    int // share of the measured jobs that stay at their origin, in parts per million
	protect  rules.Protection
	perturb  protocol.Duration
	data     int64 // bytes of each job, or drawnData
	powerLow int   // bounds of the jobs' power, in parts per million of the sites'
	powerTop int
}

// outcome is what came of a trial with one seed.
type outcome struct {
	*scene

	cfg         sim.Config
	result      *sim.Result
	metrics     sim.Metrics
	bill        sim.Bill
	quotedWaits []protocol.Duration // the waits quoted to the portal for the measured jobs at the sites that it chose; nil without a portal
}

// run simulates the trial.
func (t trial) run(ctx context.Context, s *scene, seed uint64) (*outcome, error) {
	cfg, err := t.config(s, seed)
	if err != nil {
		return nil, err
	}
	seen := &witness{Policy: cfg.Policy, waits: map[protocol.JobID]protocol.Duration{}}
	cfg.Policy = seen
	result, err := sim.Run(ctx, cfg, s.jobs, nil)
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", t, seed, err)
	}
	out := &outcome{
		scene: s, cfg: cfg, result: result,
		metrics: sim.Measure(cfg.Machines(), s.jobs, result), bill: cfg.Charge(s.jobs, result),
	}
	if t.portal && t.stays == 0 {
		out.quotedWaits = seen.quotedWaits()
	}
	return out, nil
}

// String names the trial for messages.
func (t trial) String() string {
	return fmt.Sprintf("%s on %s, w %d %%, MaxQ %d", t.policy, t.scene, t.weight/10_000, t.maxQ)
}

func (t trial) config(s *scene, seed uint64) (sim.Config, error) {
	choice := builtin.Default()
	choice.MCMF = mcmf.Published(mcmf.Full)
	choice.MCMF.Weight, choice.MCMF.Marginal = t.weight, t.marginal
	if t.delay > 0 {
		choice.MCMF = mcmf.Default(mcmf.Full)
		choice.MCMF.DelayPrice = t.delay
	}
	if t.authors.floor {
		choice.MCMF.LeastRange = protocol.Unit
	}
	if t.scale > 0 {
		choice.MCMF.Scale = t.scale
	}
	made, err := choice.Make(t.policy)
	if err != nil {
		return sim.Config{}, err
	}
	cfg := sim.Config{
		Seed: seed, Scheme: sim.Distributed, Policy: made, History: s.history,
		Tuning:     rules.RuntimeConfig{Initiation: policy.Sender, MaxJobsPerCycle: t.maxQ, PartnersPerRound: len(s.sites)},
		LocalShare: t.stays, Protect: t.protect, Perturb: t.perturb,
		PowerLow: t.powerLow, PowerHigh: t.powerTop,
	}
	if t.portal {
		cfg.Scheme = sim.Central
	}
	if t.cycle > 0 {
		cfg.Tuning.Initiation, cfg.Tuning.CycleInterval = policy.Cycle, t.cycle
	}
	switch {
	case t.data == drawnData:
		cfg.Stage = sim.Stage{Sizes: dataSizes(), Links: links(s.systems)}
	case t.data > 0:
		cfg.Stage = sim.Stage{Sizes: []int64{t.data}, Links: links(s.systems)}
	}
	cfg.Sites = slices.Clone(s.sites)
	var outlooks [][]price.Forecast
	for i := range cfg.Sites {
		if cfg.Sites[i].Waits = t.waits; s.areas == nil {
			continue
		}
		days, problem := s.areas[i].outlook(t.forecast)
		if problem != nil {
			return sim.Config{}, fmt.Errorf("%s: %w", s.systems[i].PriceArea, problem)
		}
		cfg.Sites[i].Electricity.Ahead = ahead(days, s.starts[i])
		outlooks = append(outlooks, days)
	}
	cfg.Policy, err = t.released(s, &cfg, outlooks)
	return cfg, err
}

// witness remembers the wait that a policy expected of each job at last.
type witness struct {
	policy.Policy

	waits map[protocol.JobID]protocol.Duration
}

// Describe implements [policy.Describer].
func (w *witness) Describe() policy.Description { return policy.Describe(w.Policy) }

// Decide implements [policy.Policy].
func (w *witness) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	decisions, hint, err := w.Policy.Decide(ctx, in)
	for _, d := range decisions {
		w.waits[in.Jobs[d.Job].ID] = in.AWT[in.At(d.Job, d.Site)] + in.Jobs[d.Job].Waited
	}
	return decisions, hint, err
}

// quotedWaits are the quoted waits in the order in which the jobs were submitted, which is that of
// their IDs at one peer.
func (w *witness) quotedWaits() []protocol.Duration {
	out := make([]protocol.Duration, 0, len(w.waits))
	for _, id := range slices.SortedFunc(maps.Keys(w.waits), cmp.Compare) {
		out = append(out, w.waits[id])
	}
	return out
}

// placed says whether a job ran.
func (o *outcome) placed(i int) bool { return o.result.Placements[i].Site >= 0 }

// response is that of a job that ran, in minutes.
func (o *outcome) response(i int) float64 {
	return minutes(o.result.Placements[i].End.Sub(o.jobs[i].Submit))
}

func minutes(d protocol.Duration) float64 { return float64(d) / float64(protocol.Minute) }

// cost is that of a job that ran, in units of the currency ([MC] equation 7).
func (o *outcome) cost(i int) float64 {
	p := o.result.Placements[i]
	site := &o.sites[p.Site].Electricity
	spec := protocol.Spec{Request: protocol.Request{CPUs: o.jobs[i].CPUs}}
	return float64(site.Paid.Cost(pricing.JobPower(site.Milliwatts, &spec), p.Start, p.End.Sub(p.Start))) / float64(protocol.Unit)
}

// coreHours is the work that a job was where it ran.
func (o *outcome) coreHours(i int) float64 {
	p := o.result.Placements[i]
	return float64(o.jobs[i].CPUs) * float64(p.End-p.Start) / float64(protocol.Hour)
}

// measured calls f for each measured job that ran.
func (o *outcome) measured(f func(i int, job *workload.Job, p sim.Placement)) {
	for i := o.history; i < len(o.jobs); i++ {
		if o.placed(i) {
			f(i, &o.jobs[i], o.result.Placements[i])
		}
	}
}

// span is from the first measured submission to the last end of a measured job.
func (o *outcome) span() (from, until protocol.Instant) {
	from = o.jobs[o.history].Submit
	until = from
	o.measured(func(_ int, _ *workload.Job, p sim.Placement) { until = max(until, p.End) })
	return from, until
}

// most is what the electricity of all CPUs at full power costs in that time: no
// schedule can cost more.
func (o *outcome) most() float64 {
	from, until := o.span()
	return o.scene.most(from, until)
}

func (s *scene) most(from, until protocol.Instant) float64 {
	sum := 0.0
	for i := range s.sites {
		power := s.sites[i].Electricity.Milliwatts * int64(s.sites[i].CPUs())
		sum += float64(s.ceiling[i].Cost(power, from, until.Sub(from))) / float64(protocol.Unit)
	}
	return sum
}
