package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// no is a refusal as a node makes them.
type no struct{ why view.Refusal }

func (n no) Error() string         { return n.why.Reason }
func (n no) Refusal() view.Refusal { return n.why }

// peerFake is a node with jobs.
type peerFake struct {
	mu     sync.Mutex
	events []event.Event
	reply  view.Reply
	err    error
	jobs   map[protocol.JobID]view.Job
	facts  []event.LogEvent
	past   []view.History // pages
	wanted []historyAsked
	output func(offset int64) ([]byte, error)
	ended  chan struct{} // WaitJob returns after it
}

func (p *peerFake) Ask(_ context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, question(7))
	return p.reply, p.err
}

func (p *peerFake) last(t *testing.T) event.Event {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) == 0 {
		t.Fatal("the node was asked nothing")
	}
	return p.events[len(p.events)-1]
}

// historyAsked is what a node was asked of its history.
type historyAsked struct {
	view.HistoryFilter

	After string
	Limit int
}

func (p *peerFake) set(job view.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.jobs == nil {
		p.jobs = map[protocol.JobID]view.Job{}
	}
	p.jobs[job.ID] = job
}

func (p *peerFake) Job(_ context.Context, id protocol.JobID) (view.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	job, ok := p.jobs[id]
	if !ok {
		return job, no{view.Refusal{Code: view.NotFound, Reason: "no such job"}}
	}
	return job, nil
}

func (p *peerFake) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	select {
	case <-p.ended:
		return p.Job(ctx, id)
	case <-ctx.Done():
		return view.Job{}, ctx.Err()
	}
}

func (p *peerFake) ArchivedJobs(_ context.Context, limit int, _ func(*view.Job) bool) ([]view.Job, error) {
	return []view.Job{{ID: jobA, Name: "old", State: protocol.Failed}}[:min(1, limit)], nil
}

func (p *peerFake) History(_ context.Context, wanted *view.HistoryFilter, after string, limit int) (view.History, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = append(p.wanted, historyAsked{*wanted, after, limit})
	if len(p.past) == 0 {
		return view.History{}, nil
	}
	page := p.past[0]
	p.past = p.past[1:]
	return page, nil
}

func (p *peerFake) Explain(protocol.JobID) ([]event.LogEvent, error) { return p.facts, nil }

func (p *peerFake) Output(
	_ context.Context, _ view.Job, _ protocol.Stream, offset int64, _ int,
) ([]byte, error) {
	return p.output(offset)
}

// The jobs of the tests.
const (
	jobA protocol.JobID = 1_000_000_000_001
	jobB protocol.JobID = 1_000_000_000_002
)

func me(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

// directory is a short one: the paths of sockets are limited to about 100 bytes.
func directory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "api") //nolint:usetesting // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// serve runs a server until the test ends.
func serve(t testing.TB, node api.Node) *api.Client {
	t.Helper()
	client, _ := serveUntil(t, node)
	return client
}

// serveUntil runs a server until it is told to stop, or the test ends.
func serveUntil(t testing.TB, node api.Node) (client *api.Client, end func()) {
	t.Helper()
	socket := filepath.Join(directory(t), "s")
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- api.Serve(ctx, api.Config{
			ExportRemote: []string{"LISTED"},
			Socket:       socket, Node: node, Site: "here", Number: 1, Version: "test",
			Log: slog.New(slog.DiscardHandler), Ready: func() { close(ready) },
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	client = api.Dial(socket)
	t.Cleanup(func() {
		client.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return client, stop
}

func oneJob() api.Submission {
	return api.Submission{Key: "k", Jobs: []protocol.Job{{
		Spec: protocol.Spec{
			Request: protocol.Request{CPUs: 4, Nodes: 2, MemoryMB: 3, WallTime: protocol.Hour},
			Name:    "a", Sites: []protocol.SiteName{"here"}, Requeue: true,
		},
		Payload: &protocol.Payload{
			Script: []byte("#!/bin/sh\n"), Args: []string{"x"}, Env: []string{"A=b"}, WorkDir: "/w", Stdout: "/w/o", Stderr: "/w/e",
		},
	}}}
}

// small is a job of one CPU.
func small() protocol.Spec { return protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: 1}} }

func TestSubmit(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Submitted{Jobs: []protocol.JobID{jobA}, Notices: []string{"slow today"}}}
	client := serve(t, node)
	done, err := client.Submit(t.Context(), oneJob())
	if err != nil || len(done.Jobs) != 1 || done.Jobs[0] != jobA || done.Notices[0] != "slow today" {
		t.Fatalf("%v, %v", done, err)
	}
	ev, ok := node.last(t).(event.Submit)
	if !ok || ev.User != me(t) || ev.Key != "k" || ev.Asked != 7 || len(ev.Jobs) != 1 {
		t.Fatalf("asked %+v", node.last(t))
	}
	job := ev.Jobs[0]
	want := protocol.Request{CPUs: 4, Nodes: 2, MemoryMB: 3, WallTime: protocol.Hour}
	if !job.Spec.Equal(want) || !job.Spec.Requeue || !job.Spec.Allows("here") || job.Spec.Allows("there") {
		t.Errorf("spec %+v", job.Spec)
	}
	if string(job.Payload.Script) != "#!/bin/sh\n" || job.Payload.Stderr != "/w/e" || job.Payload.Env[0] != "A=b" {
		t.Errorf("payload %+v", job.Payload)
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.TestSubmitResult{Jobs: [][]view.Quote{{{Site: "there", AWT: 5}}}}}
	client := serve(t, node)
	quoted, err := client.Quotes(t.Context(), api.Submission{Jobs: []protocol.Job{{Spec: small()}}})
	if err != nil || quoted.Jobs[0][0].AWT != 5 {
		t.Fatalf("%v, %v", quoted, err)
	}
	if ev, ok := node.last(t).(event.TestSubmit); !ok || len(ev.Jobs) != 1 || ev.User != me(t) {
		t.Errorf("asked %+v", node.last(t))
	}
}

// The peer says which variables of a job would leave the site, by the site's list and by
// what the user names.
func TestQuotesListWhatLeaves(t *testing.T) {
	t.Parallel()
	client := serve(t, &peerFake{reply: view.TestSubmitResult{Jobs: [][]view.Quote{{}}}})
	quoted, err := client.Quotes(t.Context(), api.Submission{Jobs: []protocol.Job{
		{Spec: small(), Payload: &protocol.Payload{Env: []string{"A=1", "B=2", "LISTED=3"}}, Export: protocol.Export{Names: []string{"A"}}},
		{Spec: small()},
	}})
	want := []api.Exported{{Leave: []string{"A", "LISTED"}, Stay: []string{"B"}}, {}}
	if err != nil || !reflect.DeepEqual(quoted.Exports, want) {
		t.Errorf("%+v, %v", quoted.Exports, err)
	}
}

func TestBadSubmissions(t *testing.T) {
	t.Parallel()
	change := func(f func(*protocol.Job)) api.Submission {
		s := oneJob()
		f(&s.Jobs[0])
		return s
	}
	tests := map[string]struct {
		body api.Submission
		want string
	}{
		"no jobs":       {api.Submission{}, "0 jobs"},
		"too many jobs": {api.Submission{Jobs: make([]protocol.Job, api.MaxJobs+1)}, "1001 jobs"},
		"no script":     {change(func(j *protocol.Job) { j.Payload.Script = nil }), "job 1 of 1 has no script"},
		"relative path": {change(func(j *protocol.Job) { j.Payload.Stdout = "out" }), "absolute"},
		"no path":       {change(func(j *protocol.Job) { j.Payload.Stderr = "" }), "must name"},
		"odd name":      {change(func(j *protocol.Job) { j.Spec.Name = "a\x1b[2J" }), "printable"},
		"turned name":   {change(func(j *protocol.Job) { j.Spec.Name = "a\u202eb" }), "U+202E"},
		"odd variable":  {change(func(j *protocol.Job) { j.Payload.Env = []string{"=x"} }), "NAME=value"},
		"NUL":           {change(func(j *protocol.Job) { j.Payload.Args = []string{"a\x00b"} }), "NUL"},
	}
	node := &peerFake{}
	client := serve(t, node)
	for name, test := range tests {
		_, err := client.Submit(t.Context(), test.body)
		refused, ok := errors.AsType[*api.Error](err)
		if !ok || refused.Code != view.BadRequest || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if len(node.events) > 0 {
		t.Errorf("the node was asked %v", node.events)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	for _, payload := range []protocol.Payload{
		{Script: make([]byte, protocol.MaxScript+1)},
		{Args: []string{strings.Repeat("x", 3<<20)}},
		{Env: slices.Repeat([]string{"A=b"}, 1<<17)},
	} {
		job := protocol.Job{Spec: small(), Payload: &payload}
		if err := job.Check(); err == nil || !strings.Contains(err.Error(), "are allowed") {
			t.Errorf("error %v", err)
		}
	}
	client := serve(t, &peerFake{reply: view.Submitted{}})
	client.Limit(10)
	_, err := client.Submit(t.Context(), oneJob())
	if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Code != view.BadRequest {
		t.Errorf("the client sent it: %v", err)
	}
}

func TestRefusalsReachTheClient(t *testing.T) {
	t.Parallel()
	for code, status := range map[view.RefusalCode]int{
		view.BadRequest: 400, view.Denied: 403, view.NotFound: 404, view.NoSite: 422, view.Unavailable: 503,
	} {
		why := view.Refusal{Code: code, Reason: "because", Sites: []view.SiteRefusal{{Site: "there", Reason: "too wide"}}}
		client := serve(t, &peerFake{err: no{why}})
		_, err := client.Submit(t.Context(), oneJob())
		refused, ok := errors.AsType[*api.Error](err)
		if !ok || refused.Code != code || refused.Error() != "because" || refused.Sites[0] != why.Sites[0] {
			t.Errorf("%s: %v", code, err)
		}
		if got, _ := raw(t, client, http.MethodGet, "/v1/sites", nil); got != status {
			t.Errorf("%s: status %d, want %d", code, got, status)
		}
	}
	client := serve(t, &peerFake{err: errors.New("the peer is stopping")})
	if _, err := client.Sites(t.Context()); err == nil || err.Error() != "the peer is stopping" {
		t.Errorf("another error: %v", err)
	}
}

// refusal is the code of a refusal; empty: err is none.
func refusal(err error) view.RefusalCode {
	refused, ok := errors.AsType[*api.Error](err)
	if !ok {
		return ""
	}
	return refused.Code
}

// raw makes a request without the client's help.
func raw(
	t *testing.T, client *api.Client, method, path string, body io.Reader,
) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://peer"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Transport().RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

func TestUnexpectedRequests(t *testing.T) {
	t.Parallel()
	client := serve(t, &peerFake{reply: view.Queue{}})
	tests := map[string]struct {
		method, path, body string
		status             int
	}{
		"unknown path":      {"GET", "/v2/jobs", "", 404},
		"unknown method":    {"PATCH", "/v1/jobs", "", 405},
		"unknown field":     {"POST", "/v1/jobs", `{"jobs":[{"cpus":1,"gpus":1}]}`, 400},
		"no JSON":           {"POST", "/v1/jobs", `hello`, 400},
		"two submissions":   {"POST", "/v1/jobs", `{"jobs":[{}]}{"jobs":[{}]}`, 400},
		"no id":             {"GET", "/v1/jobs/x", "", 400},
		"not an id":         {"DELETE", "/v1/jobs/5", "", 400},
		"odd limit":         {"GET", "/v1/jobs?limit=-1", "", 400},
		"odd stream":        {"GET", "/v1/jobs/1000000000001/output?stream=x", "", 400},
		"odd offset":        {"GET", "/v1/jobs/1000000000001/output?offset=-4", "", 400},
		"unknown job":       {"GET", "/v1/jobs/1000000000001", "", 404},
		"unknown job again": {"GET", "/v1/jobs/1000000000001/explain", "", 404},
	}
	for name, test := range tests {
		status, answer := raw(t, client, test.method, test.path, strings.NewReader(test.body))
		var refusal view.Refusal
		if err := json.Unmarshal([]byte(answer), &refusal); err != nil || refusal.Reason == "" {
			t.Errorf("%s: the answer is no refusal: %v", name, err)
		}
		if status != test.status {
			t.Errorf("%s: status %d, want %d: %s", name, status, test.status, refusal.Reason)
		}
	}
}

func TestQueueJobSitesInfoExplain(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Queue{Jobs: []view.Job{{ID: jobB, State: protocol.Running}}}}
	node.set(view.Job{ID: jobB, State: protocol.Running})
	client := serve(t, node)
	if queue, err := client.Queue(t.Context(), api.Listing{}); err != nil || len(queue.Jobs) != 1 {
		t.Errorf("queue: %v, %v", queue, err)
	}
	if queue, err := client.Queue(t.Context(), api.Listing{Finished: 5}); err != nil || len(queue.Jobs) != 2 || queue.Jobs[0].ID != jobA {
		t.Errorf("queue with finished jobs: %v, %v", queue, err)
	}
	if job, err := client.Job(t.Context(), protocol.JobName{Job: jobB}); err != nil || job.State != protocol.Running {
		t.Errorf("job: %v, %v", job, err)
	}
	if facts, err := client.Explain(t.Context(), protocol.JobName{Job: jobB}); err != nil || len(facts) != 0 {
		t.Errorf("explain without facts: %v, %v", facts, err)
	}
	node.facts = []event.LogEvent{{Kind: event.LogJobSubmitted, Job: jobB}}
	if facts, err := client.Explain(t.Context(), protocol.JobName{Job: jobB}); err != nil || len(facts) != 1 {
		t.Errorf("explain: %v, %v", facts, err)
	}
	if info, err := client.Info(t.Context()); err != nil || info.Site != "here" || info.Version != "test" {
		t.Errorf("info: %v, %v", info, err)
	}
	node.reply = view.Sites{Sites: []view.Site{{Site: "here", Self: true}}}
	if sites, err := client.Sites(t.Context()); err != nil || !sites.Sites[0].Self {
		t.Errorf("sites: %v, %v", sites, err)
	}
}

func TestCancelSaysWhoAsks(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Done{}}
	client := serve(t, node)
	if err := client.Cancel(t.Context(), jobB); err != nil {
		t.Fatal(err)
	}
	want := event.Cancel{Asked: 7, Job: jobB, User: me(t), Admin: true} // the account of the server
	if got := node.last(t); !reflect.DeepEqual(got, want) {
		t.Errorf("asked %+v, want %+v", got, want)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	node := &peerFake{ended: make(chan struct{})}
	node.set(view.Job{ID: jobB, State: protocol.Running})
	client := serve(t, node)
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := client.Wait(ctx, protocol.JobName{Job: jobB}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it runs: %v", err)
	}
	node.set(view.Job{ID: jobB, State: protocol.Completed, ExitCode: 3})
	close(node.ended)
	if job, err := client.Wait(t.Context(), protocol.JobName{Job: jobB}); err != nil || job.ExitCode != 3 {
		t.Errorf("at its end: %v, %v", job, err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(directory(t), "s")
	_, err := api.Dial(socket).Info(t.Context())
	if !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), socket) {
		t.Errorf("error %v", err)
	}
}

// TestSilent: a peer that accepts connections and says nothing is not waited for without end.
func TestSilent(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(directory(t), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	client := api.Dial(socket)
	client.AnswerWithin(time.Millisecond)
	_, err = client.Wait(t.Context(), protocol.JobName{Job: jobB})
	if !errors.Is(err, api.ErrSilent) || !errors.Is(err, api.ErrUnreachable) || !strings.Contains(err.Error(), socket+": it accepts connections, and hangs") {
		t.Errorf("error %v", err)
	}
}

func TestSockets(t *testing.T) {
	t.Parallel()
	t.Run("stale", func(t *testing.T) {
		t.Parallel()
		socket := filepath.Join(directory(t), "s")
		dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		dead.SetUnlinkOnClose(false)
		_ = dead.Close()
		ctx, stop := context.WithCancel(t.Context())
		var mode os.FileMode
		err = api.Serve(ctx, api.Config{Socket: socket, Node: &peerFake{}, Ready: func() {
			if info, statErr := os.Stat(socket); statErr == nil {
				mode = info.Mode().Perm()
			}
			stop()
		}})
		if err != nil || mode != 0o666 {
			t.Errorf("mode %o, %v", mode, err)
		}
		if _, err = os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left: %v", err)
		}
	})
	t.Run("served", func(t *testing.T) {
		t.Parallel()
		client := serve(t, &peerFake{})
		err := api.Serve(t.Context(), api.Config{Socket: client.Socket(), Node: &peerFake{}})
		if err == nil || !strings.Contains(err.Error(), "another peer serves the socket") {
			t.Errorf("error %v", err)
		}
		if _, err = client.Info(t.Context()); err != nil {
			t.Errorf("the first server is gone: %v", err)
		}
	})
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(directory(t), "s")
		if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := api.Serve(t.Context(), api.Config{Socket: path, Node: &peerFake{}}); err == nil {
			t.Error("a file was taken for a socket")
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
			t.Errorf("the file was touched: %q, %v", data, err)
		}
	})
}

// What a job that has ended does not allow is refused as a conflict, which no client repeats as it repeats what is not possible now.
func TestRequestsAboutEndedJobsConflict(t *testing.T) {
	t.Parallel()
	node := &peerFake{err: no{view.Refusal{Code: view.NotFound, Reason: "no such job"}}}
	node.set(view.Job{ID: jobA, State: protocol.Completed})
	client := serve(t, node)
	at := "/v1/jobs/" + jobA.String()
	for _, request := range [][2]string{
		{http.MethodDelete, at}, {http.MethodPost, at + "/hold"}, {http.MethodPost, at + "/release"}, {http.MethodPost, at + "/requeue"}, {http.MethodPatch, at},
	} {
		body := ""
		if request[0] == http.MethodPatch {
			body = `{"name":"n"}`
		}
		status, answer := raw(t, client, request[0], request[1], strings.NewReader(body))
		if status != http.StatusConflict || !strings.Contains(answer, `"code":"conflict"`) || !strings.Contains(answer, "has already ended (COMPLETED)") {
			t.Errorf("%v: %d %s", request, status, answer)
		}
	}
}

// A repetition has the digest of its submission, and another submission with the same key has another one.
func TestDigestOfSubmission(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Submitted{}}
	client := serve(t, node)
	digest := func(key, name string) [32]byte {
		body := oneJob()
		body.Key, body.Jobs[0].Spec.Name = key, name
		if _, err := client.Submit(t.Context(), body); err != nil {
			t.Fatal(err)
		}
		asked, _ := node.last(t).(event.Submit)
		return asked.SHA256
	}
	first := digest("k", "a")
	if again := digest("k", "a"); again != first {
		t.Errorf("a repetition has %x, want %x", again, first)
	}
	if other := digest("k", "b"); other == first {
		t.Error("another submission has the same digest")
	}
	if none := digest("", "a"); none != [32]byte{} {
		t.Errorf("a submission without a key has %x", none)
	}
}
