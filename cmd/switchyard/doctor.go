package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) doctorCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "doctor [--config PATH]",
		Short: "Look at all that a site needs, and say what to do",
		Long: "Look at the peer and its alarms, the clock, keys and other files of the configuration, accounts,\n" +
			"database and disk, the addresses where the peer listens, links to partners in both directions,\n" +
			"plugins, control groups, and the settings of Slurm. Each is ok, a warning or failed, with what to do.\n" +
			"Nothing is changed.\n" +
			"\n" +
			"If the peer runs, it is asked. If not, what can be seen without it is looked at: its database is read,\n" +
			"and its addresses must be free. Run it as root or as the peer's account.\n" +
			"\n" +
			"Exit codes: 0 nothing failed, 1 something failed.",
		Example: "  switchyard doctor\n  switchyard doctor --config site.toml --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := from.load(a)
			if err != nil {
				return err
			}
			found := daemon.Examine(cmd.Context(), cfg, build())
			if err = a.showTable(doctorJSON{found}, func() *console.Table { return findings(found) }); err != nil {
				return err
			}
			failed := 0
			for _, one := range found {
				if one.Verdict == daemon.Failed {
					failed++
				}
			}
			if failed > 0 {
				return errors.New(protocol.Count(failed, "check") + " failed")
			}
			return nil
		},
	}
	from.addTo(a, cmd)
	return a.listing(cmd)
}

// doctorJSON is what doctor prints as JSON.
type doctorJSON struct {
	Findings []daemon.Finding `json:"findings"`
}

// findings lists what was found, the worst first.
func findings(found []daemon.Finding) *console.Table {
	t := console.NewTable("VERDICT", "CHECK", "NOTE")
	for _, verdict := range []daemon.Verdict{daemon.Failed, daemon.Warning, daemon.OK} {
		for one := range slices.Values(found) {
			if one.Verdict != verdict {
				continue
			}
			note := console.Plain(one.What)
			if one.Remedy != "" {
				note += "; " + console.Plain(one.Remedy)
			}
			t.Add(string(verdict), console.Plain(one.Check), note)
		}
	}
	return t
}
