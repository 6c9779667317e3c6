package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// Mail says when the user of a job gets mail about it, as --mail-type of sbatch(1) asks for it. It
// stays at the origin, which sends the mail. The zero Mail is none.
type Mail struct {
	Events []MailEvent `json:"events,omitempty"` // each once, in the order of [MailEvents]
	To     string      `json:"to,omitempty"`     // addresses with commas between them; empty: the user's account at the origin
}

// MailEvent is what a mail is about, in the words of Slurm.
type MailEvent string

// The events that mail is sent about.
const (
	MailBegin     MailEvent = "BEGIN"
	MailEnd       MailEvent = "END"        // whatever the job's outcome
	MailFail      MailEvent = "FAIL"       // the end of a job that has not completed and was not cancelled
	MailRequeue   MailEvent = "REQUEUE"    // a job that had started waits again
	MailTimeLimit MailEvent = "TIME_LIMIT" // the end of a job that reached its limit

	MailTimeLimit90 MailEvent = "TIME_LIMIT_90" // a job has run for this share of its limit, in percent
	MailTimeLimit80 MailEvent = "TIME_LIMIT_80"
	MailTimeLimit50 MailEvent = "TIME_LIMIT_50"
)

// MailEvents lists all events.
func MailEvents() []MailEvent {
	return []MailEvent{MailBegin, MailEnd, MailFail, MailRequeue, MailTimeLimit, MailTimeLimit90, MailTimeLimit80, MailTimeLimit50}
}

// ShareOfLimit is the share of its time limit, in percent, after which mail about a running job is sent; 0: it is sent
// about something else.
func (e MailEvent) ShareOfLimit() int {
	switch e {
	case MailTimeLimit90:
		return 90
	case MailTimeLimit80:
		return 80
	case MailTimeLimit50:
		return 50
	case MailBegin, MailEnd, MailFail, MailRequeue, MailTimeLimit:
	}
	return 0
}

// Wants says whether mail is to be sent about one of the events.
func (m *Mail) Wants(events ...MailEvent) bool {
	return slices.ContainsFunc(events, func(e MailEvent) bool { return slices.Contains(m.Events, e) })
}

const maxMailTo = 1024

// CheckMailTo says what is wrong with the addresses that mail is to be sent to, if anything.
func CheckMailTo(to string) error {
	if to == "" {
		return nil
	}
	if len(to) > maxMailTo {
		return fmt.Errorf("the addresses have %d bytes; use at most %d", len(to), maxMailTo)
	}
	for address := range strings.SplitSeq(to, ",") {
		name, host, remote := strings.Cut(address, "@")
		if !plainWord(name, "._+=%-") || remote && !plainWord(host, ".-") {
			return fmt.Errorf("%+q is not a mail address; write a user's name or name@host, several with commas between them", address)
		}
	}
	return nil
}

// plainWord says whether a part of an address has letters, digits and the signs given alone, and
// no sign at its beginning. That is stricter than RFC 5322: there is nothing that a mail program could take
// for an option, a file, a command or another header.
func plainWord(s, signs string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune(signs, r)) {
			return false
		}
	}
	return s != ""
}

func (m *Mail) check() error {
	last := -1
	for _, e := range m.Events {
		i := slices.Index(MailEvents(), e)
		if i < 0 {
			return wrongField("mail.events", "%.40q is none of %v", e, MailEvents())
		}
		if i <= last {
			return wrongField("mail.events", "%v are not each once and in the order of %v", m.Events, MailEvents())
		}
		last = i
	}
	if err := CheckMailTo(m.To); err != nil {
		return &FieldError{"mail.to", err}
	}
	return nil
}
