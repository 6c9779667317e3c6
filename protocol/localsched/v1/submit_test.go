package localschedv1_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func TestDecodeSubmissionRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.SubmitRequest
	spoilt(t, rightSubmission, localschedv1.DecodeSubmission, map[string]func(m){
		"submission.tag: is missing":                   func(m m) { m.Tag = nil },
		"submission.tag.job: is 0":                     func(m m) { m.Tag.Job = 0 },
		"submission.tag.epoch: is 0":                   func(m m) { m.Tag.Epoch = 0 },
		"submission.spec: is missing":                  func(m m) { m.Spec = nil },
		"submission.spec.job: is 5, but the tag's is ": func(m m) { m.Spec.Request.Job = 5 },
		"submission.spec.request.cpus: -1":             func(m m) { m.Spec.Request.Cpus = -1 },
		"submission.payload: is missing":               func(m m) { m.Payload = nil },
		"submission.payload.args[0].arg: contains":     func(m m) { m.Payload.Args[0] = []byte("a\x00") },
		"submission.origin: site name":                 func(m m) { m.Origin = "" },
		"submission.account: has 4097":                 func(m m) { m.Account = strings.Repeat("x", 4097) },
		"submission.start_by_ms: -1":                   func(m m) { m.StartByMs = -1 },
	})
}

// A job that can never travel is refused for good, and not tried for ever.
func TestSubmissionsThatCannotTravelAreRefused(t *testing.T) {
	t.Parallel()
	const latin = "caf\xe9"
	cases := map[string]func(*localsched.Submission){
		"spec: name": func(s *localsched.Submission) { s.Spec.Name = latin },
		"spec: user": func(s *localsched.Submission) { s.Spec.User = latin },
		"account":    func(s *localsched.Submission) { s.Account = latin },
		"spec: qos":  func(s *localsched.Submission) { s.Spec.QOS = latin },
	}
	for field, change := range cases {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			s := localsched.Submission{Tag: placed, Payload: &protocol.Payload{}}
			change(&s)
			_, err := localschedv1.EncodeSubmission(s)
			if got, ok := errors.AsType[*localsched.RefusedError](err); !ok || !strings.HasPrefix(got.Reason, field+": ") || !strings.Contains(got.Reason, "not UTF-8") {
				t.Errorf("got %v, want a refusal that names %s", err, field)
			}
		})
	}
}

// What a job runs need not be UTF-8: paths and variables are bytes.
func TestPayloadsAreBytes(t *testing.T) {
	t.Parallel()
	const latin = "caf\xe9"
	in := localsched.Submission{
		Tag: placed, Origin: "north", Account: "alice",
		Spec: protocol.Spec{Request: protocol.Request{Job: placed.Job, CPUs: 1, WallTime: 1}},
		Payload: &protocol.Payload{
			Script: []byte(latin), Args: []string{latin}, Env: []string{"A=" + latin},
			WorkDir: "/" + latin, Stdout: "/o" + latin, Stderr: "/e" + latin,
		},
	}
	m, err := localschedv1.EncodeSubmission(in)
	if err != nil {
		t.Fatal(err)
	}
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var read localschedv1.SubmitRequest
	if err := proto.Unmarshal(wire, &read); err != nil {
		t.Fatal(err)
	}
	if out, err := localschedv1.DecodeSubmission(&read); err != nil || !reflect.DeepEqual(out.Payload, in.Payload) {
		t.Errorf("got %+v, %v", out.Payload, err)
	}
}

// An empty answer is none: a job that was taken has a name, and one that was not a
// reason.
func TestEmptyAnswerToASubmission(t *testing.T) {
	t.Parallel()
	id, err := localschedv1.DecodeSubmitted(&localschedv1.SubmitResponse{})
	protocoltest.Refused(t, err, "local_id: is missing")
	if id != "" {
		t.Errorf("got %q", id)
	}
	if _, refused := errors.AsType[*localsched.RefusedError](err); refused {
		t.Error("it is taken for a refusal")
	}
}
