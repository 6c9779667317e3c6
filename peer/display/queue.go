package display

import (
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// Queue lists jobs as of now, with costs what they were quoted and billed, too.
func Queue(jobs []view.Job, now time.Time, costs bool) *console.Table {
	titles := []string{" JOBID", "NAME", "USER", "STATE", " TIME", " CPUS", "ORIGIN", "SITE"}
	if costs {
		titles = append(titles, " QUOTED", " BILLED")
	}
	t := console.NewTable(append(titles, "REASON")...)
	for i := range jobs {
		job := &jobs[i]
		cells := []string{
			console.Plain(job.Label()), console.Plain(job.Name), console.Plain(job.User), job.State.String(), elapsed(*job, now),
			strconv.Itoa(job.CPUs), console.Plain(string(job.Origin)), console.OrDash(string(job.Site)),
		}
		if costs {
			cells = append(cells, quotedText(job), billedText(job))
		}
		t.Add(append(cells, console.Plain(job.Reason))...)
	}
	return t
}
