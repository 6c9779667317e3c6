package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

func (a *app) sharesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "shares",
		Annotations: anyPeer(),
		Short:       "List how users stand with their shares",
		Long: "List for each user and account the SHARE of all use that is the user's ([fairshare.accounts]), the USE in\n" +
			"hours of a CPU, decayed, the PART that this is of the use of all users, and the DEVIATION of PART from\n" +
			"SHARE. The row with the SITE all has the sum, with the CPU time that placed jobs ask for; the rows below\n" +
			"have what was used at each site. AGE is that of the newest report of use of that site, - where this site knows\n" +
			"the use itself. Partners whose reports are missing or do not count have a row of their own, and those\n" +
			"whose reports say more than their machines can do, with the part that counts. Use is exchanged with\n" +
			"the partners of [fairshare] common_names. Without [fairshare] half_life the list is empty.",
		Example: "  switchyard shares\n  switchyard shares --json",
		Args:    noArgs,
	}
	return lists(a, cmd, func(ctx context.Context, _ []string) (view.Shares, error) { return a.client().Shares(ctx) }, display.Shares)
}
