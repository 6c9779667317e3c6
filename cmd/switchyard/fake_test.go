package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fakeNode answers the API as the test says.
type fakeNode struct {
	mu     sync.Mutex
	asked  []event.Event
	replyF func(event.Event) (view.Reply, error)
	jobs   map[protocol.JobID]view.Job
	facts  []event.LogEvent
	reload func() (api.Reloaded, error)
	power  *api.Power
	alarms []string
	sites  []view.Site // told where replyF is nil
	notes  []string
	roster string
	gossip bool
	past   []view.Job           // have ended, the last first
	pruned protocol.Instant     // the last end of a job that was deleted
	asking []view.HistoryFilter // of the history
	looked func()               // called when a job, or its log, is looked up; may be nil
}

func someRules() api.Rules { return api.Rules{Initiation: "sender", Policy: "tc", LocalPolicy: "easy"} }

// no is a refusal as the node gives it.
type no struct{ why view.Refusal }

func (e no) Error() string         { return e.why.Reason }
func (e no) Refusal() view.Refusal { return e.why }

func (n *fakeNode) Ask(_ context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	ev := question(1)
	n.mu.Lock()
	n.asked = append(n.asked, ev)
	n.mu.Unlock()
	if _, ok := ev.(event.AskSites); ok && n.replyF == nil {
		return view.Sites{Sites: n.sites}, nil
	}
	return n.replyF(ev)
}

func (n *fakeNode) submits() (found []event.Submit) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ev := range n.asked {
		if s, ok := ev.(event.Submit); ok {
			found = append(found, s)
		}
	}
	return found
}

func (n *fakeNode) Job(_ context.Context, id protocol.JobID) (view.Job, error) {
	if n.looked != nil {
		n.looked()
	}
	if job, ok := n.jobs[id]; ok {
		return job, nil
	}
	return view.Job{}, no{view.Refusal{Code: view.NotFound, Reason: "there is no job " + id.String()}}
}

func (n *fakeNode) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	return n.Job(ctx, id)
}

func (n *fakeNode) ArchivedJobs(context.Context, int, func(*view.Job) bool) ([]view.Job, error) {
	return nil, nil
}

// History answers with two jobs a page.
func (n *fakeNode) History(_ context.Context, wanted *view.HistoryFilter, after string, limit int) (page view.History, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asking = append(n.asking, *wanted)
	from, _ := strconv.Atoi(after)
	for i := from; i < len(n.past); i++ {
		if len(page.Jobs) == min(limit, 2) {
			page.Next = strconv.Itoa(i)
			break
		}
		if wanted.Matches(&n.past[i]) {
			page.Jobs = append(page.Jobs, n.past[i])
		}
	}
	page.Pruned = n.pruned
	return page, nil
}

func (n *fakeNode) Explain(protocol.JobID) ([]event.LogEvent, error) {
	if n.looked != nil {
		n.looked()
	}
	return n.facts, nil
}

func (n *fakeNode) Output(context.Context, view.Job, protocol.Stream, int64, int) ([]byte, error) {
	return nil, nil
}

// serve puts the node behind a socket for the test.
func serve(t *testing.T, n *fakeNode) (socket string) {
	t.Helper()
	socket, _ = serveUntil(t, n)
	return socket
}

// serveUntil puts the node behind a socket until it is told to stop, or the test ends.
func serveUntil(t *testing.T, n *fakeNode) (socket string, stop func()) {
	t.Helper()
	socket = filepath.Join(shortDir(t), "s")
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- api.Serve(ctx, api.Config{
			Socket: socket, Node: n, Site: "aurora", Number: 1, Ready: func() { close(ready) },
			Gossip: n.gossip,
			Rules:  func() api.Rules { return someRules() },
			Power:  func(context.Context) *api.Power { return n.power },
			Alarms: func() []string { return n.alarms },
			Notes:  func() []string { return n.notes },
			Roster: func() string { return n.roster },
			Reload: func(context.Context, string) (api.Reloaded, error) { return n.reload() },
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return socket, cancel
}

// shortDir is a folder with a path short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sy") //nolint:usetesting // that of the test is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// result is what a command did.
type result struct {
	code           int
	stdout, stderr string
}

// syncBuffer may be written by several goroutines.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// command runs the command line within the test.
func command(t *testing.T, socket, stdin string, args ...string) result {
	t.Helper()
	in := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(in, []byte(stdin), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stdout bytes.Buffer
	var stderr syncBuffer // what plugins say comes at any time
	a := &app{
		stdin: file, stdout: &stdout, stderr: &stderr, now: time.Now,
		getenv: func(name string) string { return map[string]string{"SWITCHYARD_SOCKET": socket}[name] },
	}
	code := a.run(t.Context(), args)
	if a.peer != nil {
		a.peer.Close()
	}
	return result{code, stdout.String(), stderr.String()}
}

const goodScript = "#!/bin/sh\n#SBATCH -J sum -n 2 -t 10\ntrue\n"

const someID protocol.JobID = 1_000_000_000_042
