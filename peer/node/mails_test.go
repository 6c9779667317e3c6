package node

import (
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// noted keeps what mail was asked for.
type noted struct {
	mails    []string
	followed []protocol.JobID
}

func (n *noted) Mail(about protocol.MailEvent, job *view.Job) {
	n.mails = append(n.mails, fmt.Sprintf("%s %v %v", about, job.ID, job.State))
}

func (n *noted) Follow(job *view.Job) { n.followed = append(n.followed, job.ID) }

func (n *noted) Unfollow(id protocol.JobID) {
	n.followed = slices.DeleteFunc(n.followed, func(one protocol.JobID) bool { return one == id })
}

func TestMailsFollowAJob(t *testing.T) {
	t.Parallel()
	all := protocol.MailEvents()
	open := func(state protocol.State) row.Record {
		return row.Record{Table: row.JobTable, Row: row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: 7}}, State: state, Started: 5, Mail: protocol.Mail{Events: all}}}
	}
	closed := func(state protocol.State, events ...protocol.MailEvent) row.Record {
		return row.Record{Table: row.ArchiveTable, Row: row.Archived{View: view.Job{ID: 7, State: state, Started: 5, Mail: protocol.Mail{Events: events}}}}
	}
	staged := row.Record{Table: row.JobTable, Row: row.Job{
		Spec: protocol.Spec{Request: protocol.Request{Job: 7}}, State: protocol.Running, Mail: protocol.Mail{Events: all},
	}}
	gone := row.Record{Table: row.JobTable}
	cases := map[string]struct {
		rows []row.Record
		want []string
	}{
		"runs to its end": {
			[]row.Record{open(protocol.Pending), open(protocol.Running), open(protocol.Running), gone, closed(protocol.Completed, all...)},
			[]string{"BEGIN 7 RUNNING", "END 7 COMPLETED"},
		},
		"starts twice": {
			[]row.Record{open(protocol.Pending), open(protocol.Running), open(protocol.Pending), open(protocol.Running), closed(protocol.Failed, all...)},
			[]string{"BEGIN 7 RUNNING", "REQUEUE 7 PENDING", "BEGIN 7 RUNNING", "FAIL 7 FAILED"},
		},
		"starts and ends in one batch": {
			[]row.Record{open(protocol.Pending), closed(protocol.Completed, all...)},
			[]string{"BEGIN 7 COMPLETED", "END 7 COMPLETED"},
		},
		"reaches its limit": {
			[]row.Record{open(protocol.Running), closed(protocol.Timeout, all...)},
			[]string{"BEGIN 7 RUNNING", "TIME_LIMIT 7 TIMEOUT"},
		},
		"fails, and its user wants the end alone": {
			[]row.Record{closed(protocol.Failed, protocol.MailEnd)}, []string{"END 7 FAILED"},
		},
		"is cancelled, and its user wants failures alone": {[]row.Record{closed(protocol.Cancelled, protocol.MailFail)}, nil},
		"is cancelled, and its user wants the end":        {[]row.Record{closed(protocol.Cancelled, protocol.MailEnd)}, []string{"END 7 CANCELLED"}},
		"ends without a start": {
			[]row.Record{open(protocol.Pending), staged, {Table: row.ArchiveTable, Row: row.Archived{
				View: view.Job{ID: 7, State: protocol.Cancelled, Mail: protocol.Mail{Events: all}},
			}}},
			[]string{"END 7 CANCELLED"},
		},
		"wants none": {[]row.Record{closed(protocol.Failed)}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &noted{}
			m := mails{origin: "north", mailer: n}
			for _, r := range c.rows {
				m.take(r)
			}
			if !slices.Equal(n.mails, c.want) {
				t.Errorf("%q, want %q", n.mails, c.want)
			}
			if len(n.followed) > 0 {
				t.Errorf("%v are followed still", n.followed)
			}
		})
	}
}

// What a peer finds at its start is no news.
func TestARestartSendsNoMail(t *testing.T) {
	t.Parallel()
	running := row.Record{Table: row.JobTable, Row: row.Job{
		Spec: protocol.Spec{Request: protocol.Request{Job: 7}}, State: protocol.Running, Started: 5, Mail: protocol.Mail{Events: protocol.MailEvents()},
	}}
	n := &noted{}
	m := mails{origin: "north", mailer: n}
	m.restore(running)
	if !slices.Equal(n.followed, []protocol.JobID{7}) {
		t.Errorf("followed: %v", n.followed)
	}
	m.take(running)
	if len(n.mails) > 0 || len(n.followed) != 1 {
		t.Errorf("sent %q, followed %v", n.mails, n.followed)
	}
}
