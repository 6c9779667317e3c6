package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
)

func (a *app) reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "reload",
		Annotations: anyPeer(),
		Short:       "Make the peer read its configuration again",
		Long: "Make the peer read its configuration again and apply the keys that may change while it runs: the\n" +
			"initiation and the other settings of rounds, the policy, the policy of the local queue, the power\n" +
			"budget, the partners, the log level, and the files of built-in price and budget feeds. Other keys\n" +
			"that differ are listed as \"needs restart\". If the configuration is invalid, nothing changes and the\n" +
			"exit code is 1. Only root and the peer's account may use it. SIGHUP does the same; the result is\n" +
			"logged.",
		Example: "  switchyard config check && switchyard reload\n  switchyard reload --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reload(cmd.Context())
		},
	}
	return a.query(cmd)
}

// reload has the peer read its configuration again, and prints what has changed.
func (a *app) reload(ctx context.Context) error {
	done, err := a.client().Reload(ctx)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(done)
	} else {
		a.printReload(done)
	}
	if err == nil && len(done.Problems) > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

func (a *app) printReload(done api.Reloaded) {
	for _, problem := range done.Problems {
		a.notice("%s", console.Plain(problem))
	}
	if len(done.Problems) > 0 {
		a.notice("the configuration was not changed")
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
	switch changes := len(done.Changed) + len(done.Added) + len(done.Removed); {
	case changes == 0 && len(done.Restart) > 0:
		a.printf("Nothing has changed: restart the peer.\n")
	case changes == 0:
		a.printf("No changes.\n")
	}
	a.printf("Active: %s.\n", display.Rules(done.Rules))
}
