package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) drainCommand() *cobra.Command {
	var reason, only string
	var local bool
	cmd := &cobra.Command{
		Use:         "drain [SITE] --reason TEXT",
		Annotations: anyPeer(),
		Short:       "Have a site take no new jobs",
		Long: "Have this site take no new jobs, or a partner get none from here. Running jobs go on. The drain is\n" +
			"durable when the command returns, and lasts until switchyard resume, also over restarts.\n" +
			"\n" +
			"Without SITE, or with the name of this site, no guests are taken, and partners are quoted none; they\n" +
			"see the reason. Jobs of this site's users still start here and at partners. With --local no job\n" +
			"starts here: those that wait in the local queue go back into the grid queues of their origins, and\n" +
			"jobs of this site's users go to partners. Groups for which CPUs are reserved still start.\n" +
			"\n" +
			"With the name of a partner, it is sent no jobs and none of it are taken; --only=send or\n" +
			"--only=receive stops one of the two. Jobs that are there go on.\n" +
			"\n" +
			"Only root, the peer's account and the administrators of the site may use it.",
		Example: "  switchyard drain --reason 'new disks on Friday'\n  switchyard drain --local --reason 'power off at 18:00'\n" +
			"  switchyard drain borealis --only=send --reason 'their file system is slow'",
		Args: atMostOneSite,
		RunE: func(cmd *cobra.Command, args []string) error {
			site, own, err := a.drainedSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			drain := api.Drain{Scope: view.DrainGuests, Reason: reason}
			switch {
			case reason == "":
				return usage("missing --reason; users and partners are shown it")
			case own && only != "":
				return usage("--only applies to partners, and %s is this site", console.Plain(string(site)))
			case !own && local:
				return usage("--local applies to this site, and %s is another", console.Plain(string(site)))
			case own && local:
				drain.Scope = view.DrainStarts
			case !own && only == "":
				drain.Scope = view.DrainBoth
			case only == "send" || only == "receive":
				drain.Scope = view.DrainScope(only)
			case only != "":
				return usage("invalid --only=%s; use send or receive", console.Plain(only))
			}
			return a.client().Drain(cmd.Context(), site, drain)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for users and partners")
	cmd.Flags().BoolVar(&local, "local", false, "also start no jobs at this site, and return those that wait in its local queue")
	cmd.Flags().StringVar(&only, "only", "", "of a partner, stop only one `direction`: send or receive")
	return cmd
}

func (a *app) isolateCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:         "isolate SITE --reason TEXT",
		Annotations: anyPeer(),
		SuggestFor:  []string{"fence"},
		Short:       "Exchange nothing with a partner but what running jobs need",
		Long: "Drain a partner in both directions, recall the jobs that wait there, abort its offers here, and ignore\n" +
			"its messages other than those that hand-offs under way need. Jobs that run there, and its jobs that are\n" +
			"here, go on, so that none is lost or runs twice. Jobs there that cannot be recalled because the partner\n" +
			"does not answer stay there until it does. The partner does not learn the reason. It lasts until\n" +
			"switchyard resume, also over restarts.\n" +
			"\n" +
			"To refuse even the connection, remove the partner from the configuration and use switchyard reload.\n" +
			"\n" +
			"Only root, the peer's account and the administrators of the site may use it.",
		Example: "  switchyard isolate borealis --reason 'their key may be stolen'",
		Args:    oneSite,
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return usage("missing --reason; users are shown it")
			}
			site, own, err := a.drainedSite(cmd.Context(), args)
			switch {
			case err != nil:
				return err
			case own:
				return usage("%s is this site; to isolate it, use switchyard drain, or stop its peer", console.Plain(string(site)))
			}
			return a.client().Drain(cmd.Context(), site, api.Drain{Scope: view.DrainIsolated, Reason: reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for users of this site")
	return cmd
}

func (a *app) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "resume [SITE]",
		Annotations: anyPeer(),
		Short:       "End the drain or isolation of a site",
		Long:        "End what switchyard drain or switchyard isolate has begun: of this site, or of the partner SITE.",
		Example:     "  switchyard resume\n  switchyard resume borealis",
		Args:        atMostOneSite,
		RunE: func(cmd *cobra.Command, args []string) error {
			site, _, err := a.drainedSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.client().Resume(cmd.Context(), site)
		},
	}
}

// drainedSite is the site of the arguments, this one if there are none, and whether it is this one.
func (a *app) drainedSite(ctx context.Context, args []string) (site protocol.SiteName, own bool, err error) {
	info, err := a.client().Info(ctx)
	if err != nil || len(args) == 0 {
		return info.Site, true, err
	}
	site = protocol.SiteName(args[0])
	return site, site == info.Site, nil
}

func atMostOneSite(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes at most one site, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func oneSite(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s takes one site, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}
