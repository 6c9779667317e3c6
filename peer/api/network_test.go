package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/servercert"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// site is a server with both ways in.
type site struct {
	local *api.Client
	at    string // the URL of the port
	dir   string
	ca    string
	book  *accesstokens.Book
	logs  *testlog.Buffer
	stop  context.CancelFunc
}

// uids are the users of the site besides those of the machine.
var uids = map[string]int{"ann": 60001, "bob": 60002, "ops": 60003, "root": 0}

// open runs a server with the API over TCP until the test ends.
func open(t *testing.T, node api.Node, change func(*api.Config)) *site {
	t.Helper()
	s := &site{dir: directory(t), logs: new(testlog.Buffer)}
	files, err := servercert.Made(filepath.Join(s.dir, "api"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.ca = files.Authority()
	encryption, err := files.TLS()
	if err != nil {
		t.Fatal(err)
	}
	if s.book, err = accesstokens.Open(filepath.Join(s.dir, "tokens.json")); err != nil {
		t.Fatal(err)
	}
	cfg := api.Config{
		Socket: filepath.Join(s.dir, "s"), Node: node, Site: "here", Number: 1, Version: "test", Admins: []string{"ops"},
		Log: slog.New(slog.NewTextHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Network: &api.Network{
			Listen: "127.0.0.1:0", TLS: encryption, Tokens: s.book, Rate: 1000,
			User: func(_ context.Context, name string) (passwd.Entry, error) {
				if uid, known := uids[name]; known {
					return passwd.Entry{Name: name, UID: uint32(uid), Home: "/home/" + name, Shell: "/bin/sh"}, nil
				}
				if name == me(t) {
					return passwd.Entry{Name: name, UID: uint32(os.Getuid())}, nil
				}
				return passwd.Entry{}, errors.New("there is no user " + name)
			},
			Ready: func(address net.Addr) { s.at = "https://" + address.String() },
		},
		ReadFile: func(context.Context, string, string, int64, int) ([]byte, error) { return nil, fs.ErrNotExist },
	}
	if change != nil {
		change(&cfg)
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	ready, ended := make(chan struct{}), make(chan error, 1)
	cfg.Ready = func() { close(ready) }
	go func() { ended <- api.Serve(ctx, cfg) }()
	select {
	case <-ready:
	case err = <-ended:
		t.Fatal(err)
	}
	s.local = api.Dial(cfg.Socket)
	t.Cleanup(func() {
		s.local.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// token makes a token, and returns its secret.
func (s *site) token(t *testing.T, user string, scopes ...accesstokens.Scope) string {
	t.Helper()
	now := protocol.InstantOf(time.Now())
	secret, _, err := s.book.Create(accesstokens.Token{User: user, UID: uids[user], Scopes: scopes, Maker: user, Expires: now.Add(protocol.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// as is a client with a token.
func (s *site) as(t *testing.T, secret string) *api.Client {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := api.DialServer(api.Server{URL: s.at, TokenFile: file, CAFile: s.ca})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// codeOf is the code of a refusal; empty: it is none.
func codeOf(err error) view.RefusalCode {
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return refused.Code
	}
	return ""
}

// Who has no good token gets nothing, and the log has no secret.
func TestOnlyGoodTokens(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, nil)
	good := s.token(t, "ann", accesstokens.Read)
	info, err := s.as(t, good).Info(t.Context())
	if err != nil || info.User != "ann" || info.Site != "here" {
		t.Fatalf("%+v, %v", info, err)
	}
	now := protocol.InstantOf(time.Now()).Add(-2 * protocol.Hour)
	expired, _, err := s.book.Create(accesstokens.Token{User: "ann", Scopes: accesstokens.All(), Maker: "ann", Expires: now.Add(protocol.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	namesake, _, err := s.book.Create(accesstokens.Token{User: "ann", UID: 1, Scopes: accesstokens.All(), Maker: "ann", Expires: now.Add(5 * protocol.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string]string{
		"expired": expired, "of a user who is gone": s.token(t, "carol", accesstokens.All()...), "of an earlier user of the name": namesake, "cut": good[:40], "none": "sy_x_y",
	} {
		if _, err := s.as(t, secret).Info(t.Context()); err == nil {
			t.Errorf("a token that is %s is good", name)
		}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for path, want := range map[string]int{"/v1/jobs": 401, "/v1/nothing": 401, "/": 401, "/v1/jobs?access_token=" + good: 401} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != want || answer.Header.Get("WWW-Authenticate") != "Bearer" || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %v", path, answer.StatusCode, answer.Header)
		}
		_ = answer.Body.Close()
	}
	if _, hidden, _ := strings.Cut(strings.TrimPrefix(good, "sy_"), "_"); strings.Contains(s.logs.String(), hidden) {
		t.Errorf("the log has a secret: %s", s.logs)
	}
}

// A revoked token is no good from the next request on, on an open connection too.
func TestRevoked(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, nil)
	made, err := s.local.CreateToken(t.Context(), api.NewToken{Scopes: accesstokens.Scopes{accesstokens.Read}, Life: protocol.Hour, Note: "test"})
	if err != nil {
		t.Fatal(err)
	}
	remote := s.as(t, made.Secret)
	list, err := s.local.Tokens(t.Context(), false)
	if err != nil || len(list) != 1 || list[0].ID != made.Token.ID || list[0].User != me(t) || list[0].Note != "test" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err = remote.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err = s.local.RevokeToken(t.Context(), made.Token.ID); err != nil {
		t.Fatal(err)
	}
	if _, err = remote.Info(t.Context()); codeOf(err) != view.Denied {
		t.Errorf("revoked: %v", err)
	}
	if err = s.local.RevokeToken(t.Context(), made.Token.ID); codeOf(err) != view.NotFound {
		t.Errorf("twice: %v", err)
	}
}

// asked are the questions that came to the peer.
func asked[E event.Event](p *peerFake) (all []E) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.events {
		if one, ok := e.(E); ok {
			all = append(all, one)
		}
	}
	return all
}

// Each request needs its scope, and the rights of an administrator need the scope operate besides.
func TestScopes(t *testing.T) {
	t.Parallel()
	p := &peerFake{reply: view.Done{}}
	s := open(t, p, nil)
	for _, c := range []struct {
		user   string
		scopes accesstokens.Scopes
		code   view.RefusalCode
		admin  bool
	}{
		{"ann", accesstokens.Scopes{accesstokens.Submit}, "", false},
		{"ann", accesstokens.Scopes{accesstokens.Read, accesstokens.Operate}, view.Denied, false},
		{"ops", accesstokens.Scopes{accesstokens.Submit}, "", false},
		{"ops", accesstokens.Scopes{accesstokens.Submit, accesstokens.Operate}, "", true},
		{"ann", accesstokens.Scopes{accesstokens.Submit, accesstokens.Operate}, "", false},
		{"root", accesstokens.Scopes{accesstokens.Submit}, "", false},
		{"root", accesstokens.Scopes{accesstokens.Submit, accesstokens.Operate}, "", true},
	} {
		before := len(asked[event.Cancel](p))
		err := s.as(t, s.token(t, c.user, c.scopes...)).Cancel(t.Context(), jobA)
		if codeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
		got := asked[event.Cancel](p)[before:]
		if err == nil && (len(got) != 1 || got[0].User != c.user || got[0].Admin != c.admin) || err != nil && len(got) > 0 {
			t.Errorf("%+v: the peer was asked %+v", c, got)
		}
	}
	reader := s.as(t, s.token(t, "root", accesstokens.Read, accesstokens.Submit))
	if _, err := reader.Reload(t.Context()); codeOf(err) != view.Denied {
		t.Errorf("reload without operate: %v", err)
	}
	if !strings.Contains(s.logs.String(), "msg=api_request request=\"DELETE /v1/jobs/{id}\" path=/v1/jobs/1000000000001 user=ops") {
		t.Errorf("the log does not say who cancelled: %s", s.logs)
	}
}

// At a private site a token without operate shows an administrator's own jobs only.
func TestPrivateOverTCP(t *testing.T) {
	t.Parallel()
	anns := view.Job{ID: jobA, User: "ann", State: protocol.Pending}
	for _, c := range []struct {
		scopes accesstokens.Scopes
		want   int
		code   view.RefusalCode
	}{{accesstokens.Scopes{accesstokens.Read}, 1, view.NotFound}, {accesstokens.Scopes{accesstokens.Read, accesstokens.Operate}, 2, ""}} {
		p := &peerFake{reply: view.Queue{Jobs: []view.Job{anns, {ID: jobB, User: "ops", State: protocol.Pending}}}}
		p.set(anns)
		s := open(t, p, func(c *api.Config) { c.Private = true })
		ops := s.as(t, s.token(t, "ops", c.scopes...))
		queue, err := ops.Queue(t.Context(), api.Listing{})
		if err != nil || len(queue.Jobs) != c.want {
			t.Errorf("%v: %+v, %v", c.scopes, queue.Jobs, err)
		}
		if _, err = ops.Job(t.Context(), protocol.JobName{Job: jobA}); codeOf(err) != c.code {
			t.Errorf("%v, ann's job: %v", c.scopes, err)
		}
	}
}

// Jobs that are submitted over TCP get what a login at the site sets, unless it is given.
func TestLoginVariables(t *testing.T) {
	t.Parallel()
	p := &peerFake{reply: view.Submitted{}}
	s := open(t, p, nil)
	wanted := oneJob()
	wanted.Jobs[0].Payload.Env = []string{"A=b", "SHELL=/bin/zsh"}
	if _, err := s.as(t, s.token(t, "ann", accesstokens.Submit)).Submit(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	got := asked[event.Submit](p)
	want := []string{"A=b", "SHELL=/bin/zsh", "HOME=/home/ann", "LOGNAME=ann", "USER=ann"}
	if len(got) != 1 || got[0].User != "ann" || !slices.Equal(got[0].Jobs[0].Payload.Env, want) {
		t.Errorf("the peer was asked %+v", got)
	}
}

// Tokens are made at the socket only, and none lets anybody do more than he may.
func TestWhoMayMakeTokens(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, func(c *api.Config) { c.Network.Guests = func(account string) bool { return account == "bob" } })
	wanted := api.NewToken{Scopes: accesstokens.Scopes{accesstokens.Read}, Life: protocol.Hour}
	remote := s.as(t, s.token(t, "root", accesstokens.All()...))
	if _, err := remote.CreateToken(t.Context(), wanted); codeOf(err) != view.Denied {
		t.Errorf("over TCP: %v", err)
	}
	if _, err := remote.Tokens(t.Context(), true); codeOf(err) != view.Denied {
		t.Errorf("listed over TCP: %v", err)
	}
	wanted.User, wanted.Scopes = "ann", accesstokens.All()
	if _, err := s.local.CreateToken(t.Context(), wanted); codeOf(err) != view.Denied { // who runs the test is the peer's account
		t.Errorf("operate for a user who is no administrator: %v", err)
	}
	if wanted.User = "ops"; codeOfCreate(t, s, wanted) != "" {
		t.Error("an administrator gets no token")
	}
	if wanted.User = "nobody-at-all"; codeOfCreate(t, s, wanted) == "" {
		t.Error("a user who is not there gets a token")
	}
	if wanted.User = "bob"; codeOfCreate(t, s, wanted) != view.Denied {
		t.Error("an account of guests gets a token")
	}
	wanted.User, wanted.Life = "ann", 0
	if wanted.Scopes = (accesstokens.Scopes{accesstokens.Read}); codeOfCreate(t, s, wanted) != view.BadRequest {
		t.Error("a token without a life")
	}
}

func codeOfCreate(t *testing.T, s *site, wanted api.NewToken) view.RefusalCode {
	t.Helper()
	_, err := s.local.CreateToken(t.Context(), wanted)
	return codeOf(err)
}

// A user who asks too often has to come again; others are not held up.
func TestRate(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, func(c *api.Config) { c.Network.Rate = 1 })
	if status, text := s.status(t, s.token(t, "ann", accesstokens.Read)); status != http.StatusTooManyRequests || !strings.Contains(text, "more than 1 requests per second of ann") {
		t.Errorf("ann: %d, %s", status, text)
	}
	if _, err := s.as(t, s.token(t, "bob", accesstokens.Read)).Info(t.Context()); err != nil {
		t.Errorf("bob: %v", err)
	}
	ann := s.as(t, s.token(t, "ann", accesstokens.Read)) // the client comes again as it is asked to
	for range 3 {
		if _, err := ann.Info(t.Context()); err != nil {
			t.Errorf("ann, by a client that waits: %v", err)
		}
	}
}

// status makes requests until one is answered otherwise than the first, and returns that answer.
func (s *site) status(t *testing.T, secret string) (status int, text string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	first := 0
	for range 10_000 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.at+"/v1/info", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+secret)
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if closed := answer.Body.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		if first == 0 {
			first = answer.StatusCode
		}
		if answer.StatusCode != first {
			return answer.StatusCode, string(body)
		}
	}
	return first, ""
}

// Who guesses tokens is held up; good ones from the same address are not.
func TestGuesses(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, nil)
	if status, text := s.status(t, "sy_0123456789ab_guess"); status != http.StatusTooManyRequests || !strings.Contains(text, "too many tokens") {
		t.Errorf("guesses: %d, %s", status, text)
	}
	if _, err := s.as(t, s.token(t, "ann", accesstokens.Read)).Info(t.Context()); err != nil {
		t.Errorf("a good token: %v", err)
	}
}

// Over TCP the output of a job at its origin is sent, as far as its user can read the file, and goes on until the job has ended.
func TestOutputOverTCP(t *testing.T) {
	t.Parallel()
	p := &peerFake{}
	job := view.Job{ID: jobA, User: "ann", Origin: "here", Site: "here", State: protocol.Running, Started: 1, Stdout: "/home/ann/out"}
	p.set(job)
	var mu sync.Mutex
	text, reads := "", 0
	s := open(t, p, func(c *api.Config) {
		c.ReadFile = func(_ context.Context, user, path string, offset int64, size int) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			if user != "ann" || path != "/home/ann/out" {
				return nil, errors.New("wrong file")
			}
			switch reads++; reads { // as a job writes
			case 1:
				return nil, fs.ErrNotExist
			case 2:
				text = "first\n"
			case 3: // passes
				return nil, errors.New("the disk does not answer")
			case 4:
				text += "second\n"
				job.State = protocol.Completed
				p.set(job)
			}
			rest := text[min(int(offset), len(text)):]
			return []byte(rest[:min(size, len(rest))]), nil
		}
	})
	var out bytes.Buffer
	ann := s.as(t, s.token(t, "ann", accesstokens.Read))
	if _, err := ann.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, &out); err != nil || out.String() != "first\nsecond\n" {
		t.Errorf("followed: %q, %v", out.String(), err)
	}
	out.Reset()
	if _, err := ann.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &out); err != nil || out.String() != "first\nsecond\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	bob := s.as(t, s.token(t, "bob", accesstokens.All()...))
	if _, err := bob.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, false, &out); codeOf(err) != view.Denied {
		t.Errorf("bob reads it: %v", err)
	}
}

// lookedAt is a node whose jobs are looked at.
type lookedAt struct {
	*peerFake

	look func()
}

func (l *lookedAt) Job(ctx context.Context, id protocol.JobID) (view.Job, error) {
	l.look()
	return l.peerFake.Job(ctx, id)
}

// While nothing is written, a reader who follows takes no process.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("first\n")
	p := &peerFake{}
	job := view.Job{ID: jobA, User: "ann", Origin: "here", Site: "here", State: protocol.Running, Started: 1, Stdout: path}
	p.set(job)
	var mu sync.Mutex
	reads, looks := 0, 0
	s := open(t, &lookedAt{p, func() {
		mu.Lock()
		defer mu.Unlock()
		if looks++; looks == 4 {
			if reads != 1 {
				t.Errorf("it was read %d times", reads)
			}
			write("first\nsecond\n")
			job.State = protocol.Completed
			p.set(job)
		}
	}}, func(c *api.Config) {
		c.ReadFile = func(_ context.Context, _, path string, offset int64, _ int) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			reads++
			text, err := os.ReadFile(path)
			return text[min(int(offset), len(text)):], err
		}
	})
	var out bytes.Buffer
	_, err := s.as(t, s.token(t, "ann", accesstokens.Read)).Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, &out)
	mu.Lock()
	defer mu.Unlock()
	if err != nil || out.String() != "first\nsecond\n" || reads != 2 {
		t.Errorf("%q after %d reads, %v", out.String(), reads, err)
	}
}

// waited is a peer that says when somebody waits for a job.
type waited struct {
	*peerFake
	began chan struct{}
}

func (w *waited) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	select {
	case w.began <- struct{}{}:
	default:
	}
	return w.peerFake.WaitJob(ctx, id)
}

// TestWaitEndsWithItsToken: who waits for the end of a job does so no longer than the token is good.
func TestWaitEndsWithItsToken(t *testing.T) {
	t.Parallel()
	p := &waited{peerFake: &peerFake{}, began: make(chan struct{}, 1)}
	p.set(view.Job{ID: jobA, User: "ann", Origin: "here", Site: "here", State: protocol.Running, Started: 1})
	s := open(t, p, nil)
	ann := s.as(t, s.token(t, "ann", accesstokens.Read))
	ended := make(chan error, 1)
	go func() {
		_, err := ann.Wait(t.Context(), protocol.JobName{Job: jobA})
		ended <- err
	}()
	<-p.began
	now := protocol.InstantOf(time.Now())
	for _, token := range s.book.List("ann", now) {
		if err := s.book.Revoke(token.ID, "", now); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; codeOf(err) != view.Denied || !strings.Contains(err.Error(), "revoked") {
		t.Error(err)
	}
}

// A reader whose token is revoked gets no more, and one user has only so many readers.
func TestFollowers(t *testing.T) {
	t.Parallel()
	p := &peerFake{}
	p.set(view.Job{ID: jobA, User: "ann", Origin: "here", Site: "here", State: protocol.Running, Started: 1, Stdout: "/home/ann/out"})
	began := make(chan struct{}, 100)
	s := open(t, p, func(c *api.Config) {
		c.ReadFile = func(_ context.Context, _, _ string, offset int64, _ int) ([]byte, error) {
			if offset > 0 {
				return nil, nil
			}
			began <- struct{}{}
			return []byte("text\n"), nil
		}
	})
	ann := s.as(t, s.token(t, "ann", accesstokens.Read))
	const most = 32
	ended := make(chan error, most)
	for range most {
		go func() {
			_, err := ann.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, io.Discard)
			ended <- err
		}()
	}
	for range most {
		<-began
	}
	if _, err := ann.Output(t.Context(), protocol.JobName{Job: jobA}, protocol.Stdout, true, io.Discard); codeOf(err) != view.Unavailable {
		t.Errorf("one too many: %v", err)
	}
	now := protocol.InstantOf(time.Now())
	for _, token := range s.book.List("ann", now) {
		if err := s.book.Revoke(token.ID, "", now); err != nil {
			t.Fatal(err)
		}
	}
	for range most {
		if err := <-ended; codeOf(err) != view.Denied || !strings.Contains(err.Error(), "incomplete") || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("after the token was revoked: %v", err)
		}
	}
}

// What is wrong with a server's address or files is said before anything is sent.
func TestDialServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, open, empty := filepath.Join(dir, "good"), filepath.Join(dir, "open"), filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{good: 0o600, open: 0o644} {
		if err := os.WriteFile(path, []byte("sy_x_y\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		server api.Server
		want   string
	}{
		"no TLS":             {api.Server{URL: "http://h:1", TokenFile: good}, "use https"},
		"a path":             {api.Server{URL: "https://h:1/v1", TokenFile: good}, "use https"},
		"a secret":           {api.Server{URL: "https://u:p@h:1", TokenFile: good}, "use https"},
		"no token":           {api.Server{URL: "https://h:1", TokenFile: filepath.Join(dir, "none", "token")}, "does not exist; make a token on the machine of the peer"},
		"a token for all":    {api.Server{URL: "https://h:1", TokenFile: open}, "token file"},
		"an empty token":     {api.Server{URL: "https://h:1", TokenFile: empty}, "has no token"},
		"no certificate":     {api.Server{URL: "https://h:1", TokenFile: good, CAFile: filepath.Join(dir, "none")}, "certificate"},
		"another kind of it": {api.Server{URL: "https://h:1", TokenFile: good, CAFile: good}, "no certificate in PEM"},
	} {
		if _, err := api.DialServer(c.server); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := openUntrusted(t)
	if _, err := s.Info(t.Context()); !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), "--server-ca") {
		t.Errorf("a server that is not trusted: %v", err)
	}
}

// openUntrusted is a client of a site whose certificate it does not trust.
func openUntrusted(t *testing.T) *api.Client {
	t.Helper()
	s := open(t, &peerFake{}, nil)
	other, err := servercert.Made(filepath.Join(t.TempDir(), "other"), []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.ca = other.Authority()
	return s.as(t, s.token(t, "ann", accesstokens.Read))
}

// Of connections that show no token the oldest are closed when there are too many, and who comes last gets in.
func TestStrangersAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, &peerFake{}, nil)
	for range 20 { // on a busy machine the youngest may be closed, too: it has ten seconds to say something
		if s.youngestGetsIn(t) {
			return
		}
	}
	t.Error("the youngest connection was closed with the oldest")
}

// youngestGetsIn opens many connections, waits for the end of the oldest, and reports whether the youngest is still good.
func (s *site) youngestGetsIn(t *testing.T) bool {
	t.Helper()
	var idle []net.Conn
	for range 200 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.at, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	one := make([]byte, 1)
	for _, conn := range idle[:100] { // of one address at most 64 wait
		if _, err := conn.Read(one); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("an old connection: %v", err)
		}
	}
	return tls.Client(idle[len(idle)-1], &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context()) == nil
}
