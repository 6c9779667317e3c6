package display

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// eventColumns are wide enough for most: events are printed as they come.
const eventColumns = "%-19s  %-5s  %-16s  %-12s  %s\n"

// EventsHeader is the line above events.
func EventsHeader() string { return eventLine("TIME", "EVENT", "JOB", "SITE", "WHAT") }

func eventLine(cells ...any) string {
	return strings.TrimRight(fmt.Sprintf(eventColumns, cells...), " \n") + "\n"
}

// Event is a line about an event; empty: it is not for people.
func Event(e *api.Event) string {
	switch {
	case e.Begin != nil:
		return ""
	case e.Gap != nil:
		return eventLine("", "gap", "-", "-", gapText(e.Gap))
	case e.Job != nil:
		return eventLine(console.Clock(e.Job.At), e.Name, e.Job.Job.Label(), console.OrDash(console.Plain(string(e.Job.Job.Site))), changeText(e.Job))
	case e.Site != nil:
		return eventLine(console.Clock(e.Site.At), e.Name, "-", console.Plain(string(e.Site.Site.Site)), siteChangeText(e.Site))
	case e.Log != nil:
		job := "-"
		if e.Log.Job != 0 {
			job = e.Log.Job.String()
		}
		return eventLine(console.Clock(e.Log.At), e.Name, job, console.OrDash(console.Plain(string(e.Log.Site))), Sentence(*e.Log))
	}
	return eventLine("", console.Plain(e.Name), "-", "-", console.Plain(string(e.Data)))
}

func gapText(gap *eventstream.Gap) string {
	if gap.Missed == 0 {
		return "the peer has been restarted; what happened before is not known"
	}
	return fmt.Sprintf("%d events are not kept any more", gap.Missed)
}

// changeText says how a job has changed.
func changeText(change *eventstream.JobChange) string {
	job := &change.Job
	text := State(*job)
	switch {
	case change.Left:
		text = "has left this site without a run"
	case change.From == 0:
		text = "new, " + text
	case change.From != job.State:
		text = change.From.String() + " → " + text
	}
	return text + ", " + console.Plain(job.Name) + " of " + console.Plain(job.User)
}

func siteChangeText(change *eventstream.SiteChange) string {
	site := &change.Site
	if change.Left {
		return "is no partner any more"
	}
	if site.Age == nil {
		return "link " + linkText(site) + ", load not known"
	}
	return fmt.Sprintf("link %s, %d of %d CPUs busy, %s queued", linkText(site), site.Busy, site.CPUs, protocol.Count(site.Queued, "job"))
}

func linkText(site *view.Site) string {
	if site.Reason == "" {
		return site.Link
	}
	return site.Link + " (" + console.Plain(site.Reason) + ")"
}
