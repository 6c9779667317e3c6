package display

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sizeText says what a job asks for, as status and explain have it.
func sizeText(job view.Job) string {
	text := protocol.Count(job.CPUs, "CPU") + layoutText(job)
	if job.MemoryMB > 0 {
		text += fmt.Sprintf(", %d MB a node", job.MemoryMB)
	}
	text += ", " + limitText(&job)
	if len(job.Sites) > 0 {
		text += ", at " + strings.Join(console.Names(job.Sites), " or ")
	}
	if job.Requeue {
		text += ", requeue allowed"
	}
	text += resourcesText(job.Resources)
	if job.Features != "" {
		text += ", on nodes with " + console.Plain(job.Features)
	}
	if job.Exclusive {
		text += ", exclusive"
	}
	if asked := job.AssociationText(); asked != "" {
		text += ", with " + console.Plain(asked)
	}
	text += conditionsText(&job.Conditions)
	if job.Nice != 0 {
		text += fmt.Sprintf(", nice %d", job.Nice)
	}
	if job.Change != nil {
		text += ", to be changed when it is back in the grid queue: " + console.Plain(job.Change.String())
	}
	if job.Container != "" {
		text += ", in the container " + console.Plain(job.Container)
	}
	if job.Comment != "" {
		text += fmt.Sprintf(`, with the comment "%s"`, console.Plain(job.Comment))
	}
	return text
}

// conditionsText says when a job may start, as ", begins 2026-12-24T18:00:00".
func conditionsText(c *protocol.Conditions) (text string) {
	if c.Begin != 0 {
		text += ", begins " + slurmTime(c.Begin)
	}
	if c.Deadline != 0 {
		text += ", to end by " + slurmTime(c.Deadline)
	}
	if c.Priority != 0 {
		text += fmt.Sprintf(", with the priority %d", c.Priority)
	}
	if left := c.Dependency.String(); left != "" {
		text += ", after " + left
	}
	return text
}

// limitText says how long a job may run.
func limitText(job *view.Job) string {
	text := console.Span(job.WallTime)
	switch {
	case job.TimeLimit != 0 && job.TimeLimit != job.WallTime:
		text += ", started with a limit of " + console.Span(job.TimeLimit)
	case job.MinTime != 0 && job.MinTime != job.WallTime:
		text += ", or " + console.Span(job.MinTime) + " at least if it then starts sooner"
	}
	return text
}

// resourcesText says what a job asks for beside CPUs and memory, as ", gpu:2 per node".
func resourcesText(list []protocol.Resource) string {
	var text strings.Builder
	for _, one := range list {
		fmt.Fprintf(&text, ", %s per %s", console.Plain(one.String()), one.Per)
	}
	return text.String()
}

// layoutText says of a job's CPUs what it asks for beside their number.
func layoutText(job view.Job) string {
	text, most := "", job.Layout.MaxNodes
	switch {
	case job.Nodes > 0 && job.Nodes == most:
		text = " on " + protocol.Count(job.Nodes, "node")
	case job.Nodes > 0 && most > 0:
		text = fmt.Sprintf(" on %d to %s", job.Nodes, protocol.Count(most, "node"))
	case job.Nodes > 0:
		text = " on at least " + protocol.Count(job.Nodes, "node")
	}
	if !job.Layout.Divided() {
		return text
	}
	r := protocol.Request{CPUs: job.CPUs, Nodes: job.Nodes, Layout: job.Layout}
	text += fmt.Sprintf(" (%s of %s", protocol.Count(r.Tasks(), "task"), protocol.Count(r.CPUsPerTask(), "CPU"))
	if each := job.Layout.TasksPerNode; each > 0 {
		text += fmt.Sprintf(", %d a node", each)
	}
	return text + ")"
}

// queueColumn is a column of --format.
type queueColumn struct {
	letter      string // or a name in braces, of a column that Slurm does not have
	title, what string
	cut         bool // to its width; else the width is the least
	value       func(*view.Job, time.Time) string
}

func arrayID(job *view.Job, _ time.Time) string {
	switch {
	case job.Array != nil:
		return job.Array.ID.String()
	case job.Element != nil:
		return job.Element.Array.String()
	}
	return job.ID.String()
}

func arrayIndexes(job *view.Job, _ time.Time) string {
	switch {
	case job.Array != nil:
		return protocol.Array{Indexes: job.Array.Elements, Throttle: job.Array.Throttle}.String()
	case job.Element != nil:
		return strconv.Itoa(job.Element.Index)
	}
	return "N/A"
}

// columns are those of Slurm's that mean something here, and what Slurm does not have by name.
func columns() []queueColumn {
	id := func(job *view.Job, _ time.Time) string { return job.ID.String() }
	return []queueColumn{
		{"A", "JOBID", "job id", false, id},
		{"a", "ACCOUNT", "account", true, func(job *view.Job, _ time.Time) string { return console.Plain(cmp.Or(job.Account, "n/a")) }},
		{"C", "CPUS", "CPUs", false, func(job *view.Job, _ time.Time) string { return strconv.Itoa(job.CPUs) }},
		{"D", "NODES", "requested nodes", false, func(job *view.Job, _ time.Time) string { return strconv.Itoa(job.Nodes) }},
		{"e", "END_TIME", "end time", false, func(job *view.Job, _ time.Time) string { return slurmTime(job.Ended) }},
		{"E", "DEPENDENCY", "dependency", false, func(job *view.Job, _ time.Time) string { return cmp.Or(job.Conditions.Dependency.String(), "(null)") }},
		{"F", "ARRAY_JOB_ID", "id of the array", false, arrayID},
		{"i", "JOBID", "job id, of an element ID_7", false, func(job *view.Job, _ time.Time) string { return job.Label() }},
		{"j", "NAME", "name", true, func(job *view.Job, _ time.Time) string { return console.Plain(job.Name) }},
		{"k", "COMMENT", "comment", true, func(job *view.Job, _ time.Time) string { return console.Plain(job.Comment) }},
		{"K", "ARRAY_TASK_ID", "index, or indexes", false, arrayIndexes},
		{"l", "TIME_LIMIT", "time limit", false, func(job *view.Job, _ time.Time) string { return console.Span(job.Limit()) }},
		{"L", "TIME_LEFT", "time left", false, timeLeft},
		{"m", "MIN_MEMORY", "memory of a node", false, func(job *view.Job, _ time.Time) string { return strconv.FormatInt(job.MemoryMB, 10) + "M" }},
		{"M", "TIME", "time used", false, func(job *view.Job, now time.Time) string { return elapsed(*job, now) }},
		{"N", "SITE", "site", true, func(job *view.Job, _ time.Time) string { return console.Plain(string(job.Site)) }},
		{"P", "PARTITION", "partition", true, func(job *view.Job, _ time.Time) string { return console.Plain(cmp.Or(job.Partition, "n/a")) }},
		{"q", "QOS", "quality of service", true, func(job *view.Job, _ time.Time) string { return console.Plain(cmp.Or(job.QOS, "n/a")) }},
		{"r", "REASON", "reason", true, func(job *view.Job, _ time.Time) string { return console.Plain(reasonOrNone(job)) }},
		{"R", "SITE(REASON)", "site, or reason if pending or ended", true, siteOrReason},
		{"S", "START_TIME", "start time", false, func(job *view.Job, _ time.Time) string { return slurmTime(job.Started) }},
		{"t", "ST", "short state", false, func(job *view.Job, _ time.Time) string { return slurmtext.StateLetters(job.State) }},
		{"T", "STATE", "state", false, func(job *view.Job, _ time.Time) string { return job.State.String() }},
		{"u", "USER", "user", true, func(job *view.Job, _ time.Time) string { return console.Plain(job.User) }},
		{"V", "SUBMIT_TIME", "submission time", false, func(job *view.Job, _ time.Time) string { return slurmTime(job.Submitted) }},
		{"{quoted}", "QUOTED", "quoted price", false, func(job *view.Job, _ time.Time) string { return quotedText(job) }},
		{"{billed}", "BILLED", "bill", false, func(job *view.Job, _ time.Time) string { return billedText(job) }},
	}
}
