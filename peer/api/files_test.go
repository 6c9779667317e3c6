package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// filesAt opens a server over which files of at most 1,000,000 bytes move.
func filesAt(t *testing.T, p *peerFake, files *api.Files) *site {
	t.Helper()
	return open(t, p, func(c *api.Config) {
		files.Dir, files.MaxBytes, files.Limit = filepath.Join(filepath.Dir(c.Socket), "uploads"), 1_000_000, "its limit"
		c.Network.Files = files
	})
}

// archiveOf is one that is sent with these bytes.
func archiveOf(content string) api.Archive {
	return api.Archive{Bytes: int64(len(content)), SHA256: sha256.Sum256([]byte(content)), Write: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}}
}

// permanent is an error that repeating does not help.
type permanent struct{}

func (permanent) Error() string   { return "no right there" }
func (permanent) Permanent() bool { return true }

// smallArchive fetches little from job A, and is what the answer says of its length before it comes, and its trailers after it.
func (s *site) smallArchive(t *testing.T, client *api.Client) (bytes int64, trailers http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.at+"/v1/jobs/"+jobA.String()+"/files?file=small", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.token(t, "ann", accesstokens.Submit))
	answer, err := client.Transport().RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "few" || answer.ProtoMajor != 2 {
		t.Fatalf("got %q over %s: %v", text, answer.Proto, err)
	}
	return answer.ContentLength, answer.Trailer
}

// An archive comes as a whole or not at all, to the directory that the caller names, in the caller's name.
func TestPlace(t *testing.T) {
	t.Parallel()
	var placed atomic.Int64
	content := strings.Repeat("0123456789", 50_000)
	s := filesAt(t, &peerFake{}, &api.Files{Place: func(_ context.Context, user, dir string, archive io.Reader) error {
		if dir == "/root" {
			return permanent{}
		}
		got, err := io.ReadAll(archive)
		if err != nil || string(got) != content || user != "ann" || dir != "/home/ann/a dir" {
			return errors.New("other files are placed")
		}
		placed.Add(1)
		return nil
	}})
	ann := s.as(t, s.token(t, "ann", accesstokens.Submit))
	if err := ann.Place(t.Context(), "/home/ann/a dir", archiveOf(content)); err != nil {
		t.Fatal(err)
	}
	wrong, cut := archiveOf(content), archiveOf(content)
	wrong.SHA256[0]++
	broken := errors.New("a file has changed")
	cut.Write = func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, content[:1000])
		return errors.Join(err, broken)
	}
	if err := ann.Place(t.Context(), "/home/ann/a dir", cut); !errors.Is(err, broken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	reader := s.as(t, s.token(t, "ann", accesstokens.Read))
	for name, c := range map[string]struct {
		by      *api.Client
		dir     string
		archive api.Archive
		want    view.RefusalCode
		says    string
	}{
		"another archive":    {ann, "/home/ann/a dir", wrong, view.BadRequest, "is not the one of"},
		"too large":          {ann, "/home/ann/a dir", archiveOf(strings.Repeat("x", 1_000_001)), view.BadRequest, "its limit"},
		"a relative path":    {ann, "home", archiveOf(content), view.BadRequest, "no absolute path"},
		"where none may be":  {ann, "/root", archiveOf(content), view.BadRequest, "no right there"},
		"a token to read":    {reader, "/home/ann/a dir", archiveOf(content), view.Denied, "scope"},
		"at the socket":      {s.local, "/home/ann/a dir", archiveOf(content), view.Denied, "over TCP only"},
		"a trouble that may": {ann, "/other", archiveOf(content), view.Unavailable, "other files"},
	} {
		if err := c.by.Place(t.Context(), c.dir, c.archive); codeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if placed.Load() != 1 {
		t.Errorf("placed %d times", placed.Load())
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, "uploads")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if text := s.logs.String(); strings.Contains(text, "0123456789") {
		t.Error("the log has what files have")
	}
}

// Nothing is placed for a token that is revoked while the archive comes.
func TestPlaceOfRevokedToken(t *testing.T) {
	t.Parallel()
	var placed atomic.Int64
	s := filesAt(t, &peerFake{}, &api.Files{Place: func(context.Context, string, string, io.Reader) error {
		placed.Add(1)
		return nil
	}})
	secret := s.token(t, "ann", accesstokens.Submit)
	half := strings.Repeat("0123456789", 10_000)
	archive := archiveOf(half + half)
	archive.Write = func(ctx context.Context, w io.Writer) error {
		if _, err := io.WriteString(w, half); err != nil {
			return err
		}
		for ctx.Err() == nil { // until the peer takes the archive
			if _, err := os.Stat(filepath.Join(s.dir, "uploads")); err == nil {
				break
			}
			runtime.Gosched()
		}
		if err := s.book.Revoke(strings.Split(secret, "_")[1], "ann", protocol.InstantOf(time.Now())); err != nil {
			return err
		}
		_, err := io.WriteString(w, half)
		return err
	}
	if err := s.as(t, secret).Place(t.Context(), "/home/ann", archive); codeOf(err) != view.Denied || placed.Load() != 0 {
		t.Errorf("placed %d times: %v", placed.Load(), err)
	}
}

// An answer at whose end nothing says whether all files have come is none.
func TestFetchWithoutEnd(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("file") == "announced" {
			w.Header().Set("Trailer", "Switchyard-Missing")
		}
		_, _ = io.WriteString(w, "few") // a client that goes
	})}
	go func() { _ = web.Serve(listener) }() // ends with the test
	t.Cleanup(func() { _ = web.Close() })
	client := api.Dial(socket)
	t.Cleanup(client.Close)
	for _, pattern := range []string{"announced", "not"} {
		_, err = client.Fetch(t.Context(), protocol.JobName{Job: jobA}, []string{pattern}, func(archive io.Reader) error {
			_, copied := io.Copy(io.Discard, archive)
			return copied
		})
		if err == nil || !strings.Contains(err.Error(), "whether all files have come") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// A user has two requests with files at once.
func TestFilesAtOnce(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	s := filesAt(t, &peerFake{}, &api.Files{Place: func(context.Context, string, string, io.Reader) error {
		inside <- struct{}{}
		<-leave
		return nil
	}})
	ann, bob := s.as(t, s.token(t, "ann", accesstokens.Submit)), s.as(t, s.token(t, "bob", accesstokens.Submit))
	ended := make(chan error, 3)
	for _, client := range []*api.Client{ann, ann, bob} {
		go func() { ended <- client.Place(t.Context(), "/home/x", archiveOf("x")) }()
		<-inside
	}
	if err := ann.Place(t.Context(), "/home/x", archiveOf("x")); codeOf(err) != view.Unavailable {
		t.Errorf("a third: %v", err)
	}
	close(leave)
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// The files of a job come to its user once it has ended, with what is missing; an answer that is cut is an error.
func TestFetch(t *testing.T) {
	t.Parallel()
	p := &peerFake{}
	job := view.Job{ID: jobA, User: "ann", Origin: "here", Site: "there", State: protocol.Running, Started: 1, WorkDir: "/home/ann/run"}
	p.set(job)
	content := strings.Repeat("0123456789", 100_000)
	s := filesAt(t, p, &api.Files{Collect: func(_ context.Context, user, dir string, patterns []string, most int64, limit string, w io.Writer) (string, []string, error) {
		if user != "ann" || dir != "/home/ann/run" || most != 1_000_000 || limit != "its limit" {
			return "", nil, errors.New("other files are read")
		}
		switch {
		case slices.Equal(patterns, []string{"none"}):
			return "", nil, permanent{}
		case slices.Equal(patterns, []string{"cut"}):
			_, err := io.WriteString(w, content)
			return "", nil, errors.Join(err, errors.New("the disk is broken"))
		case slices.Equal(patterns, []string{"small"}):
			_, err := io.WriteString(w, "few")
			return "", nil, err
		}
		_, err := io.Copy(w, iotest.HalfReader(strings.NewReader(content)))
		return "é is not there", []string{"a\nb", "c is a link"}, err
	}})
	fetch := func(client *api.Client, patterns ...string) (string, api.Fetched, error) {
		var got bytes.Buffer
		fetched, err := client.Fetch(t.Context(), protocol.JobName{Job: jobA}, patterns, func(archive io.Reader) error {
			_, err := io.Copy(&got, archive)
			return err
		})
		return got.String(), fetched, err
	}
	ann := s.as(t, s.token(t, "ann", accesstokens.Submit))
	if _, _, err := fetch(ann, "out", "é"); codeOf(err) != view.Unavailable {
		t.Errorf("while it runs: %v", err)
	}
	job.State = protocol.Failed
	p.set(job)
	got, fetched, err := fetch(ann, "out", "é")
	if err != nil || got != content || fetched != (api.Fetched{Missing: "é is not there", Notice: "a\nb; c is a link"}) {
		t.Errorf("%d bytes, %+v, %v", len(got), fetched, err)
	}
	if got, fetched, err = fetch(ann, "small"); err != nil || got != "few" || fetched != (api.Fetched{}) {
		t.Errorf("%q, %+v, %v", got, fetched, err)
	}
	if bytes, trailers := s.smallArchive(t, ann); bytes != -1 || trailers.Get("Switchyard-Missing") != `""` {
		t.Errorf("a small archive says that it has %d bytes, and has the trailers %v", bytes, trailers)
	}
	if _, _, err = fetch(ann, "none"); codeOf(err) != view.BadRequest || !strings.Contains(err.Error(), "no right there") {
		t.Errorf("files that may not be read: %v", err)
	}
	if _, _, err = fetch(ann, "cut"); !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("files that are cut off: %v", err)
	}
	for name, c := range map[string]struct {
		by       *api.Client
		patterns []string
		want     view.RefusalCode
	}{
		"no pattern":            {ann, nil, view.BadRequest},
		"out of the directory":  {ann, []string{"../x"}, view.BadRequest},
		"another user":          {s.as(t, s.token(t, "bob", accesstokens.All()...)), []string{"out"}, view.Denied},
		"root":                  {s.as(t, s.token(t, "root", accesstokens.All()...)), []string{"out"}, view.Denied},
		"a token to read alone": {s.as(t, s.token(t, "ann", accesstokens.Read)), []string{"out"}, view.Denied},
		"at the socket":         {s.local, []string{"out"}, view.Denied},
	} {
		if _, _, err = fetch(c.by, c.patterns...); codeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
