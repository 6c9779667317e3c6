package pluginhost

import (
	"context"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// Policy is the plugin as a policy; its kind must be that.
func (p *Plugin) Policy() policy.Policy {
	return remotePolicy{p, pluginClient[policyv1.PolicyClient]{
		life: p.running, client: policyv1.NewPolicyClient, means: meansNothing, limit: p.spec.Timing.Call,
	}}
}

// remotePolicy is a policy in another process.
type remotePolicy struct {
	plugin *Plugin
	door   pluginClient[policyv1.PolicyClient]
}

// Info implements [policy.Policy]. Of one that was never up it holds only the name.
func (r remotePolicy) Info() policy.Info {
	says := r.plugin.description()
	return says.Info()
}

// Describe implements [policy.Describer].
func (r remotePolicy) Describe() policy.Description { return r.plugin.description() }

// decided is what a policy returns.
type decided struct {
	decisions []policy.Decision
	hint      []byte
}

// Decide implements [policy.Policy].
func (r remotePolicy) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	read := func(reply *policyv1.DecideResponse) (d decided, err error) {
		if d.decisions, d.hint, err = policyv1.DecodeDecisions(reply); err == nil {
			err = in.Check(d.decisions)
		}
		return d, err
	}
	d, err := ask(ctx, r.door, "Decide", policyv1.PolicyClient.Decide, policyv1.EncodeSnapshot(&in), read)
	return d.decisions, d.hint, err
}

// ParetoFront implements [policy.ParetoPolicy]. A plugin that is none refuses.
func (r remotePolicy) ParetoFront(ctx context.Context, in policy.Snapshot) (policy.ParetoFront, error) {
	read := func(reply *policyv1.ParetoFrontResponse) (policy.ParetoFront, error) {
		front, err := policyv1.DecodeFront(reply)
		if err == nil {
			err = in.CheckFront(&front)
		}
		return front, err
	}
	return ask(ctx, r.door, "ParetoFront", policyv1.PolicyClient.ParetoFront, policyv1.EncodeSnapshot(&in), read)
}
