package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/display"
)

func (a *app) sitesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "sites",
		Annotations: anyPeer(),
		Short:       "List the sites of the grid and their utilization",
		Long: "List this site and its partners. LINK is self, up, down, unresponsive (the partner answers too\n" +
			"late and is excluded from rounds), refused, or missing (no partner, although jobs or the configuration name it; NOTE says why).\n" +
			"RUS is the share of busy CPUs, AGE the age of this value.\n" +
			"HERE is the number of that site's jobs at this one, THERE that of this site's jobs there.\n" +
			"BENEFIT is the gain of the site's users: 1.25x means that without the grid the mean response time\n" +
			"would be 25 % longer; below 1 the grid makes it longer. POWER is shown if any site reports it:\n" +
			"the power draw of its jobs and its active power budget; CPUs that the budget keeps idle count as\n" +
			"busy in RUS. RESOURCES and FEATURES are shown if any site has some: what jobs can ask for with --gres,\n" +
			"--gpus and --constraint; the count is of all nodes together. The NOTE of this site has the active policies, the errors of its power budget's\n" +
			"feeds, the end of the roster if it is near or past, and the state of its electricity prices; \"no gossip\" means that this site knows the load\n" +
			"of a partner only from its quotes and volunteer messages, and so it is if no member of the gossip answers. The NOTE of a partner names a rejected key if that keeps its\n" +
			"link down, and says which of two keys it uses if next_public_key is set.",
		Example: "  switchyard sites\n  switchyard sites --json",
		Args:    noArgs,
	}
	return lists(a, cmd, func(ctx context.Context, _ []string) (display.Grid, error) {
		sites, err := a.client().Sites(ctx)
		if err != nil {
			return display.Grid{}, err
		}
		info, err := a.client().Info(ctx)
		return display.Grid{Sites: sites, Rules: info.Rules, Gossip: info.Gossip, GossipAlone: info.GossipAlone, Alarms: info.Alarms, Roster: info.Roster}, err
	}, display.Sites)
}
