package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/oldnames"
)

// renamedCommands maps commands of versions before 0.1 to their present names.
var renamedCommands = map[string]string{"warehouse": "runs", "machine": "benchmark"}

// unknownCommand is the error for a name that is not a subcommand.
func unknownCommand(cmd *cobra.Command, name string) error {
	if now := renamedCommands[name]; now != "" && !cmd.HasParent() {
		return usage("%q was renamed to %q", cmd.CommandPath()+" "+name, cmd.CommandPath()+" "+now)
	}
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		return usage("unknown command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return usage("unknown command %q; see %s --help", name, cmd.CommandPath())
}

// unknownFlag adds the present or the nearest name to an error about a flag.
func unknownFlag(cmd *cobra.Command, err error) error {
	_, name, unknown := strings.Cut(err.Error(), "unknown flag: --")
	if unknown {
		if now := oldnames.Flag(cmd.CommandPath(), name); now != "" {
			return usage("%w; it was renamed to --%s", err, now)
		}
		if near := nearFlag(cmd, name); near != "" {
			return usage("%w; did you mean --%s? See %s --help", err, near, cmd.CommandPath())
		}
	}
	return usage("%w; see %s --help", err, cmd.CommandPath())
}
