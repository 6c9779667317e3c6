package mail

import (
	"cmp"
	"fmt"
	"mime"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// message is a mail with its headers. The subject has the form of Slurm's, by which people filter.
// Names of jobs and addresses have no line breaks: they were checked when the job was submitted.
func message(about protocol.MailEvent, job *view.Job, from string) string {
	var b strings.Builder
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, value) }
	if from != "" {
		header("From", from)
	}
	header("To", strings.ReplaceAll(cmp.Or(job.Mail.To, job.User), ",", ", "))
	header("Subject", mime.QEncoding.Encode("utf-8", subject(about, job)))
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "8bit")
	header("Auto-Submitted", "auto-generated")
	b.WriteString("\n")
	for _, line := range lines(job) {
		fmt.Fprintf(&b, "%-10s %s\n", line[0], protocol.EscapeText(line[1]))
	}
	return b.String()
}

func subject(about protocol.MailEvent, job *view.Job) string {
	what := ""
	switch about {
	case protocol.MailBegin:
		what = "Began, Queued time " + job.Started.Sub(job.Submitted).Text()
	case protocol.MailRequeue:
		what = "Requeued"
	case protocol.MailTimeLimit:
		what = "Reached time limit"
	case protocol.MailFail:
		what = "Failed"
	case protocol.MailEnd:
		what = "Ended"
	}
	if about != protocol.MailBegin && about != protocol.MailRequeue {
		if job.Started != 0 {
			what += ", Run time " + job.Ended.Sub(job.Started).Text()
		}
		what += ", " + outcome(job)
	}
	return fmt.Sprintf("Switchyard Job_id=%v Name=%s %s", job.ID, job.Name, what)
}

func outcome(job *view.Job) string {
	switch {
	case job.Signal != 0:
		return fmt.Sprintf("%v, Signal %d", job.State, job.Signal)
	case job.Started == 0:
		return job.State.String()
	}
	return fmt.Sprintf("%v, ExitCode %d", job.State, job.ExitCode)
}

func lines(job *view.Job) [][2]string {
	all := [][2]string{
		{"Job", fmt.Sprintf("%v %s", job.ID, job.Name)},
		{"User", job.User},
		{"State", job.State.String()},
	}
	add := func(what, value string) {
		if value != "" {
			all = append(all, [2]string{what, value})
		}
	}
	add("Reason", job.Reason)
	add("Site", string(job.Site))
	for _, at := range []struct {
		what string
		when protocol.Instant
	}{{"Submitted", job.Submitted}, {"Started", job.Started}, {"Ended", job.Ended}} {
		if at.when != 0 {
			add(at.what, at.when.Text())
		}
	}
	add("Output", job.Stdout)
	if job.Stderr != job.Stdout {
		add("Errors", job.Stderr)
	}
	add("Comment", job.Comment)
	return all
}
