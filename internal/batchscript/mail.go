package batchscript

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// setMailTypes reads --mail-type of sbatch(1).
func setMailTypes(w *jobOptions, value string) error {
	wanted := map[protocol.MailEvent]bool{}
	var left []string
	types := strings.Split(strings.ToUpper(value), ",")
	for _, name := range types {
		switch name {
		case "NONE":
			if len(types) > 1 {
				return errors.New("NONE stands alone")
			}
		case "ALL":
			for _, e := range []protocol.MailEvent{protocol.MailBegin, protocol.MailEnd, protocol.MailFail, protocol.MailRequeue} {
				wanted[e] = true
			}
		case "INVALID_DEPEND": // of jobs that never start
		case "STAGE_OUT", arrayTasks:
			left = append(left, name)
		default:
			if !slices.Contains(protocol.MailEvents(), protocol.MailEvent(name)) {
				return fmt.Errorf("%q is not a type of mail; write some of %v, ALL or NONE, with commas between them", name, protocol.MailEvents())
			}
			wanted[protocol.MailEvent(name)] = true
		}
	}
	w.mail.Events, w.mailLeft = nil, left
	for _, e := range protocol.MailEvents() {
		if wanted[e] {
			w.mail.Events = append(w.mail.Events, e)
		}
	}
	return nil
}

// arrayTasks asks for mails about each element of an array; there are mails about the array.
const arrayTasks = "ARRAY_TASKS"

// mailFor is the mail that the job's user gets. Addresses alone ask for none.
func (w *jobOptions) mailFor(script Script, r *report) protocol.Mail {
	if w.array == nil {
		w.mailLeft = slices.DeleteFunc(w.mailLeft, func(name string) bool { return name == arrayTasks })
	}
	if len(w.mailLeft) > 0 {
		r.notice(w.spotOf("mail-type", script).place, "--mail-type: no mail is sent about %s", strings.Join(w.mailLeft, ", "))
	}
	if len(w.mail.Events) == 0 {
		return protocol.Mail{}
	}
	return w.mail
}
