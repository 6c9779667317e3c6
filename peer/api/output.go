package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	chunkSize = 256 << 10
	// pathTrailer names the file where the output goes on: the caller reads the
	// rest there, from the place where the answer ends.
	pathTrailer = "Switchyard-Path"
	// refusedTrailer is the code of why there is no more of an output that is not whole, as when a token ends while it is followed.
	// The reason is what is missing.
	refusedTrailer = "Switchyard-Refused"
)

// output answers with the path of a file, or with what a job that runs elsewhere
// has written so far, or what is kept of output that could not be put where its user wants it;
// with follow it stays until the job has ended. The trailers are those of archives of files: what is
// missing of the output, and where it is kept.
func (s *server) output(w http.ResponseWriter, r *http.Request, who caller) error {
	t, err := s.tail(r, who)
	if err != nil {
		return err
	}
	if who.remote() {
		end, tooMany := s.bounds.begin(longRequest{who.uid, maxReads})
		if tooMany != nil {
			return tooMany
		}
		defer end()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // each piece has one of its own
	}
	if err = t.awaitStart(r.Context()); err != nil {
		return err
	}
	var first []byte
	if !t.atOrigin() {
		if first, err = t.chunk(r.Context()); err != nil {
			return err
		}
	}
	if t.atOrigin() { // perhaps since the look for it elsewhere
		return reply(w, http.StatusOK, where{Path: t.path()})
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Trailer", strings.Join([]string{pathTrailer, missingTrailer, noticeTrailer, refusedTrailer}, ", "))
	w.WriteHeader(http.StatusOK)
	path, err := t.copy(r.Context(), w, first)
	if refused, ok := errors.AsType[refuser](err); ok {
		why := refused.Refusal()
		w.Header().Set(missingTrailer, strconv.QuoteToASCII(fmt.Sprintf("the output of job %v is incomplete: %s", t.job.ID, why.Reason)))
		w.Header().Set(refusedTrailer, string(why.Code))
		return nil
	}
	if err != nil {
		s.Log.Debug("output_cut", "job", uint64(t.job.ID), "error", err)
		panic(http.ErrAbortHandler) // the only way to tell the client that this is not the end
	}
	w.Header().Set(pathTrailer, path)
	missing, notice := t.undelivered()
	w.Header().Set(missingTrailer, strconv.QuoteToASCII(missing))
	w.Header().Set(noticeTrailer, strconv.QuoteToASCII(notice))
	return nil
}

// tail is somebody's reading of a job's output.
type tail struct {
	node   Node
	job    view.Job
	stream protocol.Stream
	offset int64
	follow bool
	file   ReadFile                    // for a caller who is not here or not the job's user; nil: he opens the file himself
	opened bool                        // by file, which found that the job's user may read it
	still  func(context.Context) error // says why the caller may not go on reading; nil: he may
}

// readFile reads a file with the rights of a job's user, for whoever may read the job's output. Each time is a process.
func (s *server) readFile(ctx context.Context, user, path string, offset int64, size int) ([]byte, error) {
	if s.ReadFile == nil {
		return nil, errors.New("this peer does not read files of users")
	}
	select {
	case s.files <- struct{}{}:
		defer func() { <-s.files }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.ReadFile(ctx, user, path, offset, size)
}

// tail finds out what is to be read, and whether the caller may.
func (s *server) tail(r *http.Request, who caller) (*tail, error) {
	t := &tail{node: s.Node, stream: protocol.Stdout}
	err := parse(r.URL.Query(), map[string]func([]string) error{
		"stream": once(&t.stream, parseStream), "offset": once(&t.offset, parseOffset), "follow": once(&t.follow, parseBool),
	})
	if err != nil {
		return nil, err
	}
	id, err := s.jobID(r, who)
	if err != nil {
		return nil, err
	}
	if t.job, err = s.jobFor(r.Context(), who, id); err != nil {
		return nil, err
	}
	t.still = stillGood(who)
	if who.remote() || who.user != t.job.User { // root must not open what a user has put into the place of the output
		t.file = s.readFile
	}
	if t.job.Array != nil {
		return nil, refuse(view.BadRequest, "%v is a job array; name one of its elements, as %v", id, protocol.Element{Array: id, Index: t.job.Array.Elements.First()})
	}
	if !who.admin && (t.job.Guest || t.job.User != who.user) {
		return nil, refuse(view.Denied, "job %d belongs to %s; only its user and root may read its output", id, t.job.User)
	}
	return t, nil
}

// atOrigin reports whether the caller finds the output itself.
func (t *tail) atOrigin() bool { return t.path() != "" && t.file == nil }

// path is where the caller finds the output itself; empty: it is not there. A job
// that runs at its origin writes there, and that of others arrives at their end, if it can be written.
func (t *tail) path() string {
	if t.job.Guest || t.left() != nil || (!t.job.State.Terminal() && t.job.Site != t.home()) {
		return ""
	}
	return t.wanted()
}

// left says what has become of output that is not where its user wants it; nil: it is there, or is still to come.
func (t *tail) left() *view.Undelivered { return t.job.LeftFile(t.stream) }

// wanted is where the user wants the output.
func (t *tail) wanted() string {
	if t.stream == protocol.Stderr {
		return t.job.Stderr
	}
	return t.job.Stdout
}

// home is the site where the job was submitted.
func (t *tail) home() protocol.SiteName { return t.job.Origin }

// awaitStart waits until there can be output, if that was asked for.
func (t *tail) awaitStart(ctx context.Context) error {
	for t.job.State == protocol.Pending {
		if !t.follow {
			why := ""
			if t.job.Reason != "" {
				why = ": " + t.job.Reason
			}
			return refuse(view.Unavailable, "job %d has no output yet, it has not started%s; `switchyard logs -f %d` waits for it", t.job.ID, why, t.job.ID)
		}
		if err := t.pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pause waits a little and looks at the job again.
func (t *tail) pause(ctx context.Context) error {
	timer := time.NewTimer(followPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if t.still != nil {
		if err := t.still(ctx); err != nil {
			return err
		}
	}
	job, err := t.node.Job(ctx, t.job.ID)
	if err == nil {
		t.job = job
	}
	return err
}

// undelivered says of output that is not where its user wants it what is missing of it, and of what is not missing where it is.
func (t *tail) undelivered() (missing, notice string) {
	left := t.left()
	switch {
	case left == nil:
		return "", ""
	case left.Kept == "":
		return fmt.Sprintf("what has been printed is perhaps not all of the output of job %v: %s", t.job.ID, t.job.Reason), ""
	case left.Partial:
		return fmt.Sprintf("the output of job %v is incomplete: %s", t.job.ID, t.job.Reason), ""
	}
	option := ""
	if t.stream == protocol.Stderr {
		option = "--stderr "
	}
	return "", fmt.Sprintf("this output is not in %s, but kept by the peer until that removes it ([results] keep_for, max_kept); `switchyard logs %s%v >FILE` copies it. Job %v: %s",
		cmp.Or(t.wanted(), "a file"), option, t.job.ID, t.job.ID, t.job.Reason)
}

// chunk reads on. There is nothing to read if a caller finds the output himself by now.
func (t *tail) chunk(ctx context.Context) (data []byte, err error) {
	if t.path() == "" {
		data, err = t.fromNode(ctx)
	}
	if path := t.path(); path != "" && t.file != nil {
		data, err = t.fromFile(ctx, path)
	}
	t.offset += int64(len(data))
	return data, err
}

// fromNode reads on in what the site of the job has of its output, or in what is kept here of output that could not be
// put where its user wants it.
func (t *tail) fromNode(ctx context.Context) ([]byte, error) {
	if t.left() == nil {
		data, err := t.node.Output(ctx, t.job, t.stream, t.offset, chunkSize)
		if err == nil || !t.ended(ctx) {
			return data, err
		}
		if t.left() == nil { // its site has given it away since the job was looked at, and has no more output of it
			return nil, nil
		}
	}
	if t.left().Kept == "" {
		if t.offset > 0 {
			return nil, nil // what came before stands, and [tail.undelivered] says that more may be missing
		}
		return nil, refuse(view.NotFound, "there is no output of job %v: %s", t.job.ID, t.job.Reason)
	}
	data, err := t.node.Output(ctx, t.job, t.stream, t.offset, chunkSize)
	if errors.Is(err, protocol.ErrOutputGone) {
		return nil, refuse(view.NotFound, "there is no output of job %v any more: the peer has removed what it kept ([results] keep_for, max_kept); the job's reason was: %s", t.job.ID, t.job.Reason)
	}
	return data, err
}

// ended looks at the job again, and says whether its output is at home now, or given up.
func (t *tail) ended(ctx context.Context) bool {
	job, err := t.node.Job(ctx, t.job.ID)
	if err != nil {
		return false
	}
	t.job = job
	return t.path() != "" || t.left() != nil
}

// fromFile reads on in the file of the job's user, with the rights of that user. As that takes a process, the peer first looks whether
// there is more; if it may not, it reads.
func (t *tail) fromFile(ctx context.Context, path string) ([]byte, error) {
	if info, err := os.Stat(path); t.opened && err == nil && info.Size() <= t.offset { //nolint:gosec // only its size, which its job's user may know
		return nil, nil
	}
	data, err := t.file(ctx, t.job.User, path, t.offset, chunkSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !t.job.State.Terminal():
		return nil, nil // it has written nothing yet
	case errors.Is(err, fs.ErrNotExist) && t.job.Started == 0:
		return nil, nil // nor will it
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(view.NotFound, "%s is not there any more", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, refuse(view.Denied, "%v", err)
	case err != nil:
		return nil, refuse(view.Unavailable, "%v", err)
	}
	t.opened = true
	return data, nil
}

// copy sends what there is and, when following, what comes. It returns the path
// of the file where the rest is, if the job has ended meanwhile.
func (t *tail) copy(ctx context.Context, w http.ResponseWriter, data []byte) (path string, err error) {
	flush := http.NewResponseController(w)
	for {
		err = t.drain(ctx, w, data)
		if flushErr := flush.Flush(); flushErr != nil {
			return "", flushErr
		}
		if path = t.path(); path != "" && t.file == nil {
			return path, err
		}
		if !t.follow || (err == nil && t.job.State.Terminal()) {
			return "", err
		}
		if err = t.pause(ctx); err != nil {
			return "", err
		}
		if path = t.path(); path != "" && t.file == nil {
			return path, nil
		}
		data, err = t.chunk(ctx)
		if why, refused := errors.AsType[refusal](err); err != nil && (t.job.State.Terminal() || (refused && why.why.Code != view.Unavailable)) {
			return "", err
		} // else its site cannot be reached just now, or the file
	}
}

// send sends a piece. Whoever reads it on another machine has to take it within some time. That is over before the next piece is
// looked for, since HTTP/2 would end the answer.
func (t *tail) send(w http.ResponseWriter, data []byte) error {
	if t.still == nil {
		_, err := w.Write(data) //nolint:gosec // bytes for a terminal, not for a browser
		return err
	}
	to := http.NewResponseController(w)
	_ = to.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = to.SetWriteDeadline(time.Time{}) }()
	if _, err := w.Write(data); err != nil { //nolint:gosec // see above
		return err
	}
	return to.Flush()
}

// drain sends the data and what else there is now.
func (t *tail) drain(ctx context.Context, w http.ResponseWriter, data []byte) error {
	for len(data) > 0 {
		if err := t.send(w, data); err != nil {
			return err
		}
		var err error
		if data, err = t.chunk(ctx); err != nil {
			return err
		}
	}
	return nil
}
