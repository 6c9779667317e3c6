package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// maxNoted is how much of a request's body is noted, in bytes: more than an entry of the audit log keeps.
const maxNoted = 2048

// changes reports whether a request changes something.
func (r *route) changes() bool {
	method, _, _ := strings.Cut(r.pattern, " ")
	return r.pattern != "/" && method != http.MethodGet && r.pattern != "POST /v1/quotes"
}

// noted is a request that changes something: what it asks for, and what it is answered.
type noted struct {
	http.ResponseWriter

	body   bytes.Buffer // its beginning; of submissions nothing
	done   func()       // records that it was carried out
	answer any          // nil: it was refused
}

// answered records what the caller is about to be answered. Nothing is answered before it is in the log.
func (n *noted) answered(answer any) {
	n.answer = answer
	n.done()
}

// note takes note of a request as it is handled; nil: it changes nothing.
func (s *server) note(route route, w http.ResponseWriter, r *http.Request) *noted {
	if !route.changes() {
		return nil
	}
	n := &noted{ResponseWriter: w}
	if route.pattern != "POST /v1/jobs" && route.pattern != "POST /v1/files" { // scripts, environments and files are their users' alone
		r.Body = &notedBody{r.Body, &n.body}
	}
	return n
}

// writer is what the request is answered to.
func (n *noted) writer(w http.ResponseWriter) http.ResponseWriter {
	if n == nil {
		return w
	}
	return n
}

// Unwrap is for [http.ResponseController].
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// notedBody is a body of which the beginning is noted as it is read.
type notedBody struct {
	io.ReadCloser

	to *bytes.Buffer
}

// Read implements [io.Reader].
func (b *notedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.to.Write(p[:min(n, maxNoted-b.to.Len())])
	return n, err
}

// record counts a request, and puts it into the audit log if it changes something, or was denied. Over TCP it is
// logged, too, if it changes something. What a visitor is denied who has not signed in is counted only: the entry would
// be without a name, and visits of strangers could push out all others.
func (s *server) record(n *noted, r *http.Request, who caller, err error) {
	way := audit.Socket
	if who.remote() {
		way = audit.Network
	}
	result := resultOf(err)
	defer s.count(way, result)
	if who.public || n == nil && result != string(view.Denied) {
		return
	}
	e := audit.Entry{
		At: time.Now(), Action: r.Pattern, Way: way, User: who.user, UID: &who.uid, From: who.from, Path: r.URL.RequestURI(), Result: result,
	}
	if err != nil {
		e.Reason = refusalOf(err).Reason
	}
	if who.pass != nil {
		e.Token = who.pass.id
	}
	if n != nil {
		e.Request = n.body.String()
		answered(&e, n.answer)
		if who.remote() {
			s.Log.Info("api_request", "request", r.Pattern, "path", fmt.Sprintf("%.200s", r.URL.Path), "user", who.user, "token", e.Token, "from", who.from, "result", result)
		}
	}
	s.Audit.Write(e)
}

func resultOf(err error) string {
	if err != nil {
		return string(refusalOf(err).Code)
	}
	return audit.Done
}

// count counts a request.
func (s *server) count(way audit.Way, result string) {
	if s.Answered != nil {
		s.Answered(way, result)
	}
}

// answered adds what the answer says of the change.
func answered(e *audit.Entry, answer any) {
	switch answer := answer.(type) {
	case view.Submitted:
		e.Jobs = answer.Jobs
	case CreatedToken:
		e.Made = answer.Token.ID
		e.Changed = []string{"user " + answer.Token.User, "scopes " + answer.Token.Scopes.String(), "expires " + answer.Token.Expires.Time().UTC().Format(time.RFC3339)}
	case Reloaded:
		answer.Audit(e)
	}
}

// Audit adds what a reload has changed to the entry of who wanted it.
func (r *Reloaded) Audit(e *audit.Entry) {
	for _, list := range []struct {
		text    string
		changes []Change
	}{{"", r.Changed}, {"after a restart: ", r.Restart}} {
		for i := range list.changes {
			e.Changed = append(e.Changed, list.text+list.changes[i].Text())
		}
	}
	for _, site := range r.Added {
		e.Changed = append(e.Changed, "partner added: "+string(site))
	}
	for _, site := range r.Removed {
		e.Changed = append(e.Changed, "partner removed: "+string(site))
	}
	if len(r.Problems) > 0 {
		e.Result, e.Reason = string(view.BadRequest), strings.Join(r.Problems, "; ")
	}
}
