package node

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// mails follows the jobs of this origin whose users want mail. It sees durable rows only, and of a
// batch the last of each: a mail is sent at most once, and one that a crash prevents is not sent later.
type mails struct {
	origin protocol.SiteName
	mailer Mailer // nil: none is sent
	states map[protocol.JobID]protocol.State
}

// restore takes in a row as the node found it at its start.
func (m *mails) restore(record row.Record) {
	if array, ok := record.Row.(row.Array); ok && m.mailer != nil && array.Started != 0 {
		m.set(array.ID(), protocol.Running)
	}
	if job, ok := record.Row.(row.Job); ok && m.mailer != nil && len(job.Mail.Events) > 0 {
		m.set(job.Spec.Job, job.State)
		if job.State == protocol.Running && job.Started != 0 {
			m.mailer.Follow(m.view(&job))
		}
	}
}

func (m *mails) set(id protocol.JobID, state protocol.State) {
	if m.states == nil {
		m.states = make(map[protocol.JobID]protocol.State)
	}
	m.states[id] = state
}

// take looks at a changed row.
func (m *mails) take(record row.Record) {
	if m.mailer == nil {
		return
	}
	if job, ok := record.Row.(row.Job); ok {
		m.moved(&job)
	} else if array, ok := record.Row.(row.Array); ok {
		m.arrayMoved(&array)
	} else if finished, ok := record.Row.(row.Archived); ok {
		m.ended(&finished.View)
	}
}

func (m *mails) moved(job *row.Job) {
	if len(job.Mail.Events) == 0 {
		return
	}
	from, state := m.states[job.Spec.Job], stateOf(job)
	m.set(job.Spec.Job, state)
	switch {
	case state == from:
	case state == protocol.Running:
		m.about(protocol.MailBegin, job)
		m.mailer.Follow(m.view(job))
	case from == protocol.Running && state == protocol.Pending:
		m.mailer.Unfollow(job.Spec.Job)
		m.about(protocol.MailRequeue, job)
	}
}

// arrayMoved looks at an array, about which there are mails as about one job: it begins with its first element.
func (m *mails) arrayMoved(array *row.Array) {
	if len(array.Job.Mail.Events) == 0 || array.Started == 0 || m.states[array.ID()] == protocol.Running {
		return
	}
	m.set(array.ID(), protocol.Running)
	m.about(protocol.MailBegin, &array.Job)
}

// view is the job as people see it.
func (m *mails) view(job *row.Job) *view.Job {
	shown := viewOf(job, m.origin)
	return &shown
}

func (m *mails) about(event protocol.MailEvent, job *row.Job) {
	if job.Mail.Wants(event) {
		m.mailer.Mail(event, m.view(job))
	}
}

// ended sends what is due at a job's end: what slurmctld sends then, and one mail if several types ask for it.
func (m *mails) ended(job *view.Job) {
	from := m.states[job.ID]
	delete(m.states, job.ID)
	if len(job.Mail.Events) == 0 {
		return
	}
	m.mailer.Unfollow(job.ID)
	if job.Started != 0 && from != protocol.Running && job.Mail.Wants(protocol.MailBegin) { // it has come and gone in one batch
		m.mailer.Mail(protocol.MailBegin, job)
	}
	switch {
	case job.State == protocol.Timeout && job.Mail.Wants(protocol.MailTimeLimit):
		m.mailer.Mail(protocol.MailTimeLimit, job)
	case job.State != protocol.Completed && job.State != protocol.Cancelled && job.Mail.Wants(protocol.MailFail):
		m.mailer.Mail(protocol.MailFail, job)
	case job.Mail.Wants(protocol.MailEnd):
		m.mailer.Mail(protocol.MailEnd, job)
	}
}
