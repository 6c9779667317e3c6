package display

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxNamed bounds the jobs that a line of people's text names.
const maxNamed = 10

// Recovery is what recover prints for people.
func Recovery(v view.Recovery) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if !v.Needed {
		line("The database is unchanged: %v.", v.Life)
	} else {
		line("No jobs are started here. Reason:")
		for _, why := range v.Reasons {
			line("  %s", console.Plain(why))
		}
		line("The database is at %v.", v.Life)
	}
	for _, p := range v.Partners {
		line("%s reports %v, with job IDs up to %v.", console.Plain(string(p.Site)), p.Life, p.Highest)
	}
	line("The next job ID is %v.", v.NextID)
	jobs := func(what string, ids []protocol.JobID) {
		if len(ids) > 0 {
			line("%s: %s", what, namedJobs(ids))
		}
	}
	jobs("To be placed, by the database", choose(v.Needed, v.Waiting))
	jobs("In the local queue, by the database", v.Here)
	if v.QueueCopied {
		line("The local queue is as old as the database, or a copy: its pending jobs may have started. --resume removes them.")
	}
	jobs("At partners, by the database", v.Elsewhere)
	jobs("Jobs of partners, by the database", v.Guests)
	jobs("Need an operator (switchyard cancel, or requeue --force)", v.InDoubt)
	aside := make([]protocol.JobID, 0, len(v.Aside))
	for _, one := range v.Aside {
		aside = append(aside, one.Tag.Job)
	}
	jobs("In the batch system, but not in the database", aside)
	unknown := make([]protocol.JobID, 0, len(v.Unknown))
	for _, one := range v.Unknown {
		unknown = append(unknown, one.Tag.Job)
	}
	jobs("At partners, but not there by the database", unknown)
	if v.Private {
		line("The site shows the jobs that this is about to administrators only.")
	}
	if v.Needed {
		line("If no other peer of this site is running, continue with this database: switchyard recover --resume")
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
	names := make([]string, 0, maxNamed)
	for _, id := range ids[:min(len(ids), maxNamed)] {
		names = append(names, id.String())
	}
	text := fmt.Sprintf("%s (%s", protocol.Count(len(ids), "job"), strings.Join(names, " "))
	if len(ids) > maxNamed {
		text += " …"
	}
	return text + ")"
}
