package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) simReplayCommand() *cobra.Command {
	var decider pluginFile
	cmd := &cobra.Command{
		Use:   "replay RECORD",
		Short: "Replay the recording of a live peer, and compare",
		Long: "Replay the recorded inputs of a live peer into a new one and compare the output of every step:\n" +
			"rows, messages, calls and answers. The policy decides each round again. If anything differs, the\n" +
			"first difference is printed and the exit code is 1. peer --record makes the recording. Decisions\n" +
			"of a plugin are taken from the recording, unless --policy names the plugin.",
		Example: "  switchyard peer --config site.toml --record run.rec\n  switchyard sim replay run.rec\n" +
			"  switchyard sim replay run.rec --policy ./cheapest --policy-config cheapest.toml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s requires one recording, the file of peer --record", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var plugin policy.Policy
			if decider.path != "" {
				var started *pluginhost.Plugin
				if started, err = decider.start(cmd.Context(), pluginhost.PolicyKind); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, started.Close()) }()
				plugin = started.Policy()
			}
			return a.replay(args[0], plugin)
		},
	}
	cmd.Flags().StringVar(&decider.path, "policy", "", "path of the policy plugin that decided in the recording")
	cmd.Flags().StringVar(&decider.config, "policy-config", "", "configuration file of that plugin")
	cmd.Flags().BoolVar(&decider.noTLS, "no-tls", false, "connect to the plugin without TLS, over a private socket")
	return a.query(cmd)
}

// replay replays a recording. Plugin is a policy that may have decided in it; nil:
// none is known.
func (a *app) replay(path string, plugin policy.Policy) (err error) {
	reader, err := recording.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	var unknown []string
	summary, err := recording.Replay(reader, func(name string, params []policy.Param) (policy.Policy, error) {
		if plugin != nil && plugin.Info().Name == name && slices.Equal(plugin.Info().Params, params) {
			return plugin, nil
		}
		known, refused := recordedPolicy(name, params)
		if known == nil && refused == nil && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		return known, refused
	})
	if err != nil {
		return err
	}
	if summary.Cut != "" {
		a.notice("%s", console.Plain(summary.Cut))
	}
	a.printUnchecked(&summary, unknown)
	if err = a.showReplay(path, &summary); err != nil {
		return err
	}
	if summary.Differences > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// printUnchecked says which rounds were not decided again, and why: that nothing
// differs says nothing of them.
func (a *app) printUnchecked(s *recording.Summary, unknown []string) {
	if s.Checked >= s.Rounds {
		return
	}
	why := "the recording does not contain their decisions"
	if len(unknown) > 0 {
		why = "unknown policy " + strings.Join(unknown, " or ")
	}
	a.notice("%s of %d not decided again: %s", protocol.Count(s.Rounds-s.Checked, "round"), s.Rounds, console.Plain(why))
}

// recordedPolicy is the policy that decided in a recording. Of one that is not
// known the decisions are taken as recorded.
func recordedPolicy(name string, params []policy.Param) (policy.Policy, error) {
	if !slices.Contains(builtin.Names(), name) {
		return nil, nil //nolint:nilnil // what recording.Policies asks for
	}
	return builtin.Restore(name, params)
}

func (a *app) showReplay(path string, s *recording.Summary) error {
	if a.json {
		return a.printJSON(s)
	}
	a.printf("%s: %d steps, %s, %s, %s; %d messages received, %d sent.\n", console.Plain(path), s.Steps,
		protocol.Count(s.Jobs, "job"), protocol.Count(s.Rounds, "round"), protocol.Count(s.Decisions, "decision"), s.Received, s.Sent)
	if s.Differences == 0 {
		a.printf("No differences; %s decided again.\n", protocol.Count(s.Checked, "round"))
		return nil
	}
	a.printf("%s. The first:\n%s\n", protocol.Count(s.Differences, "difference"), console.PlainLines(s.First.String()))
	return nil
}
