package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// still is a town where all jobs have ended, so that no answer waits for more.
type still struct {
	town

	submitted []protocol.Job
}

func (n *still) Job(ctx context.Context, id protocol.JobID) (view.Job, error) {
	job, err := n.town.Job(ctx, id)
	job.State, job.Stdout, job.Stderr = protocol.Completed, "/o", "/e"
	return job, err
}

func (n *still) WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error) {
	return n.Job(ctx, id)
}

func (n *still) Ask(ctx context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	ev := question(1)
	if submit, ok := ev.(event.Submit); ok {
		n.submitted = submit.Jobs
	}
	if _, ok := ev.(event.TestSubmit); ok {
		return view.TestSubmitResult{}, nil
	}
	return n.town.Ask(ctx, question)
}

// FuzzRequest looks for requests that break the server, that are refused without a reason,
// whose jobs no partner could be offered, or that show a private peer's other jobs.
func FuzzRequest(f *testing.F) {
	job := `{"cpus":1,"wall_time_ms":1,"script":"IyEvYmluL3NoCg==","work_dir":"/w","stdout":"/o","stderr":"/e","env":["A=1"],"args":["x"],"export":{"all":true}}`
	for _, seed := range [][3]string{
		{"GET", "/v1/jobs?all=true&limit=3", ""},
		{"GET", "/v1/jobs/1000000000002", ""},
		{"GET", "/v1/jobs/1000000000001/output?stream=stderr&offset=-1&follow=true", ""},
		{"GET", "/v1/jobs/1000000000012/explain", ""},
		{"GET", "/v1/jobs/1000000000001/wait", ""},
		{"DELETE", "/v1/jobs/18446744073709551616", ""},
		{"GET", "/v1/runs?component=a&all=true", ""},
		{"GET", "/v1/history?user=bob&account=a&since=1&until=9999999999999&guests=only&after=x&page=2", ""},
		{"POST", "/v1/reload", ""},
		{"POST", "/v1/jobs", `{"key":"k","jobs":[` + job + `]}`},
		{"POST", "/v1/quotes", `{"jobs":[` + job + `],"application":{},"front":true}`},
		{"GET", "/v1/info", ""},
		{"GET", "/v1/sites/", ""},
		{"GET", "//v1/../jobs/%00", ""},
		{"GET", "/v1/plugins?%zz", ""},
	} {
		f.Add(seed[0], seed[1], []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, method, target string, body []byte) {
		raw := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", method, target, len(body), body)
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return // the library has refused it
		}
		ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return caller{user: "ann"} })
		node, answer := &still{}, httptest.NewRecorder()
		(&server{Config: Config{Node: node, Log: discard(), Private: true}}).routes().ServeHTTP(answer, request.WithContext(ctx))
		checkAnswer(t, answer)
		if said := answer.Body.String(); strings.Contains(said, `"bob"`) && !bytes.Contains(raw, []byte("bob")) {
			t.Errorf("ann is shown %s", said)
		}
		for i := range node.submitted {
			offer := protocol.Offer{
				Spec:  protocol.Spec{Request: protocol.Request{Job: anns, CPUs: 1, WallTime: 1}, User: "ann"},
				Epoch: 1, Payload: node.submitted[i].Payload,
			}
			if _, err := peerv1.Encode(offer); err != nil {
				t.Errorf("a job is taken that no partner can be offered: %v", err)
			}
		}
	})
}

// checkAnswer checks that who is refused is told why.
func checkAnswer(t *testing.T, answer *httptest.ResponseRecorder) {
	t.Helper()
	switch {
	case answer.Code >= http.StatusOK && answer.Code < http.StatusBadRequest:
	default:
		var refusal view.Refusal
		err := json.Unmarshal(answer.Body.Bytes(), &refusal)
		if err != nil || refusal.Reason == "" || StatusOf(refusal.Code) != answer.Code {
			t.Errorf("status %d: %q, %v", answer.Code, answer.Body, err)
		}
	}
}
