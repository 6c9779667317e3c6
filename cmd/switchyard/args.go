package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-hpc/switchyard/internal/settings"
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

// nearFlag is the flag that a misspelt one of a command most likely means; empty: none.
func nearFlag(cmd *cobra.Command, err error) string {
	_, name, unknown := strings.Cut(err.Error(), "unknown flag: --")
	if !unknown {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near, _ := settings.Nearest(name, names)
	if near == "" {
		return ""
	}
	return "--" + near
}

func decimalOnly(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func jobIDs(args []string) ([]protocol.JobID, error) {
	ids := make([]protocol.JobID, 0, len(args))
	for _, arg := range args {
		id, err := protocol.ParseJobID(arg)
		if err != nil && decimalOnly(arg) {
			return nil, &exitError{exitNotFound, fmt.Errorf("there is no job %s: %w; switchyard queue lists them", arg, err)}
		}
		if err != nil {
			return nil, usage("%w; switchyard queue lists them", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
