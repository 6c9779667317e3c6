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
		Short: "Replay what a live peer recorded, and compare",
		Long: "Feed all that a live peer was told to a fresh one, and compare what it does at every step: rows,\n" +
			"messages, calls and answers. The policy decides each round again. All must come out the same;\n" +
			"else the first difference is printed and the exit code is 1. A peer records with peer --record.\n" +
			"Decisions of a plugin are taken as recorded, unless --policy names it.",
		Example: "  switchyard peer --config site.toml --record run.rec\n  switchyard sim replay run.rec\n" +
			"  switchyard sim replay run.rec --policy ./cheapest --policy-config cheapest.toml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs one recording, the file of peer --record", cmd.CommandPath())
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
	cmd.Flags().StringVar(&decider.path, "policy", "", "the plugin that decided in the recording, by its path")
	cmd.Flags().StringVar(&decider.config, "policy-config", "", "its configuration")
	cmd.Flags().BoolVar(&decider.plain, "plain", false, "speak with the plugin without TLS, over a private socket")
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
	a.tellUnchecked(&summary, unknown)
	if err = a.showReplay(path, &summary); err != nil {
		return err
	}
	if summary.Differences > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// tellUnchecked says which rounds were not decided again, and why: that nothing
// differs says nothing of them.
func (a *app) tellUnchecked(s *recording.Summary, unknown []string) {
	if s.Checked >= s.Rounds {
		return
	}
	why := "the recording has no decisions of theirs"
	if len(unknown) > 0 {
		why = "this program does not know the policy " + strings.Join(unknown, " or ")
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
	a.printf("%s: %d steps, %s, %s, %s; %d messages came and %d went.\n", console.Plain(path), s.Steps,
		protocol.Count(s.Jobs, "job"), protocol.Count(s.Rounds, "round"), protocol.Count(s.Decisions, "decision"), s.Received, s.Sent)
	if s.Differences == 0 {
		a.printf("All came out as recorded; %s decided again.\n", protocol.Count(s.Checked, "round"))
		return nil
	}
	a.printf("%s. The first:\n%s\n", protocol.Count(s.Differences, "difference"), console.PlainLines(s.First.String()))
	return nil
}
