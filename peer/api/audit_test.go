package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// audited is a site with an audit log, and counts of its requests.
type audited struct {
	*site

	path string

	mu     sync.Mutex
	counts map[string]int // by way and result
}

func openAudited(t *testing.T, node api.Node, change func(*api.Config)) *audited {
	t.Helper()
	a := &audited{path: filepath.Join(t.TempDir(), "audit.jsonl"), counts: map[string]int{}}
	log, err := audit.Open(audit.Config{
		Path: a.path, MaxSize: 1 << 20, Files: 1, Log: slog.New(slog.DiscardHandler), Lost: func() { t.Error("an entry is lost") },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // once the server has stopped
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	a.site = open(t, node, func(c *api.Config) {
		c.Audit = log
		c.Answered = func(way audit.Way, result string) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.counts[string(way)+" "+result]++
		}
		if change != nil {
			change(c)
		}
	})
	return a
}

// entries are those of the log, and its text.
func (a *audited) entries(t *testing.T) (all []audit.Entry, text string) {
	t.Helper()
	data, err := os.ReadFile(a.path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var e audit.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, e)
	}
	return all, string(data)
}

// last is the last entry. There must be so many.
func (a *audited) last(t *testing.T, count int) audit.Entry {
	t.Helper()
	all, text := a.entries(t)
	if len(all) != count {
		t.Fatalf("there are %d entries, not %d:\n%s", len(all), count, text)
	}
	return all[count-1]
}

func TestAuditOfCallers(t *testing.T) {
	t.Parallel()
	p := &peerFake{reply: view.Submitted{Jobs: []protocol.JobID{jobA, jobB}}}
	a := openAudited(t, p, nil)
	batch := oneJob()
	batch.Jobs[0].Spec.Name, batch.Jobs[0].Payload.Script = "secret name", []byte("#!/bin/sh\nexport PASSWORD=hunter2\n")
	if _, err := a.local.Submit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	e := a.last(t, 1)
	if e.Action != "POST /v1/jobs" || e.Way != audit.Socket || e.User != me(t) || e.UID == nil || *e.UID != os.Getuid() || e.Result != audit.Done ||
		!slices.Equal(e.Jobs, []protocol.JobID{jobA, jobB}) || e.Request != "" || e.Token != "" {
		t.Errorf("a submission is recorded as %+v", e)
	}

	p.reply = view.Done{}
	secret := a.token(t, "ann", accesstokens.Submit)
	ann := a.as(t, secret)
	elements, err := protocol.ParseIndexes("1-3")
	if err != nil {
		t.Fatal(err)
	}
	name := protocol.JobName{Job: jobA, Elements: elements}
	if err := ann.Hold(t.Context(), protocol.JobName{Job: jobA}); err != nil {
		t.Fatal(err)
	}
	e = a.last(t, 2)
	if e.Action != "POST /v1/jobs/{id}/hold" || e.Way != audit.Network || e.User != "ann" || *e.UID != uids["ann"] || e.Token == "" || !strings.HasPrefix(e.From, "127.0.0.1:") ||
		e.Path != "/v1/jobs/"+jobA.String()+"/hold" || e.Result != audit.Done {
		t.Errorf("a hold is recorded as %+v", e)
	}
	p.err = &api.Error{} // not a refusal of the peer
	if err := ann.CancelElements(t.Context(), name); err == nil {
		t.Fatal("the peer has refused it")
	}
	if e = a.last(t, 3); e.Result == audit.Done || !strings.Contains(e.Path, "elements=1-3") {
		t.Errorf("a cancellation that failed is recorded as %+v", e)
	}
	if _, err := ann.Info(t.Context()); codeOf(err) != view.Denied {
		t.Fatalf("info without the scope read: %v", err)
	}
	if e = a.last(t, 4); e.Action != "GET /v1/info" || e.Result != string(view.Denied) || e.User != "ann" || !strings.Contains(e.Reason, "scope") {
		t.Errorf("a denied request is recorded as %+v", e)
	}
	if _, err := a.local.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.as(t, "sy_x_y").Info(t.Context()); err == nil {
		t.Fatal("a bad token is good")
	}
	if e = a.last(t, 5); e.Way != audit.Network || e.User != "" || e.UID != nil || e.Result != string(view.Denied) || e.From == "" {
		t.Errorf("a bad token is recorded as %+v", e)
	}
	if _, text := a.entries(t); strings.Contains(text, secret) || strings.Contains(text, "hunter2") || strings.Contains(text, "secret name") {
		t.Errorf("the log has what nobody else should see:\n%s", text)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts["socket done"] != 2 || a.counts["network done"] != 1 || a.counts["network denied"] != 2 {
		t.Errorf("counted %v", a.counts)
	}
}

// leaver is a node whose callers go as soon as it has their question.
type leaver struct {
	*peerFake

	leave func() // closes the connection of the caller
}

func (l leaver) Ask(ctx context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	reply, err := l.peerFake.Ask(ctx, question)
	l.leave()
	if gone := ctx.Done(); gone != nil {
		<-gone // the server has noticed, as a real node would
		return nil, ctx.Err()
	}
	return reply, err
}

// What the peer carries out is recorded as done, and with what it has made, although nobody waits for the answer.
func TestAuditOfCallersWhoGo(t *testing.T) {
	t.Parallel()
	submission, err := json.Marshal(oneJob())
	if err != nil {
		t.Fatal(err)
	}
	cancel := "DELETE /v1/jobs/" + jobA.String()
	for request, c := range map[string]struct {
		body string
		jobs []protocol.JobID
	}{
		"POST /v1/jobs":                   {string(submission), []protocol.JobID{jobA}},
		cancel:                            {},
		"PATCH /v1/jobs/" + jobA.String(): {body: `{"name":"other"}`},
		"POST /v1/jobs/" + jobA.String() + "/hold":    {},
		"POST /v1/jobs/" + jobA.String() + "/requeue": {},
		"POST /v1/sites/south/drain":                  {body: `{"scope":"both","reason":"slow"}`},
		"POST /v1/recovery":                           {body: `{}`},
	} {
		var conn net.Conn
		p := &peerFake{reply: view.Done{}}
		if c.jobs != nil {
			p.reply = view.Submitted{Jobs: c.jobs}
		}
		answered := make(chan string, 1)
		a := openAudited(t, leaver{p, func() { _ = conn.Close() }}, func(cfg *api.Config) {
			cfg.Answered = func(_ audit.Way, result string) { answered <- result }
		})
		if conn, err = new(net.Dialer).DialContext(t.Context(), "unix", a.local.Socket()); err != nil {
			t.Fatal(err)
		}
		method, path, _ := strings.Cut(request, " ")
		if _, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: peer\r\nContent-Length: %d\r\n\r\n%s", method, path, len(c.body), c.body); err != nil {
			t.Fatal(err)
		}
		if result := <-answered; result != audit.Done {
			t.Errorf("%s of a caller who goes counts as %s", request, result)
		}
		if e := a.last(t, 1); e.Result != audit.Done || e.Reason != "" || !slices.Equal(e.Jobs, c.jobs) {
			t.Errorf("%s of a caller who goes is recorded as %+v", request, e)
		}
	}
}

// strangerPages are pages that ask for what a visitor who has not signed in may not see, and would cancel a job.
type strangerPages struct{ shown }

func (*strangerPages) Show(w http.ResponseWriter, r *http.Request, visitor *api.Visitor) {
	_, seen := visitor.Peer.Queue(r.Context(), api.Listing{})
	canceled := visitor.Peer.Cancel(r.Context(), jobA)
	_, _ = fmt.Fprint(w, codeOf(seen), " ", codeOf(canceled))
}

// Visitors of public pages who have not signed in make no entries, however often they come.
func TestAuditOfStrangers(t *testing.T) {
	t.Parallel()
	a := openAudited(t, &peerFake{}, func(c *api.Config) {
		c.Private, c.Network.Public, c.Network.Pages = true, true, &strangerPages{}
	})
	if _, text := a.visit(t, a.browser(t), http.MethodGet, "/applications", nil); text != "denied denied" {
		t.Fatalf("the page says %q", text)
	}
	if all, text := a.entries(t); len(all) != 0 {
		t.Errorf("the log has %s", text)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts["network denied"] != 2 {
		t.Errorf("counted %v", a.counts)
	}
}

func TestAuditOfTokensAndReloads(t *testing.T) {
	t.Parallel()
	a := openAudited(t, &peerFake{}, func(c *api.Config) {
		c.Reload = reloads(api.Reloaded{
			Changed: []api.Change{{Key: "log.level", From: `"info"`, To: `"debug"`}}, Restart: []api.Change{{Key: "site.name"}}, Removed: []protocol.SiteName{"south"},
		})
	})
	made, err := a.local.CreateToken(t.Context(), api.NewToken{Scopes: accesstokens.Scopes{accesstokens.Read}, Life: protocol.Hour, Note: "a\nportal"})
	if err != nil {
		t.Fatal(err)
	}
	if e := a.last(t, 1); e.Made != made.Token.ID || e.User != me(t) || !slices.Contains(e.Changed, "scopes read") || !strings.Contains(e.Request, "portal") {
		t.Errorf("a token is recorded as %+v", e)
	}
	if err = a.local.RevokeToken(t.Context(), made.Token.ID); err != nil {
		t.Fatal(err)
	}
	if e := a.last(t, 2); e.Action != "DELETE /v1/tokens/{token}" || e.Path != "/v1/tokens/"+made.Token.ID || e.Result != audit.Done {
		t.Errorf("a revocation is recorded as %+v", e)
	}
	if _, text := a.entries(t); strings.Contains(text, made.Secret) {
		t.Error("the secret of a token is in the audit log")
	}
	_, err = a.local.Reload(t.Context())
	e := a.last(t, 3)
	if err != nil { // by who may not reload
		if e.Result != string(view.Denied) {
			t.Errorf("a denied reload is recorded as %+v", e)
		}
		return
	}
	want := []string{`log.level: "info" → "debug"`, "after a restart: site.name: - → -", "partner removed: south"}
	if e.Action != "POST /v1/reload" || e.Result != audit.Done || !slices.Equal(e.Changed, want) {
		t.Errorf("a reload is recorded as %+v", e)
	}
}

// reloads answers every reload.
func reloads(done api.Reloaded) func(context.Context, string) (api.Reloaded, error) {
	return func(context.Context, string) (api.Reloaded, error) { return done, nil }
}
