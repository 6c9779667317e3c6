package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/oldnames"
)

func TestRenamed(t *testing.T) {
	t.Parallel()
	for line, now := range map[string]string{
		"warehouse":                       `renamed to "switchyard runs"`,
		"machine":                         `renamed to "switchyard benchmark"`,
		"queue --finished=5":              "renamed to --recent",
		"prices x --gaps":                 "renamed to --allow-gaps",
		"plugin check --plain x":          "renamed to --no-tls",
		"sim run --plain x":               "renamed to --no-tls",
		"sim tune --buy x":                "renamed to --rank-candidates",
		"sim fit --from=2002-03-01":       "renamed to --submitted-from",
		"submit --alpha=1 x":              "renamed to --compute-weight",
		"quote --data=1G x":               "renamed to --stage-in-size",
		"submit --no-such-option=1 x":     "see switchyard submit --help",
		"no-such-command":                 "see switchyard --help",
		"sim fit --no-such-option-at-all": "see switchyard sim fit --help",
	} {
		got := command(t, "", "", strings.Fields(line)...)
		if got.code != exitUsage || !strings.Contains(strings.ToLower(got.stderr), strings.ToLower(now)) {
			t.Errorf("%s: exit code %d, %q; want %q", line, got.code, got.stderr, now)
		}
	}
}

// TestPresentNames: each command of the table has the flags of the present names and none of the
// old ones, itself or in its subcommands.
func TestPresentNames(t *testing.T) {
	t.Parallel()
	root := newApp().root()
	for path, names := range oldnames.Flags() {
		cmd, _, err := root.Find(strings.Fields(path)[1:])
		if err != nil || cmd.CommandPath() != path {
			t.Errorf("there is no %q: %v", path, err)
			continue
		}
		for old, now := range names {
			if !hasFlag(cmd, now) || hasFlag(cmd, old) {
				t.Errorf("%s: want a flag --%s and no --%s", path, now, old)
			}
		}
	}
}

// hasFlag reports whether a command or one of its subcommands has a flag.
func hasFlag(cmd *cobra.Command, name string) bool {
	if cmd.Flags().Lookup(name) != nil {
		return true
	}
	for _, sub := range cmd.Commands() {
		if hasFlag(sub, name) {
			return true
		}
	}
	return false
}
