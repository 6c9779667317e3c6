// Package iss places applications by their cost function [IS 4.2]. Of the sites and CPU
// counts that its components may run on it takes those for which
//
//	z = β·K_w + Σ_k [α_k·(K_e + K_l) + γ_k·K_eco + δ_k·K_d]
//
// is least, while the bill Σ_k (K_e + K_l + K_eco + K_d) stays within KMAX and the last
// results are back before TMAX. K_w, what waiting for the last of them costs, counts once;
// as printed, where each component's own counts too, is an option. K_w counts from the first
// submission on. Choices are compared from the round on: what has passed before is the same for all.
//
// A quote answers for its component alone. Those that an application sends to one site
// wait for each other as [appassign.Problem] has it; so do the applications of a round,
// which are placed one after the other in the order of their first submission.
package iss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/appassign"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Name is the policy's name.
const Name = "iss"

// Config are the policy's parameters.
type Config struct {
	Gap    int  // how far z may be above the least, in parts per million of it, once the search has taken a while
	Nodes  int  // steps of the search for each application, of some 50 ns each
	Double bool // z as printed in [IS 4.2], with K_w of the application and of each component
}

// The largest parameters.
const (
	MaxGap   = protocol.PPM
	MaxNodes = 1_000_000_000
)

// Default returns the parameters where the configuration gives none.
func Default() Config {
	return Config{Gap: appassign.DefaultGap, Nodes: appassign.DefaultNodes}
}

// Policy implements [policy.Policy].
type Policy struct{ Config }

// New returns the policy. The error is all that is wrong with its parameters.
func New(cfg Config) (*Policy, error) {
	var errs []error
	for _, f := range cfg.Faults() {
		errs = append(errs, fmt.Errorf("policy %s: %s: %s", Name, f.Key, f.Text))
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
	if c.Gap < 0 || c.Gap > MaxGap {
		faults = append(faults, Fault{"max_gap", fmt.Sprintf("%d millionths are outside 0 to %d", c.Gap, MaxGap)})
	}
	if c.Nodes < 1 || c.Nodes > MaxNodes {
		faults = append(faults, Fault{"max_search_nodes", fmt.Sprintf("%d is outside 1 to %d", c.Nodes, MaxNodes)})
	}
	return faults
}

// The names of the parameters.
const (
	gapName     = "gap_ppm"
	nodesName   = "nodes"
	printedName = "printed"
)

// Info implements [policy.Policy].
func (p *Policy) Info() policy.Info {
	return policy.Info{
		Name:        Name,
		Initiations: []policy.Initiation{policy.Sender, policy.Cycle},
		Params: []policy.Param{
			{Name: gapName, Value: strconv.Itoa(p.Gap)},
			{Name: nodesName, Value: strconv.Itoa(p.Nodes)},
			{Name: printedName, Value: strconv.FormatBool(p.Double)},
		},
	}
}

// DecidesApplications implements [policy.ApplicationPolicy].
func (*Policy) DecidesApplications() {}

// Restore returns the policy whose [Policy.Info] has these parameters.
func Restore(params []policy.Param) (*Policy, error) {
	names := []string{gapName, nodesName, printedName}
	if !slices.EqualFunc(params, names, func(p policy.Param, name string) bool { return p.Name == name }) {
		return nil, fmt.Errorf("policy %s: the parameters are %q; it has %s", Name, params, strings.Join(names, ", "))
	}
	var cfg Config
	var errs [3]error
	cfg.Gap, errs[0] = strconv.Atoi(params[0].Value)
	cfg.Nodes, errs[1] = strconv.Atoi(params[1].Value)
	cfg.Double, errs[2] = strconv.ParseBool(params[2].Value)
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("policy %s: its parameter %s is %q, which cannot be read", Name, names[i], params[i].Value)
		}
	}
	return New(cfg)
}

// Decide implements [policy.Policy]. A job that stays in the grid queue although sites
// have quoted it has a decision for [policy.NoSite] that says why.
func (p *Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	r := p.round(&in)
	var decisions []policy.Decision
	for _, a := range r.applications {
		placed, err := r.place(a)
		if err != nil {
			return nil, nil, fmt.Errorf("policy %s: application %v: %w", Name, a.application.ID, err)
		}
		decisions = append(decisions, placed...)
	}
	slices.SortFunc(decisions, func(a, b policy.Decision) int { return cmp.Compare(a.Job, b.Job) })
	return decisions, nil, nil
}
