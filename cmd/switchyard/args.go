package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// noCommand rejects arguments of a command that has only subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0])
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// someJobs asks for one or more job ids.
func someJobs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s: missing job ID; \"switchyard queue\" lists the jobs", cmd.CommandPath())
	}
	_, err := jobIDs(args)
	return err
}

// oneJob asks for one job id.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one job ID, got %d", cmd.CommandPath(), len(args))
	}
	return someJobs(cmd, args)
}

// nearFlag returns the flag of the command that is nearest to a misspelled one, or "".
func nearFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near, _ := settings.Nearest(name, names)
	return near
}

func decimalOnly(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func jobIDs(args []string) ([]protocol.JobID, error) {
	ids := make([]protocol.JobID, 0, len(args))
	for _, arg := range args {
		id, err := protocol.ParseJobID(arg)
		if err != nil && decimalOnly(arg) {
			return nil, &exitError{exitNotFound, fmt.Errorf("no job %s: %w; \"switchyard queue\" lists the jobs", arg, err)}
		}
		if err != nil {
			return nil, usage("%w; \"switchyard queue\" lists the jobs", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
