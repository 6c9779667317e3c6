package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

func (a *app) reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have the peer read its configuration again",
		Long: "Have the peer read its configuration again, and put in force what may change while it runs:\n" +
			"the initiation and the other rules of rounds, the policy, the policy of the local queue, the\n" +
			"power budget, the partners, the level of the log, and what the own files of built-in feeds of\n" +
			"prices and budgets say. Other keys that differ are listed as needing a restart.\n" +
			"When something is wrong with a file, nothing changes and the exit code is 1. Only root and the\n" +
			"peer's own account may do this. SIGHUP to the peer does the same, and tells its log.",
		Example: "  switchyard config check && switchyard reload\n  switchyard reload --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			done, err := a.client().Reload(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(done)
			} else {
				a.tellReload(done)
			}
			if err == nil && len(done.Problems) > 0 {
				return &exitError{code: exitFailed}
			}
			return err
		},
	}
	return a.query(cmd)
}

func (a *app) tellReload(done api.Reloaded) {
	for _, problem := range done.Problems {
		a.notice("%s", plain(problem))
	}
	if len(done.Problems) > 0 {
		a.notice("nothing was changed")
		return
	}
	for _, warning := range done.Warnings {
		a.notice("warning: %s", plain(warning))
	}
	for _, site := range done.Added {
		a.printf("added          partner %s\n", plain(string(site)))
	}
	for _, site := range done.Removed {
		a.printf("removed        partner %s\n", plain(string(site)))
	}
	for _, c := range done.Changed {
		a.printf("changed        %s\n", plain(c.Text()))
	}
	for _, c := range done.Restart {
		a.printf("needs restart  %s\n", plain(c.Text()))
	}
	if len(done.Changed)+len(done.Added)+len(done.Removed) == 0 {
		a.printf("Nothing has changed.\n")
	}
	a.printf("In force: %s.\n", rulesText(done.Rules))
}

// rulesText tells rules in words.
func rulesText(rules api.Rules) string {
	return fmt.Sprintf("initiation %s, policy %s, local queue %s",
		plain(rules.Initiation), plain(rules.Policy), plain(rules.LocalPolicy))
}
