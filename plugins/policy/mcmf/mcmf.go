// Package mcmf places all jobs of a round at once, by min-cost max-flow over
// response time and electricity cost [MC 3.3.1]: as many jobs as the sites take, at
// the least total cost. What a job at a site costs is between 0 and the scale,
//
//	w · (R − Rmin) / (Rmax − Rmin) + (1 − w) · (E − Emin) / (Emax − Emin)
//
// times the scale (equations 4 to 6), where R is the job's response time there, from now
// on, E what its electricity costs there, and the extremes are those of all quotes of the
// sites that take jobs in this round. All of this is integers. When the sites do not take
// all jobs, older ones go first: a younger one counts as dearer, wherever it goes.
//
// Its variants are rivals of [MC 5] that differ in what they know.
package mcmf

import (
	"context"
	"errors"
	"fmt"
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
	Variant  Variant
	Weight   int // w, the weight of the response time, in parts per million
	Scale    int // of the costs, which are rounded to whole ones
	Marginal int // jobs of a round that sites tell the growing wait of; 0: none
}

const (
	// DefaultWeight is the w of [MC] Table IV that serves both sides.
	DefaultWeight = protocol.PPM / 4
	// DefaultScale is that of [MC 3.3.1].
	DefaultScale = mincostflow.ReferenceScale
	// MaxScale is the finest scale.
	MaxScale = 1_000_000
)

// Default returns the parameters of a variant where the configuration gives none.
func Default(v Variant) Config {
	return Config{Variant: v, Weight: DefaultWeight, Scale: DefaultScale}
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
	add(c.Scale < 1 || c.Scale > MaxScale, "scale", "%d is outside 1 to %d", c.Scale, MaxScale)
	add(c.Marginal < 0 || c.Marginal == 1 || c.Marginal > protocol.MaxExtra, "marginal",
		"%d is neither 0 (none) nor 2 to %d; the first job waits as quoted", c.Marginal, protocol.MaxExtra)
	add(c.Marginal > 0 && c.Variant == Inst, "marginal", "%s knows no waits, so none that grow; leave it out", Inst)
	return faults
}

// The names of the parameters.
const (
	marginalName = "marginal"
	scaleName    = "scale"
	variantName  = "variant"
	weightName   = "weight_ppm"
)

// Info implements [policy.Policy].
func (p *Policy) Info() policy.Info {
	return policy.Info{
		Name:        string(p.Variant),
		Initiations: []policy.Initiation{policy.Sender, policy.Cycle},
		Params: []policy.Param{
			{Name: marginalName, Value: strconv.Itoa(p.Marginal)},
			{Name: scaleName, Value: strconv.Itoa(p.Scale)},
			{Name: variantName, Value: string(p.Variant)},
			{Name: weightName, Value: strconv.Itoa(p.Weight)},
		},
		Reckon: p.reckon(),
		Extra:  p.Marginal,
	}
}

func (p *Policy) reckon() protocol.Reckoning {
	switch p.Variant {
	case Inst:
		return protocol.AtOnce
	case TwoPrice:
		return protocol.TwoPrice
	case Full:
	}
	return protocol.Hourly
}

// Restore returns the policy that [Policy.Info] told these parameters of.
func Restore(params []policy.Param) (*Policy, error) {
	var cfg Config
	numbers := map[string]*int{marginalName: &cfg.Marginal, scaleName: &cfg.Scale, weightName: &cfg.Weight}
	if len(params) != len(numbers)+1 {
		return nil, fmt.Errorf("policy mcmf: the parameters are %q; it has %s, %s, %s and %s",
			params, marginalName, scaleName, variantName, weightName)
	}
	for _, param := range params {
		if param.Name == variantName {
			cfg.Variant = Variant(param.Value)
			continue
		}
		number, known := numbers[param.Name]
		if !known {
			return nil, fmt.Errorf("policy mcmf: it has no parameter %q, or has had it already", param.Name)
		}
		var err error
		if *number, err = strconv.Atoi(param.Value); err != nil {
			return nil, fmt.Errorf("policy mcmf: its parameter %s is %q, not a number", param.Name, param.Value)
		}
		delete(numbers, param.Name)
	}
	if len(numbers) > 0 {
		return nil, fmt.Errorf("policy mcmf: of its parameters %q one is there twice", params)
	}
	return New(cfg)
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
