package display

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// mostNamed bounds the jobs that a line of people's text names.
const mostNamed = 10

// Recovery is what recover prints for people.
func Recovery(v view.Recovery) string {
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
