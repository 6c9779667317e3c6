package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"time"
)

// An answer may take minutes: files are put into a directory, all rows are verified. Meanwhile the peer says every progressPause that it is at
// work, in interim answers (102, RFC 2518), to clients that say they understand these. A client thus waits for as long as it hears of the
// peer, and for no longer than answerTime if it hears nothing.
const (
	progressHeader = "Switchyard-Progress" // of a request: its client understands interim answers
	// progressPause is longer than waitTime, so that nearly all answers pass proxies that take an interim one for the last.
	progressPause = 100 * time.Second
	// answerTime is how long the client waits for an answer, or for the next interim one: longer than any honest peer of a version without
	// interim answers takes, which waits [waitTime] for a job's end, and answers nearly all else sooner.
	answerTime = 3 * waitTime
)

// progress sends interim answers until the answer begins.
type progress struct {
	http.ResponseWriter

	mu    sync.Mutex
	timer *time.Timer // nil: no more follow
	moves bool        // whether the write deadline moves on meanwhile: the server has set one, and the handler has set none of its own
}

// newProgress begins interim answers to a request, if its client understands them. The caller ends them. A client that waits for an answer
// 100 (Expect) gets no other interim ones: the server sends that one as the handler begins to read, and may send nothing at the same time.
func newProgress(w http.ResponseWriter, r *http.Request, who caller) *progress {
	p := &progress{ResponseWriter: w, moves: who.remote()}
	if r.Header.Get(progressHeader) != "" && r.Header.Get("Expect") == "" && r.ProtoAtLeast(1, 1) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.timer = time.AfterFunc(progressPause, p.say)
	}
	return p
}

// say sends one.
func (p *progress) say() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	if p.moves {
		_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(serveTime))
	}
	p.ResponseWriter.WriteHeader(http.StatusProcessing)
	p.timer.Reset(progressPause)
}

// end sends no more. None is under way when it returns.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// Header implements [http.ResponseWriter]. Who asks for it is about to answer.
func (p *progress) Header() http.Header {
	p.end()
	return p.ResponseWriter.Header()
}

// WriteHeader implements [http.ResponseWriter].
func (p *progress) WriteHeader(code int) {
	p.end()
	p.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (p *progress) Write(b []byte) (int, error) {
	p.end()
	return p.ResponseWriter.Write(b)
}

// SetWriteDeadline is for [http.ResponseController].
func (p *progress) SetWriteDeadline(deadline time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moves = false
	return http.NewResponseController(p.ResponseWriter).SetWriteDeadline(deadline)
}

// FlushError is for [http.ResponseController].
func (p *progress) FlushError() error {
	p.end()
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (p *progress) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// patient carries requests to a peer, and gives up those on which it hears nothing for some time once they are sent.
type patient struct {
	*http.Transport

	limit time.Duration
}

// RoundTrip implements [http.RoundTripper]. The error is [ErrSilent] if it has heard nothing.
func (p *patient) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	s := &silence{limit: p.limit, over: func() { cancel(ErrSilent) }}
	request = request.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest:   func(httptrace.WroteRequestInfo) { s.begin() },
		Got1xxResponse: func(int, textproto.MIMEHeader) error { s.begin(); return nil },
	}))
	request.Header.Set(progressHeader, "yes")
	response, err := p.Transport.RoundTrip(request)
	if s.end() {
		if err == nil {
			_ = response.Body.Close()
		}
		err = ErrSilent
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	response.Body = &patientBody{response.Body, cancel}
	return response, nil
}

// silence is the time in which nothing is heard of the answer to a request.
type silence struct {
	limit time.Duration
	over  func() // called once after the limit

	mu    sync.Mutex
	timer *time.Timer // nil: the request is not sent yet
	ended bool        // the answer is there, or there will be none
	long  bool        // it has lasted for the limit before that
}

// begin begins it again. After its end it does nothing: with HTTP/2 an answer may be there before the transport says that the request is
// sent, and to begin it then would end an answer that comes for longer than the limit.
func (s *silence) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.long:
	case s.timer == nil:
		s.timer = time.AfterFunc(s.limit, s.last)
	default:
		s.timer.Reset(s.limit)
	}
}

// last ends the request, unless the answer has come meanwhile.
func (s *silence) last() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && !s.long {
		s.long = true
		s.over()
	}
}

// end ends it, and says whether it has lasted for the limit.
func (s *silence) end() (long bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
	return s.long
}

// patientBody ends what belongs to a request with its answer.
type patientBody struct {
	io.ReadCloser

	end context.CancelCauseFunc
}

// Close implements [io.Closer].
func (b *patientBody) Close() error {
	defer b.end(nil)
	return b.ReadCloser.Close()
}
