package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/display"
)

func (a *app) sitesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sites",
		Short: "List the sites of the grid and how busy they are",
		Long: "List this site and its partners. LINK is self, up, down, silent (it misses deadlines and is\n" +
			"not asked for quotes) or refused. RUS is the share of CPUs that run jobs, AGE how old that\n" +
			"figure is. HERE are jobs of that site at this one, THERE jobs of this site at that one.\n" +
			"BENEFIT tells how much sooner the site's own users have their results than they would without\n" +
			"the grid: 1.25x is a quarter sooner than alone, below 1 the grid costs them time. POWER, shown\n" +
			"when some site tells it, is what its jobs draw and what its power budget allows them now; CPUs\n" +
			"that the budget keeps from working count as busy in RUS. The NOTE of this site names the rules\n" +
			"in force: what opens rounds, which policy decides them, and which rules the local queue; what\n" +
			"is wrong with the feeds of its power budget; and what is known of the prices of its\n" +
			"electricity, or why nothing is. That of a partner tells which\n" +
			"key is refused, when its link does not come up for that.",
		Example: "  switchyard sites\n  switchyard sites --json",
		Args:    noArgs,
	}
	return lists(a, cmd, func(ctx context.Context, _ []string) (display.Grid, error) {
		sites, err := a.client().Sites(ctx)
		if err != nil {
			return display.Grid{}, err
		}
		info, err := a.client().Info(ctx)
		return display.Grid{Sites: sites, Rules: info.Rules, Alarms: info.Alarms}, err
	}, display.Sites)
}
