package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Outcome is what a plan's simulation gave for one scheme and seed. It is
// printed as JSON with the metrics on its own level.
type Outcome struct {
	Experiment string `json:"experiment"`
	Scheme     Scheme `json:"scheme"`
	Seed       uint64 `json:"seed"`
	sim.Metrics
	*Energy

	Applications *Applications `json:"applications,omitempty"` // what became of them; nil: there are none

	Hash    string    `json:"hash"`              // of all that happened, in hexadecimal digits
	Records []Records `json:"records,omitempty"` // of the traces
	Compare []Outcome `json:"compare,omitempty"`

	Plan   *Plan          `json:"-"`
	Jobs   []workload.Job `json:"-"`
	Result *sim.Result    `json:"-"`

	config sim.Config
}

// Run simulates the plan under a scheme for a seed. Progress is called now and then
// with the number of jobs that have ended; it may be nil.
func (p *Plan) Run(ctx context.Context, scheme Scheme, seed uint64, progress func(ended, jobs int)) (*Outcome, error) {
	jobs, err := p.Jobs(seed)
	if err != nil {
		return nil, err
	}
	applications, err := p.applications(seed)
	if err != nil {
		return nil, err
	}
	when, err := p.calendar(jobs, applications)
	if err != nil {
		return nil, err
	}
	cfg, err := p.config(ctx, scheme, seed, when)
	if err != nil {
		return nil, err
	}
	cfg.JobLatencies = p.jobLatencies(jobs)
	if cfg.Requests, err = p.requests(jobs); err != nil {
		return nil, err
	}
	p.brokered(&cfg, applications, when)
	if p.configured() {
		p.configure(&cfg, scheme, when)
	}
	var tell func(int)
	if progress != nil {
		all := len(jobs) + components(applications)
		tell = func(ended int) { progress(ended, all) }
	}
	result, err := sim.Run(ctx, cfg, jobs, tell)
	if err != nil {
		return nil, fmt.Errorf("simulate scheme %s with seed %d: %w", scheme, seed, err)
	}
	return p.outcome(scheme, cfg, jobs, result), nil
}

func (p *Plan) outcome(scheme Scheme, cfg sim.Config, jobs []workload.Job, result *sim.Result) *Outcome {
	o := &Outcome{
		Experiment: p.Name, Scheme: scheme, Seed: cfg.Seed, Metrics: sim.Measure(cfg.Machines(), jobs, result),
		Hash: fmt.Sprintf("%016x", result.Hash), Records: p.records(), Plan: p, Jobs: jobs, Result: result, config: cfg,
	}
	if p.electric() && !slices.Contains(p.supplies, nil) && !result.Virtual {
		o.Energy = energyOf(p.Currency, cfg.Charge(jobs, result))
	}
	if len(cfg.Applications) > 0 && !result.Virtual {
		o.Applications = p.achieved(&cfg, jobs, result)
	}
	return o
}

// config is the plan without its workload.
func (p *Plan) config(ctx context.Context, scheme Scheme, seed uint64, when calendar) (sim.Config, error) {
	cfg := sim.Config{
		Seed: seed, Partners: p.Partners, Check: p.Check, Bytes: true, Tuning: p.Rounds.Runtime(),
		History: p.History, LocalShare: int(settings.Whole - p.GridShare), Perturb: p.Perturb, Stage: p.stage(),
		Protect: p.GuestLimits.Protection(), FairShare: p.FairShare.Rules(),
	}
	cfg.Tuning.Moves = p.Moves.Rules()
	if p.Power.Low != 1 || p.Power.High != 1 {
		cfg.PowerLow, cfg.PowerHigh = ppm(p.Power.Low), ppm(p.Power.High)
	}
	for i := range p.Sites {
		s := &p.Sites[i]
		local, other, err := p.localOf(s)
		if err != nil {
			return cfg, fmt.Errorf("site %s: %w", s.Name, err)
		}
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: s.machine(), Local: local, Engine: other, Waits: LocalSched{cmp.Or(s.LocalSched.WaitPrediction, p.LocalSched.WaitPrediction)}.waits(),
			Seed: uint64(s.PeerSeed), Latencies: s.Latency, FirstCheck: s.FirstCheck, //nolint:gosec // checked: not negative
			Tariff: localsched.Tariff{CPUHour: protocol.Micro(s.Tariff.CPUHour), Currency: cmp.Or(s.Tariff.Currency, s.Currency, p.Currency)},
		})
	}
	cfg.Network.Link = sim.Link(p.Network)
	for _, l := range p.Links {
		cfg.Network.Links = append(cfg.Network.Links, sim.LinkBetween{A: p.site(l.A), B: p.site(l.B), Link: sim.Link{
			Latency: l.Latency, Jitter: l.Jitter, Loss: l.Loss, Duplicate: l.Duplicate,
		}})
	}
	for _, c := range p.Cuts {
		cfg.Network.Cuts = append(cfg.Network.Cuts, sim.Cut{
			A: p.site(c.A), B: p.site(c.B), From: protocol.Instant(c.From), Until: protocol.Instant(c.Until),
		})
	}
	for _, c := range p.Crashes {
		cfg.Crashes = append(cfg.Crashes, sim.Crash{Site: p.site(c.Site), At: protocol.Instant(c.At), For: c.For})
	}
	decides, err := p.decider()
	if err != nil {
		return cfg, err
	}
	if cfg.Fallback, err = p.fallback(); err != nil {
		return cfg, err
	}
	scheme.apply(&cfg, decides)
	return cfg, errors.Join(checkServed(&cfg), p.electrify(ctx, cfg.Sites, when), p.budgets(ctx, cfg.Sites, when))
}

// ppm is a factor in parts per million.
func ppm(factor float64) int { return int(math.Round(factor * protocol.PPM)) }

// waits is the method of the quoted waits. Where jobs are placed by the plan no prediction
// is made beside it, as nothing here uses it.
func (l LocalSched) waits() waitpredict.Method {
	method := waitpredict.Method(l.WaitPrediction)
	if method == waitpredict.Plan || method == waitpredict.Auto {
		return ""
	}
	return method
}

// CPUs is how many a site has.
func (p *Plan) CPUs(site int) int { return p.Sites[site].LocalSched.CPUs }

// Trace is the schedule as a trace, with a note of where it comes from.
func (o *Outcome) Trace(note string) *workload.Trace {
	outcomes := make([]workload.Outcome, len(o.Jobs))
	for i, job := range o.Jobs {
		placed := o.Result.Placements[i]
		outcomes[i] = workload.Outcome{Job: job, Site: placed.Site, Start: workload.Unknown, Run: workload.Unknown}
		if placed.Site >= 0 {
			outcomes[i].Start, outcomes[i].Run = placed.Start, placed.End.Sub(placed.Start)
		}
	}
	return workload.Scheduled(o.Plan.origins(), outcomes, note)
}
