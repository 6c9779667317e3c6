package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
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
}

type letter struct {
	about protocol.MailEvent
	job   view.Job
}

// NewSender makes a sender. [Sender.Run] starts it.
func NewSender(cfg Config) *Sender { return &Sender{Config: cfg, queue: make(chan letter, waiting)} }

// Mail takes in a mail to be sent, unless too many wait.
func (s *Sender) Mail(about protocol.MailEvent, job *view.Job) {
	l := letter{about, *job}
	select {
	case s.queue <- l:
	default:
		s.drop(&l, fmt.Sprintf("%d mails wait for the command", waiting))
	}
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
