package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
)

// renamedCommands maps commands of versions before 0.1 to their present names.
var renamedCommands = map[string]string{"warehouse": "history", "machine": "benchmark"}

// renamedFlags maps flags of versions before 0.1 to their present names. The key is the path of a
// command; its flags are renamed in subcommands, too. [batchscript.Renamed] has the options of jobs.
var renamedFlags = map[string]map[string]string{
	"switchyard queue":      {"finished": "recent"},
	"switchyard prices":     {"gaps": "allow-gaps"},
	"switchyard plugin":     {"plain": "no-tls"},
	"switchyard sim run":    {"plain": "no-tls"},
	"switchyard sim sweep":  {"plain": "no-tls"},
	"switchyard sim replay": {"plain": "no-tls"},
	"switchyard sim tune":   {"buy": "rank-candidates"},
	"switchyard sim fit":    {"from": "submitted-from", "to": "submitted-before"},
	"switchyard submit":     nil,
	"switchyard quote":      nil,
}

// renamedFlag returns the present name of a flag that was renamed, or "".
func renamedFlag(cmd *cobra.Command, name string) string {
	path := cmd.CommandPath()
	for command, flags := range renamedFlags {
		if path != command && !strings.HasPrefix(path, command+" ") {
			continue
		}
		if flags == nil {
			return batchscript.Renamed(name)
		}
		return flags[name]
	}
	return ""
}

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
		if now := renamedFlag(cmd, name); now != "" {
			return usage("%w; it was renamed to --%s", err, now)
		}
		if near := nearFlag(cmd, name); near != "" {
			return usage("%w; did you mean --%s? See %s --help", err, near, cmd.CommandPath())
		}
	}
	return usage("%w; see %s --help", err, cmd.CommandPath())
}
