package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// simPlugins are plugins that take part in an experiment beside those of its file.
type simPlugins struct {
	policy       string // path, or the name of a built-in one
	policyConfig string
	local        string // path, or a policy of the built-in engine
	localConfig  string
	noTLS        bool
}

func (s *simPlugins) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.policy, "policy", "", "policy that decides rounds: a built-in policy, or the path of a plugin, such as ./cheapest")
	flags.StringVar(&s.policyConfig, "policy-config", "", "configuration file of that plugin")
	flags.StringVar(&s.local, "localsched", "", "policy of all local queues: a built-in policy, or the path of a plugin")
	flags.StringVar(&s.localConfig, "localsched-config", "", "configuration file of that plugin")
	flags.BoolVar(&s.noTLS, "no-tls", false, "connect to these plugins without TLS, over a private socket (the Python example requires it)")
}

// apply has the plugins take part.
func (s *simPlugins) apply(plan *experiment.Plan) (*experiment.Plan, error) {
	plan, err := s.applyPolicy(plan)
	if err != nil {
		return nil, err
	}
	if s.localConfig != "" && !strings.Contains(s.local, "/") {
		return nil, usage("--localsched-config requires a plugin; set --localsched to its path")
	}
	switch {
	case s.local == "":
		return plan, nil
	case strings.Contains(s.local, "/"):
		return s.with(plan, pluginhost.SchedulerKind, "localsched", s.local, s.localConfig)
	}
	if plan, err = plan.With(experiment.Setting{Key: "policy", Value: s.local}); err != nil {
		return nil, usage("--localsched: %w; the path of a plugin contains a slash, such as ./mine", err)
	}
	return plan, nil
}

// applyPolicy has a built-in policy or a plugin decide rounds.
func (s *simPlugins) applyPolicy(plan *experiment.Plan) (*experiment.Plan, error) {
	builtIn := slices.Contains(builtin.Names(), s.policy)
	switch {
	case s.policyConfig != "" && s.policy == "":
		return nil, usage("--policy-config requires --policy")
	case s.policyConfig != "" && builtIn:
		return nil, usage("--policy-config requires a plugin; set the parameters of %s in the table [policy.%s] of the experiment", s.policy, s.policy)
	case s.policy == "":
		return plan, nil
	case !builtIn:
		return s.with(plan, pluginhost.PolicyKind, "policy", s.policy, s.policyConfig)
	}
	plan, err := plan.With(experiment.Setting{Key: "policy.name", Value: s.policy})
	if err != nil {
		return nil, usage("--policy: %w", err)
	}
	return plan, nil
}

// with is the plan with a plugin for all peers or all local queues.
func (s *simPlugins) with(plan *experiment.Plan, kind pluginhost.Kind, flag, path, config string) (*experiment.Plan, error) {
	g, err := experiment.PluginFile(kind, path, config, s.noTLS)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	if plan, err = plan.WithPlugin(g); err != nil {
		return nil, usage("--%s: %w", flag, err)
	}
	return plan, nil
}

// start starts an experiment's plugins. What they log is shown.
func (a *app) start(ctx context.Context, plan *experiment.Plan) error {
	level := &slog.HandlerOptions{Level: slog.LevelWarn}
	return plan.Start(ctx, slog.New(slog.NewTextHandler(a.stderr, level)))
}
