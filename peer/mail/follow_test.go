package mail_test

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/mail"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSharesOfTheLimit: mails are due when a job has run for a half, four fifths and nine tenths of its limit,
// while it runs; what was due before a job is followed is not sent.
func TestSharesOfTheLimit(t *testing.T) {
	t.Parallel()
	const half, more, most = protocol.MailTimeLimit50, protocol.MailTimeLimit80, protocol.MailTimeLimit90
	all := []protocol.MailEvent{protocol.MailEnd, most, more, half}
	for name, c := range map[string]struct {
		events  []protocol.MailEvent
		limit   protocol.Duration
		ran     time.Duration // when it is followed
		runs    time.Duration // from then on
		want    []protocol.MailEvent
		another bool // run of the job follows
	}{
		"all of them":         {events: all, limit: protocol.Hour, runs: time.Hour, want: []protocol.MailEvent{half, more, most}},
		"it ends before some": {events: all, limit: protocol.Hour, runs: 49 * time.Minute, want: []protocol.MailEvent{half, more}},
		"one is wanted":       {events: []protocol.MailEvent{more}, limit: protocol.Hour, runs: time.Hour, want: []protocol.MailEvent{more}},
		"the peer restarted":  {events: all, limit: protocol.Hour, ran: 45 * time.Minute, runs: 15 * time.Minute, want: []protocol.MailEvent{more, most}},
		"none is wanted":      {events: []protocol.MailEvent{protocol.MailEnd}, limit: protocol.Hour, runs: time.Hour},
		"no limit":            {events: all, limit: protocol.Never, runs: 1000 * time.Hour},
		"it starts again":     {events: all, limit: protocol.Hour, runs: 40 * time.Minute, want: []protocol.MailEvent{half, half}, another: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mail.NewSender(mail.Config{Command: []string{"/bin/false"}, Log: slog.New(slog.DiscardHandler), Count: func(string) {}})
				job := view.Job{
					ID: 7, WallTime: c.limit, Mail: protocol.Mail{Events: c.events}, Started: protocol.InstantOf(time.Now().Add(-c.ran)),
				}
				s.Follow(&job)
				time.Sleep(c.runs)
				synctest.Wait()
				if c.another {
					s.Unfollow(job.ID)
					job.Started = protocol.InstantOf(time.Now())
					s.Follow(&job)
					time.Sleep(c.runs)
					synctest.Wait()
				}
				s.Unfollow(job.ID)
				time.Sleep(time.Hour)
				synctest.Wait()
				if got := s.Waiting(); !slices.Equal(got, c.want) {
					t.Errorf("mails about %v, want %v", got, c.want)
				}
			})
		})
	}
}
