package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Files are how files of users move over TCP: to directories of the site before jobs are submitted, and from those of jobs that have ended.
type Files struct {
	Dir      string // of the peer, where what comes is kept until all of it is here
	MaxBytes int64  // of the archive of one request
	Limit    string // what says so, for people

	// Place puts the files of an archive below a directory, which it makes if it is not there, with the rights of the account that
	// runs a user's jobs.
	Place func(ctx context.Context, user, dir string, archive io.Reader) error
	// Collect writes the archive of the files below a directory that patterns name, and which that account may read. Missing are
	// those that are not in it though they are wanted, notices are about others.
	Collect func(ctx context.Context, user, dir string, patterns []string, most int64, limit string, w io.Writer) (missing string, notices []string, err error)
}

const (
	digestHeader = "Content-Digest" // RFC 9530
	digestPrefix = "sha-256=:"
	// missingTrailer says, quoted as in Go, which of the files that were asked for do not come; it is in each answer that is whole.
	// noticeTrailer says what else does not.
	missingTrailer = "Switchyard-Missing"
	noticeTrailer  = "Switchyard-Notice"
	tarType        = "application/x-tar"

	placing     = 8           // requests that move files at a time, of all users
	placeWait   = time.Minute // the most that another one waits
	slowest     = 64 << 10    // bytes in a second
	maxPatterns = protocol.MaxStageOut
)

// moves refuses a request that moves files if there can be none now; end takes it off the counts.
func (s *server) moves(ctx context.Context, w http.ResponseWriter, who caller) (end func(), err error) {
	if s.Network == nil || s.Network.Files == nil || !who.remote() {
		return nil, refuse(view.Denied, "files move over TCP only; at the site use its directories")
	}
	one, err := s.bounds.begin(longRequest{who.uid, maxMoves})
	if err != nil {
		return nil, err
	}
	now, deadline := time.Now(), http.NewResponseController(w) // the wait takes nothing of the time of the request
	_ = deadline.SetReadDeadline(now.Add(placeWait + readTime))
	_ = deadline.SetWriteDeadline(now.Add(placeWait + serveTime))
	wait := time.NewTimer(placeWait)
	defer wait.Stop()
	select {
	case s.moving <- struct{}{}:
		return func() { <-s.moving; one() }, nil
	case <-wait.C:
		one()
		return nil, crowded("%d requests that move files are under way; try again later", placing)
	case <-ctx.Done():
		one()
		return nil, ctx.Err()
	}
}

// place takes the archive of files, and puts them below a directory of the caller's.
func (s *server) place(w http.ResponseWriter, r *http.Request, who caller) error {
	dir := ""
	if err := parse(r.URL.Query(), map[string]func([]string) error{"dir": once(&dir, itself)}); err != nil {
		return err
	}
	if !filepath.IsAbs(dir) || protocol.CheckText(dir) != nil {
		return refuse(view.BadRequest, "dir %.200q is no absolute path at the site", dir)
	}
	want, err := digestOf(r.Header.Get(digestHeader))
	if err != nil {
		return err
	}
	end, err := s.moves(r.Context(), w, who)
	if err != nil {
		return err
	}
	defer end()
	files := s.Network.Files
	switch {
	case r.ContentLength < 0:
		return refuse(view.BadRequest, "the request does not say how long it is; send Content-Length")
	case r.ContentLength > files.MaxBytes:
		return refuse(view.BadRequest, "the archive of the files has %d bytes, and the site takes at most %d (%s)", r.ContentLength, files.MaxBytes, files.Limit)
	}
	still := stillGood(who)
	kept, err := s.receive(w, r, want, still) //nolint:contextcheck // the request has it
	if err != nil {
		return err
	}
	defer kept.Close() //nolint:errcheck // it has no name any more
	if err = still(r.Context()); err != nil {
		return err
	}
	if err = files.Place(r.Context(), who.user, filepath.Clean(dir), kept); err != nil {
		return ofFiles(err)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	return reply(w, http.StatusCreated, view.Done{})
}

// receive keeps the body of a request in a file without a name, of which nothing is left when the peer ends. Still says why the
// caller may not go on.
func (s *server) receive(w http.ResponseWriter, r *http.Request, want [sha256.Size]byte, still func(context.Context) error) (kept *os.File, err error) {
	dir := s.Network.Files.Dir
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = localdisk.Room(dir, r.ContentLength)
	}
	if err != nil {
		return nil, refuse(view.Unavailable, "the peer cannot keep the files now: %v", err)
	}
	if kept, err = os.CreateTemp(dir, "upload-*"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = kept.Close()
		}
	}()
	if err = os.Remove(kept.Name()); err != nil {
		return nil, err
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetWriteDeadline(time.Time{})
	defer func() { _ = deadline.SetReadDeadline(time.Time{}) }()
	sum := sha256.New()
	begun, come := time.Now(), int64(0)
	looked := begun
	from := readerFunc(func(p []byte) (n int, err error) {
		now := time.Now()
		if now.Sub(looked) >= readTime {
			looked = now
			if err = still(r.Context()); err != nil {
				return 0, err
			}
		}
		_ = deadline.SetReadDeadline(pieceBy(begun, now, come))
		n, err = r.Body.Read(p)
		come += int64(n)
		return n, err
	})
	n, err := io.Copy(io.MultiWriter(localdisk.Sparing(kept, dir), sum), io.LimitReader(from, r.ContentLength))
	denied, isDenied := errors.AsType[refusal](err)
	switch {
	case isDenied:
		return nil, denied
	case localdisk.Full(err):
		return nil, refuse(view.Unavailable, "the peer cannot keep the files now: %v", err)
	case err != nil || n != r.ContentLength:
		return nil, refuse(view.BadRequest, "the archive of the files ended after %d of %d bytes", n, r.ContentLength)
	case [sha256.Size]byte(sum.Sum(nil)) != want:
		return nil, refuse(view.BadRequest, "the archive of the files is not the one of %s", digestHeader)
	}
	_, err = kept.Seek(0, io.SeekStart)
	return kept, err
}

// pieceBy is until when the next piece of a body has to come, of which some bytes have: within a minute, and all of it not slower than
// slowest once the first minute is over.
func pieceBy(begun, now time.Time, come int64) time.Time {
	piece, whole := now.Add(readTime), begun.Add(readTime+time.Duration(come/slowest)*time.Second)
	if whole.Before(piece) {
		return whole
	}
	return piece
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// digestOf reads the header with the SHA-256 of a body.
func digestOf(header string) (digest [sha256.Size]byte, err error) {
	text, ok := strings.CutPrefix(header, digestPrefix)
	text, ended := strings.CutSuffix(text, ":")
	sum, err := base64.StdEncoding.DecodeString(text)
	if !ok || !ended || err != nil || len(sum) != len(digest) {
		return digest, refuse(view.BadRequest, "the request has no SHA-256 of its body; send %s: %s<base64>:", digestHeader, digestPrefix)
	}
	return [sha256.Size]byte(sum), nil
}

// ofFiles is the error of moving files: one that repeating does not help is about the request.
func ofFiles(err error) error {
	if permanent, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err); ok && permanent.Permanent() {
		return refuse(view.BadRequest, "%v", err)
	}
	return err
}

// fetch answers with the archive of files of a job that has ended.
func (s *server) fetch(w http.ResponseWriter, r *http.Request, who caller) error {
	var patterns []string
	if err := parse(r.URL.Query(), map[string]func([]string) error{"file": into(&patterns, itself)}); err != nil {
		return err
	}
	id, err := s.jobID(r, who)
	if err != nil {
		return err
	}
	job, err := s.jobFor(r.Context(), who, id)
	switch {
	case err != nil:
		return err
	case job.Guest || job.User != who.user:
		return refuse(view.Denied, "job %d belongs to %s; only its user may fetch its files", job.ID, job.User)
	case job.Array != nil:
		return refuse(view.BadRequest, "%v is a job array; name one of its elements", id)
	case !job.State.Terminal():
		return refuse(view.Unavailable, "job %d has not ended (%v); its files are fetched when it has", job.ID, job.State)
	}
	if err = checkPatterns(patterns); err != nil {
		return err
	}
	end, err := s.moves(r.Context(), w, who)
	if err != nil {
		return err
	}
	defer end()
	return s.collect(w, r, &job, patterns)
}

// collect answers with files of a job.
func (s *server) collect(w http.ResponseWriter, r *http.Request, job *view.Job, patterns []string) error {
	files := s.Network.Files
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // each piece has one of its own
	to := &archiveWriter{w: w, deadline: http.NewResponseController(w)}
	missing, notices, err := files.Collect(r.Context(), job.User, job.WorkDir, patterns, files.MaxBytes, files.Limit, to)
	if err == nil {
		err = to.flush()
	}
	if err == nil {
		err = to.deadline.Flush() // without a Content-Length, with which clients show no trailers
	}
	if err != nil {
		if to.begun {
			s.Log.Debug("output_cut", "job", uint64(job.ID), "error", err)
			panic(http.ErrAbortHandler) // the only way to have the client know that this is not the end
		}
		_ = to.deadline.SetWriteDeadline(time.Now().Add(writeTime))
		return ofFiles(err)
	}
	w.Header().Set(missingTrailer, strconv.QuoteToASCII(missing))
	if len(notices) > 0 {
		w.Header().Set(noticeTrailer, strconv.QuoteToASCII(strings.Join(notices, "; ")))
	}
	return nil
}

// checkPatterns says what is wrong with the patterns of files that a request names, if anything.
func checkPatterns(patterns []string) error {
	if len(patterns) == 0 || len(patterns) > maxPatterns {
		return refuse(view.BadRequest, "the request has %d patterns of files; send 1 to %d", len(patterns), maxPatterns)
	}
	for _, pattern := range patterns {
		if err := protocol.CheckStageOut(pattern); err != nil {
			return refuse(view.BadRequest, "file %v", err)
		}
	}
	return nil
}

// archiveWriter answers with an archive. It begins once the first pieces are here, since small ones may be followed by the reason
// why there is none.
type archiveWriter struct {
	w        http.ResponseWriter
	deadline *http.ResponseController
	first    bytes.Buffer
	begun    bool
}

// Write implements [io.Writer].
func (a *archiveWriter) Write(p []byte) (int, error) {
	if !a.begun && a.first.Len()+len(p) <= chunkSize {
		return a.first.Write(p)
	}
	if err := a.flush(); err != nil {
		return 0, err
	}
	return a.send(p)
}

// flush begins the answer.
func (a *archiveWriter) flush() error {
	if a.begun {
		return nil
	}
	a.begun = true
	a.w.Header().Set("Content-Type", tarType)
	a.w.Header().Set("Trailer", missingTrailer+", "+noticeTrailer)
	_, err := a.send(a.first.Bytes())
	return err
}

// send sends a piece, which the client has to take within some time.
func (a *archiveWriter) send(p []byte) (int, error) {
	_ = a.deadline.SetWriteDeadline(time.Now().Add(writeTime))
	n, err := a.w.Write(p)
	if err != nil {
		return n, fmt.Errorf("send the files: %w", err)
	}
	return n, nil
}
