package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) recoverCommand() *cobra.Command {
	var going bool
	var resume api.Resume
	cmd := &cobra.Command{
		Use:   "recover [--resume [--requeue|--cancel]]",
		Short: "See why the peer starts nothing, and have it go on",
		Long: "A peer whose database is older than what was seen of its site (a backup was put back, or the\n" +
			"state directory was copied or moved), or beside which another peer runs as the same site, starts\n" +
			"no jobs until an operator decides. Without options, say what was seen by whom, which jobs are\n" +
			"open, and what is not known here any more.\n\n" +
			"With --resume, this store is the one that goes on, and no other life of the site runs: be sure of\n" +
			"that. Jobs that the batch system or a partner still has go on. Of the others nobody can tell\n" +
			"whether they have run since: they need an operator each (switchyard cancel, or requeue --force),\n" +
			"unless --requeue or --cancel says it of all; with --cancel partners\n" +
			"also drop the jobs of this site that it does not know. Only root and the peer's own account may resume.",
		Example: "  switchyard recover\n  switchyard recover --json\n  switchyard recover --resume\n  switchyard recover --resume --cancel",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !going && resume != (api.Resume{}) {
				return usage("--requeue and --cancel say what becomes of jobs when this store goes on: give --resume, too")
			}
			if resume.Requeue && resume.Cancel {
				return usage("--requeue and --cancel exclude each other")
			}
			var view peer.Recovery
			var err error
			if going {
				view, err = a.client().Recover(cmd.Context(), resume)
			} else {
				view, err = a.client().Recovery(cmd.Context())
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(view)
			}
			a.printf("%s", recoveryText(view))
			return nil
		},
	}
	cmd.Flags().BoolVar(&going, "resume", false, "this store goes on; no other life of the site runs")
	cmd.Flags().BoolVar(&resume.Requeue, "requeue", false, "with --resume, run again the jobs of which nobody can tell; they may run twice")
	cmd.Flags().BoolVar(&resume.Cancel, "cancel", false, "with --resume, cancel the jobs of which nobody can tell")
	return a.query(cmd)
}

// mostNamed bounds the jobs that a line of people's text names.
const mostNamed = 10

// recoveryText is what recover prints for people.
func recoveryText(v peer.Recovery) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if !v.Needed {
		line("The database is what it was: %v.", v.Life)
	} else {
		line("Nothing is started here, since")
		for _, why := range v.Reasons {
			line("  %s", console.Plain(why))
		}
		line("The database is at %v.", v.Life)
	}
	for _, p := range v.Partners {
		line("%s has seen %v, and jobs up to %v.", console.Plain(string(p.Site)), p.Life, p.Highest)
	}
	line("The next job would be %v.", v.NextID)
	jobs := func(what string, ids []protocol.JobID) {
		if len(ids) > 0 {
			line("%s: %s", what, namedJobs(ids))
		}
	}
	jobs("Would be placed, if the database were right", choose(v.Needed, v.Waiting))
	jobs("In the local queue, by the database", v.Here)
	if v.QueueCopied {
		line("The local queue is as old as the database, or a copy: what waits in it may have started, and is taken out of it by --resume.")
	}
	jobs("At partners, by the database", v.Elsewhere)
	jobs("Jobs of partners, by the database", v.Guests)
	jobs("Need an operator (switchyard cancel, or requeue --force)", v.InDoubt)
	aside := make([]protocol.JobID, 0, len(v.Aside))
	for _, one := range v.Aside {
		aside = append(aside, one.Tag.Job)
	}
	jobs("The batch system has these, and the database does not know them", aside)
	unknown := make([]protocol.JobID, 0, len(v.Unknown))
	for _, one := range v.Unknown {
		unknown = append(unknown, one.Tag.Job)
	}
	jobs("Partners have these of this site, and the database does not know them, or not there", unknown)
	if v.Needed {
		line("If no other peer of this site runs, and this database is to go on: switchyard recover --resume")
	}
	return out.String()
}

// choose is the jobs if a condition holds.
func choose(holds bool, ids []protocol.JobID) []protocol.JobID {
	if !holds {
		return nil
	}
	return ids
}

// namedJobs counts jobs and names the first of them.
func namedJobs(ids []protocol.JobID) string {
	names := make([]string, 0, mostNamed)
	for _, id := range ids[:min(len(ids), mostNamed)] {
		names = append(names, id.String())
	}
	text := fmt.Sprintf("%s (%s", protocol.Count(len(ids), "job"), strings.Join(names, " "))
	if len(ids) > mostNamed {
		text += " …"
	}
	return text + ")"
}
