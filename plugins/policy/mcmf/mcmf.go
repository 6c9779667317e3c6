// Package mcmf places all jobs of a round at once, by min-cost max-flow over
// response time and electricity cost [MC 3.3.1]: as many jobs as the sites take, at
// the least total cost. What a job at a site costs is between 0 and the scale,
//
//	w · (R − Rmin) / (Rmax − Rmin) + (1 − w) · (E − Emin) / (Emax − Emin)
//
// times the scale (equations 4 to 6), where R is the job's response time there, from now
// on, E what its electricity costs there, and the extremes are those of all quotes of the
// sites that take jobs in this round. All of this is integers. When the sites do not take
// all jobs, older ones go first: a younger one costs more, wherever it goes.
//
// The paper's w is one number, so that in each round the whole range of response times is
// worth as much money as that round happens to have between its cheapest and its most expensive
// quote: hours may be given for a hundredth of a cent. With [Config.ByPrice] the w of each round
// is the one at which an hour of a job is worth [Config.DelayPrice], whatever the round's ranges:
//
//	w = P · (Rmax − Rmin) / (P · (Rmax − Rmin) + (Emax − Emin))
//
// Its variants are rivals of [MC 5] that differ in what they know.
package mcmf

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Variant is what the costs are made of. It is also the policy's name.
type Variant string

// The variants [MC 5].
const (
	Full     Variant = "mcmf"     // predicted waits and hourly prices
	Inst     Variant = "inst"     // every wait counts as 0, and every job is priced as if it started at once
	TwoPrice Variant = "twoprice" // predicted waits, and two prices a day
)

// Variants lists the variants.
func Variants() []Variant { return []Variant{Full, Inst, TwoPrice} }

// Config are the policy's parameters.
type Config struct {
	Variant    Variant
	Weight     int            // w, the weight of the response time, in parts per million
	ByPrice    bool           // w follows in each round from the next two instead
	DelayPrice protocol.Micro // P, what an hour of a job's response time is worth
	Currency   string         // of P: only prices in it count; empty: it is the one that most sites name
	Scale      int            // of the costs, which are rounded to whole ones
	LeastRange protocol.Micro // of electricity costs in a round, as the authors' released code has it: a smaller range counts as this
	Marginal   int            // jobs of a round that sites tell the growing wait of; 0: none
}

const (
	// DefaultWeight is the w of [MC] Table IV that serves both sides.
	DefaultWeight = protocol.PPM / 4
	// DefaultDelayPrice is what an hour of a job is worth by default. On the grid of [MC]
	// it saves nearly what DefaultWeight does, at half of the waits (docs/reproduction.md).
	DefaultDelayPrice = protocol.Unit
	// DefaultScale tells prices apart beside waits of days.
	DefaultScale = 10_000
	// MaxScale is the finest scale.
	MaxScale = 1_000_000
	// MaxDelayPrice is the highest price of an hour.
	MaxDelayPrice = 1_000_000 * protocol.Unit
)

// Default returns the parameters of a variant where the configuration gives none.
func Default(v Variant) Config {
	return Config{Variant: v, ByPrice: true, DelayPrice: DefaultDelayPrice, Weight: DefaultWeight, Scale: DefaultScale}
}

// Published returns those of [MC 3.3.1, Table IV].
func Published(v Variant) Config {
	return Config{Variant: v, Weight: DefaultWeight, Scale: mincostflow.ReferenceScale}
}

// Policy implements [policy.Policy].
type Policy struct{ Config }

// New returns the policy. The error is all that is wrong with its parameters.
func New(cfg Config) (*Policy, error) {
	var errs []error
	for _, f := range cfg.Faults() {
		errs = append(errs, fmt.Errorf("policy %s: %s: %s", cfg.Variant, f.Key, f.Text))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Policy{cfg}, nil
}

// The values of the key normalise in configurations: how time and money are compared.
const (
	ByPrice = "price" // [Config.ByPrice]
	ByRound = "round" // as in [MC 3.3.1]
)

// Fault is what is wrong with one parameter.
type Fault struct{ Key, Text string }

// Faults lists what is wrong with the parameters.
func (c Config) Faults() (faults []Fault) {
	add := func(wrong bool, key, format string, args ...any) {
		if wrong {
			faults = append(faults, Fault{key, fmt.Sprintf(format, args...)})
		}
	}
	switch c.Variant {
	case Full, Inst, TwoPrice:
	default:
		add(true, "variant", "%q is unknown; use %s, %s or %s", c.Variant, Full, Inst, TwoPrice)
	}
	add(c.Weight < 0 || c.Weight > protocol.PPM, "weight", "%d millionths are outside 0 to %d", c.Weight, protocol.PPM)
	add(c.DelayPrice < 0 || c.DelayPrice > MaxDelayPrice, "delay_price", "%s is outside 0 to %d", c.DelayPrice.Text(), MaxDelayPrice/protocol.Unit)
	add(c.LeastRange < 0, "least_range", "%s is negative", c.LeastRange.Text())
	add(c.Scale < 1 || c.Scale > MaxScale, "cost_steps", "%d is outside 1 to %d", c.Scale, MaxScale)
	add(c.Marginal < 0 || c.Marginal == 1 || c.Marginal > protocol.MaxMarginalJobs, "marginal_jobs",
		"%d is neither 0 (none) nor 2 to %d; the first job waits as quoted", c.Marginal, protocol.MaxMarginalJobs)
	const unused = "it has no effect with normalise = %q; set normalise = %q, or leave this out"
	add(c.ByPrice && c.Weight != 0 && c.Weight != DefaultWeight, "weight", unused, ByPrice, ByRound)
	add(!c.ByPrice && c.DelayPrice != 0 && c.DelayPrice != DefaultDelayPrice, "delay_price", unused, ByRound, ByPrice)
	add(c.Marginal > 0 && c.Variant == Inst, "marginal_jobs", "%s knows no waits, so none that grow; leave it out", Inst)
	return faults
}

// The names of the parameters.
const (
	currencyName = "currency"
	delayName    = "delay_price_micro" // there by price alone, as currency is
	rangeName    = "least_range_micro" // there unless it is 0
	marginalName = "marginal"
	scaleName    = "scale"
	variantName  = "variant"
	weightName   = "weight_ppm"
)

// Info implements [policy.Policy].
func (p *Policy) Info() policy.Info {
	params := []policy.Param{
		{Name: marginalName, Value: strconv.Itoa(p.Marginal)},
		{Name: scaleName, Value: strconv.Itoa(p.Scale)},
		{Name: variantName, Value: string(p.Variant)},
		{Name: weightName, Value: strconv.Itoa(p.Weight)},
	}
	if p.ByPrice {
		params = append([]policy.Param{
			{Name: currencyName, Value: p.Currency},
			{Name: delayName, Value: strconv.FormatInt(int64(p.DelayPrice), 10)},
		}, params...)
	}
	if p.LeastRange > 0 {
		at := slices.IndexFunc(params, func(one policy.Param) bool { return one.Name > rangeName })
		params = slices.Insert(params, at, policy.Param{Name: rangeName, Value: strconv.FormatInt(int64(p.LeastRange), 10)})
	}
	return policy.Info{
		Name:        string(p.Variant),
		Initiations: []policy.Initiation{policy.Sender, policy.Cycle},
		Params:      params,
	}
}

// MarginalJobs implements [policy.MarginalWaitPolicy].
func (p *Policy) MarginalJobs() int { return p.Marginal }

// EnergyPricing implements [policy.EnergyPricer].
func (p *Policy) EnergyPricing() protocol.EnergyPricing {
	switch p.Variant {
	case Inst:
		return protocol.AtOnce
	case TwoPrice:
		return protocol.TwoPrice
	case Full:
	}
	return protocol.Hourly
}

// Restore returns the policy whose [Policy.Info] has these parameters.
func Restore(params []policy.Param) (*Policy, error) {
	var cfg Config
	var delay, least int
	missing := map[string]func(text string) error{
		variantName:  func(text string) error { cfg.Variant = Variant(text); return nil },
		marginalName: whole(&cfg.Marginal), scaleName: whole(&cfg.Scale), weightName: whole(&cfg.Weight),
	}
	if cfg.ByPrice = slices.ContainsFunc(params, func(p policy.Param) bool { return p.Name == delayName }); cfg.ByPrice {
		missing[currencyName] = func(text string) error { cfg.Currency = text; return nil }
		missing[delayName] = whole(&delay)
	}
	if slices.ContainsFunc(params, func(p policy.Param) bool { return p.Name == rangeName }) {
		missing[rangeName] = whole(&least)
	}
	for _, param := range params {
		set := missing[param.Name]
		if set == nil {
			return nil, fmt.Errorf("policy mcmf: it has no parameter %q, or has had it already", param.Name)
		}
		if err := set(param.Value); err != nil {
			return nil, fmt.Errorf("policy mcmf: its parameter %s is %q, not a number", param.Name, param.Value)
		}
		delete(missing, param.Name)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("policy mcmf: of its parameters %q some are missing: %q", params, slices.Sorted(maps.Keys(missing)))
	}
	cfg.DelayPrice, cfg.LeastRange = protocol.Micro(delay), protocol.Micro(least)
	return New(cfg)
}

// whole sets a parameter that is a whole number.
func whole(to *int) func(text string) error {
	return func(text string) (err error) {
		*to, err = strconv.Atoi(text)
		return err
	}
}

// Decide implements [policy.Policy]. A job that finds no room this round stays in the
// grid queue. Of equally cheap flows the solver chooses, see [mincostflow.Solve]; the
// hint is the solver's too.
func (p *Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	c := p.cycle(&in)
	flow, err := mincostflow.Solve(c.problem(), in.Hint)
	if err != nil {
		return nil, nil, fmt.Errorf("policy %s: %w", p.Variant, err)
	}
	hint := flow.Hint
	if len(hint) > policy.MaxHint {
		hint = nil
	}
	return c.decisions(flow.System), hint, nil
}
