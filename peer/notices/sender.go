package notices

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what a [Sender] needs: a Command, a URL, or both.
type Config struct {
	Site    protocol.SiteName
	Command []string            // and its arguments; it reads a notice on its standard input
	URL     string              // that gets notices by POST
	Token   string              // file with a bearer token for URL; empty: none is sent
	Agent   string              // how the peer calls itself to the URL
	Log     *slog.Logger        // required
	Count   func(result string) // counts a notice for each receiver: Sent, Failed or Dropped
}

// The results of notices.
const (
	Sent    = "sent"
	Failed  = "failed"  // after the last try
	Dropped = "dropped" // too many waited, or the peer stopped
)

const (
	waiting  = 1000 // notices that may wait for a receiver
	tries    = 5
	first    = time.Second      // pause after the first try; each further one is twice as long
	patience = 20 * time.Second // for a try
	maxSaid  = 500              // bytes of what a receiver says that are logged
	maxToken = 4096             // bytes
)

// Notice is what receivers get.
type Notice struct {
	Site protocol.SiteName `json:"site"`           // whose peer sends it: the job's origin
	At   protocol.Instant  `json:"at_ms"`          // when the peer saw the change
	From string            `json:"from,omitempty"` // the state before; empty: the job is new
	Job  *view.Job         `json:"job"`
}

// Sender implements node.Notifier. Each receiver gets one notice after the other, in the order of the changes.
type Sender struct {
	Config
	receivers []*receiver
}

// receiver is who gets notices.
type receiver struct {
	*Sender
	name  string
	queue chan queued
	hand  func(ctx context.Context, body []byte) error
}

type queued struct {
	job  protocol.JobID
	body []byte
}

// NewSender makes a sender. [Sender.Run] starts it.
func NewSender(cfg Config) *Sender {
	s := &Sender{Config: cfg}
	if len(cfg.Command) > 0 {
		s.addReceiver("command", s.run)
	}
	if cfg.URL != "" {
		s.addReceiver("url", s.post)
	}
	return s
}

func (s *Sender) addReceiver(name string, hand func(ctx context.Context, body []byte) error) {
	s.receivers = append(s.receivers, &receiver{s, name, make(chan queued, waiting), hand})
}

// Notify takes in that a job has another state than before; zero: it is new. It does not wait.
func (s *Sender) Notify(from protocol.State, job *view.Job) {
	notice := Notice{Site: s.Site, At: protocol.InstantOf(time.Now()), Job: job}
	if from != 0 {
		notice.From = from.String()
	}
	body, err := json.Marshal(notice)
	for _, r := range s.receivers {
		q := queued{job.ID, body}
		if err != nil {
			r.drop(q, err.Error())
			continue
		}
		select {
		case r.queue <- q:
		default:
			r.drop(q, fmt.Sprintf("%d notices wait", waiting))
		}
	}
}

// Run hands on what is taken in until ctx ends. What waits then is dropped.
func (s *Sender) Run(ctx context.Context) error {
	done := make(chan struct{}, len(s.receivers))
	for _, r := range s.receivers {
		go func() {
			r.serve(ctx)
			done <- struct{}{}
		}()
	}
	for range s.receivers {
		<-done
	}
	return nil
}

func (r *receiver) serve(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case q := <-r.queue:
			r.send(ctx, q)
		}
	}
	for len(r.queue) > 0 {
		r.drop(<-r.queue, "the peer stops")
	}
}

func (r *receiver) drop(q queued, why string) {
	r.Count(Dropped)
	r.Log.Warn("notice_dropped", "job", uint64(q.job), "receiver", r.name, "why", why)
}

// send tries several times, with growing pauses.
func (r *receiver) send(ctx context.Context, q queued) {
	var err error
	pause := first
	for try := 1; ; try++ {
		if err = r.try(ctx, q.body); err == nil {
			r.Count(Sent)
			return
		}
		if permanent := (*refusedError)(nil); errors.As(err, &permanent) || try == tries {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			r.drop(q, "the peer stops")
			return
		}
		pause *= 2
	}
	r.Count(Failed)
	r.Log.Warn("notice_failed", "job", uint64(q.job), "receiver", r.name, "error", err)
}

func (r *receiver) try(ctx context.Context, body []byte) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.hand(limited, body)
}

// run hands a notice to the command.
func (s *Sender) run(ctx context.Context, body []byte) error {
	//nolint:gosec // the command is the operator's
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Dir = "/"
	cmd.Stdin = bytes.NewReader(body)
	var said start
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) { // it has exited with 0, and left others that hold its output open
		return nil
	}
	return fmt.Errorf("%s: %w: %s", s.Command[0], err, clip(said))
}

// start is the start of what a command says, of which no more is logged.
type start []byte

func (s *start) Write(data []byte) (int, error) {
	*s = append(*s, data[:min(len(data), maxSaid-len(*s))]...)
	return len(data), nil
}

// refusedError says that repeating cannot help.
type refusedError struct{ status string }

func (e *refusedError) Error() string { return e.status }

// client follows no redirects: they could lead the token elsewhere.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post hands a notice to the URL.
func (s *Sender) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return withoutURL(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", s.Agent)
	if s.Token != "" {
		token, tokenErr := ReadToken(s.Token)
		if tokenErr != nil {
			return tokenErr
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client().Do(request)
	if err != nil {
		return fmt.Errorf("%s://%s: %w", request.URL.Scheme, request.URL.Host, withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxSaid))
	switch code := response.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 5 || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %s", response.Status, clip(said))
	default:
		return &refusedError{fmt.Sprintf("%s: %s", response.Status, clip(said))}
	}
}

// withoutURL leaves the URL out of an error: its path and query may hold a secret.
func withoutURL(err error) error {
	if with, ok := errors.AsType[*url.Error](err); ok {
		return with.Err
	}
	return err
}

// ReadToken reads a file with a bearer token, which only its owner can read.
func ReadToken(path string) (string, error) {
	token, err := fileguard.SecretText(path, maxToken)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s has characters that no token has", path)
	}
	return token, nil
}

// clip is what a receiver says, for the log.
func clip(said []byte) string {
	return protocol.EscapeText(strings.TrimSpace(string(said[:min(len(said), maxSaid)])))
}
