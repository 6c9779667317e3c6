package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what a [Sender] needs.
type Config struct {
	Command []string            // and its arguments; it reads a mail with its headers
	From    string              // address of the sender; empty: the command sets it
	Log     *slog.Logger        // required
	Count   func(result string) // counts a mail: Sent, Failed or Dropped
}

// The results of mails.
const (
	Sent    = "sent"
	Failed  = "failed"
	Dropped = "dropped" // too many waited
)

const (
	waiting  = 1000 // mails that may wait for the command
	patience = time.Minute
	maxError = 500 // bytes of what the command says
)

// Sender implements node.Mailer. It hands one mail after the other to the command.
type Sender struct {
	Config
	queue chan letter

	mu       sync.Mutex
	followed map[protocol.JobID][]*time.Timer // of running jobs, for mails about shares of their limits
}

type letter struct {
	about protocol.MailEvent
	job   view.Job
}

// NewSender makes a sender. [Sender.Run] starts it.
func NewSender(cfg Config) *Sender {
	return &Sender{Config: cfg, queue: make(chan letter, waiting), followed: make(map[protocol.JobID][]*time.Timer)}
}

// Mail takes in a mail to be sent, unless too many wait.
func (s *Sender) Mail(about protocol.MailEvent, job *view.Job) {
	l := letter{about, *job}
	select {
	case s.queue <- l:
	default:
		s.drop(&l, fmt.Sprintf("%d mails wait for the command", waiting))
	}
}

// Follow takes in mails about a running job at shares of its time limit.
func (s *Sender) Follow(job *view.Job) {
	l := letter{job: *job}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unfollow(job.ID)
	for _, about := range job.Mail.Events {
		share := about.ShareOfLimit()
		if share == 0 || job.Limit() == protocol.Never {
			continue
		}
		at := job.Started.Add(job.Limit() / 100 * protocol.Duration(share))
		if left := time.Until(at.Time()); left > 0 {
			s.followed[job.ID] = append(s.followed[job.ID], time.AfterFunc(left, func() { s.mailFollowed(about, &l.job) }))
		}
	}
}

// mailFollowed sends a mail about a job that still runs.
func (s *Sender) mailFollowed(about protocol.MailEvent, job *view.Job) {
	s.mu.Lock()
	_, runs := s.followed[job.ID]
	s.mu.Unlock()
	if runs {
		s.Mail(about, job)
	}
}

// Unfollow drops what [Sender.Follow] has taken in about a job.
func (s *Sender) Unfollow(job protocol.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unfollow(job)
}

func (s *Sender) unfollow(job protocol.JobID) {
	for _, timer := range s.followed[job] {
		timer.Stop()
	}
	delete(s.followed, job)
}

// Run sends what is taken in until ctx ends. What waits then is dropped.
func (s *Sender) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case l := <-s.queue:
			s.send(ctx, &l)
		}
	}
	for len(s.queue) > 0 {
		l := <-s.queue
		s.drop(&l, "the peer stops")
	}
	return nil
}

func (s *Sender) drop(l *letter, why string) {
	s.Count(Dropped)
	s.Log.Warn("mail_dropped", "job", uint64(l.job.ID), "type", string(l.about), "why", why)
}

func (s *Sender) send(ctx context.Context, l *letter) {
	if err := protocol.CheckMailTo(recipients(&l.job)); err != nil { // the name of an account may be any
		s.drop(l, err.Error())
		return
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	//nolint:gosec // the command is the operator's
	cmd := exec.CommandContext(limited, s.Command[0], s.Command[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), l.variables()...)
	cmd.Stdin = strings.NewReader(message(l.about, &l.job, s.From))
	said, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		s.Count(Sent)
		return
	case ctx.Err() != nil:
		s.drop(l, "the peer stops")
		return
	}
	s.Count(Failed)
	if limited.Err() != nil && ctx.Err() == nil {
		err = errors.Join(fmt.Errorf("the command took more than %v", patience), err)
	}
	s.Log.Warn("mail_failed", "job", uint64(l.job.ID), "type", string(l.about), "command", s.Command[0], "error", err,
		"output", protocol.EscapeText(strings.TrimSpace(string(said[:min(len(said), maxError)]))))
}

func (l *letter) variables() []string {
	return []string{
		"SWITCHYARD_JOB_ID=" + l.job.ID.String(),
		"SWITCHYARD_JOB_NAME=" + l.job.Name,
		"SWITCHYARD_JOB_USER=" + l.job.User,
		"SWITCHYARD_JOB_STATE=" + l.job.State.String(),
		"SWITCHYARD_MAIL_TYPE=" + string(l.about),
	}
}
