package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// noCommand refuses what is no subcommand.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usage("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usage("there is no command %q; see %s --help", args[0], cmd.CommandPath())
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, but got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// someJobs asks for one or more job ids.
func someJobs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s needs a job id; switchyard queue lists them", cmd.CommandPath())
	}
	_, err := jobIDs(args)
	return err
}

// oneJob asks for one job id.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one job id, but got %d", cmd.CommandPath(), len(args))
	}
	return someJobs(cmd, args)
}

func jobIDs(args []string) ([]protocol.JobID, error) {
	ids := make([]protocol.JobID, 0, len(args))
	for _, arg := range args {
		id, err := protocol.ParseJobID(arg)
		if err != nil {
			return nil, usage("%w", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
