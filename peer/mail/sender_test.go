package mail_test

import (
	"context"
	"io"
	"log/slog"
	"mime/quotedprintable"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"

	"github.com/switchyard-hpc/switchyard/peer/mail"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ended is a job that failed.
func ended() view.Job {
	return view.Job{
		ID: 1000000000007, Name: "gezeiten-größe", User: "ada", State: protocol.Failed, Reason: "NonZeroExitCode", Site: "south",
		Submitted: 1_000_000, Started: 1_060_000, Ended: 4_660_000, ExitCode: 3, Stdout: "/home/ada/out", Stderr: "/home/ada/err",
	}
}

// sent is what a sender's command gets of mails, and what was counted.
func sent(t *testing.T, script, from string, mails func(s *mail.Sender)) (text, log string, counted []string) {
	t.Helper()
	dir := t.TempDir()
	box := filepath.Join(dir, "box")
	command := filepath.Join(dir, "command")
	testprogram.Write(t, command, "#!/bin/sh\nbox='"+box+"'\n"+script+"\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var logged strings.Builder
	s := mail.NewSender(mail.Config{
		Command: []string{command, "-t"}, From: from, Log: slog.New(slog.NewTextHandler(&logged, nil)),
		Count: func(result string) {
			counted = append(counted, result)
			cancel() // each test sends one mail through the command
		},
	})
	mails(s)
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(box)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data), logged.String(), counted
}

func TestTheCommandGetsAMail(t *testing.T) {
	t.Parallel()
	job := ended()
	job.Mail.To = "ada@example.org,bob"
	text, log, counted := sent(t, `{ echo "$1 $SWITCHYARD_JOB_ID $SWITCHYARD_JOB_NAME $SWITCHYARD_JOB_USER $SWITCHYARD_JOB_STATE $SWITCHYARD_MAIL_TYPE"; cat; } >"$box"`,
		"grid@north.example.org", func(s *mail.Sender) { s.Mail(protocol.MailFail, &job) })
	const want = `-t 1000000000007 gezeiten-größe ada FAILED FAIL
From: grid@north.example.org
To: ada@example.org, bob
Subject: =?utf-8?q?Switchyard_Job=5Fid=3D1000000000007_Name=3Dgezeiten-gr=C3=B6?=
 =?utf-8?q?=C3=9Fe_Failed,_Run_time_1:00:00,_FAILED,_ExitCode_3?=
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit
Auto-Submitted: auto-generated

Job        1000000000007 gezeiten-größe
User       ada
State      FAILED
Reason     NonZeroExitCode
Site       south
Submitted  1970-01-01 00:16:40Z
Started    1970-01-01 00:17:40Z
Ended      1970-01-01 01:17:40Z
Output     /home/ada/out
Errors     /home/ada/err
`
	if text != want || log != "" || len(counted) != 1 || counted[0] != mail.Sent {
		t.Errorf("%s\nlog: %s\ncounted %v", text, log, counted)
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	plain := func(change func(j *view.Job)) view.Job {
		j := ended()
		j.Name = "tides"
		change(&j)
		return j
	}
	cases := []struct {
		about protocol.MailEvent
		job   view.Job
		want  string
	}{
		{protocol.MailBegin, plain(func(j *view.Job) { j.State = protocol.Running }), "Began, Queued time 0:01:00"},
		{protocol.MailRequeue, plain(func(j *view.Job) { j.State = protocol.Pending }), "Requeued"},
		{protocol.MailEnd, plain(func(j *view.Job) { j.State, j.ExitCode = protocol.Completed, 0 }), "Ended, Run time 1:00:00, COMPLETED, ExitCode 0"},
		{protocol.MailEnd, plain(func(j *view.Job) { j.State, j.Started = protocol.Cancelled, 0 }), "Ended, CANCELLED"},
		{protocol.MailTimeLimit80, plain(func(j *view.Job) { j.State, j.WallTime = protocol.Running, protocol.Hour }), "Reached 80% of time limit 1:00:00"},
		{protocol.MailTimeLimit, plain(func(j *view.Job) { j.State, j.Signal = protocol.Timeout, 15 }), "Reached time limit, Run time 1:00:00, TIMEOUT, Signal 15"},
		{
			protocol.MailFail, plain(func(j *view.Job) { j.State, j.ExitCode, j.Signal = protocol.Failed, 0, protocol.SignalOutOfMemory }),
			"Failed, Run time 1:00:00, FAILED, out of memory",
		},
	}
	for _, c := range cases {
		text, _, _ := sent(t, `cat >"$box"`, "", func(s *mail.Sender) { s.Mail(c.about, &c.job) })
		if want := "To: ada\nSubject: Switchyard Job_id=1000000000007 Name=tides " + c.want + "\n"; !strings.HasPrefix(strings.ReplaceAll(text, "\n ", " "), want) {
			t.Errorf("%s begins other than %s", text, want)
		}
	}
}

// TestLongNames: no line of a mail is longer than RFC 5322 allows, and the name is whole in its text.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("x", protocol.MaxJobName), strings.Repeat("ö", protocol.MaxJobName/2)} {
		job := ended()
		job.Name = name
		text, _, _ := sent(t, `cat >"$box"`, "", func(s *mail.Sender) { s.Mail(protocol.MailFail, &job) })
		head, body, _ := strings.Cut(text, "\n\n")
		plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
		if err != nil || !strings.Contains(string(plain), name) || !strings.Contains(head, "quoted-printable") {
			t.Errorf("the text lacks the name (%v): %s", err, text)
		}
		for line := range strings.Lines(text) {
			if len(line) > 300 {
				t.Errorf("a line of %d bytes: %s", len(line), line)
			}
		}
	}
}

// TestAccountsThatAreNoAddress: what could be more headers, or an option of a mail program, gets no mail.
func TestAccountsThatAreNoAddress(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"-oQ/tmp", "a b", `DOMAIN\ada`, "ada\nBcc: all@example.org"} {
		job := ended()
		job.User = user
		text, log, counted := sent(t, `cat >"$box"`, "", func(s *mail.Sender) { s.Mail(protocol.MailFail, &job) })
		if text != "" || !strings.Contains(log, "mail_dropped") || len(counted) != 1 || counted[0] != mail.Dropped {
			t.Errorf("%q: %s, log %s, counted %v", user, text, log, counted)
		}
	}
}

func TestACommandThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	job := ended()
	_, log, counted := sent(t, "echo no such mailbox; exit 67", "", func(s *mail.Sender) { s.Mail(protocol.MailFail, &job) })
	if len(counted) != 1 || counted[0] != mail.Failed || !strings.Contains(log, "mail_failed") || !strings.Contains(log, "no such mailbox") ||
		!strings.Contains(log, "exit status 67") {
		t.Errorf("counted %v, log: %s", counted, log)
	}
}

// A mail that finds the queue full is dropped at once: who calls is the peer's own loop.
func TestTooManyMailsAreDropped(t *testing.T) {
	t.Parallel()
	job, dropped := ended(), 0
	var logged strings.Builder
	s := mail.NewSender(mail.Config{
		Command: []string{"/bin/true"}, Log: slog.New(slog.NewTextHandler(&logged, nil)),
		Count: func(result string) {
			if result == mail.Dropped {
				dropped++
			}
		},
	})
	for range 1003 {
		s.Mail(protocol.MailEnd, &job)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
	if dropped < 3 || !strings.Contains(logged.String(), "mail_dropped") {
		t.Errorf("%d were dropped, log: %.300s", dropped, logged.String())
	}
}
