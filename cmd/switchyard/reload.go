package main

import (
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
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
		a.notice("%s", console.Plain(problem))
	}
	if len(done.Problems) > 0 {
		a.notice("nothing was changed")
		return
	}
	for _, warning := range done.Warnings {
		a.notice("warning: %s", console.Plain(warning))
	}
	for _, site := range done.Added {
		a.printf("added          partner %s\n", console.Plain(string(site)))
	}
	for _, site := range done.Removed {
		a.printf("removed        partner %s\n", console.Plain(string(site)))
	}
	for _, c := range done.Changed {
		a.printf("changed        %s\n", console.Plain(c.Text()))
	}
	for _, c := range done.Restart {
		a.printf("needs restart  %s\n", console.Plain(c.Text()))
	}
	if len(done.Changed)+len(done.Added)+len(done.Removed) == 0 {
		a.printf("Nothing has changed.\n")
	}
	a.printf("In force: %s.\n", display.Rules(done.Rules))
}
