package mail

import (
	"cmp"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// message is a mail with its headers. The subject has the form of Slurm's, by which people filter.
// Names of jobs and addresses have no line breaks: they were checked when the job was submitted.
func message(about protocol.MailEvent, job *view.Job, from string) string {
	var b strings.Builder
	header := func(name, value string) { b.WriteString(folded(name+": "+value) + "\n") }
	if from != "" {
		header("From", from)
	}
	header("To", strings.ReplaceAll(recipients(job), ",", ", "))
	header("Subject", mime.QEncoding.Encode("utf-8", subject(about, job)))
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	encoding, text := encoded(body(job))
	header("Content-Transfer-Encoding", encoding)
	header("Auto-Submitted", "auto-generated")
	return b.String() + "\n" + text
}

func body(job *view.Job) string {
	var b strings.Builder
	for _, line := range lines(job) {
		fmt.Fprintf(&b, "%-10s %s\n", line[0], protocol.EscapeText(line[1]))
	}
	return b.String()
}

// encoded is a text as it may be sent: as it is, unless one of its lines is longer than 998 bytes, the most that
// RFC 5322 allows.
func encoded(text string) (encoding, sent string) {
	const most = 998
	for line := range strings.Lines(text) {
		if len(line) > most {
			var b strings.Builder
			w := quotedprintable.NewWriter(&b)
			_, _ = w.Write([]byte(text)) // a strings.Builder takes everything
			_ = w.Close()
			return "quoted-printable", strings.ReplaceAll(b.String(), "\r\n", "\n")
		}
	}
	return "8bit", text
}

// recipients are the addresses that a mail goes to, with commas between them.
func recipients(job *view.Job) string { return cmp.Or(job.Mail.To, job.User) }

// folded is a header in lines of at most 78 bytes, as far as there are spaces to break it at: RFC 5322, 2.2.3.
func folded(header string) string {
	const most = 78
	var b strings.Builder
	width := 0
	for i, word := range strings.Split(header, " ") {
		switch {
		case i == 0:
		case i > 1 && width+1+len(word) > most: // not behind the name of the header
			b.WriteString("\n ")
			width = 1
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += len(word)
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
	case protocol.MailTimeLimit90, protocol.MailTimeLimit80, protocol.MailTimeLimit50:
		return subjectOf(job, fmt.Sprintf("Reached %d%% of time limit %s", about.ShareOfLimit(), job.Limit().Text()))
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
	return subjectOf(job, what)
}

func subjectOf(job *view.Job, what string) string {
	return fmt.Sprintf("Switchyard Job_id=%v Name=%s %s", job.ID, short(job.Name), what)
}

// short keeps a line within the 998 bytes that RFC 5322 allows; the whole name is in the text.
func short(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

func outcome(job *view.Job) string {
	switch {
	case job.Signal == protocol.SignalOutOfMemory:
		return fmt.Sprintf("%v, out of memory", job.State)
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
