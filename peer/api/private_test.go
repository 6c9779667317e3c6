package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// town is a node with jobs of ann and bob, and one of another site's ann.
type town struct{ Node }

// The jobs of the town.
const (
	anns, bobs, guests, finishedAnns, finishedBobs, nobodys = 1_000_000_000_001, 1_000_000_000_002, 2_000_000_000_001,
		1_000_000_000_011, 1_000_000_000_012, 1_000_000_000_099
	endedGuests = 2_000_000_000_002
)

func (town) views() []view.Job {
	return []view.Job{
		{ID: anns, User: "ann", State: protocol.Running},
		{ID: bobs, User: "bob", State: protocol.Running},
		{ID: guests, User: "ann", State: protocol.Running, Guest: true},
	}
}

func (town) ArchivedJobs(_ context.Context, limit int, wanted func(*view.Job) bool) ([]view.Job, error) {
	all := []view.Job{ // the newest first
		{ID: finishedBobs, User: "bob", State: protocol.Completed}, {ID: finishedAnns, User: "ann", State: protocol.Completed},
	}
	all = slices.DeleteFunc(all, func(job view.Job) bool { return !wanted(&job) })
	return all[:min(limit, len(all))], nil
}

func (n town) History(ctx context.Context, wanted *view.HistoryFilter, _ string, limit int) (view.History, error) {
	jobs, err := n.ArchivedJobs(ctx, limit, wanted.Matches)
	return view.History{Jobs: jobs}, err
}

func (n town) Job(ctx context.Context, id protocol.JobID) (view.Job, error) {
	finished, _ := n.ArchivedJobs(ctx, 2, func(*view.Job) bool { return true })
	for _, job := range append(n.views(), finished...) {
		if job.ID == id {
			return job, nil
		}
	}
	if id == endedGuests {
		return view.Job{}, refuse(view.Denied, "job %v was submitted at south; only that site decides about it", id)
	}
	return view.Job{}, refuse(view.NotFound, "there is no job %v", id)
}

func (n town) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	return n.Job(ctx, id)
}

func (town) Output(context.Context, view.Job, protocol.Stream, int64, int) ([]byte, error) {
	return nil, nil
}

func (town) Explain(protocol.JobID) ([]event.LogEvent, error) {
	return []event.LogEvent{{Kind: event.LogJobSubmitted, Text: "its story"}}, nil
}

func (n town) Ask(_ context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	asked := question(1)
	if _, ok := asked.(event.AskQueue); ok {
		return view.Queue{Jobs: n.views()}, nil
	}
	if ev, ok := asked.(event.AskRunHistory); ok {
		return view.RunHistory{Components: []view.ComponentHistory{{User: ev.User}}}, nil
	}
	if ev, ok := asked.(event.AskShares); ok {
		return view.Shares{Users: []view.UserShare{{User: ev.User}}}, nil
	}
	if _, ok := asked.(event.AskRecovery); ok {
		return view.Recovery{
			Needed: true, Reasons: []string{"it is old"}, Waiting: []protocol.JobID{anns}, Here: []protocol.JobID{anns}, Elsewhere: []protocol.JobID{anns},
			InDoubt: []protocol.JobID{anns}, Guests: []protocol.JobID{guests}, Aside: []view.AsideJob{{Tag: protocol.Tag{Job: bobs, Epoch: 1}, State: protocol.Running}},
			Unknown: []view.UnknownJob{{Tag: protocol.Tag{Job: finishedBobs, Epoch: 1}}},
		}, nil
	}
	return view.Done{}, nil
}

// ask makes a request in somebody's name at a peer that is private.
func ask(t *testing.T, private bool, who caller, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	config := Config{Node: town{}, Log: discard(), Private: private, Admins: []string{"ops"}}
	return askWith(t, (&server{Config: config}).routes(), who, method+" "+path, "")
}

// TestPrivateQueue: with [api] private people see their own jobs, and a limit counts these;
// administrators see all.
func TestPrivateQueue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		private bool
		who     caller
		path    string
		want    []protocol.JobID
	}{
		"public":             {false, caller{user: "ann"}, "/v1/jobs", []protocol.JobID{anns, bobs, guests}},
		"own":                {true, caller{user: "ann"}, "/v1/jobs", []protocol.JobID{anns}},
		"own, finished":      {true, caller{user: "ann"}, "/v1/jobs?all=true&limit=1", []protocol.JobID{finishedAnns, anns}},
		"somebody else":      {true, caller{user: "carol"}, "/v1/jobs?all=true", []protocol.JobID{}},
		"root":               {true, caller{user: "root", admin: true}, "/v1/jobs", []protocol.JobID{anns, bobs, guests}},
		"an admin":           {true, caller{user: "ops"}, "/v1/jobs", []protocol.JobID{anns, bobs, guests}},
		"an admin, finished": {true, caller{user: "ops"}, "/v1/jobs?all=true&limit=1", []protocol.JobID{finishedBobs, anns, bobs, guests}},
	} {
		var queue view.Queue
		if err := json.Unmarshal(ask(t, c.private, c.who, http.MethodGet, c.path).Body.Bytes(), &queue); err != nil {
			t.Fatal(err)
		}
		got := []protocol.JobID{}
		for _, job := range queue.Jobs {
			got = append(got, job.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPrivateJobsAreNotFound: every path to a job of somebody else's answers as for one that
// is not there, in the same words.
func TestPrivateJobsAreNotFound(t *testing.T) {
	t.Parallel()
	for _, route := range (&server{}).requests() {
		method, path, ofJob := strings.Cut(route.pattern, " /v1/jobs/{id}")
		if !ofJob {
			continue
		}
		of := func(id protocol.JobID) string { return jobPath(protocol.JobName{Job: id}, path) }
		for _, id := range []protocol.JobID{bobs, guests, finishedBobs, endedGuests, nobodys} {
			got := ask(t, true, caller{user: "ann"}, method, of(id))
			var refusal view.Refusal
			err := json.Unmarshal(got.Body.Bytes(), &refusal)
			if want := "job " + id.String() + " is not known here, or has ended"; err != nil || got.Code != http.StatusNotFound || refusal.Reason != want {
				t.Errorf("%s %s: %d %s", method, of(id), got.Code, got.Body)
			}
			if got = ask(t, true, caller{user: "ops"}, method, of(id)); id != nobodys && got.Code == http.StatusNotFound {
				t.Errorf("%s %s of an admin: %d %s", method, of(id), got.Code, got.Body)
			}
		}
		if got := ask(t, true, caller{user: "ann"}, method, of(anns)); got.Code == http.StatusNotFound {
			t.Errorf("%s %s: %d %s", method, of(anns), got.Code, got.Body)
		}
	}
	if got := ask(t, true, caller{user: "ops"}, http.MethodGet, jobPath(protocol.JobName{Job: anns}, "/output")); got.Code != http.StatusForbidden {
		t.Errorf("an admin reads output: %d %s", got.Code, got.Body)
	}
}

// TestPrivateRecovery: with [api] private only administrators see the lists of jobs of a store that needs an operator.
func TestPrivateRecovery(t *testing.T) {
	t.Parallel()
	const reasons = `{"needed":true,"reasons":["it is old"],`
	for _, tt := range []struct {
		private bool
		who     caller
		all     bool
	}{{true, caller{user: "ann"}, false}, {true, caller{user: "ops"}, true}, {true, caller{user: "root", admin: true}, true}, {false, caller{user: "ann"}, true}} {
		body := ask(t, tt.private, tt.who, http.MethodGet, "/v1/recovery").Body.String()
		if named := strings.Contains(body, "00000000"); named != tt.all || strings.Contains(body, `"private":true`) == tt.all || !strings.HasPrefix(body, reasons) {
			t.Errorf("%+v was shown %s", tt, body)
		}
	}
}

func TestPrivateHistory(t *testing.T) {
	t.Parallel()
	both := []protocol.JobID{finishedBobs, finishedAnns}
	for name, c := range map[string]struct {
		private bool
		who     caller
		want    []protocol.JobID
	}{
		"open":        {false, caller{user: "ann"}, both},
		"a user":      {true, caller{user: "ann"}, []protocol.JobID{finishedAnns}},
		"an admin":    {true, caller{user: "ops"}, both},
		"an outsider": {true, caller{user: "eve"}, nil},
	} {
		var got view.History
		body := ask(t, c.private, c.who, http.MethodGet, "/v1/history?user=ann&user=bob").Body.Bytes()
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %s", name, body)
		}
		var ids []protocol.JobID
		for _, job := range got.Jobs {
			ids = append(ids, job.ID)
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("%s: %v, want %v", name, ids, c.want)
		}
	}
}

func TestPrivateRunHistory(t *testing.T) {
	t.Parallel()
	for who, want := range map[caller]string{{user: "ann"}: "ann", {user: "ops"}: "", {user: "root", admin: true}: ""} {
		var got view.RunHistory
		body := ask(t, true, who, http.MethodGet, "/v1/runs?all=true").Body.Bytes()
		if err := json.Unmarshal(body, &got); err != nil || len(got.Components) != 1 || got.Components[0].User != want {
			t.Errorf("%s was shown components of %q: %s", who.user, want, body)
		}
	}
}

// TestPrivateShares: with [api] private people see how they stand, and administrators how all do.
func TestPrivateShares(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		private bool
		who     caller
		want    string
	}{{true, caller{user: "ann"}, "ann"}, {true, caller{user: "ops"}, ""}, {true, caller{user: "root", admin: true}, ""}, {false, caller{user: "ann"}, ""}} {
		var got view.Shares
		body := ask(t, tt.private, tt.who, http.MethodGet, "/v1/shares").Body.Bytes()
		if err := json.Unmarshal(body, &got); err != nil || len(got.Users) != 1 || got.Users[0].User != tt.want {
			t.Errorf("%+v was shown %s", tt, body)
		}
	}
}

// desk is a node that keeps what is submitted.
type desk struct {
	Node

	got *event.Submit
}

func (d desk) Ask(_ context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	*d.got, _ = question(1).(event.Submit)
	return view.Submitted{}, nil
}

// TestPrivateSubmission: what is submitted states whether its user sees only their own jobs.
func TestPrivateSubmission(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(Submission{Jobs: []protocol.Job{{
		Spec:    protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "x"},
		Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n"), WorkDir: "/w", Stdout: "/o", Stderr: "/e"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ private, admin, own bool }{{true, false, true}, {true, true, false}, {false, false, false}} {
		var got event.Submit
		ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return caller{user: "ann", admin: tt.admin} })
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/jobs", bytes.NewReader(body))
		answer := httptest.NewRecorder()
		(&server{Config: Config{Node: desk{got: &got}, Log: discard(), Private: tt.private}}).routes().ServeHTTP(answer, request)
		if answer.Code != http.StatusCreated || got.User != "ann" || got.OwnOnly != tt.own {
			t.Errorf("%+v: %d %s, %+v", tt, answer.Code, answer.Body, got)
		}
	}
}

// TestPrivateGuests: with [api] private the account that runs a guest sees it and may ask for its end, as the guest itself does.
// Another account that has the name of the guest's user does not, nor does the account that runs a job of this site's user.
func TestPrivateGuests(t *testing.T) {
	t.Parallel()
	job := view.Job{ID: guests, User: "ann", Guest: true, RunsAs: "g-ann"}
	local := view.Job{ID: anns, User: "ann", RunsAs: "batch"} // which no view of such a job says
	for _, tt := range []struct {
		job  *view.Job
		user string
		want bool
	}{
		{&job, "g-ann", true},
		{&job, "ann", false},
		{&job, "", false},
		{&view.Job{Guest: true}, "", false},
		{&local, "ann", true},
		{&local, "batch", false},
	} {
		s := &server{Config: Config{Private: true}}
		if got := s.sees(caller{user: tt.user}, tt.job); got != tt.want {
			t.Errorf("%q sees %+v: %t", tt.user, *tt.job, got)
		}
		if got := (&view.QueueFilter{Viewer: tt.user}).Matches(tt.job); tt.user != "" && got != tt.want {
			t.Errorf("the queue of %q has %+v: %t", tt.user, *tt.job, got)
		}
		if got := (&view.HistoryFilter{Viewer: tt.user}).Matches(tt.job); tt.user != "" && got != tt.want {
			t.Errorf("the history of %q has %+v: %t", tt.user, *tt.job, got)
		}
	}
}
