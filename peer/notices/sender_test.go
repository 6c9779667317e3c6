package notices_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/notices"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// counted counts results.
type counted struct {
	mu   sync.Mutex
	got  map[string]int
	each chan string
}

func newCounted() *counted {
	return &counted{got: map[string]int{}, each: make(chan string, 5000)}
}

func (c *counted) count(result string) {
	c.mu.Lock()
	c.got[result]++
	c.mu.Unlock()
	c.each <- result
}

func (c *counted) of(result string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got[result]
}

// running starts a sender that ends with the test.
func running(t *testing.T, cfg notices.Config) (*notices.Sender, *counted) {
	t.Helper()
	c := newCounted()
	cfg.Site, cfg.Log, cfg.Count, cfg.Agent = "north", slog.New(slog.DiscardHandler), c.count, "switchyard test"
	s := notices.NewSender(cfg)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, c
}

func jobOf(id protocol.JobID) *view.Job {
	return &view.Job{ID: id, State: protocol.Running, User: "ann"}
}

// TestPost: the URL gets each change in order, with the token, which is read anew each time.
func TestPost(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type seen struct {
		header http.Header
		notice notices.Notice
	}
	got := make(chan seen, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var s seen
		s.header = r.Header
		if err := json.NewDecoder(r.Body).Decode(&s.notice); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		got <- s
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	s, c := running(t, notices.Config{URL: server.URL, Token: token})
	s.Notify(0, jobOf(1))
	one := <-got
	if <-c.each != notices.Sent {
		t.Error("not sent")
	}
	if err := os.WriteFile(token, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Notify(protocol.Pending, jobOf(2))
	two := <-got
	if one.notice.Job.ID != 1 || one.notice.From != "" || one.notice.Site != "north" || one.notice.At == 0 || one.notice.Job.User != "ann" ||
		one.header.Get("Authorization") != "Bearer first" || one.header.Get("Content-Type") != "application/json" || one.header.Get("User-Agent") != "switchyard test" {
		t.Errorf("%+v", one)
	}
	if two.notice.Job.ID != 2 || two.notice.From != "PENDING" || two.header.Get("Authorization") != "Bearer second" {
		t.Errorf("%+v", two)
	}
}

// TestAnswers: what the URL answers decides whether a notice is tried again, and a redirect is not followed.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		result string
		tries  int
	}{
		http.StatusOK: {notices.Sent, 1}, http.StatusBadRequest: {notices.Failed, 1}, http.StatusFound: {notices.Failed, 1}, http.StatusUnauthorized: {notices.Failed, 1},
	} {
		tries := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			tries++
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		s, c := running(t, notices.Config{URL: server.URL})
		s.Notify(0, jobOf(1))
		if got := <-c.each; got != want.result || tries != want.tries {
			t.Errorf("%d: %s after %d tries, want %s after %d", status, got, tries, want.result, want.tries)
		}
		server.Close()
	}
}

// TestCommand: the command gets the notice on its standard input; one that fails is tried again.
func TestCommand(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	s, c := running(t, notices.Config{Command: []string{"/bin/sh", "-c", `cat >>"$0"; echo >>"$0"; test $(wc -l <"$0") -gt 1`, out}})
	s.Notify(0, jobOf(7))
	if got := <-c.each; got != notices.Sent {
		t.Error(got)
	}
	text, err := os.ReadFile(out)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var notice notices.Notice
	if err != nil || len(lines) != 2 || lines[0] != lines[1] || json.Unmarshal([]byte(lines[0]), &notice) != nil || notice.Job.ID != 7 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestCommandThatLeavesAChild: what a command leaves in the background, with its output open, is no failure of it, and
// what a command says is read to its end, however much.
func TestCommandThatLeavesAChild(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		`sleep 5 & cat >>"$0"; echo >>"$0"`,
		`cat >>"$0"; echo >>"$0"; head -c 1000000 /dev/zero`,
	} {
		out := filepath.Join(t.TempDir(), "out")
		s, c := running(t, notices.Config{Command: []string{"/bin/sh", "-c", script, out}})
		s.Notify(0, jobOf(7))
		if got := <-c.each; got != notices.Sent {
			t.Errorf("%s: %s", script, got)
		}
		if text, err := os.ReadFile(out); err != nil || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: %v: %s", script, err, text)
		}
	}
}

// TestURLsAreNotLogged: of a URL that cannot be reached no more is named than its host.
func TestURLsAreNotLogged(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://127.0.0.1:1/hooks/secret?token=secret", "http://user:secret@127.0.0.1:1/", "http://127.0.0.1:1/%zzsecret"} {
		err := notices.NewSender(notices.Config{URL: url}).Post(t.Context(), nil)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

// TestReceiverThatIsDown: tries end, pauses grow, notices beyond the queue are dropped, and the peer's stop drops the
// rest; the caller never waits.
func TestReceiverThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		var tried []time.Time
		s := notices.NewSenderTo(notices.Config{Site: "north", Log: slog.New(slog.DiscardHandler), Count: c.count}, func(context.Context, []byte) error {
			tried = append(tried, time.Now())
			return io.ErrUnexpectedEOF
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		s.Notify(0, jobOf(1))
		time.Sleep(time.Minute)
		synctest.Wait()
		var pauses []time.Duration
		for i := 1; i < len(tried); i++ {
			pauses = append(pauses, tried[i].Sub(tried[i-1]))
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}; !slices.Equal(pauses, want) || c.of(notices.Failed) != 1 {
			t.Errorf("pauses %v, want %v; %d failed", pauses, want, c.of(notices.Failed))
		}
		for id := range protocol.JobID(1002) {
			s.Notify(0, jobOf(id))
			synctest.Wait()
		}
		if got := c.of(notices.Dropped); got != 1 { // one is tried, 1000 wait
			t.Errorf("%d were dropped", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := c.of(notices.Dropped); got != 1002 {
			t.Errorf("%d were dropped in the end", got)
		}
	})
}

// TestSlowReceiver: a try does not last longer than its time.
func TestSlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		s := notices.NewSenderTo(notices.Config{Site: "north", Log: slog.New(slog.DiscardHandler), Count: c.count}, func(ctx context.Context, _ []byte) error {
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		began := time.Now()
		s.Notify(0, jobOf(1))
		if got := <-c.each; got != notices.Failed || time.Since(began) != 5*20*time.Second+15*time.Second {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		stop()
		<-done
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"abc.DEF-1\n": true, "": false, "two words": false, "tok\ten": false, "tokën": false} {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := notices.ReadToken(path); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := notices.ReadToken(path); err == nil {
			t.Errorf("%q is read though all can", text)
		}
	}
	if _, err := notices.ReadToken(t.TempDir() + "/none"); err == nil {
		t.Error("a file that does not exist")
	}
}
